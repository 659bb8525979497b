"""Diffraction images with the experiment that their headers describe."""

import dataclasses
import os
import re
import warnings

import numpy

from .. import _core
from .._errors import FileError, Warning
from ..simulator import unpacked
from . import _smv
from ._axes import Unplaced, flat
from ._fabio import read_pixels
from ._geometry import attenuation_length, material_named
from ._imgcif import is_full, read_header
from ._panels import ACROSS, BEAM, Panels, placed


@dataclasses.dataclass
class Photograph:
    """An image and its header. Lengths in mm, angles in degrees; the centre in pixels (fast, slow)
    from the corner."""

    path: str
    photons: numpy.ndarray = dataclasses.field(repr=False)  # (slow, fast), panels one below another; nan where there is no pixel
    wavelength: float  # A
    distance: float
    centre: tuple
    pixel: float
    thickness: float = 0.0
    material: str = ""
    cutoff: float = numpy.inf  # counts from here on are lost
    polarization: float = 0.99
    two_theta: float = 0.0
    axes: numpy.ndarray = None  # columns fast, slow, normal, where the file says how the detector is turned
    start: float = 0.0  # where the rotation begins
    step: float = 0.0
    seconds: float = 0.0  # exposure; 0: the file does not say
    panels: Panels = None  # several panels, where the file says how each stands
    counting: bool = True  # whether the numbers are photons; others have a gain and a zero
    gain: float = 1.0  # the file's unit per photon, by the noise of single pixels
    core: float = 0.0  # pixels, sigma of the point spread by the noise of neighbours; 0: they are not alike
    spread: float = 1.0  # the part of a photon's noise that these show: gain / spread is that of sums over many
    gain_sigma: float = 0.0  # a part of it; 0 where it was not measured
    zero: float = 0.0  # the file's number where there would be no noise
    lowest: float = 0.0  # the lowest number in the file that is a measurement
    pedestal: float = None  # the zero that the file says, in its numbers
    reader: str = ""  # the source of the geometry

    def in_photons(self, noise):
        """With numbers of the file made photons, by their Noise."""
        lowest, of = float(numpy.nanmin(self.photons, initial=numpy.inf)), lambda number: (number - noise.zero) / noise.unit
        return dataclasses.replace(self, gain=noise.unit, gain_sigma=noise.sigma, zero=noise.zero, spread=noise.spread, core=noise.core, lowest=lowest,
                                   photons=of(self.photons), cutoff=of(self.cutoff))


_UNKNOWN = 0.15  # part by which a gain is unsure that is not known
_NUMBER = r"([-+0-9.eE]+)"
_WANTED = {"wavelength": rf"# Wavelength {_NUMBER} A", "distance": rf"# Detector_distance {_NUMBER} m\b",
           "centre": rf"# Beam_xy \({_NUMBER}, *{_NUMBER}\) pixels", "pixel": rf"# Pixel_size {_NUMBER} m\b"}
_OPTIONAL = {"cutoff": rf"# Count_cutoff {_NUMBER} counts", "polarization": rf"# Polarization {_NUMBER}",
             "two_theta": rf"# Detector_2theta {_NUMBER} deg", "start": rf"# Start_angle {_NUMBER} deg",
             "seconds": rf"# Exposure_time {_NUMBER} s", "step": rf"# Angle_increment {_NUMBER} deg"}


def measured(image, undefined=-1.0):
    """The numbers of an image, nan where they are ``undefined`` or lower."""
    return numpy.where(image > undefined, image, numpy.nan)


def standing(path, wavelength, pixel, image, elements, undefined=-1.0, **more):
    """The Photograph of a detector whose elements (_imgcif.Element) say where they stand. image:
    the file's; undefined: the largest number of pixels that are none."""
    if len(elements) == 1 and image.ndim == 2:
        one, = elements
        base, distance, at = flat(path, one.fast, one.slow, one.corner, BEAM)
        return Photograph(path, measured(image, undefined), wavelength, distance, tuple(v / pixel for v in at), pixel, axes=base, **more)
    image = measured(image.reshape(-1, image.shape[-1]), undefined)
    if any(r + n > m for e in elements for r, n, m in zip(e.raw, e.size, image.shape)):
        raise FileError(f"{path}: its panels are larger than its image of {image.shape[0]} x {image.shape[1]} pixels")
    panels, distance, centre = placed(path, *(numpy.array([getattr(e, name) for e in elements])
                                              for name in ("corner", "fast", "slow", "size", "raw")), pixel)
    return Photograph(path, panels.together(image), wavelength, distance, centre, pixel, panels=panels, **more)


def read_photograph(path, geometry=None):
    """The image in a file and what its header says. FileError.

    Formats are CBF (mini and full), SMV and NXmx, of which "file.nxs:7" is the frame of number 7,
    counted from 0, and those that fabio and dxtbx read, where they are installed. geometry: a
    Geometry, which says where the detector stands in place of the file.
    """
    frame = re.fullmatch(r"(.+):(\d+)", str(path))
    name, number = (frame[1], int(frame[2])) if frame and not os.path.exists(path) else (str(path), 0)
    from . import _foreign, _nexus
    try:
        if _nexus.is_hdf5(name):
            return _nexus.read_nexus(str(path), name, number, geometry)
        content = unpacked(name)
        if content.startswith(_smv.START):
            return _of_smv(str(path), name, content, geometry)
        if content.startswith(b"###CBF"):
            return _of_cbf(str(path), content, geometry)
    except Unplaced:
        found = _foreign.by_dxtbx(str(path), name, number)
        if found is None:
            raise
        return checked(found)
    if geometry is None:
        return checked(_foreign.read_foreign(str(path), name, number, content))
    image = None if content.startswith(b"\x93NUMPY") else read_pixels(str(path), name, number, content)
    return checked(geometry.photograph(str(path), _core.parse_image(str(path), content) if image is None else image, False))


