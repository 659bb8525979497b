"""The pixels of a still's spots, explained by a crystal of mosaic blocks: positions, then profiles,
then intensities."""

import dataclasses
import warnings

import numpy

from ..experiment import Beam, Crystal, Detector
from ..simulator import Simulator
from ._background import variance
from ._blocks import OF_SET, Blocks
from ._integration import Integrated, box_levels, integrate
from ._moments import MomentFit, brightest
from ._spot_fit import Known, SpotFit

# Where fits start: mosaicity (rad, and at least so much of the root mean square distance of nodes
# from the sphere, which other numbers widen, too; a mosaicity that is too large is a trap),
# bandwidth, divergence (rad); edge of a block (m).
_BEGIN, _OF_MISSING, _EDGE = (numpy.radians(0.1), 5e-4, 2e-4), 0.5, 2e-7
_MOST_BOXES = 300  # boxes of a fit; evaluated are all
BOX = 15  # pixels, edge of the boxes about spots
MOST_SETS = 4  # sets of mosaic blocks
# Starts of another set, whether it is wide or apart from the others, the better of several, and the
# part of the cost by which it has to make this less: later ones by more, since one of several is
# lucky more often.
_STARTS = ((True, False), 0.03), ((False,), 0.1), ((False,), 0.1)
_BEGUN = 9  # evaluations after which the better one of several is seen
_DARK = 3e-3  # part of a spot's brightest pixel; pixels of less light are not fitted
_NO_LIGHT = 0.5  # part of the background, and of the standard deviation of its photons; pixels of less light show the background
DETECTOR = ("distance", "centre", "tilt")
_SIGMAS, _WRONG = 10.0, (0.01, 1.0)  # light of so many says how wrong intensities are; bounds of that part
_BETTER = 0.5  # times as wrong: a fit by intensities that are better by this is repeated
_FAR, _INEXACT = 1000.0, 0.1  # chi-square per pixel from which on a fit begins with this relative error of pixels
_LIT = 1.0  # photons of a pixel of a reflection that should be seen
STRONG = 300  # photons of a spot whose place counts for rms_px
_FAINTEST = 5e-4  # photons of a pixel, of which its variance is at least that
_SURE = 0.02  # part of a spot's squared light by which noise leaves its error of profile unsure


_OF_PIXELS = ("panel", "exposure", "lattice")


