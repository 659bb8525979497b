"""The result for a still, and what of it goes to a fit of pixels."""

import contextlib
import dataclasses
import time

import numpy
from scipy import spatial

from .._errors import FileError, reason
from ._explain import STRONG
from ._images import described


@dataclasses.dataclass
class Tried:
    """An image in which crystals are looked for, by its number."""

    index: int
    image: str
    status: str = "indexed"  # or "rejected"
    why: str = ""
    seconds: float = 0.0

    @contextlib.contextmanager
    def timed(self):
        """Takes the time of a search; whatever goes wrong in it rejects this image alone."""
        begin = time.perf_counter()
        try:
            yield
        except Exception as error:
            self.status, self.why = "rejected", reason(error)
        self.seconds = time.perf_counter() - begin


@dataclasses.dataclass
class Still(Tried):
    """The result for a still. Lengths in A and mm, angles in degrees, places in pixels."""

    spots: int = 0
    indexed: int = 0
    rms_px: float = numpy.nan  # between bright spots and their reflections; all spots, where none is bright
    rms_px_all: float = numpy.nan  # over all that are indexed
    distance_mm: float = numpy.nan
    chi2_background: float = numpy.nan
    chi2_parts: dict = dataclasses.field(default_factory=dict)  # chi2_background of its smooth part, rings and haloes
    calibration: float = 0.0  # error of a pixel's light, in proportion to it, where the detector does not count photons
    masked: dict = dataclasses.field(default_factory=dict)  # pixels that are left out, by the reason
    key: str = dataclasses.field(default="", repr=False)  # under which it is kept
    explained_key: str = dataclasses.field(default="", repr=False)  # and its explained
    shape: tuple = ()  # slow and fast pixels
    shared: bool = False  # whether the distance is that of other stills, so that the still tells the cell's mean edge
    header: object = dataclasses.field(default=None, repr=False)  # its DiffractionImage without photons
    found: object = dataclasses.field(default=None, repr=False)  # Spots
    beneath: object = dataclasses.field(default=None, repr=False)  # photons of the background beneath each spot
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
        return list(described(self.header, self.shape, self.masked, given)) if self.header else []

    def of_spots(self, name):
        """An attribute of the spots' lattices, spot by spot."""
        return numpy.array([getattr(one, name) for one in self.lattices])[numpy.maximum(self.of, 0), numpy.arange(len(self.found))]


def take(still, lattices):
    """Gives a still these lattices, and the numbers that follow from them."""
    still.lattices, indexed = lattices, numpy.any([one.indexed for one in lattices], axis=0)
    still.indexed, away = int(indexed.sum()), numpy.linalg.norm(still.of_spots("off"), axis=1)
    rms = lambda which: float(numpy.sqrt((away[which]**2).mean())) if which.any() else numpy.nan
    bright = indexed & (still.found.light > STRONG)
    still.rms_px, still.rms_px_all = rms(bright if bright.any() else indexed), rms(indexed)
    still.distance_mm = still.fitted.detector.distance
    if still.dark is not None:
        still.dark.lattice = numpy.minimum(still.dark.lattice, len(lattices) - 1)


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


def matrix_of(still, lattice):
    """The crystal's matrix by pixels, or else by places of spots."""
    return (still.explained or still).lattices[lattice].matrix


def without_pixels(still, kept):
    """A still as long as its pixels are not needed; they are in the folder where it is kept."""
    if kept.folder:
        still.boxes = still.dark = None
    return still


def with_pixels(still, kept):
    """A still with its pixels and those of the model."""
    if still.boxes is None:
        whole = kept.get(still.key)
        if whole is None:
            raise FileError(f"{kept.folder}: the earlier results of {still.image} are missing; run again with --resume")
        whole.dark.lattice = numpy.minimum(whole.dark.lattice, len(still.lattices) - 1)
        still = dataclasses.replace(still, boxes=whole.boxes, dark=whole.dark)
    if still.explained and still.explained.image is None:
        still = dataclasses.replace(still, explained=kept.get(still.explained_key)[0])
    return still


def without_images(result, kept):
    """The result for a still, or why there is none, as long as the model's pixels are not needed;
    they are in the folder where it is kept."""
    return dataclasses.replace(result, image=None, light=None) if kept.folder and not isinstance(result, str) else result
