"""Structure factors of an asymmetric unit, of which a grid of all Miller indices is made."""

import numpy

from .. import _core
from .._arrays import distinct


_BEND = 0.1  # below the root of this part of its start, an intensity no longer falls linearly with its number


class Amplitudes:
    """F of each reflection of the asymmetric unit; equivalents, and Friedel mates unless they are
    kept apart, have one F.

    For each a number x is refined, 0 at the start, in which the intensity is linear while it is not
    near 0: F^2 = start^2 (t + sqrt(t^2 + b)) / (1 + sqrt(1 + b)), t = 1 + x. An image is linear in
    intensities, so the sum of squares is nearly quadratic in x, and F stays above 0.

    grid, lowest: Simulator.structure_factors. space_group: Hermann-Mauguin or Hall symbol.
    anomalous: mates apart. Where F is 0, is absent by symmetry, or is that of 0 0 0, it stays as it
    is.

    hkl: (size, 3) in the asymmetric unit. mate: (size,) 1 for that of -h -k -l. start: (size,)
    electrons, the mean of the equivalents. centric: (size,).
    """

    def __init__(self, grid, lowest, space_group, anomalous=False):
        self.grid, self.lowest = grid, numpy.array(lowest)
        hkl = numpy.stack(numpy.meshgrid(*(numpy.arange(n) + low for n, low in zip(grid.shape, lowest)), indexing="ij"),
                          axis=-1).reshape(-1, 3).astype(numpy.int64)
        self.space_group, unit, mate, centric, absent = _core.to_asymmetric_unit(space_group, hkl)
        flat = grid.reshape(-1)
        self.nodes = numpy.flatnonzero((flat > 0) & (absent == 0) & (hkl != 0).any(axis=1))
        unit, mate, centric = unit[self.nodes], mate[self.nodes] if anomalous else numpy.zeros_like(mate[self.nodes]), \
            centric[self.nodes]
        rows, first, self.of_node = distinct(numpy.column_stack([unit, mate]))
        self.hkl, self.mate, self.centric = rows[:, :3], rows[:, 3], centric[first].astype(bool)
        self.size = len(rows)
        self.start = (numpy.bincount(self.of_node, weights=flat[self.nodes], minlength=self.size)
                      / numpy.maximum(numpy.bincount(self.of_node, minlength=self.size), 1))
        self.anomalous = anomalous

    @staticmethod
    def logarithms(x):
        """log F / start."""
        return 0.5 * (numpy.arcsinh((1 + x) / _BEND**0.5) - numpy.arcsinh(1 / _BEND**0.5))

    @staticmethod
    def numbers(logarithms):
        """x, the other way round."""
        return _BEND**0.5 * numpy.sinh(2 * logarithms + numpy.arcsinh(1 / _BEND**0.5)) - 1

    @staticmethod
    def slopes(x):
        """The derivative of log F with respect to x."""
        return 0.5 / numpy.sqrt((1 + x)**2 + _BEND)

    def values(self, logarithms):
        """The grid, in its shape."""
        grid = self.grid.copy()
        grid.reshape(-1)[self.nodes] = (self.start * numpy.exp(logarithms))[self.of_node]
        return grid

    def gradient(self, grid, by_grid):
        """The derivative with respect to log F, from that with respect to the numbers of the grid (flat)."""
        nodes = self.nodes
        return numpy.bincount(self.of_node, weights=by_grid[nodes] * grid.reshape(-1)[nodes], minlength=self.size)

    def mates(self):
        """Pairs of F+ and F-, (pairs, 2)."""
        if not self.anomalous:
            return numpy.empty((0, 2), int)
        same = (self.hkl[1:] == self.hkl[:-1]).all(axis=1)
        first = numpy.flatnonzero(same)
        return numpy.column_stack([first, first + 1])

    def lengths(self, matrix):
        """1/d of each, in 1/A, for columns a*, b*, c*."""
        return numpy.linalg.norm(self.hkl @ matrix.T, axis=1)


class AmplitudeRestraints:
    """Knowledge of structure factors beside the pixels: where they started, that mates are alike,
    and the mean of log F in a shell of resolution. Sigmas are of log F; infinite ones are none.
    """

    def __init__(self, amplitudes, start=numpy.inf, friedel=numpy.inf, shells=numpy.inf, lengths=None, count=20):
        self.weights = [1 / s**2 for s in (start, friedel, shells)]
        self.pairs = amplitudes.mates()
        self.log_start = numpy.log(amplitudes.start)
        order = numpy.argsort(lengths if lengths is not None else numpy.zeros(amplitudes.size), kind="stable")
        self.shell = numpy.empty(amplitudes.size, int)
        self.shell[order] = numpy.arange(amplitudes.size) * min(count, amplitudes.size) // max(amplitudes.size, 1)

    def at(self, logarithms):
        """Minus the logarithm of the likelihood of log F / start, and its derivative."""
        start, friedel, shells = self.weights
        y = logarithms + self.log_start
        value, gradient = 0.5 * start * float(logarithms @ logarithms), start * logarithms
        if friedel and len(self.pairs):
            apart = y[self.pairs[:, 0]] - y[self.pairs[:, 1]]
            value += 0.5 * friedel * float(apart @ apart)
            gradient[self.pairs[:, 0]] += friedel * apart
            gradient[self.pairs[:, 1]] -= friedel * apart
        if shells and len(y):
            means = numpy.bincount(self.shell, weights=y) / numpy.maximum(numpy.bincount(self.shell), 1)
            off = y - means[self.shell]
            value += 0.5 * shells * float(off @ off)
            gradient += shells * off
        return value, gradient

    def curvature(self):
        """An upper bound of the diagonal of the second derivative."""
        start, friedel, shells = self.weights
        bound = numpy.full(len(self.log_start), start + shells)
        numpy.add.at(bound, self.pairs.reshape(-1), 2 * friedel)
        return bound