@dataclasses.dataclass
class Boxes:
    """Pixels of boxes about spots, each in one box: rows (slow, fast), photons, background, box;
    panel, exposure and lattice of each.

    hkl: the reflections that are nearest to the pixels; reflection: which of them is that of each
    pixel.
    """

    rows: numpy.ndarray
    data: numpy.ndarray
    background: numpy.ndarray
    box: numpy.ndarray
    count: int
    hkl: numpy.ndarray = None
    reflection: numpy.ndarray = None
    panel: numpy.ndarray = None
    exposure: numpy.ndarray = None
    lattice: numpy.ndarray = None
    calibration: float = 0.0  # as in variance()

    def __post_init__(self):
        for name in _OF_PIXELS:
            if getattr(self, name) is None:
                setattr(self, name, numpy.zeros(len(self.rows), "i4"))

    @staticmethod
    def around(at, half, photons, usable, background, calibration=0.0):
        """at: (n, 2) pixels, fast and slow."""
        steps = numpy.arange(-half, half + 1)
        middle = numpy.floor(at).astype(int)
        slow = numpy.broadcast_to(middle[:, 1, None, None] + steps[:, None], (len(at), len(steps), len(steps))).reshape(-1)
        fast = numpy.broadcast_to(middle[:, 0, None, None] + steps, (len(at), len(steps), len(steps))).reshape(-1)
        box = numpy.repeat(numpy.arange(len(at)), len(steps)**2)
        inside = (slow >= 0) & (fast >= 0) & (slow < photons.shape[0]) & (fast < photons.shape[1])
        slow, fast, box = slow[inside], fast[inside], box[inside]
        _, first = numpy.unique(slow * photons.shape[1] + fast, return_index=True)
        first = numpy.sort(first)
        first = first[usable[slow[first], fast[first]]]
        slow, fast = slow[first], fast[first]
        return Boxes(numpy.column_stack([slow, fast]).astype("i4"), photons[slow, fast].astype(float),
                     background[slow, fast].astype(float), box[first].astype("i4"), len(at), calibration=calibration)

    def chosen(self, which):
        """Those boxes alone; which: (n,) of the boxes, True or False."""
        chosen = self.at(which[self.box])
        chosen.box, chosen.count = (numpy.cumsum(which) - 1)[chosen.box], int(which.sum())
        return chosen

    def levelled(self, levels):
        """With other backgrounds; levels: of each box, times that of the image."""
        return dataclasses.replace(self, background=self.background * levels[self.box])

    def at(self, keep):
        """Those pixels alone; keep: of the pixels, True or False."""
        chosen = Boxes(self.rows[keep], self.data[keep], self.background[keep], self.box[keep], self.count,
                       **{name: getattr(self, name)[keep] for name in _OF_PIXELS}, calibration=self.calibration)
        return chosen if self.hkl is None else chosen.with_reflections(self.hkl[self.reflection[keep]])

    def with_reflections(self, hkl):
        """With the Miller index that is nearest to each pixel."""
        low = hkl.min(axis=0, initial=0)
        shape = hkl.max(axis=0, initial=0) - low + 1
        found, self.reflection = numpy.unique(numpy.ravel_multi_index((hkl - low).T, shape), return_inverse=True)
        self.hkl = (numpy.column_stack(numpy.unravel_index(found, shape)) + low).astype(hkl.dtype)
        return self

    def joined(self, other):
        """These boxes, then others."""
        both = Boxes(*(numpy.concatenate([getattr(self, name), getattr(other, name)]) for name in ("rows", "data", "background")),
                     numpy.concatenate([self.box, self.count + other.box]), self.count + other.count,
                     **{name: numpy.concatenate([getattr(self, name), getattr(other, name)]) for name in _OF_PIXELS},
                     calibration=self.calibration)
        return both if self.hkl is None else both.with_reflections(numpy.concatenate([self.hkl[self.reflection], other.hkl[other.reflection]]))

    def sums(self, values):
        """Over each box."""
        return numpy.bincount(self.box, weights=values, minlength=self.count)

    def squares(self, matrices):
        """1/d^2 (1/A^2) of each pixel's reflection. matrices: a*, b*, c* (1/A) of each lattice."""
        matrices = numpy.array(matrices)[self.hkl[:, 3] if len(matrices) > 1 else 0]
        return ((matrices @ self.hkl[:, :3, None])**2).sum(axis=(1, 2))[self.reflection]

    def lattices(self):
        """The lattice of most pixels of each box."""
        return numpy.argmax([self.sums(self.lattice == k) for k in range(self.lattice.max(initial=0) + 1)], axis=0)


@dataclasses.dataclass
class Explained:
    """The result for a still: numbers of its Blocks, and what is left."""

    names: list
    x: numpy.ndarray
    sigma: numpy.ndarray  # sigma of x, 0 where it was held
    numbers: list  # name, value, sigma and unit of each, as people use them
    misfit: float  # chi-square per pixel that the sigmas were enlarged for, at least 1
    lattices: list  # Lattice of each
    of: list  # the lattice of each set of blocks
    chi2_of: list  # per pixel of each lattice
    values: dict  # values of the shared numbers, in the simulator's units
    panels: tuple  # their corners, and steps of a pixel along fast and slow, (panels, 3), m
    levels: numpy.ndarray = dataclasses.field(repr=False)  # the background of each box over that of the image
    chi2: float = numpy.nan  # per pixel of all boxes
    chi2_profiles: float = numpy.nan  # where each spot has an intensity of its own
    profile_error: float = 0.0  # by which part of their light bright spots differ from their profiles
    rms_px: float = numpy.nan
    evaluations: int = 0
    degenerate: list = dataclasses.field(default_factory=list)
    history: list = dataclasses.field(default_factory=list, repr=False)
    image: numpy.ndarray = dataclasses.field(default=None, repr=False)  # photons of the model in the pixels of the boxes
    light: numpy.ndarray = dataclasses.field(default=None, repr=False)  # as many as in image, where each reflection has its own intensity
    hkl: numpy.ndarray = dataclasses.field(default=None, repr=False)  # reflections in the boxes, those without spots too
    ratio: numpy.ndarray = dataclasses.field(default=None, repr=False)  # each one's intensity over the model's
    precision: numpy.ndarray = dataclasses.field(default=None, repr=False)  # precision of the ratio, 1 / sigma^2
    unseen: int = 0  # boxes that the model lights, and no spot was found in
    chi2_unseen: float = numpy.nan  # per pixel of theirs
    unseen_light: float = 0.0  # the light that they lack, part of the model's
    integrated: Integrated = dataclasses.field(default=None, repr=False)


