"""The lattices of a still: orientations of a known cell on one detector, each with spots of its
own."""

import dataclasses
import itertools

import numpy

from .._arrays import distinct
from .._errors import Rejected
from ._crystal import OrientedCell
from ._geometry import ISOTROPIC, PLACE, SPHERE, Fitted, assign, fit
from ._indexing import orient, real_basis

MOST_LATTICES = 3  # that are looked for

# Limit of 1/d (1/A), pixels and degrees within which spots are indexed, and what is free: sigmas of
# the detector's tilts, the cell's form, and the directions of the mosaic spread. From what is sure
# to what is fine.
STAGES = ((0.25, 12.0, 1.5, {}), (0.35, 6.0, 1.2, {}), (0.5, 4.0, 1.0, {}),
          (numpy.inf, 3.0, 1.0, {"tilt": 0.01, "mosaic": 0.5}),
          (numpy.inf, 2.5, 1.0, {"tilt": 0.01, "mosaic": 0.5, "shape": 3e-3}),
          (numpy.inf, 2.5, 1.0, {"tilt": 0.01, "mosaic": 0.5, "shape": 3e-3}))
_SEVERAL = 25  # spots that a stage has at least
_CLEAR = 0.6  # part of the spots near nodes of an orientation that is clearly right
_WITHIN, _PIECE = 2.5, 8.0  # pixels, of spots that are indexed, and of their pieces
_ON, _SHARP = 1.0, 3  # pixels, of spots in one pixel, and more than so many of them
_WIDER, _FLAT, _FARTHEST = 1.5, 0.35, numpy.radians(4.0)  # steps in which the angle off the sphere grows where nodes are spread that evenly up to it; rad
_ELSEWHERE = numpy.array([(11, 7), (-7, 11), (-11, -7), (7, -11), (17, -3), (-3, -17)])  # pixels
_DOMAIN = numpy.radians(1.5)  # lattices that are turned by less are domains of one crystal, which sets of mosaic blocks explain better
_MOST_SPOTS, _NEAR_SPOTS = 0.8, 0.9  # part of the spots, and pixels from their reflections, of lattices that are not doubted
_NEAR_ALONE = 1.3  # pixels likewise of one that explains them alone: a wrong place of the beam makes several, or finds few spots
_ENOUGH = 20  # spots by which the beam, or a further lattice of a dense pattern, is looked for
_BESIDE, _SAME = 40.0, 8.0  # pixels: how far from the header's place it is looked for, and between places that are tried
_OWN = 0.5  # part of the spots of a further lattice that no other one has without it
_SCALE = 0.01  # by which scattering vectors of a further lattice may be longer or shorter than the first one's


def fit_stages(fitted, spots, system, stages, held=False):
    """held: the detector stays."""
    length = numpy.sort(numpy.linalg.norm(fitted.detector.scattering_vectors(spots.at), axis=1))
    several, last = length[:_SEVERAL].max(initial=0.0), None  # small cells have few spots at low angles
    for limit, tolerance, degrees, free in stages:
        fitted = assign(fitted, spots.at, tolerance, numpy.radians(degrees), max(limit, several))
        use = fitted.indexed
        before, last = last, (free, use.tobytes(), fitted.hkl[use].tobytes())
        if last == before:
            continue
        if use.sum() < 10:
            raise Rejected(f"{use.sum()} of its {len(spots)} spots are near reflections of the model; another crystal, or "
                           "several of them")
        free = {"tilt": 0.0, "shape": 0.0, "mosaic": 0.0, **free}
        fitted = fit(OrientedCell(fitted.matrix, system), fitted, spots.at[use], fitted.hkl[use], place=0.0 if held else numpy.inf,
                     **free | ({"tilt": 0.0} if held else {}))
    return _reached(fitted, spots)


def _reached(fitted, spots):
    """The lattice with the spots near its reflections, and the angle off the sphere up to which
    nodes of a mosaic crystal have light."""
    fitted = _assigned(fitted, spots)
    while fitted.reach < _FARTHEST and numpy.sqrt((fitted.missing[fitted.indexed]**2).mean()) > _FLAT * fitted.reach:
        wider = _assigned(dataclasses.replace(fitted, reach=_WIDER * fitted.reach), spots)
        gained, chance = (count(wider) - count(fitted) for count in (lambda one: one.indexed.sum(), lambda one: _by_chance(one, spots)))
        if gained < 2 * chance + 5 * numpy.sqrt(max(chance, 0.0) + 1):
            break
        fitted = wider
    return fitted


def _assigned(fitted, spots, shift=0.0):
    return assign(fitted, spots.at + shift, _WITHIN, fitted.reach, arc=max(fitted.reach - Fitted.reach, 0.0))


