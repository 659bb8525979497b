"""The crystal of a rotation sweep, whose orientation is that in the middle of the sweep."""

import numpy

from ._blocks import DEGREES, METRES, Blocks, Quantity
from ._crystal import OrientedCell, rotation

_STEP = 1e-3  # rad of the axis that 1 is


def across(axis):
    """Two directions at right angles to an axis and to each other."""
    first = numpy.cross(axis, numpy.eye(3)[int(numpy.argmin(numpy.abs(axis)))])
    first /= numpy.linalg.norm(first)
    return numpy.array([first, numpy.cross(axis, first)])


class SweepBlocks(Blocks):
    """Blocks with two tilts of the goniometer's axis among what is shared.

    Orientations are those in the middle of the sweep. Where the scale of angles begins elsewhere
    (-145 degrees, say), an axis that tilts would turn the crystal on every frame, and the two would
    have to move together.
    """

    def __init__(self, sim, boxes, crystals, measurement, of=None):
        self.middle = float(numpy.mean([exposure["phi0"] for exposure in measurement.exposures])) + sim["osc"] / 2
        self.axis = sim["spindle_axis"] / numpy.linalg.norm(sim["spindle_axis"])
        self.across = across(self.axis)
        tilts = {f"axis {i}": Quantity("axis", ("spindle_axis",), _STEP) for i in range(2)}
        super().__init__(sim, boxes, crystals, measurement, of, tilts)
        self.cells = [OrientedCell(rotation(self.middle * self.axis) @ sim["reciprocal_matrix"] / METRES, crystals.system)]
        self.tilts = [self.first_shared("axis 0"), self.first_shared("axis 1")]

    def _turned(self, tilts):
        """The axis, and the rotation of the middle of the sweep back to angle 0."""
        axis = rotation(_STEP * numpy.cross(self.axis, tilts @ self.across)) @ self.axis
        return axis, rotation(-self.middle * axis)

    def _tilts(self, x):
        return x[self.first + numpy.array(self.tilts)]

    def values(self, x, k):
        values = super().values(x, k)
        values["spindle_axis"], back = self._turned(self._tilts(x))
        values["reciprocal_matrix"] = back @ values["reciprocal_matrix"]
        return values

    def _shown(self, quantity, number, values):
        return (_STEP * number, _STEP, "degrees", DEGREES) if quantity.group == "axis" else super()._shown(quantity, number, values)

    def _directions(self, x, k, values):
        tilts = self._tilts(x)
        _, back = self._turned(tilts)
        middle = back.T @ values["reciprocal_matrix"]
        for number, change in super()._directions(x, k, values):
            if number - self.first in self.tilts:
                step = 1e-3 * numpy.eye(2)[self.tilts.index(number - self.first)]
                (axis, after), (other, before) = self._turned(tilts + step), self._turned(tilts - step)
                change = {"spindle_axis": (axis - other) / 2e-3, "reciprocal_matrix": (after - before) @ middle / 2e-3}
            elif "reciprocal_matrix" in change:
                change = {"reciprocal_matrix": back @ change["reciprocal_matrix"]}
            yield number, change

    def at_zero(self, matrix, axis):
        """The matrix where the angle of the scan is 0, of that in the middle."""
        return rotation(-self.middle * axis) @ matrix
