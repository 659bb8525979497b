"""Miller indices that intensities tell, where places of spots do not: the other choices of a
symmetric or almost symmetric lattice, and a beam that is off by whole reciprocal lattice vectors.
"""

import dataclasses
import itertools

import numpy

from .. import _core
from .._arrays import distinct
from .._errors import Rejected
from ._crystal import OrientedCell
from ._lattices import STAGES, fit_stages

OBLIQUITY = 1.0  # degrees by which a lattice may fall short of a symmetry
_EXACT = 1e-4  # part of the cell, within which a choice turns a lattice onto itself
_DECIDED = 5.0  # sigmas by which light has to be more like the model's where the beam is off by a lattice vector
_FAR = 60.0  # pixels that the beam may be off
_FLOOR = 0.01  # part of the mean intensity; the light of weaker reflections says no more
_LEAST = 15  # spots
SURE = 0.04  # variance of the logarithm of an intensity that is compared
_VARIED = 0.1  # standard deviation of logarithms of intensities that tell crystals apart
_PLACES = 0.25  # weight of a spot's place, since places err together
_WORST, _SHARP = 2.5, 0.1  # pixels: a spot that is farther off says no more; spots are not nearer
_ROUNDS, _ORDERS = 20, 4  # in which stills are made to agree


def shifts(matrix, detector):
    """Lattice vectors by which indices may be off, since the beam is, the nearest first."""
    reach = _FAR * detector.pixel / (detector.distance * detector.wavelength)
    most = numpy.ceil(reach * numpy.linalg.norm(numpy.linalg.inv(matrix), axis=1)).astype(int)
    every = numpy.array(list(itertools.product(*(range(-m, m + 1) for m in most))))
    length = numpy.linalg.norm(every @ matrix.T, axis=1)
    return every[numpy.argsort(length)][:numpy.searchsorted(numpy.sort(length), reach)]


def by_model(model):
    """Logarithms of the model's intensities by Miller indices, nan where they are not known."""
    grid = model.grid**2
    floor = _FLOOR * grid[grid > 0].mean() if (grid > 0).any() else 1.0

    def known(hkl):
        at = hkl - numpy.array(model.lowest)
        inside = ((at >= 0) & (at < grid.shape)).all(axis=1)
        values = grid[tuple(numpy.where(inside[:, None], at, 0).T)]
        return numpy.where(inside & (values > 0), numpy.log(numpy.maximum(values, floor)), numpy.nan)

    return known


class Light:
    """Logarithms of the light of a lattice's spots, and what they have in common: scale,
    resolution, and ``more`` columns. spent: numbers that were fitted to the light."""

    def __init__(self, hkl, matrix, logs, more=(), spent=0):
        self.hkl, self.logs, self.spent = hkl, logs, spent
        length = numpy.linalg.norm(hkl @ matrix.T, axis=1)
        self.common = numpy.column_stack([numpy.ones(len(length)), length, length**2, *more])

    @classmethod
    def of_spots(cls, lattice, light):
        """light: of all spots, whose distance from the sphere they have in common."""
        use = lattice.indexed
        off = numpy.abs(lattice.missing[use])
        return cls(lattice.hkl[use], lattice.matrix, numpy.log(light[use]), (off, off**2))

    @classmethod
    def of_pixels(cls, explained, known):
        """The light of the first lattice's reflections over their partiality, as pixels say it.
        known: of by_model(), with the structure factors by which they were explained."""
        hkl = explained.hkl
        sure = (explained.precision * explained.ratio**2 > 1 / SURE) & (hkl[:, 3:] == 0).all(axis=1)
        hkl = hkl[sure, :3]
        return cls(hkl, explained.lattices[0].matrix, numpy.log(explained.ratio[sure]) + known(hkl), spent=int((explained.sigma > 0).sum()))

    def without(self, use):
        """The logarithms of these spots without what they have in common."""
        basis, _ = numpy.linalg.qr(self.common[use])
        return lambda logs: logs[use] - basis @ (basis.T @ logs[use])

    def tells(self, known):
        """Whether agreement() with intensities can be told: enough of them are known, and they
        differ."""
        use = numpy.isfinite(known)
        return use.sum() >= _LEAST and self.without(use)(known).std() > _VARIED

    def agreement(self, known):
        """By how many sigmas more than chance the light is like intensities, of which logarithms
        are known, or nan."""
        use = numpy.isfinite(known)
        more = use.sum() - self.common.shape[1] - 2 - self.spent
        if use.sum() < _LEAST or more < 1:
            return 0.0
        alike, own = map(self.without(use), (known, self.logs))
        r = alike @ own / numpy.sqrt(max((alike @ alike) * (own @ own), 1e-300))
        return float(numpy.arctanh(min(r, 0.999)) * numpy.sqrt(more))


def shifted(light, choices, possible, known):
    """The number of the shift of indices by which light is decidedly more like intensities, by any
    of the choices of indices; else 0."""
    score = lambda shift: max(light.agreement(known(numpy.rint((light.hkl + shift) @ choice).astype(int))) for choice in choices)
    if (first := score(possible[0])) > _DECIDED:
        return 0
    scores = [score(shift) for shift in possible]
    best = int(numpy.argmax(scores))
    return best if scores[best] > first + _DECIDED else 0