def orientation(spots, detectors, model, held=False, sure=True):
    """The Fitted of the lattice that most spots are of. held: the detector stays. sure: whether the
    beam may be where the detectors say. Rejected where there is none."""
    found = []
    for shifted in (False,) if held else (False, True) if sure else (True,):  # the beam's place may be some pixels off
        if shifted and found and max(part for _, _, part, *_ in found) > 0.5:
            break
        found += [(*oriented, detector) for detector in detectors
                  if (oriented := orient(detector.scattering_vectors(spots.at), spots.light, model.cell, shifted))]
    if not found:
        raise Rejected(f"it has {len(spots)} spots, too few of them at low angles to be indexed" if len(spots) else "it has no spots")
    turn, scale, part, shift, detector = max(found, key=lambda one: one[2])
    if part < 0.3 or held and abs(scale - 1) > _SCALE:
        raise Rejected(f"no orientation of the cell puts a third of its {len(spots)} spots near reflections")
    basis = numpy.linalg.inv(real_basis(model.cell)).T
    fitted = lambda turn, detector: fit_stages(Fitted(turn @ basis, detector, ISOTROPIC), spots, model.system, STAGES, held)
    if held:
        return _sure(fitted(turn, detector), spots)
    # Scattering vectors that are too long mean a distance that is too short.
    moved = detector.shifted(shift)
    moved.distance *= scale
    best, worse = fitted(turn, moved), numpy.inf
    while part < _CLEAR and _misfit(best) < 0.9 * worse:
        # The longest axis may be turned by a node along the beam: again from there, with the cell and the detector as they were.
        worse, (left, _, right) = _misfit(best), numpy.linalg.svd(best.matrix @ numpy.linalg.inv(basis))
        try:
            best = min(best, fitted(left @ right, detector), key=_misfit)
        except Rejected:
            break
    return _sure(best, spots)


def _misfit(fitted):
    """The mean square of the distances between spots and reflections, pixels^2."""
    return float(numpy.where(fitted.indexed, (fitted.off**2).sum(axis=1), _WITHIN**2).mean())


def _sure(fitted, spots):
    """The lattice, if it explains more spots than chance does; else Rejected."""
    chance = _by_chance(fitted, spots)
    if (count := fitted.indexed.sum()) < chance + 5 * numpy.sqrt(chance + 1):
        raise Rejected(f"{count} of its {len(spots)} spots are near reflections of the best orientation, and {chance:.0f} would be by "
                       "chance; another crystal, or too few spots")
    return fitted


def _by_chance(fitted, spots):
    """How many spots would be indexed elsewhere."""
    return numpy.mean([_assigned(fitted, spots, shift).indexed.sum() for shift in _ELSEWHERE])


def beams(detector, shape):
    """The detector with the beam where the symmetries of an image of this shape bring it, and some
    pixels elsewhere. An image that is mirrored or turned by 90 degrees shows the crystal in another
    orientation; only the place of the beam betrays it."""
    size = numpy.array(shape[::-1], float)
    part = numpy.array(detector.centre) / size
    places = [detector.centre]
    if len(detector.panels) == 1:
        places += [size * (sign * (turned - 0.5) + 0.5) for turned in (part, part[::-1]) for sign in itertools.product((1, -1), repeat=2)]
    places += [detector.centre + _BESIDE * numpy.array([numpy.cos(angle), numpy.sin(angle)]) for angle in numpy.arange(0, 2 * numpy.pi, numpy.pi / 4)]
    for i, place in enumerate(places):
        if all(numpy.linalg.norm(numpy.subtract(place, other)) > _SAME for other in places[:i]):
            yield dataclasses.replace(detector, centre=tuple(map(float, place)))


def _is_poor(lattices, near=_NEAR_SPOTS):
    return _indexed(lattices).mean() < _MOST_SPOTS or lattices[0].rms(lattices[0].indexed) > near


def lattices_anywhere(found, spots, detector, shape, model, most):
    """The Fitted of each lattice, as of lattices_of(), with the beam elsewhere where few spots are
    explained otherwise. found: those of lattices_of(), none where they are rejected. shape: of the
    image."""
    if len(spots) < _ENOUGH or found and not _is_poor(found, _NEAR_SPOTS if len(found) > 1 else _NEAR_ALONE):
        return found
    for moved in beams(detector, shape):
        try:
            one = orientation(spots, [moved], model, sure=False)
        except Rejected:
            continue
        if not _is_poor([one], _NEAR_ALONE) and (not found or one.indexed.sum() > _indexed(found).sum()):
            return _with_others([one], spots, model, most)
    return found


def lattices_near(lattice, spots, model, most):
    """The Fitted of each lattice, the first of which is near this one: that of another still of the
    crystal."""
    return _with_others([_sure(fit_stages(lattice, spots, model.system, STAGES), spots)], spots, model, most)


def sharp_spots(hot, lattice):
    """Which of the pixels that are much brighter than all around them are spots: those on
    reflections, if most of them are."""
    at = numpy.argwhere(hot)
    on = assign(lattice, at[:, ::-1] + 0.5, _ON, lattice.reach).indexed if len(at) else numpy.zeros(0, bool)
    found = numpy.zeros_like(hot)
    if on.sum() > max(_SHARP, 0.5 * len(at)):
        found[tuple(at[on].T)] = True
    return found


