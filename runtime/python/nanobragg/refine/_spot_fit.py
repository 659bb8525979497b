"""Levenberg's and Marquardt's least squares of pixels, whose spots may be brighter or weaker than
the model's."""

import typing

import numpy

from ._background import variance

_STEPS = 6  # lengths that are tried along a step
_MORE, _STEEP = 10, 0.05  # steps beyond those that are asked for, while each makes the sum of squares less by this part


class Known(typing.NamedTuple):
    """Knowledge of numbers beside the data: about which values, with which sigmas (inf: none); reach:
    the longest step of each."""

    about: numpy.ndarray
    sigma: numpy.ndarray
    reach: numpy.ndarray


class SpotFit:
    """Numbers x of a model that explain pixels.

    Photons of a pixel are ``background + (1 + d) image(x)``, d of its spot normal about 0 with a
    sigma of ``tolerance`` times the larger of model and data, and variance that of the model of the
    step before. d is projected out: what is minimized is the sum of squares with the best d
    (variable projection). tolerance 0: the model's own intensities.

    model: image(x), jacobian(x, free), renewed(x, image, own): the image where pixels have own
    times the light. data, background: photons of the pixels; spot: that of each, of so many.
    calibration: of variance().
    """

    def __init__(self, model, data, background, spot, count, calibration=0.0):
        self.calibration = calibration
        self.model, self.data, self.background, self.spot, self.count = model, data, background, spot, count
        self.pixels = numpy.maximum(self.sums(numpy.ones(len(data))), 1)
        self.history = []  # chi-square per pixel

    def sums(self, values):
        """Over the pixels of each spot."""
        return numpy.bincount(self.spot, weights=values, minlength=self.count)

    def weigh(self, image, tolerance):
        """By the variance of this image with the intensities that fit best; spots that are
        explained far worse than most count less."""
        excess = self.sums(self.data - self.background)
        expected = self.sums(image)
        d = numpy.zeros(self.count)
        for _ in range(2):
            photons = numpy.maximum(self.background + (1 + d)[self.spot] * image, numpy.minimum(self.background, 0.5))
            self.weights = 1 / numpy.sqrt(variance(photons, self.calibration))
            with numpy.errstate(divide="ignore", invalid="ignore", over="ignore"):
                ratio = numpy.nan_to_num(numpy.clip(excess / expected, 1, 1e6), nan=1.0)
            self.precision = 1 / (max(tolerance, 1e-6) * ratio)**2
            p = image * self.weights
            d = numpy.maximum(self.sums(p * (self.data - self.background - image) * self.weights)
                              / (self.sums(p * p) + self.precision), -1)
        worse = self.sums(((self.data - photons) * self.weights)**2) / self.pixels
        trust = numpy.sqrt(numpy.minimum(1, 10 * numpy.median(worse) / numpy.maximum(worse, 1e-12)))
        self.weights = self.weights * trust[self.spot]
        self.trust = trust
        self.own = (1 + d)[self.spot]

    def _left(self, image):
        """Weighted residuals with the best d, d, and the weighted image."""
        p = image * self.weights
        rest = (self.data - self.background - image) * self.weights
        d = self.sums(p * rest) / (self.sums(p * p) + self.precision)
        return rest - d[self.spot] * p, d, p

    def cost(self, x, image, about, sigma):
        left, d, _ = self._left(image)
        return left @ left + d @ (self.precision * d) + numpy.sum(((x - about) / sigma)**2)

    def linearized(self, x, image, free, sigma):
        """The weighted derivatives of the pixels by each free number, and the curvature."""
        _, d, p = self._left(image)
        rows = self.model.jacobian(x, free)[free] * (self.weights * (1 + d)[self.spot])
        along = numpy.array([self.sums(row * p) for row in rows]).reshape(-1, self.count)
        return rows, rows @ rows.T - (along / (self.sums(p * p) + self.precision)) @ along.T + numpy.diag(1 / sigma[free]**2)

    def run(self, x, free, known, tolerance, steps, reweigh=3, enough=3e-3):
        """x after so many steps, and more where the sum of squares still falls steeply, or when it
        falls by less than a part of ``enough``."""
        about, sigma, reach = known
        index, damping = numpy.flatnonzero(free), 1e-2
        image = self.model.image(x)
        for step in range(steps + _MORE):
            if step <= reweigh:
                self.weigh(image, tolerance)
                image = self.model.renewed(x, image, self.own)
            before = self.cost(x, image, about, sigma)
            left = self._left(image)[0]
            self.history.append(float(left @ left) / len(left))
            rows, self.curvature = self.linearized(x, image, free, sigma)
            slope = rows @ left - ((x - about) / sigma**2)[index]
            for _ in range(_STEPS):
                scaled = self.curvature + damping * numpy.diag(numpy.diag(self.curvature) + 1e-12)
                change = numpy.linalg.solve(scaled, slope)
                tried = x.copy()
                tried[index] += numpy.clip(change, -reach[index], reach[index])
                new = self.model.image(tried)
                after = self.cost(tried, new, about, sigma)
                if after < before:
                    break
                damping = max(8 * damping, 1e-3)
            else:
                break
            x, image, damping = tried, new, damping / 5
            part = (before - after) / before
            if part < enough and step >= min(reweigh, 1) or part < _STEEP and step + 1 >= steps:
                break
        return x, image
