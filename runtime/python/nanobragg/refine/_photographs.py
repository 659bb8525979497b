"""Photographs: images of a detector with what their headers say of the experiment."""

import dataclasses
import os
import re
import warnings

import numpy

from .. import _core
from .._errors import FileError, Warning
from ..simulator import unpacked
from . import _smv
from ._axes import flat
from ._geometry import attenuation_length, material_named
from ._imgcif import is_full, read_header
from ._panels import BEAM, Panels, placed


@dataclasses.dataclass
class Photograph:
    """An image and its header. Lengths in mm, angles in degrees; the centre in pixels (fast, slow) from the corner."""

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
    gain: float = 1.0  # the file's unit per photon
    gain_sigma: float = 0.0  # a part of it; 0 where it was not measured
    zero: float = 0.0  # the file's number where there would be no noise
    lowest: float = 0.0  # the lowest number in the file that is a measurement

    def in_photons(self, gain, zero, sigma=0.0):
        """With numbers of the file made photons."""
        lowest = float(numpy.nanmin(self.photons, initial=numpy.inf))
        return dataclasses.replace(self, gain=gain, gain_sigma=sigma, zero=zero, lowest=lowest, photons=(self.photons - zero) / gain,
                                   cutoff=(self.cutoff - zero) / gain)


_NUMBER = r"([-+0-9.eE]+)"
_WANTED = {"wavelength": rf"# Wavelength {_NUMBER} A", "distance": rf"# Detector_distance {_NUMBER} m",
           "centre": rf"# Beam_xy \({_NUMBER}, *{_NUMBER}\) pixels", "pixel": rf"# Pixel_size {_NUMBER} m"}
_OPTIONAL = {"cutoff": rf"# Count_cutoff {_NUMBER} counts", "polarization": rf"# Polarization {_NUMBER}",
             "two_theta": rf"# Detector_2theta {_NUMBER} deg", "start": rf"# Start_angle {_NUMBER} deg",
             "seconds": rf"# Exposure_time {_NUMBER} s", "step": rf"# Angle_increment {_NUMBER} deg"}


def measured(image, undefined=-1.0):
    """The numbers of an image, nan where they are ``undefined`` or lower."""
    return numpy.where(image > undefined, image, numpy.nan)


def standing(path, wavelength, pixel, image, elements, undefined=-1.0, **more):
    """The Photograph of a detector whose elements (_imgcif.Element) say where they stand. image: the file's; undefined: the
    largest number of pixels that are none."""
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
    """The image of a CBF, a mini one as Pilatus and Eiger detectors write it or a full one (imgCIF), or of an SMV file, also
    compressed by gzip or bzip2, or of an NXmx file, of which "file.nxs:7" is the frame of number 7, counted from 0. geometry: a Geometry, which
    says where the detector stands in place of the file, of which any image will do then. FileError.
    """
    frame = re.fullmatch(r"(.+):(\d+)", str(path))
    name, number = (frame[1], int(frame[2])) if frame and not os.path.exists(path) else (str(path), 0)
    from ._nexus import is_hdf5, read_nexus
    if is_hdf5(name):
        return read_nexus(str(path), name, number, geometry)
    content = unpacked(name)
    header = content.partition(b"--CIF-BINARY-FORMAT-SECTION--")[0].decode("latin-1") if content.startswith(b"###CBF") else ""
    smv = content.startswith(_smv.START)
    if not header and not smv and geometry is None:
        raise FileError(f"{path}: is neither CBF nor NXmx nor SMV; give --geometry=FILE.expt for images of other kinds, which says where their "
                        "detector stands")

    def number(name, pattern):
        found = re.search(pattern, header)
        try:
            return [float(text) for text in found.groups()] if found else None
        except ValueError:
            raise FileError(f"{path}: its header has no number for {name}: {found[0]}") from None

    image = _core.parse_image(str(path), content)
    counting = bool(re.search(r"# Detector: [^\n]{0,200}(PILATUS|EIGER)", header, re.I))
    if geometry is not None:
        photograph = geometry.photograph(str(path), image, counting)
    elif smv:
        return checked(Photograph(str(path), measured(image), **_smv.read_header(path, content, image.shape)))
    elif is_full(header):
        wavelength, pixel, overload, undefined, elements = read_header(path, header)
        photograph = standing(str(path), wavelength, pixel, image, elements, -1.0 if counting else undefined, cutoff=overload,
                              counting=counting)
    elif image.ndim == 3:
        raise FileError(f"{path}: has {len(image)} panels and does not say where they stand; give --geometry=FILE.expt, which does")
    elif curved := re.search(r"# Detector: *(PILATUS\w* 12M)", header, re.I):
        raise FileError(f"{path}: is of a {curved[1]}, a barrel of modules, and its header describes one plane; give --geometry=FILE.expt, "
                        "which says where they stand (dials.import writes it)")
    else:
        said = {name: number(name, pattern) for name, pattern in _WANTED.items()}
        if missing := [name for name, value in said.items() if value is None]:
            raise FileError(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
        photograph = Photograph(str(path), measured(image), said["wavelength"][0], 1e3 * said["distance"][0],
                                tuple(said["centre"]), 1e3 * said["pixel"][0])
    for name, pattern in _OPTIONAL.items():
        if (value := number(name, pattern)) is not None:
            setattr(photograph, name, value[0])
    if sensor := re.search(rf"# (\w+) sensor, thickness {_NUMBER} m", header):
        photograph.material = material_named(sensor[1])
        photograph.thickness = 1e3 * float(sensor[2])
    return checked(photograph)


def checked(photograph):
    """The photograph, if its numbers can be. FileError."""
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
