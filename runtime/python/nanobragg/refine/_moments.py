"""Moments of spots, photons, centres and covariances: measured in pixels, and foretold by tables of
reflections."""

import dataclasses

import numpy
from scipy import optimize

from ..reflections import COVARIANCE
from ._blocks import METRES, OF_SET
from ._broyden import EveryOther

_ROUNDS = 6  # in which a window follows a spot
_WINDOW = 2.0  # times as wide as the spot
_BRIGHT = 5.0  # sigmas
_WALK = 3.0  # pixels; a window that goes farther has followed another spot
_NARROW, _WIDE = 1e-3, 40.0  # pixels^2, variances that spots have
_PIXEL = 1 / 12  # variance of what is anywhere in a pixel
# How far spots are from normal distributions, beside noise: logarithm of photons, pixels, part of
# the variance, pixels^2.
_DOUBT, _PLACE, _SHAPE, _COARSE = 0.4, 0.05, 0.1, 0.03
_SOME = 300  # spots of a lattice that the fit begins with
_LEAST = 1e-6  # partiality of a reflection whose place is foretold
_SWEEP = 4  # directions of a sweep: one kernel for all, which compiles in a third of the time of one of eight
_APART = 2.5e-3  # rad from the others at which another set of blocks begins
_TAILS = 3.0  # times as wide as the first, where another set begins that is of the tails of its orientations
_NOISE = 0.5  # cost of a number that is as far off as its noise, in the mean, and somewhat more
_COLUMNS = ("photons", "fast", "slow", *COVARIANCE)
_UNITS = {"orientation": 1e-3, "mosaicity": 0.3, "scale": 0.3, "divergence": 0.3, "size": 0.3, "bandwidth": 0.3, "distance": 0.3,
          "centre": 0.1, "B": 5.0}
_FACTORS, _FARTHEST = ("mosaicity", "divergence", "size", "bandwidth"), 5.0  # logarithms that are tried, at most
_ENOUGH, _EVALUATIONS = 1e-3, 40  # part of the cost that a last step gains, and how often it is computed


@dataclasses.dataclass
class Moments:
    """A row for each spot; none of a spot that is weak, or beside a brighter one, or in whose box
    is a pixel that is none.

    photons, sigma: above the background, and their noise. at: (n, 2) pixels, fast and slow.
    covariance: (n, 3) pixels^2 of fast with fast, fast with slow, slow with slow, without the
    extent of a pixel.
    """

    photons: numpy.ndarray
    sigma: numpy.ndarray
    at: numpy.ndarray
    covariance: numpy.ndarray
    known: numpy.ndarray  # whether there is one

    @staticmethod
    def measured(at, photons, usable, background, half):
        """In boxes of ``half`` pixels about places (n, 2), fast and slow.

        Pixels count by a Gaussian window about the spot, twice as wide, that follows it: noise of
        the rim and neighbours are left out. Its effect on sums and covariances of a normal
        distribution is undone.
        """
        middle, steps = numpy.floor(at).astype(int), numpy.arange(-half, half + 1)
        slow, fast = middle[:, 1, None, None] + steps[:, None], middle[:, 0, None, None] + steps
        inside = (middle >= half).all(axis=1) & (middle < numpy.array(photons.shape[::-1]) - half).all(axis=1)
        slow, fast = numpy.where(inside[:, None, None], slow, half), numpy.where(inside[:, None, None], fast, half)
        known = inside & usable[slow, fast].all(axis=(1, 2))
        level = numpy.where(known[:, None, None], background[slow, fast], 0.0)
        above = numpy.where(known[:, None, None], photons[slow, fast], 0.0) - level
        away = steps + 0.5
        place, shape = at - middle, numpy.tile(numpy.eye(2), (len(at), 1, 1))
        with numpy.errstate(all="ignore"):
            for _ in range(_ROUNDS):
                inner = _inverse(_WINDOW**2 * shape + numpy.eye(2))
                dx, dy = away - place[:, 0, None, None], away[:, None] - place[:, 1, None, None]
                window = numpy.exp(-0.5 * (inner[:, 0, 0, None, None] * dx**2 + 2 * inner[:, 0, 1, None, None] * dx * dy
                                           + inner[:, 1, 1, None, None] * dy**2))
                seen = window * above
                total = seen.sum(axis=(1, 2))
                mean = numpy.column_stack([(seen * dx).sum(axis=(1, 2)), (seen * dy).sum(axis=(1, 2))]) / total[:, None]
                dx, dy = dx - mean[:, 0, None, None], dy - mean[:, 1, None, None]
                xx, xy, yy = ((seen * product).sum(axis=(1, 2)) / total for product in (dx * dx, dx * dy, dy * dy))
                seen_shape = numpy.stack([xx + _NARROW, xy, xy, yy + _NARROW], axis=-1).reshape(-1, 2, 2)
                shape = _inverse(_inverse(seen_shape) - inner)
                known = known & (total > 0) & (shape[:, 0, 0] > 0) & (shape[:, 1, 1] > 0) & (_determinant(shape) > 0)
                known &= (shape[:, 0, 0] < _WIDE) & (shape[:, 1, 1] < _WIDE)
                shape = numpy.where(known[:, None, None], shape, numpy.eye(2))
                place = place + numpy.where(known[:, None], mean, 0)
            whole = numpy.sqrt(_determinant(numpy.eye(2) + shape @ inner))
            sigma = whole * numpy.sqrt((window**2 * numpy.maximum(level + above, level)).sum(axis=(1, 2)))
            known &= (whole * total > _BRIGHT * sigma) & (numpy.linalg.norm(middle + place - at, axis=1) < _WALK)
        covariance = shape.reshape(-1, 4)[:, [0, 1, 3]] - (_PIXEL, 0, _PIXEL)
        return Moments(whole * total, sigma, middle + place, covariance, known)

    def chosen(self, which):
        return Moments(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))


