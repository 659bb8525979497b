"""Modules of a detector, which lines of gaps divide, and how far each is from where the detector's grid has it."""

import dataclasses

import numpy

_LEAST = 20  # spots of a module
_SPREAD = 0.5  # pixels that spots are off their reflections by, beside their module's shift
_SIGMA = 0.2  # pixels that modules are off by, where their spots say nothing


@dataclasses.dataclass
class Modules:
    """slow, fast: where modules begin, pixels. shifts: (modules, 2) pixels along fast and slow, by which light is seen farther
    out than on the detector's grid."""

    slow: numpy.ndarray
    fast: numpy.ndarray
    shifts: numpy.ndarray

    @staticmethod
    def of_gaps(gaps):
        """gaps: pixels (slow, fast) that are none."""
        slow, fast = (numpy.flatnonzero(numpy.diff(gaps.all(axis=axis).astype(int), prepend=1) == -1) for axis in (1, 0))
        return Modules(slow, fast, numpy.zeros((max(len(slow), 1) * max(len(fast), 1), 2)))

    def __len__(self):
        return len(self.shifts)

    def begins(self):
        """Where each begins, pixels (slow, fast)."""
        lines = (axis if len(axis) else numpy.zeros(1, int) for axis in (self.slow, self.fast))
        return numpy.stack(numpy.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)

    def number(self, at):
        """The number of the module at pixels (fast, slow)."""
        place = [numpy.maximum(numpy.searchsorted(begins, axis, "right") - 1, 0)
                 for begins, axis in ((self.slow, at[:, 1]), (self.fast, at[:, 0]))]
        return place[0] * max(len(self.fast), 1) + place[1]

    def off(self, at):
        """The shifts at pixels (fast, slow)."""
        return self.shifts[self.number(at)]

    def shifted(self, at, off, photons):
        """Modules shifted further by what their spots are off, robustly; at, off: pixels (fast, slow). None of less than 20
        spots moves."""
        shifts, number = self.shifts.copy(), self.number(at)
        for module in numpy.unique(number):
            here = number == module
            if here.sum() < _LEAST:
                continue
            weight = 1 / (_SPREAD**2 + 30 / photons[here])
            mean = numpy.median(off[here], axis=0)
            for _ in range(5):
                some = weight / (1 + ((off[here] - mean)**2).sum(axis=1) / _SPREAD**2)
                mean = some @ off[here] / (some.sum() + 1 / _SIGMA**2)
            shifts[module] += mean
        return dataclasses.replace(self, shifts=shifts)
