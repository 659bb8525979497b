"""Intensities of all reflections of a still by its model, on their own pixels: neighbours and
background are fitted together."""

import dataclasses

import numpy
from scipy import sparse
from scipy.sparse import linalg

from .. import _core
from .._arrays import distinct
from ._background import variance
from ._moments import Foretold
from ._response import counted

_LEAST = 0.02  # partiality
_COVERED = 0.75  # part of a profile that has to be on pixels that can be used
_FOREIGN = 9.0, 0.5  # chi-square per pixel from where on light is not the reflection's, beside so large an error of its own light
_REACH, _FARTHEST = 4.0, 12  # sigmas, and pixels, to which profiles go
_SHARE = 1e-3  # part of a reflection's light that a set of blocks has at least where its profile counts
_FAINT = 1e-5  # part of a reflection's light in a pixel that is left out
_ROUNDS = 5  # solutions, each with the weights of the one before
_OFFSETS = (1e-3, 3e-3, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)  # sigmas of a box's background, parts of the still's, that are tried
_BRIGHTEST = 10.0  # sigmas by which pixels without light may be brighter
_USUAL = 3.0  # sigmas from the background of all boxes that those of one are usually
_MEDIAN = 0.455  # the square of a normal number is as often less as it is more


@dataclasses.dataclass
class Integrated:
    """Reflections of a still, a row each. at: pixels of the image, fast and slow."""

    hkl: numpy.ndarray
    lattice: numpy.ndarray
    panel: numpy.ndarray
    at: numpy.ndarray
    half: numpy.ndarray  # pixels from the middle one to the edge of its box
    photons: numpy.ndarray  # recorded ones, above the background
    variance: numpy.ndarray  # by counting, background and neighbours; where photons are negative that of none
    slope: numpy.ndarray  # how the variance changes by the photons
    per: numpy.ndarray  # photons of the model for F^2 = 1
    partiality: numpy.ndarray
    doubt: numpy.ndarray  # variance of the logarithm of per, beside a scale and a B factor of the still
    squares: numpy.ndarray  # 1/d^2, 1/A^2
    background: numpy.ndarray  # photons of a pixel
    pixels: numpy.ndarray
    chi2: numpy.ndarray  # per pixel, by the profile

    def in_photons(self, spread):
        """With photons of a detector whose single pixels show a part ``spread`` of their noise, so
        that its pixels are counted by a unit that is as much too small, and its sums vary more than
        pixels that differ by chance alone."""
        return dataclasses.replace(self, **{name: spread * getattr(self, name) for name in ("photons", "variance", "per", "background")})

    def chosen(self, which):
        return Integrated(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))