def _of_smv(path, name, content, geometry):
    image = _smv.pixels(path, name, content)
    if geometry is not None:
        return checked(geometry.photograph(path, image, False))
    return checked(Photograph(path, measured(image), reader="header of SMV", **_smv.read_header(path, content, image.shape)))


def _of_cbf(path, content, geometry):
    header = content.partition(b"--CIF-BINARY-FORMAT-SECTION--")[0].decode("latin-1")
    image = _core.parse_image(path, content)
    counting = bool(re.search(r"# Detector: [^\n]{0,200}(PILATUS|EIGER)", header, re.I))
    if geometry is not None:
        photograph = geometry.photograph(path, image, counting)
    elif is_full(header):
        wavelength, pixel, overload, undefined, elements = read_header(path, header)
        photograph = standing(path, wavelength, pixel, image, elements, -1.0 if counting else undefined, cutoff=overload,
                              counting=counting, reader="axes of imgCIF")
    else:
        return checked(of_mini_header(path, header, image, counting))
    return checked(_with_options(photograph, header))


def of_mini_header(path, header, image, counting, reader="header of miniCBF"):
    """The Photograph of an image by Dectris' lines. FileError."""
    if image.ndim == 3:
        raise Unplaced(f"{path}: has {len(image)} panels and does not say where they stand; give --geometry=FILE.expt, which does")
    if curved := re.search(r"# Detector: *(PILATUS\w* 12M)", header, re.I):
        raise Unplaced(f"{path}: is of a {curved[1]}, a barrel of modules, and its header describes one plane; give --geometry=FILE.expt, "
                       "which says where they stand (dials.import writes it)")
    said = {name: _of_line(path, header, name, pattern) for name, pattern in _WANTED.items()}
    if missing := [name for name, value in said.items() if value is None]:
        raise Unplaced(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
    return _with_options(Photograph(path, measured(image), said["wavelength"][0], 1e3 * said["distance"][0], tuple(said["centre"]),
                                    1e3 * said["pixel"][0], counting=counting, reader=reader), header)


def _of_line(path, header, name, pattern):
    found = re.search(pattern, header)
    try:
        return [float(text) for text in found.groups()] if found else None
    except ValueError:
        raise FileError(f"{path}: its header has no number for {name}: {found[0]}") from None


def _with_options(photograph, header):
    """With what Dectris' lines say beside the geometry."""
    for name, pattern in _OPTIONAL.items():
        if (value := _of_line(photograph.path, header, name, pattern)) is not None:
            setattr(photograph, name, value[0])
    if sensor := re.search(rf"# (\w+) sensor, thickness {_NUMBER} m", header):
        photograph.material = material_named(sensor[1])
        photograph.thickness = 1e3 * float(sensor[2])
    return photograph


def described(photograph, shape, masked, given=False):
    """Five lines on what was taken from an image: geometry, wavelength, exposure, gain and masks.
    shape: slow and fast pixels. masked: pixels that are left out, by the reason. given: whether
    gain and zero were."""
    p = photograph
    panels = f"{len(p.panels)} panels, " if p.panels else f"{shape[1]} x {shape[0]} "
    turned = f", two-theta {p.two_theta:g} degrees" if p.two_theta else ", turned" if p.axes is not None and not numpy.allclose(p.axes, ACROSS.T, atol=1e-3) else ""
    sensor = f", {p.thickness:g} mm of {p.material}" if p.thickness and p.material else ""
    yield f"geometry: {p.reader}: {p.distance:.2f} mm, beam at {p.centre[0]:.1f}, {p.centre[1]:.1f}, {panels}pixels of {p.pixel:.4g} mm{sensor}{turned}"
    yield f"wavelength: {p.wavelength:.5g} A"
    exposure = f"{p.seconds:g} s" if p.seconds else "unknown"
    yield f"exposure: {exposure}, {p.step:g} degrees from {p.start:g}" if p.step else f"exposure: {exposure}, no rotation"
    how = "given" if given else f"measured to {p.gain_sigma:.1%}" if p.gain_sigma else "photons are counted"
    if p.gain_sigma > _UNKNOWN and not given:
        how += ": the background is too even to tell gain from zero; give --gain and --offset"
    yield f"gain: {p.gain / p.spread:.4g} image units per photon, {p.gain:.4g} by single pixels, zero {p.zero:.4g} ({how})"
    limit = (f", overloads from {p.cutoff * p.gain + p.zero:.6g} on" if numpy.isfinite(p.cutoff) else "")
    yield "masks: " + ", ".join(f"{count} {name}" for name, count in masked.items()) + f" pixels{limit}"


def checked(photograph):
    """The image, if its numbers are possible. FileError."""
    for name in ("wavelength", "distance", "pixel"):
        if not 0 < getattr(photograph, name) < numpy.inf:
            raise FileError(f"{photograph.path}: its header says a {name} of {getattr(photograph, name)}; it has to be greater than 0")
    for name in ("centre", "thickness", "polarization", "two_theta", "start", "step", "seconds"):
        if not numpy.isfinite(getattr(photograph, name)).all():
            raise FileError(f"{photograph.path}: its header says a {name} of {getattr(photograph, name)}; it has to be a finite number")
    if photograph.thickness > 0 and photograph.material and attenuation_length(photograph.material, photograph.wavelength) is None:
        warnings.warn(f"{photograph.path}: the attenuation of its sensor of {photograph.material} is not known here; spots at high "
                      "angles lie farther out than they are predicted", Warning, stacklevel=2)
    return photograph
