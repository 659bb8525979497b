"""Structure factors from the pixels of several stills: what the spots' own intensities say of those of the model."""

import dataclasses

import numpy

from .. import _core
from ._amplitudes import Amplitudes
from ._files import write_file

_ROUNDS = 2
_UNSURE = 0.1  # sigma of a spot's intensity, as a part, beside that of its photons: what the model does not know of it
_KNOWN = 1.0  # sigma of F^2 of the model, as a part


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


def merge(amplitudes, factors, observations):
    """The Merged of factors by which F^2 is that of the start, (size,), and what stills say of them.

    observations: (hkl, ratio of intensities to the model's, precision: 1 / sigma^2 of the ratio) of each still.
    """
    of_flat = numpy.full(amplitudes.grid.size, -1)
    of_flat[amplitudes.nodes] = amplitudes.of_node
    weight, total = numpy.zeros(amplitudes.size), numpy.zeros(amplitudes.size)
    seen = numpy.zeros(amplitudes.size, int)
    for hkl, ratio, precision in observations:
        at = hkl - amplitudes.lowest
        inside = ((at >= 0) & (at < amplitudes.grid.shape)).all(axis=1)
        row = of_flat[numpy.ravel_multi_index(numpy.where(inside[:, None], at, 0).T, amplitudes.grid.shape)]
        known = inside & (row >= 0) & (precision > 1e-3)
        sure = 1 / (1 / precision[known] + _UNSURE**2)
        row = row[known]
        numpy.add.at(weight, row, sure)
        numpy.add.at(total, row, sure * ratio[known])
        seen[numpy.unique(row)] += 1
    prior = (factors / _KNOWN)**2
    new = factors * numpy.maximum((total + factors / _KNOWN**2) / (weight + prior), 1e-4)
    F = amplitudes.start * numpy.sqrt(new)
    sigma = F / 2 * numpy.where(seen > 0, 1 / numpy.sqrt(weight + prior), _KNOWN)
    return Merged(amplitudes, F, sigma, seen), new


def structure_factors(model, used, explain):
    """Refines F of a Model in rounds, and explains stills by it.

    used(): observations of the stills that F is refined on. explain(grid): explains all stills by these structure factors.
    """
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    factors, merged = numpy.ones(amplitudes.size), None
    for _ in range(_ROUNDS):
        merged, factors = merge(amplitudes, factors, used())
        explain(amplitudes.values(0.5 * numpy.log(factors)))
    return merged
