"""Modules of a detector, which lines of gaps divide, and how far each is from where the detector's
grid has it."""

import dataclasses

import numpy

from ._distortion import Distortion, tile

_LEAST = 20  # spots of a module
_SPREAD = 0.5  # pixels that spots are off their reflections by, beside their module's shift
_SIGMA = 0.2  # pixels that modules are off by, where their spots say nothing


@dataclasses.dataclass
class Modules:
    """slow, fast: where modules begin, pixels. shifts: (modules, 2) pixels along fast and slow, by
    which light is seen farther out than on the detector's grid. distortion: further displacements,
    which vary smoothly over the image."""

    slow: numpy.ndarray
    fast: numpy.ndarray
    shifts: numpy.ndarray
    distortion: Distortion = Distortion((0, 0))

    @staticmethod
    def of_gaps(gaps):
        """gaps: pixels (slow, fast) that are none."""
        slow, fast = (numpy.flatnonzero(numpy.diff(gaps.all(axis=axis).astype(int), prepend=1) == -1) for axis in (1, 0))
        return Modules(slow, fast, numpy.zeros((max(len(slow), 1) * max(len(fast), 1), 2)), Distortion(gaps.shape))

    def __len__(self):
        return len(self.shifts)

    def begins(self):
        """Where each begins, pixels (slow, fast)."""
        lines = (axis if len(axis) else numpy.zeros(1, int) for axis in (self.slow, self.fast))
        return numpy.stack(numpy.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)

    def sizes(self, shape):
        """Pixels of each (slow, fast), to where the next one begins. shape: of the image."""
        lines = (numpy.diff([*(axis if len(axis) else (0,)), end]) for axis, end in zip((self.slow, self.fast), shape))
        return numpy.stack(numpy.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)

    def number(self, at):
        """The number of the module at pixels (fast, slow)."""
        place = [numpy.maximum(numpy.searchsorted(begins, axis, "right") - 1, 0)
                 for begins, axis in ((self.slow, at[:, 1]), (self.fast, at[:, 0]))]
        return place[0] * max(len(self.fast), 1) + place[1]

    def off(self, at):
        """The displacements at pixels (fast, slow)."""
        shifts = self.shifts[self.number(at)]
        return shifts + self.distortion.off(at) if self.distortion else shifts

    # Where displacements vary smoothly, the whole image is one panel; else each module is one,
    # which stands where its light is seen.

    def origins(self):
        """Where each panel begins, pixels (slow, fast)."""
        return numpy.zeros((1, 2), int) if self.distortion else self.begins()

    def on_panels(self, at):
        """Places on panels (fast, slow) for pixels of the image, and the numbers of these panels.
        """
        if self.distortion:
            return at - self.off(at), numpy.zeros(len(at), int)
        number = self.number(at)
        return at - self.begins()[number, ::-1], number

    def seen(self, at, panel):
        """Pixels of the image (fast, slow) for places on panels."""
        return at + self.off(at) if self.distortion else at + self.begins()[panel, ::-1]

    def steps(self):
        """The distinct displacements of one panel, (n, 2)."""
        return self.distortion.steps(self.off)[0]

    def step(self, at):
        """Which of steps(), or which module, pixels (fast, slow) have."""
        return self.distortion.steps(self.off)[1][tile(at)] if self.distortion else self.number(at)

    def fitted(self, at, off, photons, still, smooth):
        """Modules with the displacements that spots have beside those so far, robustly; at, off:
        pixels (fast, slow). None of less than 20 spots is shifted further. still: the number of
        that of each spot. smooth: whether there may be a distortion."""
        before = self.distortion.off(at) if self.distortion else numpy.zeros_like(off)
        shifted = self._shifted(at, off, photons) if len(self) > 1 or not smooth else self
        if not smooth:
            return shifted
        off = off + before - (shifted.shifts - self.shifts)[self.number(at)]
        return dataclasses.replace(shifted, distortion=self.distortion.fitted(at, off, photons, still))

    def _shifted(self, at, off, photons):
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