def integrate(fit, boxes, detector):
    """The Integrated of a still.

    fit: the Fit, at its end. boxes: Boxes of the whole image's pixels, as many as reflections may
    have light in. detector: the Detector, for where panels and modules lie in the image.
    """
    blocks, x = _of_unit_factors(fit.model), fit.x
    rows = _rows(blocks, x)
    hkl, lattice, panel = rows[:, :3], rows[:, 3], rows[:, 4]
    values = blocks.values(x, 0)
    spread = (values.get("psf_fwhm", 0.0) / numpy.sqrt(8 * numpy.log(2)) / (1e-3 * detector.pixel))**2
    foretold = Foretold(blocks, hkl, lattice, panel, spread)
    mixed, tables = foretold.moments(x), foretold.tables(x)
    light, partiality = mixed[:, 0], foretold.partiality(x)
    shares = [moments[:, 0] / numpy.maximum(light, 1e-300) for moments, *_ in tables]
    squares = sum(share * q2 for share, (*_, q2) in zip(shares, tables))
    half = numpy.clip(numpy.ceil(_REACH * numpy.sqrt(mixed[:, [3, 5]].max(axis=1, initial=0.0))), 2, _FARTHEST).astype(int)
    numbers = numpy.full(boxes.rows.max(axis=0, initial=0) + 1, -1, "i4")
    numbers[tuple(boxes.rows.T)] = numpy.arange(len(boxes.rows))
    profiles = sum(_profiles(moments, share, spread, panel, half, detector.modules, numbers) for share, (moments, *_) in zip(shares, tables))
    kept = (partiality >= _LEAST) & (numpy.asarray(profiles.sum(axis=0)).ravel() > _COVERED)
    profiles, doubt = profiles.tocsc()[:, kept].tocsr(), _doubt(fit, foretold, light, lattice, squares)
    lit = boxes.sums(numpy.diff(profiles.indptr)) > 0
    profiles, boxes = profiles[lit[boxes.box]], boxes.chosen(lit)
    count = numpy.asarray((profiles > _FAINT).sum(axis=0)).ravel()
    solved = _solved(profiles, boxes, lambda light: _response(fit.model, x, light, boxes.background))
    found = Integrated(hkl[kept], lattice[kept], panel[kept], detector.modules.seen(mixed[kept, 1:3], panel[kept]), half[kept],
                       per=light[kept], partiality=partiality[kept], doubt=doubt[kept], squares=squares[kept], pixels=count, **solved)
    height = numpy.asarray(profiles.power(2).sum(axis=0)).ravel()
    return found.chosen(found.chi2 < _FOREIGN[0] + _FOREIGN[1]**2 * height * numpy.maximum(found.photons, 0))


def _of_unit_factors(blocks):
    """The same Blocks with structure factors of 1."""
    other = type(blocks).__new__(type(blocks))
    other.__dict__ |= blocks.__dict__ | {"sim": blocks.sim.copy()}
    other.sim.structure_factors = numpy.ones((1, 1, 1)), (0, 0, 0)
    other.sim["default_F"] = 1.0
    return other


def _rows(blocks, x):
    """h, k, l, lattice and panel of reflections that a set of blocks lights."""
    return distinct(numpy.concatenate([numpy.column_stack([table.miller_index, numpy.full(len(table), lattice), table.panel])
                                       for lattice, _, table in blocks.tables(x, _LEAST)]))[0]


def _response(blocks, x, light, background):
    """Counts above the background, and their slope with respect to the light."""
    if not blocks._answers(x):
        return light, numpy.ones(len(light))
    lost = blocks.dead_time(x) / blocks.seconds if blocks.seconds else 0.0
    return counted(light, background, 1.0, lost, numpy.exp(blocks.number(x, "gain")))[:2]


def _doubt(fit, foretold, light, lattice, squares):
    """The variance of the logarithm of each reflection's light by what the fit leaves unsure."""
    known = numpy.array(fit.model.groups()) != "psf"
    free = fit.free_at_end & known
    covariance = fit.covariance()[numpy.ix_(known[fit.free_at_end], known[fit.free_at_end])]
    slopes = foretold.jacobian(fit.x, free)[:, 0, free] / numpy.maximum(light, 1e-300)[:, None]
    of = lattice[:, None] == numpy.arange(len(fit.model.cells))
    common = numpy.hstack([of, of * squares[:, None]]) * 1.0
    slopes -= common @ numpy.linalg.lstsq(common, slopes, rcond=None)[0]
    return numpy.einsum("ni,ij,nj->n", slopes, covariance, slopes)


def _profiles(moments, share, spread, panel, half, modules, numbers):
    """The part of each reflection's light in each pixel by one set of blocks, times its share:
    (pixels, reflections). numbers: of the image's pixels, -1 of those that are left out."""
    of = numpy.flatnonzero(share > _SHARE)
    spots = numpy.column_stack([modules.seen(moments[of, 1:3], panel[of]), moments[of, 3:] + (spread, 0, spread)])
    pixel, spot, part = _core.spot_profiles(spots, half[of], numbers, _FAINT)
    return sparse.csr_matrix((part * share[of][spot], (pixel, of[spot])), shape=(int(numbers.max(initial=-1)) + 1, len(half)))


