"""Structure factors from the pixels of several stills: what the spots' own intensities say of those of the model."""

import dataclasses

import numpy

from .. import _core
from ._amplitudes import Amplitudes
from ._files import write_file

_ROUNDS = 2
_BINS = 8


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


@dataclasses.dataclass
class Trust:
    """How unsure F^2 of the start is, as a part, and the share of a reflection that is on the sphere, at some shares."""

    known: float
    shares: numpy.ndarray
    unsure: numpy.ndarray

    @staticmethod
    def measured(rows, ratios, precisions, shares):
        """From what ratios of the same reflection (rows) spread by on different stills, in bins of shares: the more of a
        reflection is on the sphere, the surer is how much. What they spread by beyond that is the start's.
        """
        bright = numpy.flatnonzero((precisions > 25) & (ratios > 0))
        rows, logs, shares = rows[bright], numpy.log(ratios[bright]), shares[bright]
        count = numpy.bincount(rows)
        mean = numpy.bincount(rows, weights=logs) / numpy.maximum(count, 1)
        several = count[rows] > 1
        if several.sum() < 100:  # nothing is known of it
            return Trust(0.3, numpy.array([0.0, 1.0]), numpy.array([0.3, 0.3]))
        apart = ((logs - mean[rows]) * numpy.sqrt(count[rows] / numpy.maximum(count[rows] - 1, 1)))[several]
        bins = numpy.array_split(numpy.argsort(shares[several]), min(_BINS, several.sum() // 20))
        unsure = numpy.array([_spread(apart[part]) for part in bins])
        middles = numpy.array([numpy.median(shares[several][part]) for part in bins])
        surest = bins[int(numpy.argmin(unsure))]
        known = numpy.sqrt(max(_spread(logs[several][surest])**2 - unsure.min()**2, 0.05**2))
        return Trust(float(min(known, 1.0)), middles, numpy.maximum(unsure, 0.02))


def _spread(values):
    """Standard deviation, by the median of what is off the median."""
    return 1.48 * float(numpy.median(numpy.abs(values - numpy.median(values))))


def merge(amplitudes, factors, observations, trust=None):
    """The Merged of factors by which F^2 is that of the start, (size,), and what stills say of them; new factors, and the
    Trust, which is measured where none is given.

    observations: (hkl, ratio of intensities to the model's, precision: 1 / sigma^2 of the ratio, photons of the model) of
    each still.
    """
    of_flat = numpy.full(amplitudes.grid.size, -1)
    of_flat[amplitudes.nodes] = amplitudes.of_node
    rows, ratios, precisions, shares, stills = [], [], [], [], []
    for number, (hkl, ratio, precision, photons) in enumerate(observations):
        at = hkl - amplitudes.lowest
        inside = ((at >= 0) & (at < amplitudes.grid.shape)).all(axis=1)
        row = of_flat[numpy.ravel_multi_index(numpy.where(inside[:, None], at, 0).T, amplitudes.grid.shape)]
        known = inside & (row >= 0) & (precision > 1e-3)
        rows.append(row[known])
        ratios.append(ratio[known])
        precisions.append(precision[known])
        share = photons[known] / (amplitudes.start[row[known]]**2 * factors[row[known]])
        shares.append(share / max(share.max(initial=0), 1e-300))
        stills.append(numpy.full(len(rows[-1]), number))
    rows, ratios, precisions, shares, stills = map(numpy.concatenate, (rows, ratios, precisions, shares, stills))
    trust = trust or Trust.measured(rows, ratios, precisions, shares)
    known = trust.known
    sure = 1 / (1 / precisions + numpy.interp(shares, trust.shares, trust.unsure)**2)
    weight = numpy.bincount(rows, weights=sure, minlength=amplitudes.size)
    total = numpy.bincount(rows, weights=sure * ratios, minlength=amplitudes.size)
    seen = numpy.bincount(numpy.unique(numpy.column_stack([rows, stills]), axis=0)[:, 0], minlength=amplitudes.size)
    prior = (factors / known)**2
    new = factors * numpy.maximum((total + factors / known**2) / (weight + prior), 1e-4)
    F = amplitudes.start * numpy.sqrt(new)
    sigma = F / 2 * numpy.where(seen > 0, 1 / numpy.sqrt(weight + prior), known)
    return Merged(amplitudes, F, sigma, seen), new, trust


def structure_factors(model, used, explain):
    """Refines F of a Model in rounds, and explains stills by it.

    used(): observations of the stills that F is refined on. explain(grid): explains all stills by these structure factors.
    """
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    factors, merged, trust = numpy.ones(amplitudes.size), None, None
    for _ in range(_ROUNDS):
        merged, factors, trust = merge(amplitudes, factors, used(), trust)
        explain(amplitudes.values(0.5 * numpy.log(factors)))
    return merged