def _determinant(matrices):
    return matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0]


def _inverse(matrices):
    turned = numpy.stack([matrices[:, 1, 1], -matrices[:, 0, 1], -matrices[:, 1, 0], matrices[:, 0, 0]], axis=-1)
    return turned.reshape(-1, 2, 2) / _determinant(matrices)[:, None, None]


class Foretold:
    """Moments of the spots of a still by Blocks, and their derivatives with respect to the numbers
    of these.

    hkl, lattice, panel, spread: of MomentFit.
    """

    def __init__(self, blocks, hkl, lattice, panel, spread):
        self.blocks, self.hkl, self.lattice, self.panel, self.spread = blocks, hkl, lattice, panel, spread
        self.rows = [numpy.flatnonzero(lattice == k) for k in range(len(blocks.cells))]
        self.sims, self.last = {}, None

    def tables(self, x):
        """For each set of blocks the moments, photons first, of the rows that it has light in; the
        table of all rows of its lattice, which of these are lit, and which moments they are; and
        1/d^2 (1/A^2)."""
        if self.last is not None and numpy.array_equal(self.last[0], x):
            return self.last[1]
        found = []
        for k in range(self.blocks.sets):
            lattice, values = self.blocks.of[k], self.blocks.values(x, k)
            if k not in self.sims:
                self.sims[k] = self.blocks.sim.copy()
            sim, rows = self.sims[k], self.rows[lattice]
            sim.set(**values)
            table = sim.reflections(miller_index=self.hkl[rows], panel=self.panel[rows])
            lit = numpy.flatnonzero(table.partiality >= _LEAST)
            moments = numpy.zeros((len(self.hkl), 6))
            moments[rows[lit]] = _columns(table, lit)
            q = self.hkl @ values["reciprocal_matrix"].T / METRES
            squares = (q * q).sum(axis=1)
            moments[:, 0] *= numpy.exp(-0.5 * x[self.blocks.own(lattice)][-1] * squares)
            found.append((moments, table, lit, rows[lit], squares))
        self.last = x.copy(), found
        return found

    def _mixed(self, found):
        every = numpy.array([moments for moments, *_ in found])
        light = every[:, :, 0].sum(axis=0)
        share = every[:, :, 0] / numpy.maximum(light, 1e-300)
        centre = numpy.einsum("sn,snc->nc", share, every[:, :, 1:3])
        away = every[:, :, 1:3] - centre
        wide = every[:, :, 3:] + _products(away, away)
        return every, light, share, away, wide, numpy.column_stack([light, centre, numpy.einsum("sn,snc->nc", share, wide)])

    def moments(self, x):
        """(n, 6): photons, fast, slow, and the covariance; 0 of reflections that have no light."""
        mixed = self._mixed(self.tables(x))[-1]
        mixed[:, 3:] += (self.spread, 0, self.spread)
        return mixed

    def partiality(self, x):
        """(n,): how much of the light that a reflection would have on the sphere of all blocks.
        Sets of blocks that it is too far from the sphere for have their share of that."""
        sets = numpy.exp(x[:self.blocks.first].reshape(self.blocks.sets, -1)[:, 6])
        light, whole, shares = numpy.zeros((3, len(self.hkl)))
        for share, (moments, table, lit, rows, _) in zip(sets, self.tables(x)):
            light[rows] += moments[rows, 0]
            whole[rows] += moments[rows, 0] / table.partiality[lit]
            shares[rows] += share
        every = numpy.bincount(self.blocks.of, weights=sets)[self.lattice]
        return light * shares / numpy.maximum(whole * every, 1e-300)

    def jacobian(self, x, free):
        """(n, 6, size)."""
        blocks, found = self.blocks, self.tables(x)
        every, light, share, away, wide, mixed = self._mixed(found)
        result = numpy.zeros((len(self.hkl), 6, blocks.size))
        light = numpy.maximum(light, 1e-300)
        for k, (moments, table, lit, rows, squares) in enumerate(found):
            lattice, values = blocks.of[k], blocks.values(x, k)
            own = blocks.own(lattice)
            names = [name for name in values if name != "psf_fwhm"]  # tables are without it
            falloff = numpy.exp(-0.5 * x[own][-1] * squares)
            every_one = [(i, d) for i, d in blocks._directions(x, k, values) if free[i]]
            changes = numpy.zeros((len(every_one) + 2, len(self.hkl), 6))
            for begin in range(0, len(every_one), _SWEEP):
                some = [d for _, d in every_one[begin:begin + _SWEEP]]
                slopes = table._jvps(some + [{}] * (_SWEEP - len(some)), names)
                for i, slope in enumerate(slopes[:len(some)]):
                    changes[begin + i, rows] = numpy.array([slope[name] for name in _COLUMNS]).T[lit]
            changes[:-2, :, 0] *= falloff
            changes[-2, :, 0], changes[-1, :, 0] = moments[:, 0], -0.5 * squares * moments[:, 0]
            by_light = numpy.column_stack([numpy.ones(len(light)), away[k], wide[k] - mixed[:, 3:]])
            for i, change in zip([*(i for i, _ in every_one), len(OF_SET) * k + 6, own.stop - 1], changes):
                total = change[:, :1] * by_light
                total[:, 1:] /= light[:, None]
                total[:, 1:3] += share[k][:, None] * change[:, 1:3]
                total[:, 3:] += share[k][:, None] * (change[:, 3:] + 2 * _products(away[k], change[:, 1:3]))
                result[:, :, i] += total
        return result