def simulators(parts, mosaicity, bandwidth, divergence):
    """With averages in closed form, where fits start, and one that knows where pixels are. parts:
    of the experiment; what they say of the crystal's size, averages and structure factors is
    replaced. mosaicity: rad about each axis. bandwidth: part of the wavelength. divergence: rad."""
    plain = plain_simulator(parts)
    return averaged_simulator(parts, plain["reciprocal_matrix"], mosaicity, bandwidth, divergence), plain


def _parts(parts):
    """Crystal, beam, and the other parts."""
    crystal = next((part for part in parts if isinstance(part, Crystal)), Crystal())
    beam = next((part for part in parts if isinstance(part, Beam)), Beam())
    return (dataclasses.replace(crystal, default_F=1, ncells=10), beam, *(part for part in parts if not isinstance(part, (Crystal, Beam))))


def plain_simulator(parts):
    """The simulator that knows where pixels are."""
    crystal, *others = _parts(parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Simulator(dataclasses.replace(crystal, average="sampled"), *others, threads=1)


def averaged_simulator(parts, reciprocal, mosaicity, bandwidth, divergence):
    """The simulator of averages in closed form. reciprocal: the crystal's matrix, 1/m."""
    crystal, beam, *others = _parts(parts)
    block = _block(reciprocal)
    shape = {"ncells_def": (1, 1, 1)} if any(block[3:]) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulator(dataclasses.replace(crystal, shape="gauss", average="closed", average_tolerance=1e-4, mosaic_abc=[mosaicity] * 3, **shape),
                        dataclasses.replace(beam, bandwidth_sigma=bandwidth, divergence_sigma=divergence), *others, threads=1, cull=1e-5)
    for name, cells in zip("abcdef" if shape else "abc", block):
        sim[f"ncells_{name}"] = cells
    return sim


def _block(reciprocal):
    """Cells along a, b and c of a block that is as wide in all directions, and what -Ncells_def
    gives of it, 0 between axes at right angles. reciprocal: the matrix, 1/m."""
    values, vectors = numpy.linalg.eigh(reciprocal.T @ reciprocal)
    cells = _EDGE * (vectors * numpy.sqrt(values)) @ vectors.T
    cells *= max(1.0, 5.0 / numpy.diag(cells).min())
    between = cells[[0, 1, 0], [1, 2, 2]]
    return [*numpy.diag(cells), *numpy.where(numpy.abs(between) > 1e-3 * cells.max(), between, 0.0)]


def simulators_of_still(parts, plane, missing, grid, lowest):
    """The simulators of a still. plane: the detector of parts as one panel. missing: by how much
    (rad) the nodes of its reflections miss the sphere. grid, lowest: structure factors."""
    plain = plain_simulator([plane if isinstance(part, Detector) else part for part in parts])
    sim = averaged_simulator(parts, plain["reciprocal_matrix"], max(_BEGIN[0], _OF_MISSING * float(numpy.sqrt(numpy.mean(missing**2)))), *_BEGIN[1:])
    sim.structure_factors = grid, lowest
    sim["default_F"] = 0.0
    return sim, plain


def telling(boxes, light, squares, wavelength):
    """Numbers of the boxes that matter most for a fit: far from the beam spots say more of the
    crystal, and are weaker. light: photons of each box's spot. squares: of Boxes. wavelength: A."""
    cosine = numpy.maximum(1 - squares * wavelength**2 / 2, 0.1)  # cosine of the scattering angle
    away = boxes.sums(1 / cosine**2 - 1) / numpy.maximum(boxes.sums(numpy.ones(len(squares))), 1)
    order, of, rank = numpy.argsort(-light * away), boxes.lattices(), numpy.zeros(boxes.count, int)
    for lattice in range(of.max(initial=0) + 1):  # as many of each
        mine = order[of[order] == lattice]
        rank[mine] = numpy.arange(len(mine))
    return order[numpy.argsort(rank[order], kind="stable")][:_MOST_BOXES]


@dataclasses.dataclass(frozen=True)
class Freedom:
    """Limits of what a fit changes. held: groups of numbers that stay where they start, beside the
    wavelength. restrain: {group: sigma}, in the units of x. sets: of mosaic blocks, at most."""

    held: tuple = ()
    restrain: dict = dataclasses.field(default_factory=dict)
    sets: int = MOST_SETS

    def __post_init__(self):
        if self.sets < 1:
            raise ValueError(f"sets is {self.sets}; a crystal is 1 set of mosaic blocks or more")


class Fit:
    """Stages of the fit of one still.

    sims: of simulators_of_still(). boxes: Boxes. most: the numbers of those that are fitted. begin:
    the Explained to start from.
    """

    blocks = Blocks
    always_held = ("halo",)

    def __init__(self, sims, boxes, most, crystals, measurement, freedom, begin=None):
        sim, self.plain = sims
        self.boxes, self.held, self.restrain, self.sets = boxes, {*freedom.held, *self.always_held}, freedom.restrain, freedom.sets
        # No still tells the wavelength from the distance, or the gain from the scale.
        self.held |= {"wavelength", "dead_time", "gain"} - self.restrain.keys()
        self.most, self.levels = numpy.isin(numpy.arange(boxes.count), most), begin.levels if begin else numpy.ones(boxes.count)
        self.used = boxes.chosen(self.most)
        self.model = self.blocks(sim, self.used, crystals, measurement, begin.of if begin else None)
        self.begin, self.x = begin, begin.x.copy() if begin else numpy.zeros(self.model.size)
        self.fit = self._problem(self.model)
        if not begin:
            self._brighten()

    def _problem(self, model):
        used = self.used
        fit = SpotFit(model, used.data, used.background, used.reflection, len(used.hkl), used.calibration)
        fit.history = self.fit.history if hasattr(self, "fit") else []
        return fit

    def _brighten(self):
        """The scale of a lattice is linear: that by which model and data have as many photons where
        the light is its own."""
        for lattice in range(len(self.model.cells)):
            here, image = self.used.lattice == lattice, self.model.of_lattice(self.x, lattice)
            scale = numpy.log(max((self.used.data - self.used.background)[here].sum(), 1.0) / max(image[here].sum(), 1e-300))
            self.x[[len(OF_SET) * k + 6 for k in self.model.sets_of(lattice)]] += scale

    def known(self):
        """The Known of x."""
        model, sets = self.model, len(OF_SET) * self.model.sets
        about, sigma, reach = numpy.zeros(model.size), numpy.full(model.size, numpy.inf), numpy.ones(model.size)
        for k in range(model.sets):
            own = slice(len(OF_SET) * k, len(OF_SET) * (k + 1))
            sigma[own] = [*[1e-2] * 3, *[1.0] * 3, numpy.inf, 1.0]
            reach[own] = [*[2e-3] * 3, *[1.0] * 5]
            about[own.stop - 1] = model.begins[k]
        for i, quantity in enumerate(model.shared.values()):
            sigma[sets + i] = quantity.sigma
        for lattice in range(len(model.cells)):
            own = model.own(lattice)
            sigma[own], sigma[own.stop - 1], reach[own.stop - 1] = 1.0, 10.0, 10.0
        for i, group in enumerate(model.groups()):
            sigma[i] = self.restrain.get(group, sigma[i])
        return Known(about, sigma, reach)

    def free(self, *more):
        held = self.held | set(more)
        return numpy.array([group not in held for group in self.model.groups()])

    def run(self, tolerance, steps, *held, enough=3e-3):
        known = self.known()
        self.x, self.image = self.fit.run(self.x, self.free(*held), known, tolerance, steps, enough=enough)
        self.fit.weigh(self.image, tolerance)
        self.cost = self.fit.cost(self.x, self.image, known.about, known.sigma)

    def keep_sigmas(self, *held):
        """Keeps for the sigmas which numbers were free in the last run, the curvature, and the
        chi-square per pixel: data with a chi-square above 1 determine numbers less well."""
        self.free_at_end, self.curvature = self.free(*held), self.fit.curvature
        self.misfit = max(self.cost / len(self.used.data), 1.0)

    def covariance(self):
        """The covariance of the numbers that were free. Restraints keep the sigmas that they were
        given, and numbers of the detector that were held the sigmas of the fit before."""
        known = numpy.diag(1 / self.known().sigma[self.free_at_end]**2)
        curvature = known + (self.curvature - known) / self.misfit
        if self.begin:
            held = numpy.isin(self.model.groups(), DETECTOR)[self.free_at_end]
            rest, across = curvature[numpy.ix_(~held, ~held)], curvature[numpy.ix_(~held, held)]
            curvature[numpy.ix_(held, held)] = across.T @ numpy.linalg.pinv(rest) @ across + numpy.diag(1 / self.begin.sigma[self.free_at_end][held]**2)
        unit = numpy.sqrt(numpy.maximum(numpy.diag(curvature), 1e-30))
        return numpy.linalg.pinv(curvature / unit / unit[:, None], 1e-10) / unit / unit[:, None]

    def moments(self, spots):
        """By photons, places and shapes of spots, with as many sets of blocks as they ask for.
        spots: of MomentFit."""
        every, random = MomentFit(*spots), numpy.random.default_rng(0)
        some = every.of_some(random)

        def fitted(fit, model, x, **end):
            self.model = model
            return model, *fit.run(model, x, self.free(), *self.known()[:2], **end)

        def best_of(starts):
            if len(starts) > 1:
                begun = (fitted(some, *start, most=_BEGUN) for start in starts)
                starts = [min(begun, key=lambda one: one[2])[:2]]
            return fitted(some, *starts[0])

        best = fitted(some, self.model, some.brightened(self.model, self.x))
        while (lattice := some.asking(*best[:2], self.sets)) is not None:
            tried = ((best_of([some.with_set(*best[:2], lattice, wide, random) for wide in starts]), pays)
                     for starts, pays in _STARTS)
            other = next((one for one, pays in tried if one[2] < (1 - pays) * best[2]), None)
            if other is None:
                break
            best = other
        self.model, self.x, _ = fitted(every, *best[:2])
        self._level()
        self._only_lit()

    def _level(self):
        """Takes the background of each box from its pixels without light of the crystal, where it
        differs from the image's: about strong spots there are haloes."""
        boxes = self.boxes
        self.model.look_at(boxes)
        light, level = self.model.image(self.x), boxes.background
        dark = light < _NO_LIGHT * numpy.minimum(level, numpy.sqrt(numpy.maximum(level, 1)))
        self.levels = box_levels(dataclasses.replace(boxes, data=boxes.data - light), dark)
        self.boxes = boxes.levelled(self.levels)
        self.used = self.boxes.chosen(self.most)
        self.model.look_at(self.used)

    def _only_lit(self):
        """Leaves pixels out that are dark in the model."""
        image, used = self.model.image(self.x), self.used
        brightest = numpy.zeros(len(used.hkl))
        numpy.maximum.at(brightest, used.reflection, image)
        self.used = used.at(image > _DARK * brightest[used.reflection])
        self.model.look_at(self.used)
        self.fit = self._problem(self.model)

    def profiles(self, spots):
        """Positions and shapes of spots, by the model's structure factors, which are wrong by some
        part."""
        self.moments(spots)
        self._brighten()
        wrong, before = self._wrong(), numpy.inf
        self._come_near(wrong)
        while wrong < _BETTER * before:  # the better the fit, the more intensities say
            self.run(wrong, 2)
            before, wrong = wrong, self._wrong()
        self.keep_sigmas()

    def _come_near(self, wrong):
        """Fits the pixels as if their error were larger, if they are far from the model: otherwise
        positions of spots of a million photons, narrower than a pixel, outweigh all intensities."""
        exact = self.fit.calibration
        if squares(self.used, self.model.image(self.x)).mean() > _FAR:
            self.fit.calibration = numpy.maximum(exact, _INEXACT)
            self.run(wrong, 2)
            self.fit.calibration = exact

    def _wrong(self):
        """By which part the model's intensities are wrong, half of them by less."""
        light, image = (self.fit.sums(values) for values in (self.used.data - self.used.background, self.model.image(self.x)))
        noise = numpy.sqrt(self.fit.sums(variance(numpy.maximum(self.used.data, self.used.background), self.used.calibration)))
        sure = (light > _SIGMAS * noise) & (image > 0)
        logs = numpy.log(light[sure] / image[sure])
        return float(numpy.clip(1.4826 * numpy.median(numpy.abs(logs - numpy.median(logs))), *_WRONG)) if sure.sum() > 10 else _WRONG[0]

    def again(self):
        """The same from where another fit ended, by better structure factors; the detector stays.
        """
        self.run(self._wrong(), 2, *DETECTOR, enough=1e-3)
        self.fit.curvature = self.fit.linearized(self.x, self.image, self.free(), self.known().sigma)[1]
        self.keep_sigmas()

    def brightness(self):
        """Scale and B factor, as if the model's structure factors were right."""
        self.run(0.0, 4, *(set(self.model.groups()) - {"scale", "B"}))

    def _lit(self, dark):
        """Boxes without spots that the model lights, the light of its lattices there, and the
        image."""
        may = brightest(self.model, self.x, _LIT / 2)
        which = numpy.array([(*hkl, 0)[:4] in may for hkl in dark.hkl.tolist()], bool)
        dark = dark.chosen(dark.sums(which[dark.reflection]) > 0)
        light, high = self._light(dark), numpy.zeros(dark.count)
        image = self.model.counts(self.x, light.sum(axis=0))
        numpy.maximum.at(high, dark.box, image)
        which = high > _LIT
        return dark.chosen(which), light[:, which[dark.box]], image[which[dark.box]]

    def _light(self, boxes):
        """The light of each lattice in these pixels."""
        self.model.look_at(boxes)
        return numpy.array([self.model.of_lattice(self.x, lattice) for lattice in range(len(self.model.cells))])

    def result(self, dark=None):
        """The result over all boxes. dark: Boxes about reflections without spots."""
        model, boxes = self.model, self.boxes
        free = self.free_at_end
        curvature, names = self.curvature, numpy.array(model.names)[free]
        unit = numpy.sqrt(numpy.maximum(numpy.diag(curvature), 1e-30))
        scaled = curvature / unit / unit[:, None]
        sigma = numpy.zeros(model.size)
        sigma[free] = numpy.sqrt(numpy.maximum(numpy.diag(self.covariance()), 0))
        light = self._light(boxes)
        image = model.counts(self.x, light.sum(axis=0))
        both, whole, unseen = boxes, image, {}
        if dark is not None and dark.count:
            lit, more, there = self._lit(dark)
            both, light, whole = boxes.joined(lit), numpy.hstack([light, more]), numpy.concatenate([image, there])
            if lit.count:
                lacks = (there - (lit.data - lit.background)).sum() / (image.sum() + there.sum())
                unseen = {"unseen": lit.count, "chi2_unseen": float(squares(lit, there).mean()), "unseen_light": max(float(lacks), 0.0)}
        left = squares(boxes, image)
        every = SpotFit(model, both.data, both.background, both.reflection, len(both.hkl), both.calibration)
        precision, ratio = _intensities(every, whole)
        if model.loses(self.x):
            model.look_at(both)
            for _ in range(3):
                whole = model.renewed(self.x, whole, ratio[both.reflection])
                precision, ratio = _intensities(every, whole)
        shown = (ratio[both.reflection] * whole)[:len(image)]
        away = displacements(boxes, image)[1]
        values = {m: v for q in model.shared.values() for m in q.members for v in [model.values(self.x, 0)[m]]}
        values |= {"dead_time": model.dead_time(self.x), "gain": float(numpy.exp(model.number(self.x, "gain")))}
        return Explained(model.names, self.x, sigma, list(model.described(self.x, sigma)), self.misfit, model.lattices(self.x), model.of,
                         [float(left[boxes.lattice == k].sum() / max((boxes.lattice == k).sum(), 1)) for k in range(len(light))], values,
                         model.panels(self.plain, self.x), self.levels,
                         chi2=float(left.mean()),
                         chi2_profiles=float(squares(boxes, shown).mean()), profile_error=profile_error(boxes, shown),
                         rms_px=float(numpy.sqrt((away**2).sum() / len(away))),
                         evaluations=model.evaluations, degenerate=degenerate(scaled, names), history=self.fit.history,
                         image=image.astype("f4"), hkl=both.hkl, ratio=ratio, light=shown.astype("f4"), precision=precision, **unseen)


def _intensities(every, image):
    """The precision of each reflection's intensity over the model's, and that ratio."""
    every.weigh(image, 100.0)
    weights = every.weights / every.trust[every.spot]
    precision = every.sums((image * weights)**2)
    return precision, numpy.maximum(every.sums(image * (every.data - every.background) * weights**2) / (precision + 1e-12), 0)


def squares(boxes, image):
    """(data - model)^2 / variance of each pixel."""
    photons = boxes.background + image
    return (boxes.data - photons)**2 / variance(numpy.maximum(photons, _FAINTEST), boxes.calibration)


def profile_error(boxes, image):
    """The root mean square by which pixels of a bright spot differ from its profile beyond their
    noise, over that of its light: the median of spots whose photons say it. image: photons of the
    spots in these pixels. Unlike chi-square it does not grow with the light."""
    noise = variance(numpy.maximum(boxes.background + image, _FAINTEST), boxes.calibration)
    beyond, light = boxes.sums((boxes.data - boxes.background - image)**2 - noise), boxes.sums(image**2)
    sure = numpy.sqrt(2 * boxes.sums(noise**2)) < _SURE * light
    return float(numpy.sqrt(max(numpy.median(beyond[sure] / light[sure]), 0.0))) if sure.sum() > 10 else 0.0


def displacements(boxes, image):
    """Which of ``boxes.hkl`` are bright; and from the centroid of the model's light to that of the
    data's, (bright, 2) pixels."""
    spots = SpotFit(None, boxes.data, boxes.background, boxes.reflection, len(boxes.hkl))
    high = numpy.zeros(len(boxes.hkl))
    numpy.maximum.at(high, boxes.reflection, image)
    panel, order = numpy.zeros(len(boxes.hkl), int), numpy.argsort(image)
    panel[boxes.reflection[order]] = boxes.panel[order]  # the brightest pixel is on it
    window = (image > 0.05 * high[boxes.reflection]) & (boxes.panel == panel[boxes.reflection])
    above = numpy.where(window, boxes.data - boxes.background, 0)
    shown = numpy.where(window, image, 0)
    noise = numpy.sqrt(spots.sums(window * variance(numpy.maximum(boxes.background + image, _FAINTEST), boxes.calibration)))
    enough = (spots.sums(above) > numpy.maximum(STRONG, _SIGMAS * noise)) & (spots.sums(shown) > 0)
    centroid = lambda light: numpy.column_stack([spots.sums(light * axis) / numpy.maximum(spots.sums(light), 1e-9)
                                                 for axis in boxes.rows.T[::-1]])
    return enough, (centroid(above) - centroid(shown))[enough]


def degenerate(scaled, names):
    """Combinations of numbers that the pixels say little of: those that one needs to know another
    way. scaled: the curvature, with 1 on its diagonal."""
    found = []
    for value, vector in zip(*numpy.linalg.eigh(scaled)):
        if value > 0.01:
            break
        large = numpy.argsort(-numpy.abs(vector))[:3]
        found.append(" with ".join(names[i] for i in large if abs(vector[i]) > 0.3))
    return found


def explain(fit, spots, every, detector, dark=None):
    """The Explained of the Fit of a still. spots: of MomentFit; None: structure factors are better
    than where the fit began, and intensities alone are fitted again. every, detector: of
    integrate(). dark: Boxes about reflections without spots, of which those are evaluated that the
    model lights."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():  # a fit tries numbers that are unusual
        warnings.simplefilter("ignore")
        if spots is None:
            fit.again()
        else:
            fit.profiles(spots)
        fit.brightness()
        result = fit.result(dark)
        result.integrated = integrate(fit, every, detector)
    return result
