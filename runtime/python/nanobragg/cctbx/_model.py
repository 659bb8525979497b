"""Photons of diffBragg's pixels and their derivatives along moves."""

import numpy

from ..compat._simtbx_state import STAR
from ..compat._small_images import how_to_make
from ._kernels import Kernel, of_block


class Pixels:
    """Factors by the place of a pixel and the normalization of the lattice factor, in simtbx's way:
    polarization and, where it is not of each sub-pixel, the solid angle are those of the pixel's
    centre. form: of the polarization."""

    def __init__(self, rows, pixel_size, form, once, oversample, no_scale):
        self.rows, self.pixel_size, self.form, self.once, self.oversample, self.no_scale = rows, pixel_size, form, once, oversample, no_scale
        self.panel = rows[:, 0] if rows[:, 0].any() else None  # None: all of the first
        self.fast, self.slow = (numpy.ascontiguousarray(rows[:, i], dtype=float) for i in (2, 1))
        self.of, self.kept = None, None

    def _spread(self, of_panels):
        return of_panels[0] if self.panel is None else of_panels[self.panel]

    def _at(self, coefficients):
        """A quadratic form of the pixels."""
        one, f, s = (self._spread(c) for c in coefficients[:3])
        if coefficients[3:].any():
            ff, fs, ss = (self._spread(c) for c in coefficients[3:])
            f, s = f + ff * self.fast + fs * self.slow, s + ss * self.slow
        result = f * self.fast
        result += s * self.slow
        result += one
        return result

    def _places(self, panels):
        """r M r / r r, r r, first . first / r r, solid angle: those of panels that stay are kept.
        """
        if self.of is not panels:
            square = self._at(panels.form(numpy.eye(3), self.pixel_size))
            part = self._at(panels.form(self.form, self.pixel_size)) / square
            first = solid = None
            if self.once:  # the kernel has 1/R^2 of the first sub-pixel
                first = self._at(panels.form(numpy.eye(3), self.pixel_size, offset=0.5 / self.oversample)) / square
                solid = self.pixel_size**2 * self._spread(panels.heights()) / numpy.sqrt(square)
            factor = 0.5 * (1 + part)
            self.of, self.kept = panels, (factor if solid is None else factor * solid * first, part, square, first, solid)
        return self.kept

    def factor(self, numbers, setup):
        factor, width = self._places(numbers.panels)[0], numbers.width
        if setup.diffuse:
            return factor * (abs(numpy.linalg.det(numbers.direct)) * 1e30 / numpy.prod(numpy.diag(width)))
        if not (self.no_scale or setup.star):
            return factor
        # simtbx's lattice factor of a reflection over the kernel's.
        of_kernel = STAR**3 * numpy.prod(numpy.diag(width)) if setup.star else numpy.linalg.det(width)
        return factor * ((1.0 if self.no_scale else numpy.linalg.det(width)) / of_kernel)**2

    def slope(self, numbers, slope, factor, setup):
        """The change of the factor with a change of the numbers; 0 where there is none."""
        change = 0.0
        if slope.panels is not None:
            panels, size = numbers.panels, self.pixel_size
            whole, part, square, first, solid = self._places(panels)
            by_square = self._at(panels.form(numpy.eye(3), size, slope.panels)) / square
            relative = (self._at(panels.form(self.form, size, slope.panels)) / square - part * by_square) / (1 + part)
            if self.once:
                by_first = self._at(panels.form(numpy.eye(3), size, slope.panels, 0.5 / self.oversample)) / (square * first)
                relative += self._spread(panels.heights(slope.panels) / panels.heights()) + by_first - 1.5 * by_square
            change = factor * relative
        if slope.width is not None and (setup.diffuse or setup.star or self.no_scale):
            edges = numpy.sum(numpy.diag(slope.width) / numpy.diag(numbers.width))
            whole = numpy.trace(numpy.linalg.inv(numbers.width) @ slope.width)
            change = change - factor * (edges if setup.diffuse else 2 * ((edges if setup.star else whole) - (0.0 if self.no_scale else whole)))
        if slope.direct is not None and setup.diffuse:
            change = change + factor * numpy.trace(numpy.linalg.inv(numbers.direct) @ slope.direct)
        return change


class Model:
    """Keeps the kernels of the last lists of pixels."""
    KEPT = 12

    def __init__(self, how):
        self.how, self.kernels = how, {}

    def kernel(self, setup, numbers, derivatives=0):
        domains = setup.blocks or (1 if numbers.blocks is None else len(numbers.blocks))
        samples = len(setup.rows) * setup.fields["Detector"].get("oversample", 1)**2 * len(setup.sources[1]) * domains
        # An interpreted derivative takes three times as long as the image.
        how = how_to_make(samples * (1 + 3 * derivatives), self.how)
        key = setup.key(), "engine" in how
        kernel = self.kernels.pop(key, None) or Kernel(setup, numbers, how)
        self.kernels[key] = kernel  # the last one
        while len(self.kernels) > self.KEPT:
            del self.kernels[next(iter(self.kernels))]
        return kernel

    def evaluate(self, setups, pixels, numbers, slopes, scale=1.0):
        """The image times a scale, and in a list its derivatives along slopes."""
        if not setups:
            return numpy.zeros(len(pixels.rows)), list(numpy.zeros((len(slopes), len(pixels.rows))))
        image = by = None
        for setup in setups:
            kernel = self.kernel(setup, numbers, len(slopes))
            if setup.blocks:
                light, changes = kernel.derivatives(numbers, slopes, setup)
            else:
                parts = [kernel.derivatives(of_block(numbers, m), [of_block(slope, m) for slope in slopes], setup)
                         for m in range(len(numbers.blocks))]
                light = sum(part[0] for part in parts) / len(parts)
                changes = [sum(rows) / len(parts) for rows in zip(*(part[1] for part in parts))]
            factor = pixels.factor(numbers, setup)
            if scale * setup.sign != 1:
                factor = scale * setup.sign * factor
            for row, slope in zip(changes, slopes):
                row *= factor  # in place: these are large
                moved = pixels.slope(numbers, slope, factor, setup)
                if isinstance(moved, numpy.ndarray):
                    moved *= light
                    row += moved
            light *= factor
            image, by = (light, changes) if by is None else (image + light, [a + b for a, b in zip(by, changes)])
        return image, by

    def second_derivatives(self, setups, pixels, numbers, moves, image, slopes):
        """Second derivatives with respect to each move, (moves, pixels): differences of the
        compiled first derivatives, of fourth order."""
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
            factor = setup.sign * pixels.factor(numbers, setup)
            for part in [numbers] if setup.blocks else [of_block(numbers, m) for m in range(len(numbers.blocks))]:
                light, wavelengths = kernel.by_wavelength(part, setup)
                image += factor * light
                by += factor * wavelengths * 1e10
        return image, by