def in_setting(lattice, spots, model):
    """A lattice of a centred cell by the indices, of those that the cell allows, by which most
    spots have allowed ones: obverse or reverse. model: the Model of its crystal."""
    if not numpy.any(absent(model.hall, numpy.eye(3, dtype=int))):
        return lattice
    turns = settings_of(model.cell)
    wrong = [absent(model.hall, lattice.hkl[lattice.indexed] @ turn).sum() for turn in turns]
    best = int(numpy.argmin(wrong))
    return by_choice(lattice, turns[best], spots, model.system) if wrong[best] < 0.5 * wrong[0] else lattice


def settings_of(cell):
    """Matrices by which rows of Miller indices are multiplied: all that the cell (A, degrees)
    allows, the identity first."""
    return [numpy.eye(3), *_core.indexing_choices("P 1", list(cell), OBLIQUITY)[1]]


def absent(group, hkl):
    return _core.to_asymmetric_unit(group, numpy.rint(hkl).astype(int))[4].astype(bool)


class Candidates:
    """A lattice by all choices of its indices: Fitted of each, those that are not exact fitted
    again to its spots."""

    def __init__(self, lattice, choices, spots, system):
        self.lattices = [by_choice(lattice, choice, spots, system) for choice in choices]
        self.light = Light.of_spots(lattice, spots.light)
        self.hkl = [numpy.rint(self.light.hkl @ choice).astype(int) for choice in choices]
        within = [numpy.fmin((one.off[lattice.indexed]**2).sum(axis=1), _WORST**2) for one in self.lattices]
        self.places = numpy.array([-_PLACES * len(off) * numpy.log(off.mean() + _SHARP**2) for off in within])

    def likelihoods(self, known):
        """The logarithm of the likelihood of each choice, by places and light; known: logarithms of
        the spots' intensities by each choice, or nan."""
        light = numpy.array([self.light.agreement(logs) for logs in known])
        return self.places + numpy.maximum(light, 0)**2 / 2


def by_choice(lattice, choice, spots, system):
    """The lattice with indices that are multiplied by a matrix."""
    hkl = lattice.hkl @ choice
    whole = numpy.abs(hkl - numpy.rint(hkl)).max(axis=1) < 0.1
    turned = dataclasses.replace(lattice, hkl=numpy.rint(hkl).astype(int), matrix=lattice.matrix @ numpy.linalg.inv(choice).T,
                                 indexed=lattice.indexed & whole)
    metric, new = lattice.matrix.T @ lattice.matrix, turned.matrix.T @ turned.matrix
    if numpy.abs(new - metric).max() < _EXACT * numpy.abs(metric).max():
        return turned
    basis = OrientedCell(lattice.matrix, system).basis
    left, _, right = numpy.linalg.svd(turned.matrix @ numpy.linalg.inv(basis))
    mine = numpy.flatnonzero(lattice.indexed)
    try:
        fitted = fit_stages(dataclasses.replace(turned, matrix=left @ right @ basis), spots.chosen(mine), system, STAGES[-2:], held=True)
    except Rejected:
        return dataclasses.replace(turned, indexed=numpy.zeros_like(lattice.indexed), off=numpy.full_like(lattice.off, numpy.inf))
    whole = {name: getattr(turned, name).copy() for name in ("hkl", "indexed", "off", "missing")}
    for name, values in whole.items():
        values[mine] = getattr(fitted, name)
    return dataclasses.replace(fitted, **whole)


def chosen(likelihoods):
    """The likeliest choice, and by how many sigmas it is likelier than the next, inf where it is
    the only one."""
    order = numpy.argsort(-likelihoods)
    return int(order[0]), float(numpy.sqrt(2 * (likelihoods[order[0]] - likelihoods[order[1]]))) if len(order) > 1 else numpy.inf


def by_each_other(candidates, group):
    """The choice of each lattice's indices by which the light of equivalents is alike, and its
    margin (Brehm and Diederichs, 2014). The first choice of the lattice of most spots is as good as
    any other.

    candidates: a Candidates for each lattice; group: their space group.
    """
    of = [[_core.to_asymmetric_unit(group, hkl)[1] for hkl in one.hkl] for one in candidates]
    every, _, of_all = distinct(numpy.concatenate([hkl for one in of for hkl in one]))
    bounds = numpy.cumsum([0, *(len(hkl) for one in of for hkl in one)])
    rows = iter(numpy.split(of_all, bounds[1:-1]))
    of = [[next(rows) for _ in one] for one in of]
    logs = [one.light.without(slice(None))(one.light.logs) for one in candidates]
    best = None
    for seed in range(_ORDERS):
        order = numpy.argsort([-len(one) for one in logs], kind="stable")
        if seed:
            order[1:] = numpy.random.default_rng(seed).permutation(order[1:])
        found = _agreed(candidates, of, logs, order, len(every))
        if best is None or found[0] > best[0]:
            best = found
    return best[1]


def _agreed(candidates, of, logs, order, size):
    """How much all agree, and the choice and its margin of each lattice. order: in which they join.
    """
    total, count, choices = numpy.zeros(size), numpy.zeros(size), {}

    def add(number, sign):
        rows = of[number][choices[number][0]]
        numpy.add.at(total, rows, sign * logs[number])
        numpy.add.at(count, rows, sign)

    value = 0.0
    for _ in range(_ROUNDS):
        before, value = {n: c for n, (c, _) in choices.items()}, 0.0
        for number in order:
            if number in choices:
                add(number, -1)
            mean = total / numpy.where(count > 0, count, numpy.nan)
            likelihoods = candidates[number].likelihoods([mean[rows] for rows in of[number]])
            choices[number] = chosen(likelihoods)
            value += likelihoods.max()
            add(number, 1)
        if before == {n: c for n, (c, _) in choices.items()}:
            break
    return value, [choices[n] for n in range(len(candidates))]
