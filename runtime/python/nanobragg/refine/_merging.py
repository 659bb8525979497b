"""Structure factors from the pixels of several stills: what the spots' own intensities say of those of the model."""

import dataclasses

import numpy

from .. import _core
from ._amplitudes import Amplitudes
from ._files import write_file

_BINS = 15
_KNOWN = 0.1  # variance of the logarithm of F^2 of a model
_UNSURE = (0.0025, 0.01, 0.03, 0.05, 0.1, 0.2, 0.4, 0.8)  # and of an observation of it, beyond its photons'
_CAUTION = 1.4  # how much worse than best
_TAIL = 0.2  # share on the sphere, of that of the best reflections, at which an observation is as unsure again
_SURE = 0.09  # variance of a logarithm of photons that is worth comparing
_FAR, _MOST = 20.0, 1.5  # times that an intensity may be the model's; the logarithm that counts at most


@dataclasses.dataclass
class Merged:
    """Structure factors of the asymmetric unit: F, sigma, in how many stills they were seen."""

    amplitudes: Amplitudes
    F: numpy.ndarray
    sigma: numpy.ndarray
    seen: numpy.ndarray

    def write(self, path, cell, wavelength):
        """As MTZ, those that no still has seen as they were."""
        columns = [("F", "F"), ("SIGF", "Q"), ("F_start", "F"), ("stills", "I")]
        rows = numpy.column_stack([self.amplitudes.hkl, self.F, self.sigma, self.amplitudes.start, self.seen])
        write_file(path, _core.mtz(self.amplitudes.space_group, [float(v) for v in cell], float(wavelength), columns, rows))


class Observations:
    """Observations of reflections on stills: logarithms of how much brighter each is than by the start's F^2, their variances by photons,
    the row of F, the still.

    observations: (hkl, ratio of intensities to the model's, precision: 1 / sigma^2 of the ratio, photons of the model) of
    each still.
    """

    def __init__(self, amplitudes, observations):
        of_flat = numpy.full(amplitudes.grid.size, -1)
        of_flat[amplitudes.nodes] = amplitudes.of_node
        parts = []
        for number, (hkl, ratio, precision, photons) in enumerate(observations):
            at = hkl - amplitudes.lowest
            inside = ((at >= 0) & (at < amplitudes.grid.shape)).all(axis=1)
            row = of_flat[numpy.ravel_multi_index(numpy.where(inside[:, None], at, 0).T, amplitudes.grid.shape)]
            known = inside & (row >= 0) & (precision > 1e-3)
            row, ratio = row[known], numpy.clip(ratio[known], 1 / _FAR, _FAR)
            variance, log = 1 / (precision[known] * ratio**2), numpy.log(ratio)
            sure = variance < _SURE
            log -= numpy.median(log[sure]) if sure.any() else 0.0  # the still's scale
            share = photons[known] / amplitudes.start[row]**2
            parts.append((row, log, variance, share / max(numpy.percentile(share, 99), 1e-300) if len(share) else share,
                          numpy.full(len(row), number), hkl[known]))
        self.rows, self.logs, self.variances, self.shares, self.stills, indices = map(numpy.concatenate, zip(*parts))
        self.places = numpy.unique(indices, axis=0, return_inverse=True)[1].reshape(-1)
        self.size = amplitudes.size
        self.tails = 1 + _TAIL / numpy.maximum(self.shares, 1e-3)
        self._without_shares()

    def _without_shares(self):
        """A trend that reflections of the same share on the sphere have in common is no matter of F: rocking curves have tails, and
        reflections far off the sphere are found where they are bright."""
        sure = numpy.flatnonzero(self.variances < _SURE)
        if len(sure) < 10 * _BINS:
            return
        bins = numpy.array_split(sure[numpy.argsort(self.shares[sure])], _BINS)
        self.logs -= numpy.interp(self.shares, [numpy.median(self.shares[b]) for b in bins],
                                  [numpy.median(self.logs[b]) for b in bins])

    def _sums(self, unsure, by, size):
        weights = 1 / (unsure * self.tails + self.variances)
        logs = numpy.clip(self.logs, -_MOST, _MOST)
        return numpy.bincount(by, weights=weights, minlength=size), numpy.bincount(by, weights=weights * logs, minlength=size)

    def mean(self, unsure):
        """Means of the rows with the start as one more observation, and their weights. unsure: variance of an observation beyond
        its photons'."""
        weights, sums = self._sums(unsure, self.rows, self.size)
        return sums / (weights + 1 / _KNOWN), weights + 1 / _KNOWN

    def unsure(self):
        """The largest variance by which equivalents, whose share on the sphere is another one, foretell reflections almost as well
        as they can."""
        here = numpy.flatnonzero(self.variances < _SURE)
        weights = numpy.minimum(1 / self.variances[here], 1e3)
        missed = []
        for unsure in _UNSURE:
            every, own = (self._sums(unsure, by, size) for by, size in ((self.rows, self.size), (self.places, self.places.max() + 1)))
            weight, total = (e[self.rows[here]] - o[self.places[here]] for e, o in zip(every, own))
            left = numpy.clip(self.logs[here], -_MOST, _MOST) - total / (weight + 1 / _KNOWN)
            foretold = weight > 1e-6
            missed.append((weights * numpy.expm1(left)**2)[foretold].sum())
        return max(unsure for unsure, miss in zip(_UNSURE, missed) if miss <= _CAUTION * min(missed))


def merge(amplitudes, observations):
    """The Merged of what stills say (see Observations), and the logarithms of F over the start's."""
    seen = Observations(amplitudes, observations)
    logs, weights = seen.mean(seen.unsure())
    stills = numpy.bincount(numpy.unique(numpy.column_stack([seen.rows, seen.stills]), axis=0)[:, 0], minlength=amplitudes.size)
    F = amplitudes.start * numpy.exp(logs / 2)
    return Merged(amplitudes, F, F / 2 / numpy.sqrt(weights), stills), logs / 2


def structure_factors(model, used, explain):
    """Refines F of a Model, and explains stills by it.

    used(): observations of the stills that F is refined on. explain(grid): explains all stills by these structure factors.
    """
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    merged, logarithms = merge(amplitudes, used())
    explain(amplitudes.values(logarithms))
    return merged
