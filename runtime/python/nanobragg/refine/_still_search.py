"""From a diffraction image to its spots, its background and its lattices."""

import dataclasses
import os
import re

import numpy
from scipy import ndimage

from .._errors import Rejected
from . import _files
from ._background import background_of
from ._explain import BOX, Boxes
from ._geometry import Detector, attenuation_length, near_sphere
from ._images import read_image
from ._indices import in_setting
from ._kept import digest_or_none, key_of
from ._lattices import lattices_anywhere, lattices_near, lattices_of, sharp_spots, without_pieces
from ._model import Model
from ._modules import Modules
from ._moments import Moments
from ._noise import Noise, largest_number, no_numbers, noise_of
from ._panels import ONE
from ._spots import about_spots, find_spots, lost_light, odd_pixels, usable_pixels
from ._stated_geometry import Geometry
from ._still import take

DARK = 9  # pixels, edge of the boxes about reflections without spots
_NEAR, _SPREAD = numpy.radians(0.7), 3  # how far off the sphere those may be at least, and times the indexed spots' root mean square
_UNEVEN = 0.01  # part of the pixels of spots that the background explains, from which on spots are found by it
_ROUNDS = 6  # in which spots and background are told apart
_WHOLE = 0.95  # part of the spots that there are at most without pieces of others, where these are joined


def detectors_of(image):
    """Where the detector may stand. A header says by which angle two-theta turns it, and not about
    which axis: that is level or upright, either way round."""
    turns, angle = [(0.0, 0.0)], numpy.radians(image.two_theta)
    said = image.axes is not None or image.panels is not None
    if angle and not said:
        turns = [(angle, 0.0), (-angle, 0.0), (0.0, angle), (0.0, -angle)]
    for tilts in turns:
        make = Detector if said else Detector.turned
        yield make(image.wavelength, image.pixel, image.distance, image.centre, tilts,
                   thickness=image.thickness, attenuation=attenuation_length(image.material, image.wavelength),
                   modules=Modules.of_gaps(~numpy.isfinite(image.photons)), upright=image.axes, panels=image.panels or ONE)


def in_photons(image, usable, noise):
    """The image in photons, by the gain and the zero that are given, or that its pixels have."""
    if noise is not None:
        return image.in_photons(Noise(*noise))
    if image.counting:
        return image
    for _ in range(2):  # spots are better known when the noise is
        found = noise_of(image.photons, usable, image.pedestal)
        if found == Noise():
            return dataclasses.replace(image.in_photons(found), counting=True)
        photons = image.in_photons(found)
        _, strong = find_spots(photons.photons, usable, even=False)
        usable = usable & ~about_spots(strong)
    return photons


@dataclasses.dataclass(frozen=True)
class Search:
    """How images are searched for lattices of a model. least: pixels of a spot; noise: of index();
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


def _image_of(path, search):
    """The DiffractionImage in photons, its usable pixels, and those whose light is lost."""
    image = read_image(path, search.geometry)
    if not image.counting:
        none = no_numbers(image.photons)
        # Corrections of images for distortion mix pixels with those at their side.
        image.photons = numpy.where(ndimage.binary_dilation(none, numpy.ones((3, 3)), 2) if none.any() else none, numpy.nan, image.photons)
        image.cutoff = largest_number(image.photons, image.cutoff)
    lost = numpy.zeros(image.photons.shape, bool) if image.counting else lost_light(image.photons, image.cutoff)
    pixels = usable_pixels(image.photons, image.cutoff, lost)
    image = in_photons(image, pixels.usable, search.noise)
    if image.core:
        pixels.leave_out(*odd_pixels(image.photons, pixels.usable, image.core))
    return image, pixels, lost


def search_still(still, search, begin=None):
    """Fills a Still with the spots and lattices of its image; Rejected where there are none. begin:
    the Fitted of a lattice nearby, in place of a search."""
    model, least, most = search.model, search.least, search.most
    image, pixels, lost = _image_of(still.image, search)
    photons = image.photons
    spots, strong = find_spots(photons, pixels.usable, least, image.counting, lost)
    still.header, still.masked, still.shape = dataclasses.replace(image, photons=None), dict(pixels.why), photons.shape
    detectors = list(detectors_of(image))
    behind = lambda: background_of(photons, pixels.usable, strong, lattices[0].detector if lattices else detectors[0])
    look = lambda: lattices_near(begin, spots, model, most) if begin else lattices_of(spots, detectors, model, most)
    lattices, why = _found(look)
    if lattices and (sharp := sharp_spots(pixels.hot, lattices[0])).any():
        pixels.take_back(sharp)
        still.masked = dict(pixels.why)
        spots, strong = find_spots(photons, pixels.usable, least, image.counting, lost)
        lattices, why = _found(look)
    background = behind()
    for _ in range(_ROUNDS):
        if background.share_of(photons, strong) < _UNEVEN:  # rings and edges of shadows are no spots
            break
        spots, strong = find_spots(photons, pixels.usable & ~background.shadows, least, image.counting, lost, background.model)
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
        take(still, [in_setting(one, spots, model) for one in lattices])
    still.masked["shadow"] = int(background.shadows.sum())
    if not image.counting:
        still.calibration = background.calibration(photons)
    still.chi2_background = background.chi2(photons, still.calibration)
    still.chi2_parts = background.parts(photons, strong, still.calibration)
    if not lattices:
        raise why
    _cut_out(still, photons, pixels.usable & ~background.shadows, background.model)


def _cut_out(still, photons, usable, background):
    """Takes what fits need of the image: moments of spots, and the pixels of boxes about spots and
    about reflections without spots."""
    at = still.found.at
    slow, fast = numpy.floor(at[:, ::-1]).astype(int).T
    still.beneath = still.found.pixels * background[slow, fast]
    still.moments = Moments.measured(at, photons, usable, background, BOX // 2)
    still.boxes = Boxes.around(at, BOX // 2, photons, usable, background, still.calibration)
    usable[tuple(still.boxes.rows.T)] = False  # pixels in the box of a spot are in no other
    dark = [near_sphere(one, still.shape, max(_NEAR, _SPREAD * float(one.missing[one.indexed].std()))) for one in still.lattices]
    still.dark = Boxes.around(numpy.concatenate(dark), DARK // 2, photons, usable, background, still.calibration)
    still.dark.lattice = numpy.repeat(range(len(dark)), [len(at) for at in dark])[still.dark.box]


def _found(search):
    """The lattices of a search, and why there are none."""
    try:
        return search(), None
    except Rejected as error:
        return [], error