def without_pieces(spots, lattice):
    """The spots, those together that are near one reflection of the lattice: long faint ones are
    found in pieces."""
    near = (numpy.linalg.norm(lattice.off, axis=1) < _PIECE) & (numpy.abs(lattice.missing) < lattice.reach) & lattice.hkl.any(axis=1)
    of = distinct(numpy.column_stack([lattice.hkl, numpy.where(near, -1, numpy.arange(len(spots)))]))[2]
    return spots.joined(of)


def assigned(lattices, spots):
    """The lattices as they are, with the spots that are nearest to their reflections."""
    return _apart([_assigned(one, spots) for one in lattices])


def lattices_of(spots, detectors, model, most):
    """The Fitted of each lattice, at most so many, those of most spots first. They have one
    detector, and no spot in common."""
    return _with_others([orientation(spots, detectors, model)], spots, model, most)


def _with_others(found, spots, model, most):
    others = numpy.ones(len(spots), bool)  # without those of domains
    while len(found) < most:
        rest = others & ~_indexed(found)
        try:
            other = _assigned(orientation(spots.chosen(rest), [found[0].detector], model, held=True), spots)
        except Rejected:
            break
        more = found if _is_domain(other, found) else refit([*found, other], spots, model.system, STAGES[-1:])
        gained = _indexed(more).sum() - _indexed(found).sum()
        if len(more) > len(found) and _has_own(more[-1], gained, spots):
            found = more
        else:
            others &= ~(rest & other.indexed)
    found = sorted(found, key=lambda one: -one.indexed.sum())
    # The first lattice has the model's volume, which no still tells apart from the distance.
    longer = numpy.cbrt(1 / abs(numpy.linalg.det(real_basis(model.cell)) * numpy.linalg.det(found[0].matrix)))
    if len(found) == 1 or abs(longer - 1) < 1e-7:
        return found
    return assigned(at_distance(found, found[0].detector.distance / longer), spots)


def _has_own(lattice, gained, spots):
    """Whether enough of its spots are no other lattice's. gained: so many. Where reflections are
    dense, many spots of others are near its own by chance."""
    count = lattice.indexed.sum()
    return gained > _OWN * count or gained >= _ENOUGH and (count - gained) < _by_chance(lattice, spots) * (1 - gained / len(spots))


def at_distance(lattices, distance):
    """The lattices with their detector at another distance, mm, and scattering vectors that are as
    much longer or shorter: spots stay where they are."""
    before = lattices[0].detector
    detector, longer = dataclasses.replace(before, distance=distance), before.distance / distance
    return [dataclasses.replace(one, matrix=longer * one.matrix, detector=detector) for one in lattices]


def _is_domain(lattice, others):
    return any(_turned(lattice.matrix, one.matrix) < _DOMAIN for one in others)


def _turned(matrix, other):
    """By how much one lattice is turned against another, rad; inf where it is too much to tell
    which axes are the same."""
    same = other @ numpy.rint(numpy.linalg.inv(other) @ matrix)
    if abs(numpy.linalg.det(same) / numpy.linalg.det(other)) < 0.5:
        return numpy.inf
    left, strains, right = numpy.linalg.svd(matrix @ numpy.linalg.inv(same))
    cosine = (numpy.trace(left @ right) - 1) / 2
    return float(numpy.arccos(numpy.clip(cosine, -1, 1))) if numpy.abs(strains - 1).max() < 0.1 else numpy.inf


def _indexed(lattices):
    return numpy.any([one.indexed for one in lattices], axis=0)


def _apart(lattices):
    """Each spot is of the lattice whose reflection is nearest to it."""
    if len(lattices) == 1:
        return lattices
    away = [numpy.where(one.indexed, (one.off**2).sum(axis=1) / PLACE**2 + (one.missing / SPHERE)**2, numpy.inf) for one in lattices]
    of = numpy.where(_indexed(lattices), numpy.argmin(away, axis=0), -1)
    return [dataclasses.replace(one, indexed=of == k) for k, one in enumerate(lattices)]


def refit(lattices, spots, system, stages, held=False):
    """Each is fitted again to spots that are not another one's; the first says where the detector
    is. Domains of another are left out. held: the detector stays."""
    lattices, done = _apart(lattices), []
    of_any = _indexed(lattices)
    for one in lattices:
        if done:
            one = dataclasses.replace(one, detector=done[0].detector)
        try:
            fitted = fit_stages(one, spots.chosen(one.indexed | ~of_any), system, stages, held=held or bool(done))
        except Rejected:
            if not done:
                raise
            continue
        if not _is_domain(fitted, done):
            done.append(_assigned(fitted, spots))
    return _apart(done)
