"""Photographs: images of a detector with what their headers say of the experiment."""

import dataclasses
import os
import re

import numpy

from .. import _core
from .._errors import FileError
from ..simulator import unpacked
from ._imgcif import is_full, read_header


@dataclasses.dataclass
class Photograph:
    """An image and its header. Lengths in mm, angles in degrees; the centre in pixels (fast, slow) from the corner."""

    path: str
    photons: numpy.ndarray = dataclasses.field(repr=False)  # (slow, fast); below 0 where there is no pixel
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


BEAM = numpy.array([0.0, 0.0, -1.0])  # in the laboratory of DIALS' images without a goniometer

_NUMBER = r"([-+0-9.eE]+)"
_WANTED = {"wavelength": rf"# Wavelength {_NUMBER} A", "distance": rf"# Detector_distance {_NUMBER} m",
           "centre": rf"# Beam_xy \({_NUMBER}, *{_NUMBER}\) pixels", "pixel": rf"# Pixel_size {_NUMBER} m"}
_OPTIONAL = {"cutoff": rf"# Count_cutoff {_NUMBER} counts", "polarization": rf"# Polarization {_NUMBER}",
             "two_theta": rf"# Detector_2theta {_NUMBER} deg", "start": rf"# Start_angle {_NUMBER} deg",
             "step": rf"# Angle_increment {_NUMBER} deg"}


def read_photograph(path):
    """That of a CBF, a mini one as Pilatus and Eiger detectors write it or a full one (imgCIF), also compressed by gzip or
    bzip2, or of an NXmx file, of which "file.nxs:7" is the frame of number 7, counted from 0. FileError.
    """
    frame = re.fullmatch(r"(.+):(\d+)", str(path))
    name, number = (frame[1], int(frame[2])) if frame and not os.path.exists(path) else (str(path), 0)
    if os.path.isfile(name):
        with open(name, "rb") as file:
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                from ._nexus import read_nexus
                return read_nexus(str(path), name, number)
    content = unpacked(name)
    header = content[:content.find(b"--CIF-BINARY-FORMAT-SECTION--")].decode("latin-1")
    if not header.startswith("###CBF"):
        raise FileError(f"{path}: is neither CBF nor NXmx; give an .expt and a .refl for images of other kinds")

    if (panels := len(re.findall(rb"--CIF-BINARY-FORMAT-SECTION--\s+Content-Type", content))) > 1:
        raise FileError(f"{path}: has {panels} panels, and photographs are taken of flat detectors of one; index it with DIALS and "
                        "give its .expt and .refl")

    def number(name, pattern):
        found = re.search(pattern, header)
        try:
            return [float(text) for text in found.groups()] if found else None
        except ValueError:
            raise FileError(f"{path}: its header has no number for {name}: {found[0]}") from None

    photons = _core.parse_image(str(path), content)
    if is_full(header):
        wavelength, axes, distance, centre, pixel, overload = read_header(path, header, BEAM)
        photograph = Photograph(str(path), photons, wavelength, distance, centre, pixel, axes=axes,
                                cutoff=overload if overload > 0 else numpy.inf)
    else:
        said = {name: number(name, pattern) for name, pattern in _WANTED.items()}
        if missing := [name for name, value in said.items() if value is None]:
            raise FileError(f"{path}: its header does not say {', '.join(missing)}; give an .expt, which does")
        photograph = Photograph(str(path), photons, said["wavelength"][0], 1e3 * said["distance"][0], tuple(said["centre"]),
                                1e3 * said["pixel"][0])
    for name, pattern in _OPTIONAL.items():
        if (value := number(name, pattern)) is not None:
            setattr(photograph, name, value[0])
    if sensor := re.search(rf"# (\w+) sensor, thickness {_NUMBER} m", header):
        photograph.material = {"Silicon": "Si"}.get(sensor[1], sensor[1])
        photograph.thickness = 1e3 * float(sensor[2])
    return checked(photograph)


def checked(photograph):
    """The photograph, if its numbers can be. FileError."""
    for name in ("wavelength", "distance", "pixel"):
        if not 0 < getattr(photograph, name) < numpy.inf:
            raise FileError(f"{photograph.path}: its header says a {name} of {getattr(photograph, name)}; it has to be greater than 0")
    return photograph
