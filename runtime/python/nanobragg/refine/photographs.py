"""From diffraction images and a model of the crystal to refined stills, without other input."""

import dataclasses
import functools
import hashlib
import os
import re
import time

import numpy
from scipy import ndimage, spatial

from .. import _core, experiment as nb
from .._errors import FileError, reason
from . import _files, _report, _still_files
from ._amplitudes import Amplitudes
from ._chain import alike, fit_chain, next_matrix
from ._claim import Claim
from ._dealing import Dealer, check_run
from ._background import background_of
from ._still_page import still_page
from ._explain import BOX, MOST_SETS, Boxes, explain, simulators_of_still
from ._crystal import cell_of
from ._geometry import Detector, attenuation_length, near_sphere
from ._indexing import real_basis
from ._indices import OBLIQUITY, Candidates, Light, by_each_other, by_model, chosen, in_setting, shifted, shifts
from ._lattices import MOST_LATTICES, Rejected, assigned, lattices_anywhere, lattices_near, lattices_of, refit, sharp_spots, without_pieces
from ._merging import Observations, merge
from ._moments import Moments
from ._modules import Modules
from ._noise import Noise, largest_number, no_numbers, noise_of
from ._panels import BEAM, ONE
from ._photographs import described, read_photograph
from ._response import Response
from ._spots import about_spots, find_spots, lost_light, odd_pixels, usable_pixels
from ._stated_geometry import Geometry
from ._verdict import verdict
from ._kept import Kept, digest_or_none, key_of

DARK = 9  # and of those about reflections without spots
_NEAR, _SPREAD = numpy.radians(0.7), 3  # how far off the sphere these may be at least, and times the indexed spots' root mean square
_STRONG = 300  # photons of a spot whose place counts for rms_px
_UNEVEN = 0.01  # part of the pixels of spots that the background explains, from which on spots are found by it
_WHOLE = 0.95  # part of the spots that there are at most without pieces of others, where these are joined
_SHOWN = 50  # images that the report shows
_REFITS = 3  # fits of the stills of a detector, each with the displacements of the one before


def is_macromolecular(cell):
    """Whether a cell, A, is large enough for bulk solvent, which small molecules and metals have
    none of."""
    return numpy.prod(cell[:3]) > 1e4


@dataclasses.dataclass
class Model:
    """The crystal's form in a file: cell (A, degrees), space group, structure factors."""

    path: str
    cell: numpy.ndarray
    hall: str
    grid: numpy.ndarray = None  # structure factors [h, k, l], electrons
    lowest: tuple = ()  # Miller indices where the grid begins

    @staticmethod
    def read(path, resolution=8.0, wavelength=1.0, solvent=None):
        """With structure factors to a resolution, A, at a wavelength, A, and bulk solvent of a
        density, electrons/A^3 (None: as the cell is large enough for). path: a file, or the numbers
        of the cell and the space group in place of one, without structure factors."""
        said = re.fullmatch(r"\s*" + r"([0-9.]+)[\s,]+" * 6 + r"(\S.*)", str(path))
        if said and not os.path.exists(path):
            cell = numpy.array([float(text) for text in said.groups()[:6]])
            return Model(str(path), cell, _core.indexing_choices(said[7], cell.tolist(), 0.0)[0])
        if not os.path.exists(path) and re.match(r"\s*[0-9.]+[\s,]+[0-9.]+[\s,]", str(path)):
            raise ValueError(f"the model '{path}' is no file, nor six numbers of a cell (A, degrees) and a space group, such as "
                             "'58 58 150 90 90 90 P 41 21 2'")
        if solvent is None:
            cell = _core.structure_factors(str(path), 8.0, wavelength, 0.0, 46.0)[2]
            solvent = 0.35 if cell is None or is_macromolecular(cell) else 0.0
        grid, lowest, cell, hall = _core.structure_factors(str(path), resolution, wavelength, solvent, 46.0)
        if cell is None or not hall:
            raise FileError(f"{path}: does not say the crystal's cell and space group; give a file with both (CRYST1)")
        return Model(str(path), numpy.array(cell), hall, grid, tuple(lowest))

    def choices(self):
        """Matrices by which rows of Miller indices are multiplied: those that the lattice allows,
        up to equivalents, the identity first."""
        return [numpy.eye(3), *_core.indexing_choices(self.hall, self.cell.tolist(), OBLIQUITY)[1]]

    def digest(self):
        """A text that changes with its numbers."""
        grid = b"" if self.grid is None else numpy.ascontiguousarray(self.grid).tobytes()
        return hashlib.sha256(repr((self.cell.tolist(), self.hall, self.lowest)).encode() + grid).hexdigest()

    @property
    def system(self):
        """One of CELL_SYSTEMS: which of the cell's edges and angles are equal."""
        a, b, c, alpha, beta, gamma = numpy.round(self.cell, 3)
        if alpha == gamma == 90:
            if beta != 90:
                return "monoclinic"
            return {1: "cubic"}.get(len({a, b, c})) or ("tetragonal" if a == b else "orthorhombic")
        return "hexagonal" if a == b and (alpha, beta, gamma) == (90, 90, 120) else "triclinic"