def _solved(profiles, boxes, response):
    """Fields of Integrated that follow from pixels, by name.

    Least squares of photons of all reflections and, of each box, of how much its background is off
    the still's. Weights are by the variance of what was found in the round before, so that photons
    are those of greatest likelihood.
    """
    data, level, count = boxes.data, boxes.background, profiles.shape[1]
    if not count:
        return {name: numpy.zeros(0) for name in ("photons", "variance", "slope", "background", "chi2")}
    of_box = sparse.csr_matrix((level, (numpy.arange(len(level)), boxes.box)), shape=(len(level), boxes.count))
    light, mean, offset = numpy.zeros(len(data)), level, _OFFSETS[4]
    for step in range(_ROUNDS):
        counts, by = response(light)
        weights = 1 / variance(numpy.maximum(mean, 0.3 * level), boxes.calibration)
        design = sparse.hstack([profiles.multiply(by[:, None]), of_box]).tocsc()
        inner = design.T @ design.multiply(weights[:, None])
        known = numpy.concatenate([1e-9 * inner.diagonal()[:count], numpy.full(boxes.count, offset**-2)])
        inner = (inner + sparse.diags(known)).tocsc()
        found = linalg.splu(inner).solve(design.T @ (weights * (data - level - counts + by * light)))
        light, under = profiles @ found[:count], level * (1 + found[count:][boxes.box])
        mean = under + response(light)[0]
        if step == 1:
            offset = _offset(data, level, boxes, numpy.diff(profiles.indptr) == 0)
    diagonal = inner.diagonal()
    shared = inner.multiply(inner) @ (1 / diagonal) - diagonal  # taken by neighbours and background
    sure = 1 / numpy.maximum(diagonal - shared, 0.01 * diagonal)[:count]
    slope = sure**2 * (profiles.multiply(by[:, None]).power(3).T @ weights**2)
    sure += slope * numpy.maximum(-found[:count], 0)
    whole = numpy.maximum(profiles.T @ numpy.ones(len(data)), 1e-9)
    return {"photons": found[:count], "variance": sure, "slope": slope, "background": profiles.T @ under / whole,
            "chi2": profiles.T @ (weights * (data - mean)**2) / whole}


def box_levels(boxes, dark):
    """The background of each box over that of the image, by pixels without light of the model, and
    by how alike these are in all boxes. Weak reflections are a part of the image's background; light
    of a spot that the model has elsewhere is not."""
    dark = dark & (boxes.data < (1 + _BRIGHTEST * _OFFSETS[-1]) * boxes.background + _BRIGHTEST * numpy.sqrt(boxes.background + 1))
    data, expected, common = boxes.data[dark], boxes.background[dark], 1.0
    over = lambda values: numpy.bincount(boxes.box[dark], weights=values, minlength=boxes.count)
    found, number = over(data), over(expected)
    for _ in range(3):
        noise = variance(numpy.maximum(common * number, 1e-6), boxes.calibration)
        usual = numpy.abs(found - common * number) < _USUAL * numpy.sqrt(noise + 1)
        common = max(found[usual].sum(), 1.0) / number[usual].sum() if number[usual].sum() > 0 else common
    level = common * expected
    noise = variance(numpy.maximum(level, 1e-6), boxes.calibration)
    offset = _offset(boxes.data, common * boxes.background, boxes, dark)
    return common * (1 + over(level * (data - level) / noise) / (over(level**2 / noise) + offset**-2))


def _offset(data, level, boxes, dark):
    """How far, as part of it, the background of a box is off, by pixels without light of the model.
    """
    excess, whole, noise = (numpy.bincount(boxes.box[dark], weights=values[dark], minlength=boxes.count)
                            for values in (data - level, level, variance(level, boxes.calibration)))
    some = noise > 0
    fits = (offset for offset in _OFFSETS[:-1]
            if numpy.median((excess**2 / (noise + (offset * whole)**2 + 1e-12))[some]) < _MEDIAN) if some.any() else ()
    return next(iter(fits), _OFFSETS[-1])
