"""Intensities of many stills merged: their scales and errors, means of the data alone, and what a
model adds to them."""

import dataclasses

import numpy
from scipy import optimize, sparse, special
from scipy.sparse import linalg

from .. import _core
from .._arrays import distinct

_SHELLS, _LEAST = 15, 60  # shells of resolution, and observed reflections of each
_ROUNDS = 6  # in which scales and errors are fitted
_SURE = 5.0  # sigmas by photons of a mean that scales are compared with
_KNOWN = 1e-4  # precision of scales (logarithm) and B factors (A^2) about those of the fit
_BY_MODEL = 0.1  # part of a crystal's reflections that its fit has these by: bright ones tell most
_WRONG = 5.0  # sigmas beyond which an observation counts less and less
_START = numpy.log([1.0, 0.03, 0.03])  # logarithms of errors, see variances()
_STEP = 0.3  # by which these are tried
_TRIED = 20000  # observations that say these
_POINTS = 129  # at which a function of F is added up


class Observations:
    """Intensities of reflections, F^2 on the scale of the model, on a number of crystals.

    amplitudes: Amplitudes of the model. integrated: an Integrated of each crystal. stills: the
    number of each one's image. Systematic absences are left out.

    hkl: (n, 3) of the asymmetric unit; row, crystal: which of them, and which crystal, each
    observation is of.
    """

    def __init__(self, amplitudes, integrated, stills):
        joined = {name: numpy.concatenate([getattr(one, name) for one in integrated])
                  for name in ("hkl", "at", "photons", "variance", "slope", "per", "doubt", "squares", "partiality")}
        _, unit, mate, _, absent = _core.to_asymmetric_unit(amplitudes.space_group, joined["hkl"].astype(numpy.int64))
        crystal = numpy.repeat(numpy.arange(len(integrated)), [len(one.hkl) for one in integrated])
        unit, self.mate, self.crystal, *columns = (column[absent == 0] for column in (unit, mate, crystal, *joined.values()))
        self.measured, self.at, photons, variance, slope, per, self.doubt, self.squares, self.partiality = columns
        every, _, rows = distinct(numpy.concatenate([unit, amplitudes.hkl]))
        seen, self.row = numpy.unique(rows[:len(unit)], return_inverse=True)
        model = numpy.full(len(every), numpy.nan)
        model[rows[len(unit):]] = 2 * numpy.log(amplitudes.start)
        self.hkl, self.model = every[seen], model[seen]
        self.half = numpy.array(stills)[self.crystal] % 2
        self.first = photons / per, variance / per**2, slope / per
        self.far = -2 * numpy.log(numpy.minimum(self.partiality, 1))
        self.scales = numpy.zeros((2, len(integrated)))  # logarithms, and B factors, about those of the fit
        self.middles = self.of_crystals(self.squares) / numpy.maximum(self.of_crystals(1.0), 1)
        self.middle = self.squares - self.middles[self.crystal]
        self.of_reflections = self.sums(self.squares) / numpy.maximum(self.sums(1.0 + 0 * self.squares), 1)
        self.common = numpy.zeros(2)
        self.errors = _START
        self._scaled()
        for _ in range(_ROUNDS):
            self.mean, self.sigma, self.seen = self.merged()
            self._fit_errors()
            self._fit_scales()
        self.mean, self.sigma, self.seen = self.merged()

    def sums(self, values):
        """Over the observations of each reflection."""
        return numpy.bincount(self.row, weights=values, minlength=len(self.hkl))

    def of_crystals(self, values):
        """Sums over the observations on each crystal."""
        return numpy.bincount(self.crystal, weights=numpy.broadcast_to(values, self.crystal.shape), minlength=self.scales.shape[1])

    def _scaled(self):
        """Intensities, their variances and slopes, by the scales of their crystals."""
        factor = numpy.exp(self.scales[0, self.crystal] + self.scales[1, self.crystal] * self.middle / 2)
        self.I, self.variance, self.slope = (column * factor**power for column, power in zip(self.first, (1, 2, 1)))

    def variances(self, mean, errors, which=slice(None)):
        """Variances of observations of reflections of these intensities, each one's.

        errors: logarithms of a factor of the photons' noise, of a relative error, and of another
        that grows with the distance from the sphere.
        """
        noise, relative, tail = numpy.exp(2 * errors)
        variance, mean = self.variance[which], numpy.maximum(mean, 0)
        photons = numpy.maximum(variance + self.slope[which] * (mean - numpy.maximum(self.I[which], 0)), 0.1 * variance)
        return noise * photons + (relative + tail * self.far[which] + self.doubt[which]) * mean**2

    def _trusted(self, mean, variance):
        """Weights of observations of reflections of these intensities; large distances count less."""
        return 1 / variance / (1 + ((self.I - mean)**2 / variance / _WRONG**2)**2)

    def merged(self, which=None):
        """Mean intensity and its sigma of each reflection, nan where there is none, and number of
        observations. which: of these."""
        use = numpy.ones(len(self.row), bool) if which is None else which
        weights = use / self.variance
        for _ in range(4):
            total = self.sums(weights)
            with numpy.errstate(invalid="ignore", divide="ignore"):
                mean = self.sums(weights * self.I) / total
                sigma = total**-0.5
            each = numpy.nan_to_num(mean)[self.row]
            weights = use * self._trusted(each, self.variances(each, self.errors))
        return mean, sigma, self.sums(use).astype(int)

    def _fit_errors(self):
        """The errors of greatest likelihood, by how far observations are from means of the others;
        large distances count less."""
        some = numpy.arange(len(self.hkl)) % (len(self.row) // _TRIED + 1) == 0
        which = numpy.flatnonzero((some & (self.seen > 1))[self.row])
        if not len(which):
            return
        row, I, mean = self.row[which], self.I[which], self.mean[self.row[which]]
        sums = lambda values: numpy.bincount(row, weights=values)[row]

        def unlikely(errors):
            variance = self.variances(mean, errors, which)
            weights = 1 / variance
            rest = numpy.maximum(sums(weights) - weights, 1e-12 * weights)
            whole = variance + 1 / rest
            z = numpy.abs(I - (sums(weights * I) - weights * I) / rest) / numpy.sqrt(whole)
            return 0.5 * (numpy.log(whole) + special.huber(3.0, z) * 2).sum() + 0.5 * ((errors - _START)**2).sum()

        simplex = self.errors + _STEP * numpy.vstack([numpy.zeros(len(self.errors)), numpy.eye(len(self.errors))])
        self.errors = optimize.minimize(unlikely, self.errors, method="Nelder-Mead",
                                        options={"xatol": 0.01, "fatol": 0.1, "initial_simplex": simplex}).x

    def _fit_scales(self):
        """A scale and a B factor of each crystal, by other crystals' intensities of the same
        reflections, with its fit to the model as a prior. The model also says what all crystals
        have in common: only bright reflections are compared, and more of them are bright by chance
        than weak by chance.
        """
        mean = self.mean[self.row]
        use = mean > _SURE * self._noise()[self.row]
        mean = numpy.where(use, mean, 1)
        weights = use * mean**2 * self._trusted(mean, self.variances(mean, self.errors))
        rest = numpy.where(use, self.I / mean - 1, 0)
        total = numpy.maximum(self.sums(weights), 1e-9)
        shape, slope = self.scales.shape, self.middle / 2
        by_crystal = lambda values: numpy.concatenate([self.of_crystals(values), self.of_crystals(values * slope)])
        without = lambda values: weights * (values - (self.sums(weights * values) / total)[self.row])
        known = numpy.isfinite(self.model) & (self.sums(use) > 0)
        off = numpy.log(self.mean[known]) - self.model[known]
        doubt = max(1.4826 * float(numpy.median(numpy.abs(off - numpy.median(off)))), 0.01) if known.any() else 1.0
        sure = _BY_MODEL / doubt**2 * numpy.concatenate([self.of_crystals(use), self.of_crystals(use * slope**2)]) + _KNOWN

        def curvature(change):
            scale, B = change.reshape(shape)
            return by_crystal(without(scale[self.crystal] + B[self.crystal] * slope)) + sure * change

        size = self.scales.size
        unit = numpy.concatenate([self.of_crystals(weights), self.of_crystals(weights * slope**2)]) + sure
        away = (self.scales - self._common()).ravel()
        change, _ = linalg.cg(linalg.LinearOperator((size, size), curvature), -by_crystal(without(rest)) - sure * away, M=sparse.diags(1 / unit),
                              maxiter=200)
        self.scales += change.reshape(shape)
        self._fit_common()
        self._scaled()

    def _noise(self):
        """The sigma of each reflection's intensity by its photons alone."""
        return numpy.maximum(self.sums(1 / self.variance), 1e-300)**-0.5

    def _common(self):
        """The scales and B factors of crystals that are those of their fits but for what all have in
        common."""
        scale, B = self.common
        return numpy.stack([scale + B * self.middles / 2, 0 * self.middles + B])

    def _fit_common(self):
        """The scale and the B factor that all crystals have in common, by the logarithms of
        intensities over the model's, of reflections that are bright in both together."""
        known = numpy.isfinite(self.model) & (self.mean > 0)
        model, mean = self.model[known], numpy.log(self.mean[known])
        bright = 0.5 * (model + mean) > numpy.log(_SURE * self._noise()[known])
        if bright.sum() < _LEAST:
            return
        rows, off = numpy.stack([numpy.ones(bright.sum()), self.of_reflections[known][bright] / 2]), (model - mean)[bright]
        change = numpy.array([numpy.median(off), 0.0])
        for _ in range(_ROUNDS):
            left = off - change @ rows
            weights = 1 / (1 + (left / numpy.maximum(1.4826 * numpy.median(numpy.abs(left)), 0.01))**2)
            change = numpy.linalg.solve((rows * weights) @ rows.T, (rows * weights) @ off)
        before = self._common()
        self.common = self.common + change
        self.scales += self._common() - before

    def parts(self):
        """Means and sigmas of the reflections on stills of even and of odd numbers, and of both
        Friedel mates."""
        return numpy.array([self.merged(of == number)[:2] for of in (self.half, self.mate) for number in (0, 1)])

    def content(self, space_group, cell, wavelength, crystals):
        """An unmerged MTZ file, a batch for each crystal. crystals: cell and wavelength of each."""
        columns = [("M/ISYM", "Y"), ("BATCH", "B"), ("I", "J"), ("SIGI", "Q"), ("FRACTIONCALC", "R"), ("XDET", "R"), ("YDET", "R")]
        sigma = numpy.sqrt(self.variances(self.mean[self.row], self.errors))
        rows = numpy.column_stack([self.measured, 0 * self.row, self.crystal + 1, self.I, sigma, self.partiality, self.at])
        return _core.mtz(space_group, [float(v) for v in cell], float(wavelength), columns, rows, crystals)


def expected(I, sigma, about, variance, centric):
    """Mean and sigma of F by an intensity, or nan, and what is known beside it: that it is
    ``about`` an amplitude, with a variance.

    Structure factors are normal about one of that amplitude in the complex plane, and those that
    are centric along a line.
    """
    mean = numpy.where(centric, _folded(about, variance), _rice(about, variance))
    spread = numpy.sqrt(numpy.maximum(about**2 + variance - mean**2, 0))
    known = numpy.isfinite(I)
    mean[known], spread[known] = _by_data(*(values[known] for values in (I, sigma, about, variance, centric)))
    return mean, spread


def _rice(about, variance):
    """The mean length of a vector that is normal in the plane, about one of a length."""
    t = about**2 / variance
    return 0.5 * numpy.sqrt(numpy.pi * variance) * ((1 + t) * special.i0e(t / 2) + t * special.i1e(t / 2))


def _folded(about, variance):
    """The mean size of a number that is normal about one of a size."""
    t = about**2 / (2 * variance)
    return numpy.sqrt(2 * variance / numpy.pi) * numpy.exp(-t) + about * special.erf(numpy.sqrt(t))


def _by_data(I, sigma, about, variance, centric):
    """As expected(), all intensities measured: means over points where there is likelihood."""
    wide = numpy.sqrt(variance)
    low, high = numpy.maximum(about - 6 * wide, 0), about + 6 * wide
    from_data = numpy.sqrt(numpy.maximum(I - 6 * sigma, 0)), numpy.sqrt(numpy.maximum(I + 6 * sigma, 3 * sigma))
    both = (from_data[0] < high) & (from_data[1] > low)
    low = numpy.where(both, numpy.maximum(low, from_data[0]), from_data[0])
    high = numpy.where(both, numpy.minimum(high, from_data[1]), from_data[1])
    F = low[:, None] + (high - low)[:, None] * (numpy.arange(_POINTS) + 0.5) / _POINTS
    about, variance = about[:, None], variance[:, None]
    product = 2 * F * about / variance
    log = numpy.where(centric[:, None], -(F - about)**2 / (2 * variance) + numpy.log1p(numpy.exp(-product)),
                      numpy.log(F) - (F - about)**2 / variance + numpy.log(special.i0e(product)))
    log -= 0.5 * ((F**2 - I[:, None]) / sigma[:, None])**2
    part = numpy.exp(log - log.max(axis=1, keepdims=True))
    part /= part.sum(axis=1, keepdims=True)
    mean = (part * F).sum(axis=1)
    return mean, numpy.sqrt((part * (F - mean[:, None])**2).sum(axis=1))


@dataclasses.dataclass
class Merged:
    """Reflections of the asymmetric unit. I, F and their sigmas are of the data alone, nan where
    there are none; F_post with what the model says. seen: observations. halves: I of two halves of
    the stills. mates: I and sigma of +, I and sigma of -, in the latter no centric ones. squares:
    1/d^2, 1/A^2."""

    space_group: str
    hkl: numpy.ndarray
    squares: numpy.ndarray
    seen: numpy.ndarray
    I: numpy.ndarray
    sigma_I: numpy.ndarray
    F: numpy.ndarray
    sigma_F: numpy.ndarray
    F_post: numpy.ndarray
    sigma_post: numpy.ndarray
    halves: numpy.ndarray
    mates: numpy.ndarray
    of_amplitude: numpy.ndarray  # the row of each of the model's amplitudes

    def content(self, cell, wavelength):
        """An MTZ file."""
        columns = [("I", "J"), ("SIGI", "Q"), ("F", "F"), ("SIGF", "Q"), ("FPOST", "F"), ("SIGFPOST", "Q"),
                   ("I(+)", "K"), ("SIGI(+)", "M"), ("I(-)", "K"), ("SIGI(-)", "M"), ("N", "I")]
        rows = numpy.column_stack([self.hkl, self.I, self.sigma_I, self.F, self.sigma_F, self.F_post, self.sigma_post, *self.mates, self.seen])
        return _core.mtz(self.space_group, [float(v) for v in cell], float(wavelength), columns, rows)

    def shells(self):
        """Rows of statistics by shell of resolution and of all, the first with names."""
        yield ["d_max_A", "d_min_A", "possible", "unique", "completeness", "observations", "multiplicity", "I_over_sigma", "pairs",
               "CC_half", "CC_star", "R_split"]
        order = numpy.argsort(self.squares)
        order = order[self.squares[order] <= self.squares[self.seen > 0].max(initial=0)]
        for part in (*numpy.array_split(order, max(min(_SHELLS, len(order) // _LEAST), 1)), order):
            seen, count = part[self.seen[part] > 0], self.seen[part].sum()
            one, other = self.halves[:, part][:, numpy.isfinite(self.halves[:, part]).all(axis=0)]
            half = numpy.corrcoef(one, other)[0, 1] if len(one) > 2 else numpy.nan
            split = 2**0.5 * numpy.abs(one - other).sum() / (one + other).sum() if len(one) else numpy.nan
            numbers = (len(seen) / max(len(part), 1), count, count / max(len(seen), 1), (self.I[seen] / self.sigma_I[seen]).mean() if len(seen) else numpy.nan,
                       len(one), half, numpy.sqrt(2 * half / (1 + half)) if half > 0 else numpy.nan, split)
            ends = self.squares[part[[0, -1]]]**-0.5 if len(part) else (numpy.nan, numpy.nan)
            yield [*(f"{d:.3f}" for d in ends), len(part), len(seen), *(f"{v:.4g}" if numpy.isfinite(v) else "" for v in numbers)]


def merge(observations, amplitudes, basis):
    """The Merged of Observations. amplitudes: Amplitudes of the model. basis: rows by which h, k, l
    become vectors in 1/A."""
    hkl, _, row = distinct(numpy.concatenate([amplitudes.hkl, observations.hkl]))
    of_model, of_data = numpy.split(row, [amplitudes.size])

    def placed(values, rows, without=numpy.nan):
        whole = numpy.full((len(hkl), *values.shape[1:]), without, values.dtype)
        whole[rows] = values
        return whole

    squares = ((hkl @ basis)**2).sum(axis=1)
    I, sigma, seen = (placed(v, of_data, w) for v, w in ((observations.mean, numpy.nan), (observations.sigma, numpy.nan), (observations.seen, 0)))
    model = placed(amplitudes.start, of_model, 0.0)
    _, _, _, centric, _ = _core.to_asymmetric_unit(amplitudes.space_group, hkl)
    light, about, variance = _known(squares, I, sigma, model)
    none = numpy.zeros(len(hkl))
    F, sigma_F = (numpy.where(seen > 0, v, numpy.nan) for v in expected(I, sigma, none, light, centric > 0))
    parts = numpy.array([[placed(column, of_data) for column in part] for part in observations.parts()])
    return Merged(amplitudes.space_group, hkl, squares, seen, I, sigma, F, sigma_F, *expected(I, sigma, about, variance, centric > 0),
                  parts[:2, 0], parts[2:].reshape(4, -1), of_model)


def _known(squares, I, sigma, model):
    """Mean intensity at each reflection's resolution, the amplitude that the model lets expect, and
    its variance: by how much measured intensities vary with the model's."""
    seen = numpy.flatnonzero(numpy.isfinite(I))
    parts = numpy.array_split(seen[numpy.argsort(squares[seen])], max(min(_SHELLS, len(seen) // _LEAST), 1))
    numbers = []
    for part in parts:
        part = part[model[part] > 0] if (model[part] > 0).sum() > 2 else part
        light, by_model = max(I[part].mean(), sigma[part].mean() * 0.1), model[part]**2
        varying = max(I[part].var() - (sigma[part]**2).mean(), 0.01 * light**2) * by_model.var()
        alike = numpy.clip(numpy.cov(I[part], by_model)[0, 1] / max(varying, 1e-300)**0.5, 0, 0.999) if len(part) > 2 else 0.0
        numbers.append((light, numpy.sqrt(alike * light / max(by_model.mean(), 1e-300)), light * (1 - alike)))
    shell = numpy.searchsorted([squares[part].max() for part in parts[:-1]], squares)
    light, scale, variance = numpy.array(numbers)[shell].T
    return light, numpy.where(model > 0, scale * model, 0), numpy.where(model > 0, variance, light)