@dataclasses.dataclass
class Still:
    """The result for a still. Lengths in A and mm, angles in degrees, places in pixels."""

    index: int
    image: str
    status: str = "indexed"  # or "rejected"
    why: str = ""
    spots: int = 0
    indexed: int = 0
    rms_px: float = numpy.nan  # between bright spots and their reflections
    rms_px_all: float = numpy.nan  # over all that are indexed
    distance_mm: float = numpy.nan
    chi2_background: float = numpy.nan
    chi2_parts: dict = dataclasses.field(default_factory=dict)  # chi2_background of its smooth part, rings and haloes
    calibration: float = 0.0  # error of a pixel's light, in proportion to it, where the detector does not count photons
    masked: dict = dataclasses.field(default_factory=dict)  # pixels that are left out, by the reason
    seconds: float = 0.0
    key: str = dataclasses.field(default="", repr=False)  # under which it is kept
    explained_key: str = dataclasses.field(default="", repr=False)  # and its explained
    shape: tuple = ()  # slow and fast pixels
    shared: bool = False  # whether the distance is that of other stills, so that the still tells the cell's mean edge
    photograph: object = dataclasses.field(default=None, repr=False)  # its header
    found: object = dataclasses.field(default=None, repr=False)  # Spots
    lattices: list = dataclasses.field(default_factory=list, repr=False)  # Fitted of each; they have no spot in common
    chi2_model: float = numpy.nan  # with structure factors of the model, where they were refined
    boxes: object = dataclasses.field(default=None, repr=False)  # Boxes, one for each spot
    moments: object = dataclasses.field(default=None, repr=False)  # Moments of each spot
    dark: object = dataclasses.field(default=None, repr=False)  # Boxes about predicted reflections without spots
    explained: object = dataclasses.field(default=None, repr=False)  # Explained, of those that are indexed
    explained_spots: object = dataclasses.field(default=None, repr=False)  # which of the spots that are
    turn: object = None  # the Turn from the still before, of stills of one crystal
    margins: list = dataclasses.field(default_factory=list, repr=False)  # sigmas by which each lattice's choice of indices is likelier than the next
    alike: float = numpy.nan  # sigmas by which the light of spots is more like the model's intensities than by chance

    @property
    def fitted(self):
        """The Fitted of the lattice that most spots are of."""
        return self.lattices[0]

    @property
    def of(self):
        """The lattice of each spot, -1 of none."""
        return numpy.select([one.indexed for one in self.lattices], range(len(self.lattices)), -1)

    def described(self, given=False):
        """Lines on what was taken from the image; none of one that was not read. given: whether
        gain and zero were."""
        return list(described(self.photograph, self.shape, self.masked, given)) if self.photograph else []

    def of_spots(self, name):
        """An attribute of the spots' lattices, spot by spot."""
        return numpy.array([getattr(one, name) for one in self.lattices])[numpy.maximum(self.of, 0), numpy.arange(len(self.found))]


def _detectors(photograph):
    """Where the detector may stand. A header says by which angle two-theta turns it, and not about
    which axis: that is level or upright, either way round."""
    turns, angle = [(0.0, 0.0)], numpy.radians(photograph.two_theta)
    said = photograph.axes is not None or photograph.panels is not None
    if angle and not said:
        turns = [(angle, 0.0), (-angle, 0.0), (0.0, angle), (0.0, -angle)]
    for tilts in turns:
        make = Detector if said else Detector.turned
        yield make(photograph.wavelength, photograph.pixel, photograph.distance, photograph.centre, tilts,
                                  thickness=photograph.thickness,
                                  attenuation=attenuation_length(photograph.material, photograph.wavelength),
                                  modules=Modules.of_gaps(~numpy.isfinite(photograph.photons)), upright=photograph.axes,
                                  panels=photograph.panels or ONE)


def _in_photons(photograph, usable, noise):
    """The image in photons, by the gain and the zero that are given, or that its pixels have."""
    if noise is not None:
        return photograph.in_photons(Noise(*noise))
    if photograph.counting:
        return photograph
    for _ in range(2):  # spots are better known when the noise is
        photons = photograph.in_photons(noise_of(photograph.photons, usable, photograph.pedestal))
        _, strong = find_spots(photons.photons, usable, even=False)
        usable = usable & ~about_spots(strong)
    return photons


@dataclasses.dataclass(frozen=True)
class _Search:
    """How images are searched for lattices of a model. least: pixels of a spot; noise: see Wanted;
    most: lattices of an image."""

    model: Model
    least: int
    geometry: Geometry
    noise: tuple
    most: int

    def key(self, path):
        """The key of what follows from an image's file, the number of its frame, and this search.
        """
        file = path if os.path.exists(path) else re.sub(r":\d+$", "", path)
        return key_of(image=digest_or_none(file), frame=path[len(file):], model=self.model.digest(), least=self.least, noise=self.noise,
                      most=self.most, geometry=None if self.geometry is None else _files.digest(self.geometry.path))