def _products(a, b):
    """Symmetric products of vectors (..., 2) as covariances are listed."""
    cross = 0.5 * (a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0])
    return numpy.stack([a[..., 0] * b[..., 0], cross, a[..., 1] * b[..., 1]], axis=-1)


def _columns(table, rows):
    covariance = table["covariance"][rows]
    return numpy.column_stack([table["photons"][rows], table["fast"][rows], table["slow"][rows],
                               covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]])


def brightest(blocks, x, least):
    """Miller index and lattice of reflections of which a pixel has so many photons or more by
    Blocks of these numbers: a set."""
    total = {}
    for lattice, values, table in blocks.tables(x, _LEAST):
        squares = ((table.miller_index @ values["reciprocal_matrix"].T / METRES)**2).sum(axis=1)
        wide = _determinant(table.covariance + _PIXEL * numpy.eye(2))
        high = table.photons * numpy.exp(-0.5 * x[blocks.own(lattice)][-1] * squares) / (2 * numpy.pi * numpy.sqrt(wide))
        lit = high > least / blocks.sets
        for hkl, photons in zip(table.miller_index[lit].tolist(), high[lit].tolist()):
            total[(*hkl, lattice)] = total.get((*hkl, lattice), 0.0) + photons
    return {reflection for reflection, photons in total.items() if photons >= least}


