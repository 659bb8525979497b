"""The likelihood of pixels that count photons and have read-out noise."""

import numpy

from ._shoeboxes import Planes


def variance_of(photons, readout):
    """The variance of a pixel: Poisson's for the expected photons, at least for one, and the
    read-out's."""
    return numpy.maximum(photons, 1.0) + readout**2


class GaussianLikelihood:
    """Minus the logarithm of the Gaussian likelihood, sum(log(2 pi V) + (data - m)^2 / V) / 2, for
    the planes that make it least. m: photons of the crystal and of a plane in each shoebox; V =
    max(m, 1) + readout^2. The derivative is that of the docs of diffBragg: (1 - 2u - u^2 / V) / 2V
    for u = data - m, where m is above 1.
    """

    def __init__(self, boxes, readout, planes):
        """planes: photons per pixel, where they start; the next call starts where the last one
        ended."""
        self.boxes, self.readout, self.planes = boxes, readout, planes

    def _by_photons(self, photons):
        left, variance = self.boxes.data - photons, variance_of(photons, self.readout)
        varies = photons > 1
        return (varies * (1 - left**2 / variance) - 2 * left) / (2 * variance), 1 / variance + varies / (2 * variance**2)

    def at(self, crystal, steps=6):
        """The value for these photons of the crystal, its derivative with respect to them, and all
        photons."""
        for _ in range(steps):  # Fisher's scoring; planes are linear, so a few steps do
            slope, curvature = self._by_photons(crystal + self.planes)
            change = Planes(self.boxes, numpy.sqrt(curvature)).of(-slope / curvature)
            self.planes = self.planes + change
            if numpy.abs(change).max() < 1e-7 * (1 + numpy.abs(self.planes).max()):
                break
        photons = crystal + self.planes
        variance = variance_of(photons, self.readout)
        value = 0.5 * numpy.sum(numpy.log(2 * numpy.pi * variance) + (self.boxes.data - photons)**2 / variance)
        return float(value), self._by_photons(photons)[0], photons