def _index(still, search, begin=None):
    """begin: the Fitted of a lattice nearby, in place of a search."""
    model, least, most = search.model, search.least, search.most
    photograph = read_photograph(still.image, search.geometry)
    if not photograph.counting:
        none = no_numbers(photograph.photons)
        # Corrections of images for distortion mix pixels with those at their side.
        photograph.photons = numpy.where(ndimage.binary_dilation(none, numpy.ones((3, 3)), 2) if none.any() else none, numpy.nan, photograph.photons)
        photograph.cutoff = largest_number(photograph.photons, photograph.cutoff)
    lost = numpy.zeros(photograph.photons.shape, bool) if photograph.counting else lost_light(photograph.photons, photograph.cutoff)
    pixels = usable_pixels(photograph.photons, photograph.cutoff, lost)
    photograph = _in_photons(photograph, pixels.usable, search.noise)
    if photograph.core:
        pixels.leave_out(*odd_pixels(photograph.photons, pixels.usable, photograph.core))
    photons = photograph.photons
    spots, strong = find_spots(photons, pixels.usable, least, photograph.counting, lost)
    still.photograph, still.masked, still.shape = dataclasses.replace(photograph, photons=None), dict(pixels.why), photons.shape
    detectors = list(_detectors(photograph))
    behind = lambda: background_of(photons, pixels.usable, strong, lattices[0].detector if lattices else detectors[0])
    look = lambda: lattices_near(begin, spots, model, most) if begin else lattices_of(spots, detectors, model, most)
    lattices, why = _found(look)
    if lattices and (sharp := sharp_spots(pixels.hot, lattices[0])).any():
        pixels.take_back(sharp)
        still.masked = dict(pixels.why)
        spots, strong = find_spots(photons, pixels.usable, least, photograph.counting, lost)
        lattices, why = _found(look)
    background = behind()
    if background.share_of(photons, strong) > _UNEVEN:  # rings and edges of shadows are no spots
        spots, strong = find_spots(photons, pixels.usable & ~background.shadows, least, photograph.counting, lost, background.model)
        lattices, why = _found(look)
        background = behind()
    if lattices and len(whole := without_pieces(spots, lattices[0])) < _WHOLE * len(spots):
        spots, begun = whole, lattices[0]
        lattices, why = _found(lambda: lattices_near(begun, spots, model, most))
    if not begin:
        before, lattices = lattices, lattices_anywhere(lattices, spots, detectors[0], photons.shape, model, most)
        if lattices is not before:
            background = behind()
    still.found, still.spots = spots, len(spots)
    if lattices:
        _take(still, lattices)
    still.masked["shadow"] = int(background.shadows.sum())
    if not photograph.counting:
        still.calibration = background.calibration(photons)
    still.chi2_background = background.chi2(photons, still.calibration)
    still.chi2_parts = background.parts(photons, strong, still.calibration)
    if not lattices:
        raise why
    usable = pixels.usable & ~background.shadows
    still.moments = Moments.measured(spots.at, photons, usable, background.model, BOX // 2)
    still.boxes = Boxes.around(spots.at, BOX // 2, photons, usable, background.model, still.calibration)
    usable[tuple(still.boxes.rows.T)] = False  # pixels in the box of a spot are in no other
    dark = [near_sphere(one, still.shape, max(_NEAR, _SPREAD * float(one.missing[one.indexed].std()))) for one in still.lattices]
    still.dark = Boxes.around(numpy.concatenate(dark), DARK // 2, photons, usable, background.model, still.calibration)
    still.dark.lattice = numpy.repeat(range(len(dark)), [len(at) for at in dark])[still.dark.box]


def _found(search):
    """The lattices of a search, and why there are none."""
    try:
        return search(), None
    except Rejected as error:
        return [], error


def _take(still, lattices):
    still.lattices, indexed = lattices, numpy.any([one.indexed for one in lattices], axis=0)
    still.indexed, away = int(indexed.sum()), numpy.linalg.norm(still.of_spots("off"), axis=1)
    rms = lambda which: float(numpy.sqrt((away[which]**2).mean())) if which.any() else numpy.nan
    still.rms_px, still.rms_px_all = rms(indexed & (still.found.light > _STRONG)), rms(indexed)
    still.distance_mm = still.fitted.detector.distance
    if still.dark is not None:
        still.dark.lattice = numpy.minimum(still.dark.lattice, len(lattices) - 1)


def _one(index, *, paths, search, kept):
    key = search.key(paths[index]) if kept.folder else ""
    if (still := kept.get(key)) is not None:
        still.index, still.image = index, paths[index]
        return _without_pixels(still, kept)
    begin, still = time.perf_counter(), Still(index, paths[index], key=key)
    try:
        _index(still, search)
    except Rejected as error:
        still.status, still.why = "rejected", str(error)
    except Exception as error:  # whatever it is, it costs this image alone
        still.status, still.why = "rejected", reason(error)
    still.seconds = time.perf_counter() - begin
    kept.put(key, still)
    return _without_pixels(still, kept)


def _without_pixels(still, kept):
    """A still as long as its pixels are not needed; they are in the folder where it is kept."""
    if kept.folder:
        still.boxes = still.dark = None
    return still


def _with_pixels(still, kept):
    """A still with its pixels and those of the model."""
    if still.boxes is None:
        whole = kept.get(still.key)
        if whole is None:
            raise FileError(f"{kept.folder}: what was known of {still.image} is not there any more; run again with --resume")
        whole.dark.lattice = numpy.minimum(whole.dark.lattice, len(still.lattices) - 1)
        still = dataclasses.replace(still, boxes=whole.boxes, dark=whole.dark)
    if still.explained and still.explained.image is None:
        still = dataclasses.replace(still, explained=kept.get(still.explained_key)[0])
    return still


def _share_detector(stills, model, distances):
    """Stills whose headers name the same detector have the same tilts, the medians of all, and the
    same modules. distances: whether they have the same distance, too."""
    groups = {}
    for still in stills:
        if still.status == "indexed":
            p = still.photograph
            groups.setdefault((p.distance, p.centre, p.pixel, still.shape), []).append(still)
    for group in groups.values():
        if len(group) < 3:
            continue
        tilts = tuple(numpy.median([s.fitted.detector.tilts for s in group], axis=0).tolist())
        free = {"mosaic": 0.5, "shape": 3e-3}
        for _ in range(_REFITS):
            modules = _modules(group)
            for still in group:
                detector = dataclasses.replace(still.fitted.detector, tilts=tilts, modules=modules)
                _take(still, refit([dataclasses.replace(one, detector=detector) for one in still.lattices], still.found,
                                   model.system, ((numpy.inf, 3.0, 1.0, free), (numpy.inf, 2.5, 1.0, free))))
        distance = float(numpy.median([s.fitted.detector.distance for s in group]))
        for still in group if distances else ():
            still.shared, detector = True, dataclasses.replace(still.fitted.detector, distance=distance)
            longer = still.fitted.detector.distance / distance  # scattering vectors
            _take(still, refit([dataclasses.replace(one, matrix=longer * one.matrix, detector=detector) for one in still.lattices],
                               still.found, model.system, ((numpy.inf, 3.0, 1.0, free),), held=True))


_CHAINED = ("distance", "centre", "tilt", "cell")  # numbers that stills of one crystal share, held while their pixels are fitted


def _found_again(stills, search):
    """Stills of one crystal, those that are rejected looked for where the ones before them lead."""
    for number, still in enumerate(stills):
        before = [one for one in stills[:number] if one.status == "indexed"]
        if still.status == "rejected" and still.found is not None and before:
            again = Still(still.index, still.image, key=still.key)
            matrices = [one.matrix for one in alike([one.fitted for one in before], [one.found for one in before], search.model)]
            try:
                _index(again, search, dataclasses.replace(before[-1].fitted, matrix=next_matrix(matrices)))
            except Rejected:
                continue
            stills[number] = again


def _chain(stills, model):
    """Fits stills of one crystal, whose indices go together, by one cell and one detector."""
    known = None if model.grid is None else by_model(model)
    for last in (False, True):
        first, turns = fit_chain([still.fitted for still in stills], [still.found for still in stills], model.system, known)
        for still, one in zip(stills, first):
            others = [dataclasses.replace(other, detector=one.detector) for other in still.lattices[1:]]
            still.shared = True
            _take(still, assigned([one, *others], still.found))
        if not last:
            modules = _modules(stills)
            for still in stills:
                still.lattices = [dataclasses.replace(one, detector=dataclasses.replace(one.detector, modules=modules)) for one in still.lattices]
    for still, turn in zip(stills[1:], turns):
        still.turn = turn


def _by_intensities(stills, model, most, together=False):
    """Takes indices by which the light of spots is like that of the model's structure factors, or
    without them that of the other stills, where places allow several. together: whether the stills
    are of one crystal, so that their first lattices have one choice."""
    choices, known = model.choices(), None if model.grid is None else by_model(model)
    for still in stills if known else ():
        one, possible = still.fitted, shifts(still.fitted.matrix, still.fitted.detector)
        if best := shifted(Light(one, still.found.light), choices, possible, known):
            try:
                _take(still, lattices_of(still.found, [one.detector.shifted(-one.matrix @ possible[best])], model, most))
                still.shared = False
            except Rejected:
                pass
    every = [(still, k) for still in stills for k in range(len(still.lattices))]
    if together:
        for still, one in zip(stills, alike([still.fitted for still in stills], [still.found for still in stills], model)):
            _take(still, assigned([one, *still.lattices[1:]], still.found))
    if len(choices) == 1 or known is None and (together or len(every) == 1):
        return
    candidates = [Candidates(in_setting(still.lattices[k], model.hall, model.cell, still.found, model.system), choices, still.found,
                             model.system) for still, k in every]
    likelihoods = [] if known is None else [one.likelihoods(map(known, one.hkl)) for one in candidates]
    if together:
        total = sum(one for (_, k), one in zip(every, likelihoods) if k == 0)
        likelihoods = [one if k else total for (_, k), one in zip(every, likelihoods)]
    found = by_each_other(candidates, model.hall) if known is None else list(map(chosen, likelihoods))
    for still in stills:
        mine = [(one.lattices[best], margin) for (of, _), one, (best, margin) in zip(every, candidates, found) if of is still]
        lattices, still.margins = map(list, zip(*mine))
        _take(still, lattices)


def _compare_light(stills, model):
    """How much more the light of each still's spots is like the model's intensities than by chance,
    where that can be told."""
    for still in stills if model.grid is not None else ():
        light, known = Light(still.fitted, still.found.light), by_model(model)(still.fitted.hkl[still.fitted.indexed])
        still.alike = light.agreement(known) if light.tells(known) else numpy.nan


def _modules(group):
    """Where the modules of the detector of these stills are."""
    spots = [(still.found.at[use], -still.of_spots("off")[use], still.found.light[use], numpy.full(use.sum(), number))
             for number, still in enumerate(group) for use in [still.of >= 0]]
    detector = group[0].fitted.detector
    return detector.modules.fitted(*map(numpy.concatenate, zip(*spots)), len(detector.panels) == 1)


# Numbers of a fit to pixels, and what restraints of them are given in: how many of the fit's units
# that is.
UNITS = {"orientation": numpy.radians(1), "mosaicity": 1, "scale": 1, "divergence": 1, "size": 1, "bandwidth": 1, "distance": 1,
          "centre": 1, "tilt": 1e3 * numpy.radians(1), "wavelength": 1, "cell": 1e3, "B": 1, "dead_time": 1e6, "gain": 1, "psf": 1}


def in_units(held, restrain, units=UNITS, response=Response()):
    """Sigmas of restraints in the units of the fit."""
    if response.psf is None and "psf" in restrain:
        raise ValueError("there is no point spread to be restrained; --psf=gauss:80 says its shape and where its width starts, um")
    for name in (*held, *restrain):
        if name not in units:
            raise ValueError(f"{name} is not a number of this fit; there are {', '.join(units)}")
        if name in restrain and not restrain[name] > 0:
            raise ValueError(f"the restraint of {name} is {restrain[name]}; a sigma has to be greater than 0")
    return {name: sigma * units[name] for name, sigma in restrain.items()}


def _depth(detector):
    """mm behind the detector's face at which photons are absorbed, in the mean."""
    if not detector.attenuation or not detector.thickness:
        return 0.0
    path = min(detector.thickness / detector.attenuation, 500.0)
    return detector.attenuation * (1 - path / numpy.expm1(path))


def _simulators(still, model, response=Response()):
    """The simulators of a still, whose panels are its modules."""
    photograph, detector = still.photograph, still.fitted.detector
    fast, slow, _ = detector.axes()
    corner = detector.corner() + _depth(detector) * detector.axes()[2]
    shape = still.shape if detector.panels.size is None else detector.panels.size.max(axis=0)
    beam = {"wavelength": photograph.wavelength * 1e-10, "polarization": 2 * photograph.polarization - 1}
    fields = {"beam_direction": BEAM, "gain": photograph.gain if photograph.gain != 1 else None, **response.of_detector(detector.pixel)}
    plane = nb.Detector.plane(corner * 1e-3, fast, slow, tuple(map(int, shape)), detector.pixel * 1e-3, **fields)
    modules = plane if detector.modules.distortion else nb.Detector(panels=_standing_modules(detector, still.shape), pixel_size=detector.pixel * 1e-3, **fields)
    parts = (nb.Crystal(real_space=1e-10 * numpy.linalg.inv(still.fitted.matrix)), nb.Beam(**beam), modules, nb.Goniometer(axis=(0, 0, 1)))
    return simulators_of_still(parts, plane, still.fitted.missing[still.fitted.indexed], model.grid, model.lowest)


def used(still, model):
    """Which of its spots are explained: those that are indexed, and have a structure factor; others
    are not of the crystal."""
    at = still.of_spots("hkl") - numpy.array(model.lowest)
    inside = ((at >= 0) & (at < model.grid.shape)).all(axis=1)
    return (still.of >= 0) & inside & (model.grid[tuple(numpy.where(inside[:, None], at, 0).T)] > 0)


def boxes_of(still, dark=False):
    """Boxes of the spots that are explained, or of those without spots, with the reflections that
    are nearest to their pixels: those of the lattice that the nearest spot is of. A reflection is
    h, k, l and its lattice, where there are several."""
    boxes = dataclasses.replace(still.dark) if dark else still.boxes.chosen(still.explained_spots)
    if still.explained and not dark:
        boxes = boxes.levelled(still.explained.levels)
    detector, several = still.fitted.detector, len(still.lattices) > 1
    if several and not dark:
        nearest = spatial.cKDTree(still.found.at[still.explained_spots]).query(boxes.rows[:, ::-1] + 0.5)[1]
        boxes.lattice = still.of[still.explained_spots][nearest]
    which = detector.modules.step(boxes.rows[:, ::-1])
    if detector.modules.distortion:
        boxes.exposure = which
    else:
        boxes.panel = which
    q = detector.scattering_vectors(boxes.rows[:, ::-1] + 0.5)
    bases = numpy.array([numpy.linalg.inv(one.matrix) for one in still.lattices])
    hkl = numpy.rint(numpy.einsum("nij,nj->ni", bases[boxes.lattice], q) if several else q @ bases[0].T).astype("i4")
    return boxes.with_reflections(numpy.column_stack([hkl, boxes.lattice]) if several else hkl)


def _seen(still, response):
    """Spots that are explained, as MomentFit takes them: on the grid of each module."""
    detector, which = still.fitted.detector, still.explained_spots & still.moments.known
    seen = still.moments.chosen(which)
    seen.at, module = detector.modules.on_panels(seen.at)
    width = 1e-3 * response.psf[1] / numpy.sqrt(8 * numpy.log(2)) / detector.pixel if response.psf else 0.0
    return seen, still.of_spots("hkl")[which], still.of[which], module, width**2


def _standing(detector, panel, off=(0.0, 0.0)):
    """Parameters of a simulator of the detector's plane by which it is panel ``panel`` where light
    is absorbed, moved by ``off`` (pixels, fast and slow) against what is seen."""
    corner, fast, slow, normal = (axis[panel] for axis in detector.placed())
    corner = 1e-3 * (corner + _depth(detector) * normal - detector.pixel * (off[0] * fast + off[1] * slow))
    axes = {} if len(detector.panels) == 1 else {"fast_axis": fast, "slow_axis": slow, "normal_axis": normal}
    return axes | {"beam_center_fast": float(-corner @ fast), "beam_center_slow": float(-corner @ slow), "close_distance": float(corner @ normal)}


def _exposures(detector):
    """Where the panel stands for pixels of each displacement; of panels that stand where their
    light is seen, nothing."""
    if not detector.modules.distortion:
        return ({},)
    return [_standing(detector, 0, shift) for shift in detector.modules.steps()]


def _standing_modules(detector, shape):
    """Each module as a panel, where its light is absorbed. shape: of the image."""
    begin = detector.modules.begins()
    number = detector.panels.number(begin[:, ::-1])
    corner, fast, slow, normal = (axis[number] for axis in detector.placed())
    off = detector.pixel * ((begin - detector.panels.begin[number])[:, ::-1] - detector.modules.shifts)
    corner = corner + _depth(detector) * normal + off[:, :1] * fast + off[:, 1:] * slow
    # Rows between panels of the image are of no panel.
    ends = numpy.array([[part.stop for part in parts] for parts in detector.panels.parts(shape)])
    sizes = numpy.minimum(detector.modules.sizes(shape), ends[number] - begin)
    if detector.panels.size is None:  # no pixel beyond the image is looked at, and panels of one size need no mask
        sizes = numpy.where(begin + sizes == shape, sizes.max(axis=0), sizes)
    return [nb.Panel(*one) for one in zip(1e-3 * corner, fast, slow, sizes.tolist())]


def _faces(detector):
    """Where each panel stands."""
    return [_standing(detector, panel) for panel in range(len(detector.panels))]


def _explained(number, *, stills, model, how, kept, keys):
    """The number of a still, its result, or why it was not explained, and seconds."""
    still, begin = stills[number], time.perf_counter()
    if (found := kept.get(keys[number])) is not None:
        return number, _without_images(found[0], kept), found[1]
    try:
        still = _with_pixels(still, kept)
        use, detector = used(still, model), still.fitted.detector
        still.explained_spots = use
        response, seconds = how["response"].of_neighbours(still.photograph.core, still.photograph.pixel), still.photograph.seconds
        response.check(seconds, "dead_time" in how["restrain"])
        how = how | {"response": response}
        sims = _simulators(still, model, response)
        boxes = boxes_of(still)
        if still.shared:
            how = how | {"held": (*how["held"], "distance"), "volume": True}
        result = explain(sims, boxes, still.found.light[use], model.system, _seen(still, response), still.boxes.joined(still.dark), detector,
                         begin=still.explained, others=[one.matrix for one in still.lattices[1:]], seconds=seconds, faces=_faces(detector),
                         origins=detector.modules.origins(), exposures=_exposures(detector), dark=boxes_of(still, True), **how)
        result.integrated = result.integrated.in_photons(still.photograph.spread)
        result.integrated.panel = detector.panels.number(result.integrated.at)
        corner, fast, slow = result.panels
        normal = numpy.cross(fast, slow)
        normal *= (numpy.sign((normal * corner).sum(axis=1)) / numpy.linalg.norm(normal, axis=1))[:, None]
        result.panels = corner - 1e-3 * _depth(detector) * normal, fast, slow
    except Exception as error:  # as above
        result = reason(error)
    seconds = time.perf_counter() - begin
    kept.put(keys[number], (result, seconds))
    return number, _without_images(result, kept), seconds


def _without_images(result, kept):
    """The result for a still, or why there is none, as long as the model's pixels are not needed;
    they are in the folder where it is kept."""
    return dataclasses.replace(result, image=None, light=None) if kept.folder and not isinstance(result, str) else result


def _explain(stills, model, deal, how, kept, done=lambda still: None, mine=lambda still: True):
    """Explains those that are indexed, and ``mine``. deal: a Dealer. kept: results that are
    finished. done: is called with each still."""
    good = [still for still in stills if still.status == "indexed"]
    # The shared tilts and modules follow from all stills.
    of_all = key_of(how=how, model=model.digest(), stills=[still.key for still in stills]) if kept.folder else ""
    of_each = [key_of(all=of_all, index=still.index) for still in good]
    one = functools.partial(_explained, stills=good, model=model, how=how, kept=kept, keys=of_each)
    numbers = [number for number, still in enumerate(good) if mine(still)]
    for number, result, seconds in deal(one, numbers, lambda number, why: (number, why, 0.0)):
        still = good[number]
        still.seconds += seconds
        still.explained_key = of_each[number]
        still.explained_spots = used(still, model)
        if isinstance(result, str):
            still.why = f"its pixels were not explained: {result}"
        else:
            still.explained, still.rms_px = result, result.rms_px
            still.distance_mm = _distance(still)
        done(still)


def _distance(still):
    """mm, along the normal of a detector of one panel, and along the beam of others."""
    corner, fast, slow = still.explained.panels
    if len(corner) > 1:
        return still.fitted.detector.distance + float(((1e3 * corner - still.fitted.detector.placed()[0]) @ BEAM).mean())
    normal = numpy.cross(fast[0], slow[0])
    return 1e3 * abs(float(corner[0] @ normal)) / float(numpy.linalg.norm(normal))


def _observations(stills, amplitudes):
    """Observations on stills that are explained; cell and wavelength of each crystal."""
    crystals = [(still, k) for still in stills for k in range(len(still.lattices))]
    every = [still.explained.integrated.chosen(still.explained.integrated.lattice == k) for still, k in crystals]
    return (Observations(amplitudes, every, [still.index for still, _ in crystals]),
            [(cell_of(_matrix(still, k)).tolist(), float(still.photograph.wavelength)) for still, k in crystals])


def _refine_factors(stills, model, tested, deal, how, kept):
    """Explains stills again, by structure factors that those without the numbers ``tested`` and the
    model say together."""
    good = [still for still in stills if still.explained]
    training = [still for still in good if still.index not in tested and len(still.explained.integrated.hkl)]
    if not training:
        raise ValueError("no still is left to refine structure factors on; give more images, or test fewer of them")
    for still in good:
        still.chi2_model = still.explained.chi2
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    merged = merge(_observations(training, amplitudes)[0], amplitudes, numpy.linalg.inv(real_basis(model.cell)))
    row = merged.of_amplitude
    logarithms = numpy.where(merged.seen[row] > 0, numpy.log(merged.F_post[row] / amplitudes.start), 0)
    _explain(good, dataclasses.replace(model, grid=amplitudes.values(logarithms)), deal, how, kept)


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Choices of index().

    least: pixels of a spot. pixels: whether pixels are explained, too. held, restrain: numbers of
    that fit, by name, that stay, and sigmas of others. sets: of mosaic blocks, at most. lattices:
    crystals of an image, at most; each further one is looked for among spots that the others do not
    have. factors: whether structure factors are refined, too, on all stills but those of the
    numbers ``tested``. geometry: an .expt that says where the detector stands, in place of the
    images. noise: (gain, zero): an image holds photons * gain + zero, and noise as if it were none
    beside that of these photons; None: of detectors that count photons (1, 0), and what pixels of
    others say. response: where the fit of the detector's begins. chain: whether they are stills of
    one crystal that was turned from each to the next, in their order: they have one cell and one
    detector, and each a Turn. full: see _still_files.integrated.
    """

    least: int = 3
    pixels: bool = True
    held: tuple = ()
    restrain: dict = None
    sets: int = MOST_SETS
    lattices: int = MOST_LATTICES
    factors: bool = False
    tested: tuple = ()
    geometry: str = None
    noise: tuple = None
    response: Response = Response()
    chain: bool = False
    full: bool = False

    def fit(self):
        """The fit to pixels, as explain() takes it."""
        return {"held": (*self.held, *_CHAINED) if self.chain else tuple(self.held), "sets": self.sets, "response": self.response,
                "restrain": in_units(self.held, self.restrain or {}, response=self.response)}

    def search(self, path):
        """The search for the crystal of a model's file."""
        model = Model.read(path, solvent=0)
        if self.pixels and model.grid is None:
            raise ValueError(f"'{path}' has no structure factors, by which pixels are explained; give a file with them, or --positions-only")
        return _Search(model, self.least, None if self.geometry is None else Geometry.read(self.geometry), self.noise, self.lattices)

    def check(self, shard, out, resume):
        """ValueError where it contradicts itself, or what is done to its results."""
        check_run(out, resume, shard)
        sharded = shard[1] > 1
        for wrong, why in (
                (self.lattices < 1, f"--lattices is {self.lattices}; a still has one at least"),
                (self.chain and "distance" in (self.restrain or {}), "stills of a chain share their distance; leave its restraint out"),
                (sharded and out is None, "shards share a folder; give it as out="),
                (sharded and self.factors, "structure factors of all images are not refined on a shard; leave out --shard"),
                (sharded and self.chain, "a chain is refined as a whole; leave out --shard")):
            if wrong:
                raise ValueError(why)


class Watch:
    """Is told how far index() is. A program overrides what it wants to know."""

    def found(self, still):
        """The spots of a still were searched."""

    def done(self, still):
        """All that is wanted of a still is done."""

    def say(self, sentence):
        """Something that concerns all stills."""


def index(paths, model, *, workers=None, out=None, resume=False, shard=(0, 1), comm=None, watch=None, **wanted):
    """Finds spots on stills, indexes each with the known cell, and fits orientation and detector to
    their places; then explains the pixels of the spots by the model's structure factors.

    paths: CBF files, also .gz and .bz2, or NXmx ones. model: a PDB or mmCIF model, or MTZ: its cell
    and space group are taken. wanted: fields of Wanted. workers: processes; None: one for each
    processor. out: a folder for the files of _still_files.py and _write_merged, and for finished/,
    with what is known of each image as soon as it is. resume: goes on with what is in there, as far
    as it follows from the same images and numbers. shard: (i, n), every n-th image from i on.
    Shards share ``out``, which gets finished/ alone; what all stills share is known, and pixels are
    explained, once the spots of all are indexed. comm: a communicator of mpi4py in place of
    workers: all ranks call this, and the first has the stills; others return none. watch: a Watch.

    Returns a Still for each. An image that cannot be read or indexed is among them with its reason.
    """
    paths, wanted, watch = [os.fspath(path) for path in paths], Wanted(**wanted), watch or Watch()
    if not paths:
        raise ValueError("there are no images")
    wanted.check(shard, out, resume)
    how, (part, parts) = wanted.fit(), shard
    ranks = comm if comm is not None and comm.Get_size() > 1 else None
    if ranks and ranks.Get_rank():
        Dealer(ranks, None).serve()
        return []
    with Dealer(ranks, workers) as deal:
        search = wanted.search(model)
        claim = None if out is None else Claim(out, together=parts > 1)
        kept = Kept(None if out is None else os.path.join(out, "finished"), resume or parts > 1)
        one = functools.partial(_one, paths=paths, search=search, kept=kept)
        stills = []
        for still in deal(one, list(range(part, len(paths), parts)), lambda number, why: Still(number, paths[number], "rejected", why)):
            stills.append(still)
            watch.found(still)
            if not (wanted.pixels and still.status == "indexed"):
                watch.done(still)
        if parts > 1:
            others = [number for number in range(len(paths)) if number % parts != part] if wanted.pixels else []
            missing = sum(not kept.has(search.key(paths[number])) for number in others)
            if missing:
                watch.say(f"{missing} images of other shards are not indexed yet; run this shard again when they are")
            if missing or not wanted.pixels:
                return sorted(stills, key=lambda still: still.index)
            stills += map(one, others)
        stills.sort(key=lambda still: still.index)
        crystal = _common(stills, model, search, wanted)
        if wanted.pixels:
            _explain(stills, crystal, deal, how, kept, watch.done, lambda still: still.index % parts == part)
        if parts > 1:
            return stills[part::parts]
        if wanted.factors:
            _refine_factors(stills, crystal, set(wanted.tested), deal, how, kept)
    if out is not None:
        write(out, stills, crystal, kept, set(wanted.tested), wanted.full)
        claim.release()
    return stills


def _common(stills, path, search, wanted):
    """Finds what stills share: their detector, and the choice of indices. Returns the Model with
    structure factors to their resolution."""
    if wanted.chain:
        _found_again(stills, search)
    _share_detector(stills, search.model, "distance" not in (wanted.restrain or {}) and "cell" not in wanted.held)
    good = [still for still in stills if still.status == "indexed"]
    if not good:
        return search.model
    finest = max(still.fitted.detector.finest(still.shape) for still in good)
    wavelength = float(numpy.median([still.photograph.wavelength for still in good]))
    crystal = Model.read(path, 0.97 / finest, wavelength)
    _by_intensities(good, crystal, wanted.lattices, wanted.chain)
    _compare_light(good, crystal)
    if wanted.chain:
        _chain(good, crystal)
    return crystal


def in_words(explained):
    """Numbers of a still that was explained, and of its first lattice, with the units people use.
    """
    values = explained.values
    for name, key, unit in (("divergence_h_mrad", "hdiv_sigma", 1e3), ("divergence_v_mrad", "vdiv_sigma", 1e3),
                            ("bandwidth_percent", "bandwidth_sigma", 100.0), *((f"cells_{axis}", f"ncells_{axis}", 1.0) for axis in "abcdef" if f"ncells_{axis}" in values)):
        yield name, values[key] * unit
    if "psf_fwhm" in values:
        yield "psf_um", values["psf_fwhm"] * 1e6
    yield "dead_time_ns", values["dead_time"] * 1e9
    yield from _words_of(explained.lattices[0])


def _words_of(lattice):
    yield "sets", lattice.sets
    yield "mosaicity_deg", lattice.mosaicity
    yield "scale", lattice.scale
    yield "B", lattice.B


_CELL = ("a", "b", "c", "alpha", "beta", "gamma")
_COLUMNS = ["shot", "image", "status", "verdict", "spots", "indexed", "lattices", "indexed_each", "choice_sigmas", "alike_sigmas", "chi2", "chi2_model", "chi2_profiles", "profile_error", "unseen", "chi2_unseen", "unseen_light", "rms_px", "rms_px_all", "distance_mm", "beam_fast_px",
            "beam_slow_px", "tilt_x_deg", "tilt_y_deg", "distortion_px", *_CELL, "turned_deg", "turned_sigma_deg", "missing_deg",
            "sets", "divergence_h_mrad", "divergence_v_mrad", "bandwidth_percent", "cells_a", "cells_b", "cells_c", "cells_d", "cells_e", "cells_f", "mosaicity_deg", "scale", "B", "psf_um", "dead_time_ns",
            "chi2_background", "chi2_smooth", "chi2_rings", "chi2_haloes", "gain", "gain_sigma", "gain_pixel", "zero", "calibration", "gaps", "overloads", "hot", "dead", "shadow", "seconds", "reason", "why"]
# Columns of the report.
_SHOWN_COLUMNS = ["shot", "image", "verdict", "spots", "indexed", "lattices", "chi2", "chi2_profiles", "chi2_background", "rms_px",
                  "distance_mm", *_CELL, "mosaicity_deg", "sets", "seconds", "reason"]


def _matrix(still, lattice):
    """The crystal's matrix by pixels, or else by places of spots."""
    return (still.explained or still).lattices[lattice].matrix


def rows(stills):
    """A row for each still, the first with names."""
    yield _COLUMNS
    for s in stills:
        row = {"shot": s.index, "image": s.image, "status": s.status, "spots": s.spots, "indexed": s.indexed,
               "chi2_background": f"{s.chi2_background:.4f}", "seconds": f"{s.seconds:.3f}", "why": s.why, **s.masked}
        row |= {f"chi2_{name}": f"{value:.4f}" for name, value in s.chi2_parts.items()}
        row["verdict"], row["reason"] = verdict(s)
        if s.margins:
            row["choice_sigmas"] = f"{s.margins[0]:.2f}"
        if numpy.isfinite(s.alike):
            row["alike_sigmas"] = f"{s.alike:.2f}"
        if s.photograph:
            whole = s.photograph.gain / s.photograph.spread
            row |= {"gain": f"{whole:.4g}", "gain_sigma": f"{s.photograph.gain_sigma * whole:.2g}", "gain_pixel": f"{s.photograph.gain:.4g}", "zero": f"{s.photograph.zero:.4g}",
                    "calibration": f"{s.calibration:.4g}"}
        if s.status == "indexed":
            detector, missing = s.fitted.detector, s.of_spots("missing")[s.of >= 0]
            row |= {"rms_px": f"{s.rms_px:.3f}", "rms_px_all": f"{s.rms_px_all:.3f}", "distance_mm": f"{s.distance_mm:.3f}",
                    "beam_fast_px": f"{detector.centre[0]:.3f}", "beam_slow_px": f"{detector.centre[1]:.3f}",
                    "missing_deg": f"{numpy.degrees(numpy.sqrt(numpy.mean(missing**2))):.4f}"}
            if detector.modules.distortion:
                row["distortion_px"] = f"{numpy.sqrt((detector.modules.distortion.off(s.found.at[s.of >= 0])**2).sum(axis=1).mean()):.3f}"
            if s.turn:
                row |= {"turned_deg": f"{s.turn.angle:.5f}", "turned_sigma_deg": f"{s.turn.sigma:.5f}"}
            row |= {"lattices": len(s.lattices), "indexed_each": " ".join(str(one.indexed.sum()) for one in s.lattices)}
            row |= {name: f"{numpy.degrees(v):.4f}" for name, v in zip(("tilt_x_deg", "tilt_y_deg"), detector.tilts)}
            row |= {name: f"{v:.4f}" for name, v in zip(_CELL, cell_of(_matrix(s, 0)))}
        if s.explained:
            row |= {"chi2": f"{s.explained.chi2:.4g}", "chi2_profiles": f"{s.explained.chi2_profiles:.4g}",
                    "chi2_model": f"{s.chi2_model if numpy.isfinite(s.chi2_model) else s.explained.chi2:.4g}"}
            row |= {"unseen": s.explained.unseen, "chi2_unseen": f"{s.explained.chi2_unseen:.4g}", "unseen_light": f"{s.explained.unseen_light:.4f}",
                    "profile_error": f"{s.explained.profile_error:.4f}"}
            row |= {name: f"{value:.6g}" for name, value in in_words(s.explained)}
            row["gain"] = f"{whole * s.explained.values['gain']:.4g}"
        yield [row.get(name, "") for name in _COLUMNS]


_OF_LATTICE = ["experiment", "shot", "lattice", "spots", "choice_sigmas", "rms_px_all", "chi2", *_CELL, "sets", "mosaicity_deg", "scale", "B"]


def lattice_rows(stills):
    """A row for each lattice, as for each experiment of indexed.expt, the first with names."""
    yield _OF_LATTICE
    every = ((still, k) for still in stills if still.status == "indexed" for k in range(len(still.lattices)))
    for number, (still, k) in enumerate(every):
        fitted = still.lattices[k]
        row = {"experiment": number, "shot": still.index, "lattice": k, "spots": int(fitted.indexed.sum()),
               "rms_px_all": f"{fitted.rms(fitted.indexed):.3f}"}
        if still.margins:
            row["choice_sigmas"] = f"{still.margins[k]:.2f}"
        row |= {name: f"{v:.4f}" for name, v in zip(_CELL, cell_of(_matrix(still, k)))}
        if still.explained:
            row |= {"chi2": f"{still.explained.chi2_of[k]:.4g}"}
            row |= {name: f"{value:.6g}" for name, value in _words_of(still.explained.lattices[k])}
        yield [row.get(name, "") for name in _OF_LATTICE]


def write(out, stills, model, kept, tested=(), full=False):
    """Tables, lists and pages of stills; merged are those that are explained, without the numbers
    ``tested``. kept: where their pixels are. full: see integrated()."""
    os.makedirs(out, exist_ok=True)
    good, pages = [still for still in stills if still.status == "indexed"], []
    if good:
        _still_files.write_indexed(out, good, model)
    if explained := [still for still in good if still.explained]:
        _still_files.write_integrated(out, explained, model, full)
        pages = _write_merged(out, [still for still in explained if still.index not in tested], model)
    table = list(rows(stills))
    _report.write_table(os.path.join(out, "shots.csv"), table)
    _report.write_table(os.path.join(out, "lattices.csv"), list(lattice_rows(stills)))
    _report.write_page(os.path.join(out, "report.html"), "Indexed images", _page(stills, table, pages, kept))


def _write_merged(out, stills, model):
    """structure_factors.mtz, unmerged.mtz and merging.csv; parts of the page."""
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    observations, crystals = _observations(stills, amplitudes)
    if not len(observations.row):
        return []
    merged = merge(observations, amplitudes, numpy.linalg.inv(real_basis(model.cell)))
    wavelength = float(numpy.mean([wavelength for _, wavelength in crystals]))
    _files.write_file(os.path.join(out, "structure_factors.mtz"), merged.content(model.cell, wavelength))
    _files.write_file(os.path.join(out, "unmerged.mtz"), observations.content(merged.space_group, model.cell, wavelength, crystals))
    table = list(merged.shells())
    _report.write_table(os.path.join(out, "merging.csv"), table)
    noise, relative, tail = numpy.exp(observations.errors)
    return [_report.element("h2", "Merged"), _report.headed(table),
            _report.element("p", f"Errors of intensities: {noise:.3g} times those of photons, {100 * relative:.2g} % of the intensity, and "
                                 f"{100 * tail:.2g} % times the root of -2 log(partiality).")]


def _page(stills, table, merged, kept):
    good = [still for still in stills if still.status == "indexed"]
    reason, why = (table[0].index(name) for name in ("reason", "why"))
    table = [table[0], *([row[0], os.path.basename(row[1]), *row[2:reason], row[reason] or row[why], *row[reason + 1:]] for row in table[1:])]
    shown = [table[0].index(name) for name in _SHOWN_COLUMNS]
    parts = [_report.element("h1", f"{len(good)} of {len(stills)} images indexed"), _report.headed([[row[i] for i in shown] for row in table]),
             _report.element("p", "shots.csv has further columns."), *merged]
    shown = sorted(good, key=lambda still: still.explained.chi2 if still.explained else 0, reverse=True)[:_SHOWN]
    if len(shown) < len(good):
        parts.append(_report.element("p", f"Shown are the {_SHOWN} images of largest chi-square."))
    for still in sorted(shown, key=lambda still: still.index):
        parts.append(_report.element("h2", os.path.basename(still.image)))
        parts.append(_report.element("p", ": ".join(filter(None, verdict(still)))))
        if len(still.lattices) > 1:
            parts.append(_report.headed([row[2:] for row in lattice_rows([still])]))
        parts.append(_off_by_radius(still))
        if still.explained:
            still = _with_pixels(still, kept)
            parts += still_page(still, boxes_of(still), DARK**2)
    return parts


def _off_by_radius(still):
    use = (still.of >= 0) & (still.found.light > _STRONG)
    spots, away = (still.fitted.detector.across(at) for at in (still.found.at[use], (still.found.at + still.of_spots("off"))[use]))
    off, radius = away - spots, numpy.linalg.norm(away, axis=1)
    along = away / radius[:, None]
    radial = (off * along).sum(axis=1)
    tangential = off[:, 1] * along[:, 0] - off[:, 0] * along[:, 1]
    return _report.table(["pixels from the centre", "spots", "radial", "rms", "tangential", "rms"],
                         [(f"{radius[part].mean():.0f}", len(part), f"{radial[part].mean():.3f}", f"{radial[part].std():.3f}",
                           f"{tangential[part].mean():.3f}", f"{tangential[part].std():.3f}")
                          for part in numpy.array_split(numpy.argsort(radius), 8) if len(part)])