class MomentFit:
    """Least squares of the moments of a still's spots, robust against some that are wrong.

    seen: Moments, all known. hkl: (n, 3); lattice, panel: the number of each. spread: pixels^2 by
    which the detector widens spots. whole: whether these are all spots; with some of them, the
    Jacobian is computed at every other step.
    """

    def __init__(self, seen, hkl, lattice, panel, spread, whole=True):
        self.seen, self.spots, self.lattice, self.whole = seen, (hkl, lattice, panel, spread), lattice, whole
        xx, _, yy = seen.covariance.T
        noise, wide, high = (seen.sigma / seen.photons)**2, numpy.maximum(xx, 0) + _PIXEL, numpy.maximum(yy, 0) + _PIXEL
        within = [_in_pixel(wide), _in_pixel(high)]
        # The window makes variances twice as noisy as those of all light.
        variance = [noise + _DOUBT**2, wide * noise + _PLACE**2 + within[0], high * noise + _PLACE**2 + within[1],
                    (6 * noise + _SHAPE**2) * wide**2 + _COARSE**2 + _PIXEL * within[0], (3 * noise + _SHAPE**2) * wide * high + _COARSE**2,
                    (6 * noise + _SHAPE**2) * high**2 + _COARSE**2 + _PIXEL * within[1]]
        self.weights = 1 / numpy.sqrt(numpy.column_stack(variance))
        self.data = numpy.column_stack([numpy.log(seen.photons), seen.at, seen.covariance])
        self.least = 1e-3 * seen.sigma

    def of_some(self, random):
        """The fit of so many spots of each lattice as tell how many sets of blocks there are, drawn
        at random."""
        hkl, lattice, panel, spread = self.spots
        order = random.permutation(len(hkl))
        rank = numpy.empty(len(hkl), int)
        for k in numpy.unique(lattice):
            rank[order[lattice[order] == k]] = numpy.arange((lattice == k).sum())
        some = rank < _SOME
        return MomentFit(self.seen.chosen(some), hkl[some], lattice[some], panel[some], spread, whole=False)

    def brightened(self, blocks, x):
        """Numbers with scales by which half of the spots of each lattice are brighter."""
        x = x.copy()
        ratio = self.data[:, 0] - numpy.log(numpy.maximum(Foretold(blocks, *self.spots).moments(x)[:, 0], 1e-300))
        for k in range(len(blocks.cells)):
            x[[len(OF_SET) * of + 6 for of in blocks.sets_of(k)]] += numpy.median(ratio[self.lattice == k])
        return x

    def with_set(self, blocks, x, lattice, wide, random):
        """Blocks with one more set of a lattice, and their numbers. wide: whether it is spread more
        than the others, in place of standing apart."""
        sets = x[:blocks.first].reshape(blocks.sets, -1)[blocks.sets_of(lattice)]
        shares = numpy.exp(sets[:, 6])
        apart = 0.0 if wide else random.normal(scale=_APART, size=3)
        return blocks.with_set(x, shares @ sets[:, :3] / shares.sum() + apart, _TAILS if wide else 1.0, 0.5, lattice=lattice)

    def _left(self, moments):
        dark = moments[:, 0] == 0  # the table has no place of these, only that they are dark
        moments[dark, 1:] = self.data[dark, 1:]
        moments[:, 0] = numpy.log(numpy.maximum(moments[:, 0], self.least))
        return (moments - self.data) * self.weights

    def asking(self, blocks, x, most):
        """The lattice of less than so many sets whose spots are explained worst; None where no
        lattice's are worse than noise is."""
        cost = _cost(self._left(Foretold(blocks, *self.spots).moments(x))).mean(axis=1)
        costs = {k: cost[self.lattice == k].mean() for k in range(len(blocks.cells)) if len(blocks.sets_of(k)) < most}
        worst = max(costs, key=costs.get, default=None)
        return worst if worst is not None and costs[worst] > _NOISE else None

    def run(self, blocks, x, free, about, sigma, most=_EVALUATIONS):
        """The numbers where the cost is least, and this. about, sigma: knowledge of them beside the
        spots. most: evaluations."""
        free = free & (numpy.array(blocks.groups()) != "psf")
        index, foretold = numpy.flatnonzero(free), Foretold(blocks, *self.spots)
        known = index[numpy.isfinite(sigma[index])]
        groups = numpy.array(blocks.groups())[index]
        units = numpy.array([_UNITS.get(group, 1.0) for group in groups])
        reach = numpy.where(numpy.isin(groups, _FACTORS), _FARTHEST, numpy.inf)

        def whole(y):
            new = x.copy()
            new[index] = numpy.clip(y, -reach, reach)
            return new

        def residuals(y):
            new = whole(y)
            return numpy.concatenate([self._left(foretold.moments(new)).ravel(), (new - about)[known] / sigma[known]])

        def computed(y):
            new = whole(y)
            light = foretold.moments(new)[:, 0]
            rows = foretold.jacobian(new, free)[:, :, index] * self.weights[:, :, None]
            rows[:, 0] *= numpy.where(light > self.least, 1 / numpy.maximum(light, 1e-300), 0)[:, None]
            return numpy.concatenate([rows.reshape(-1, len(index)), numpy.eye(len(free))[known][:, index] / sigma[known][:, None]])

        jacobian = computed if self.whole else EveryOther(residuals, computed, units)
        found = optimize.least_squares(residuals, x[index], jacobian, loss="soft_l1", x_scale=units, max_nfev=most, ftol=_ENOUGH, xtol=1e-6)
        return whole(found.x), float(found.cost)


def _in_pixel(variance):
    """The variance (pixels^2) of centroids by where in its pixel a narrow spot is, for the
    variances of spots with the extent of a pixel."""
    narrow = numpy.minimum(variance, numpy.median(variance)) - _PIXEL
    return _PIXEL * numpy.exp(-(2 * numpy.pi)**2 * narrow)


def _cost(left):
    """The part of each residual."""
    return numpy.sqrt(1 + left**2) - 1
