"""Where the panels of a detector stand, and what the place of a pixel does to its photons."""

import numpy

from ..compat._simtbx_state import about, unit

FIELDS = ("origin", "fast", "slow", "normal")


class Panels:
    """Arrays (panels, 3): origin (m), fast, slow, normal; also a change of these."""

    def __init__(self, origin, fast, slow, normal):
        self.origin, self.fast, self.slow, self.normal = (numpy.array(x, dtype=float).reshape(-1, 3) for x in (origin, fast, slow, normal))

    @classmethod
    def of_detector(cls, detector, righthanded):
        origin, fast, slow = (numpy.array([getattr(panel, f"get_{what}")() for panel in detector], dtype=float)
                              for what in ("origin", "fast_axis", "slow_axis"))
        fast, slow = (numpy.array([unit(row) for row in axis]) for axis in (fast, slow))
        normal = numpy.cross(fast, slow)
        normal /= numpy.linalg.norm(normal, axis=1)[:, None]
        return cls(origin / 1000, fast, slow, normal if righthanded else -normal)

    @classmethod
    def nothing(cls, count):
        return cls(*numpy.zeros((4, count, 3)))

    def __add__(self, change):
        return Panels(*(getattr(self, field) + getattr(change, field) for field in FIELDS))

    def __mul__(self, factor):
        return Panels(*(getattr(self, field) * factor for field in FIELDS))

    def set(self, index, panel):
        for field in FIELDS:
            getattr(self, field)[index] = getattr(panel, field)[0]

    def shifted(self, shift):
        """This change of all panels: origins along a vector."""
        return Panels(self.origin * 0 + shift, self.fast * 0, self.slow * 0, self.normal * 0)

    def turned(self, angles, about_point):
        """One panel after rotations about its slow, its fast and then its normal axis, and its change by each of the angles, in the
        order of simtbx: normal, fast, slow."""
        axes = self.normal[0], self.fast[0], self.slow[0]
        turns = [about(axis, angle) for axis, angle in zip(axes, angles)]
        slopes = [_cross(axis) @ turn for axis, turn in zip(axes, turns)]

        def by(matrix, fixed):
            return Panels(fixed + matrix @ (self.origin[0] - about_point), matrix @ self.fast[0], matrix @ self.slow[0], matrix @ self.normal[0])

        changes = [by(numpy.linalg.multi_dot([*turns[:i], slopes[i], *turns[i + 1:]]), 0) for i in range(3)]
        return by(numpy.linalg.multi_dot(turns), about_point), changes

    def at(self, rows, pixel_size, offset=0.5):
        """Places of pixels, rows (panel, slow, fast), (pixels, 3). offset: of the point in a pixel."""
        panel = rows[:, 0]
        return (self.origin[panel] + ((rows[:, 2] + offset) * pixel_size)[:, None] * self.fast[panel]
                + ((rows[:, 1] + offset) * pixel_size)[:, None] * self.slow[panel])

    def solid_angle(self, rows, pixel_size):
        """Of the pixels, from their centres."""
        distance = numpy.linalg.norm(self.at(rows, pixel_size), axis=1)
        panel = rows[:, 0]
        return pixel_size**2 * numpy.einsum("ij,ij->i", self.origin[panel], self.normal[panel]) / distance**3

    def polarization(self, rows, pixel_size, incident, axis, kahn):
        """The factor of the pixels' centres."""
        diffracted = self.at(rows, pixel_size)
        diffracted /= numpy.linalg.norm(diffracted, axis=1)[:, None]
        cosine = diffracted @ incident
        magnetic = numpy.cross(axis, incident)
        electric = numpy.cross(incident, magnetic)
        e, b = diffracted @ electric, diffracted @ magnetic
        norm = e * e + b * b
        twice = numpy.divide(e * e - b * b, norm, out=numpy.ones_like(norm), where=norm > 0)  # cos 2 psi
        return 0.5 * (1 + cosine**2 - kahn * twice * (1 - cosine**2))


def _cross(axis):
    x, y, z = axis
    return numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
