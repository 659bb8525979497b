"""Photons of diffBragg's pixels and their derivatives along moves."""

import numpy

from ._kernels import Kernel, of_block


class Pixels:
    """What the place of a pixel and the normalization of the lattice factor do, in simtbx's way: polarization and, where it is not of
    each sub-pixel, the solid angle are those of the pixel's centre."""

    def __init__(self, rows, pixel_size, incident, axis, kahn, once, oversample, no_scale):
        self.rows, self.pixel_size, self.incident, self.axis, self.kahn = rows, pixel_size, incident, axis, kahn
        self.once, self.oversample, self.no_scale = once, oversample, no_scale

    def factor(self, numbers, diffuse):
        panels, size = numbers.panels, self.pixel_size
        factor = numpy.ones(len(self.rows))
        if self.kahn is not None:
            factor *= panels.polarization(self.rows, size, self.incident, self.axis, self.kahn)
        if self.once:
            # The kernel has 1/R^2 of the first sub-pixel.
            first = panels.at(self.rows, size, 0.5 / self.oversample)
            factor *= panels.solid_angle(self.rows, size) * numpy.einsum("ij,ij->i", first, first)
        if diffuse:
            factor *= abs(numpy.linalg.det(numbers.direct)) * 1e30 / numpy.prod(numpy.diag(numbers.width))
        elif self.no_scale:
            factor /= numpy.linalg.det(numbers.width)**2
        return factor

    def slope(self, numbers, slope, factor, diffuse):
        """Its change with a change of the numbers; 0 where there is none."""
        change, h = 0.0, 1e-6
        if slope.panels is not None:
            ends = [self.factor(numbers.with_(panels=numbers.panels + slope.panels * step), diffuse) for step in (h, -h)]
            change = (ends[0] - ends[1]) / (2 * h)
        if slope.width is not None and (diffuse or self.no_scale):
            per = numpy.diag(1 / numpy.diag(numbers.width)) if diffuse else 2 * numpy.linalg.inv(numbers.width)
            change = change - factor * numpy.trace(per @ slope.width)
        if slope.direct is not None and diffuse:
            change = change + factor * numpy.trace(numpy.linalg.inv(numbers.direct) @ slope.direct)
        return change


class Model:
    """Keeps the kernels of the last lists of pixels."""
    KEPT = 12

    def __init__(self, how):
        self.how, self.kernels = how, {}

    def kernel(self, setup, numbers):
        key = setup.key()
        kernel = self.kernels.pop(key, None) or Kernel(setup, numbers, self.how)
        self.kernels[key] = kernel  # the last one
        while len(self.kernels) > self.KEPT:
            del self.kernels[next(iter(self.kernels))]
        return kernel

    def evaluate(self, setups, pixels, numbers, slopes):
        """The image and its derivatives along slopes, (slopes, pixels)."""
        image, by = numpy.zeros(len(pixels.rows)), numpy.zeros((len(slopes), len(pixels.rows)))
        for setup in setups:
            kernel, diffuse = self.kernel(setup, numbers), setup.diffuse
            if setup.blocks:
                light, changes = kernel.derivatives(numbers, slopes, setup)
            else:
                parts = [kernel.derivatives(of_block(numbers, m), [of_block(slope, m) for slope in slopes], setup)
                         for m in range(len(numbers.blocks))]
                light, changes = (sum(part[i] for part in parts) / len(parts) for i in (0, 1))
            factor = pixels.factor(numbers, diffuse)
            image += setup.sign * factor * light
            for row, change, slope in zip(by, changes, slopes):
                row += setup.sign * (factor * change + pixels.slope(numbers, slope, factor, diffuse) * light)
        return image, by

    def second_derivatives(self, setups, pixels, numbers, moves, image, slopes):
        """Of each move, (moves, pixels): differences of the compiled first derivatives, of fourth order."""
        result = numpy.zeros((len(moves), len(pixels.rows)))
        for row, move, slope in zip(result, moves, slopes):
            largest = numpy.abs(slope).max(initial=0)
            if largest == 0:
                continue
            h = 2e-3 * numpy.abs(image).max() / largest
            at = {k: self.evaluate(setups, pixels, move.at(k * h), [move.slope(k * h)])[1][0] for k in (-2, -1, 1, 2)}
            row[:] = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
        return result

    def by_wavelength(self, setups, pixels, numbers):
        """Photons of each pixel and the sum of their wavelengths, A."""
        image, by = numpy.zeros((2, len(pixels.rows)))
        for setup in setups:
            kernel = self.kernel(setup, numbers)
            factor = setup.sign * pixels.factor(numbers, setup.diffuse)
            for part in [numbers] if setup.blocks else [of_block(numbers, m) for m in range(len(numbers.blocks))]:
                light, wavelengths = kernel.by_wavelength(part, setup)
                image += factor * light
                by += factor * wavelengths * 1e10
        return image, by
