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
        """One panel after rotations about its slow, its fast and then its normal axis, and its
        change by each of the angles, in the order of simtbx: normal, fast, slow."""
        axes = self.normal[0], self.fast[0], self.slow[0]
        turns = [about(axis, angle) for axis, angle in zip(axes, angles)]
        slopes = [_cross(axis) @ turn for axis, turn in zip(axes, turns)]

        def by(matrix, fixed):
            return Panels(fixed + matrix @ (self.origin[0] - about_point), matrix @ self.fast[0], matrix @ self.slow[0], matrix @ self.normal[0])

        changes = [by(numpy.linalg.multi_dot([*turns[:i], slopes[i], *turns[i + 1:]]), 0) for i in range(3)]
        return by(numpy.linalg.multi_dot(turns), about_point), changes

    def at(self, rows, pixel_size, offset=0.5):
        """Places of pixels, rows (panel, slow, fast), (pixels, 3). offset: of the point in a pixel.
        """
        panel = rows[:, 0]
        return (self.origin[panel] + ((rows[:, 2] + offset) * pixel_size)[:, None] * self.fast[panel]
                + ((rows[:, 1] + offset) * pixel_size)[:, None] * self.slow[panel])

    def form(self, matrix, pixel_size, change=None, offset=0.5):
        """r M r of points r in the pixels, or 2 r M dr with a change of the panels, for a symmetric
        M: for each panel the coefficients of 1, fast, slow, fast^2, fast slow, slow^2, (6, panels).
        """
        def parts(panels):
            fast, slow = pixel_size * panels.fast, pixel_size * panels.slow
            return panels.origin + offset * (fast + slow), fast, slow

        def product(one, other):
            return numpy.einsum("pi,ij,pj->p", one, matrix, other)

        (o, f, s), (do, df, ds) = parts(self), parts(change or self)
        rows = numpy.stack([product(o, do), product(o, df) + product(f, do), product(o, ds) + product(s, do), product(f, df),
                            product(f, ds) + product(s, df), product(s, ds)])
        return rows if change is None else 2 * rows

    def heights(self, change=None):
        """origin . normal of each panel, or its change."""
        if change is None:
            return numpy.einsum("ij,ij->i", self.origin, self.normal)
        return numpy.einsum("ij,ij->i", self.origin, change.normal) + numpy.einsum("ij,ij->i", change.origin, self.normal)


def polarization_form(incident, axis, kahn):
    """M, with which the polarization factor is (1 + r M r / r r) / 2."""
    if kahn is None:
        return numpy.eye(3)
    magnetic = numpy.cross(axis, incident)
    electric = numpy.cross(incident, magnetic)
    across = numpy.outer(electric, electric) - numpy.outer(magnetic, magnetic)
    return numpy.outer(incident, incident) - kahn * across / (magnetic @ magnetic)


def _cross(axis):
    x, y, z = axis
    return numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
