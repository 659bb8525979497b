"""Diffraction images, with the geometry and the beam that their headers describe."""

import base64
import dataclasses
import hashlib
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
from ._units import NUMBER, first


@dataclasses.dataclass
class DiffractionImage:
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


_PIXELS = b"\x0c\x1a\x04\xd5"  # begins a CBF's
_UNKNOWN = 0.15  # part by which a gain is unsure that is not known
_WORDS = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t:=]+([^\s:=].*)", re.M)  # a line of Dectris' headers
_WANTED = ("Wavelength", "wavelength", "A"), ("Detector_distance", "length", "m"), ("Pixel_size", "length", "m")  # kinds, units where none is said
_CENTRE = re.compile(rf"\(\s*({NUMBER})\s*,\s*({NUMBER})\s*\) *pix")
_OPTIONAL = {"cutoff": "Count_cutoff", "polarization": "Polarization", "two_theta": "Detector_2theta", "start": "Start_angle", "step": "Angle_increment"}
_USUAL = 0.2, 5.0  # wavelengths of X-ray crystallography, A
_FEW, _MANY, _MORE_ALIKE = 10**4, 10**6, 0.9  # pixels that tell whether sides are exchanged, and times as unlike as others that they then are, at most
_POSSIBLE = {"wavelength": (0.01, 100.0, " A"), "distance": (1.0, 5e4, " mm"), "pixel": (1e-3, 10.0, " mm"), "thickness": (0.0, 50.0, " mm"),
             "polarization": (0.0, 1.0, "")}


def measured(image, undefined=-1.0):
    """The numbers of an image, nan where they are ``undefined`` or lower."""
    return numpy.where(image > undefined, image, numpy.nan)


def standing(path, wavelength, pixel, image, elements, undefined=-1.0, **more):
    """The DiffractionImage of a detector whose elements (_imgcif.Element) say where they stand. image:
    the file's; undefined: the largest number of pixels that are none."""
    if len(elements) == 1 and image.ndim == 2:
        one, = elements
        base, distance, at = flat(path, one.fast, one.slow, one.corner, BEAM)
        return DiffractionImage(path, measured(image, undefined), wavelength, distance, tuple(v / pixel for v in at), pixel, axes=base, **more)
    image = measured(image.reshape(-1, image.shape[-1]), undefined)
    if any(r + n > m for e in elements for r, n, m in zip(e.raw, e.size, image.shape)):
        raise FileError(f"{path}: its panels are larger than its image of {image.shape[0]} x {image.shape[1]} pixels")
    panels, distance, centre = placed(path, *(numpy.array([getattr(e, name) for e in elements])
                                              for name in ("corner", "fast", "slow", "size", "raw")), pixel)
    return DiffractionImage(path, panels.together(image), wavelength, distance, centre, pixel, panels=panels, **more)


def read_image(path, geometry=None):
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
        if _smv.is_smv(content):
            return _of_smv(str(path), content, geometry)
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
    return checked(geometry.image(str(path), _core.parse_image(str(path), content) if image is None else image, False))


def _of_smv(path, content, geometry):
    image = _smv.pixels(path, content)
    if geometry is not None:
        return checked(geometry.image(path, image, False))
    return checked(DiffractionImage(path, measured(image), reader="header of SMV", **_smv.read_header(path, content)))


def _check_sum(path, content):
    """A warning where the checksum of the first pixels is another."""
    begin = content.find(_PIXELS) + len(_PIXELS)
    said, size = (re.search(pattern, content[:begin]) for pattern in (rb"Content-MD5: *([A-Za-z0-9+/]+)", rb"X-Binary-Size: *(\d+)"))
    if said and size and not base64.b64encode(hashlib.md5(content[begin:begin + int(size[1])]).digest()).startswith(said[1]):
        warnings.warn(f"{path}: its pixels are not those of its checksum (Content-MD5); it is damaged, or was copied as text; copy it again", Warning,
                      stacklevel=2)


def _of_cbf(path, content, geometry):
    _check_sum(path, content)
    header = content.partition(b"--CIF-BINARY-FORMAT-SECTION--")[0].decode("latin-1")
    image = _core.parse_image(path, content)
    counting = bool(re.search(r"# Detector: [^\n]{0,200}(PILATUS|EIGER)", header, re.I))
    if geometry is not None:
        found = geometry.image(path, image, counting)
    elif is_full(header):
        wavelength, pixel, overload, undefined, elements = read_header(path, header)
        found = standing(path, wavelength, pixel, image, elements, -1.0 if counting else undefined, cutoff=overload,
                              counting=counting, reader="axes of imgCIF")
    else:
        return checked(of_mini_header(path, header, image, counting))
    return checked(_with_options(found, header))


def of_mini_header(path, header, image, counting, reader="header of miniCBF"):
    """The DiffractionImage of an image by Dectris' lines. FileError."""
    if image.ndim == 3:
        raise Unplaced(f"{path}: has {len(image)} panels and does not say where they stand; give --geometry=FILE.expt, which does")
    if curved := re.search(r"# Detector: *(PILATUS\w* 12M)", header, re.I):
        raise Unplaced(f"{path}: is of a {curved[1]}, a barrel of modules, and its header describes one plane; give --geometry=FILE.expt, "
                       "which says where they stand (dials.import writes it)")
    said = _words(header)
    if missing := [f"# {word}" for word in ("Wavelength", "Detector_distance", "Pixel_size", "Beam_xy") if word not in said]:
        raise Unplaced(f"{path}: its header does not say {', '.join(missing)}; give --geometry=FILE.expt, which does")
    wavelength, distance, pixel = (first(path, f"# {word}", said[word], kind, unit) for word, kind, unit in _WANTED)
    centre, edges = _CENTRE.match(said["Beam_xy"]), said["Pixel_size"].split(" x ")
    if not centre:
        raise FileError(f"{path}: its header has '# Beam_xy {said['Beam_xy'][:40]}'; write it as (FAST, SLOW) pixels, or give --geometry=FILE.expt")
    if len(edges) > 1 and abs(first(path, "# Pixel_size", edges[1], "length", "m") / pixel - 1) > 1e-3:
        raise FileError(f"{path}: its pixels are {said['Pixel_size'][:40]}; nb-refine needs square pixels")
    return _with_options(DiffractionImage(path, measured(image), wavelength, distance, (float(centre[1]), float(centre[2])), pixel, counting=counting,
                                    reader=reader), header)


def _words(header):
    """Dectris' lines by their first words."""
    return {word: rest for word, rest in reversed(_WORDS.findall(header.replace("\r", "\n")))}


def _with_options(image, header):
    """With what Dectris' lines say beside the geometry."""
    said = _words(header)
    for name, word in _OPTIONAL.items():
        if found := re.match(NUMBER, said.get(word, "")):
            setattr(image, name, float(found[0]))
    if re.match(NUMBER, said.get("Exposure_time", "")):
        image.seconds = first(image.path, "# Exposure_time", said["Exposure_time"], "time", "s")
    if sensor := re.search(r"# *(\w+) sensor, thickness (.*)", header):
        image.material = material_named(sensor[1])
        image.thickness = first(image.path, "thickness", sensor[2], "length", "m")
    return image


def described(image, shape, masked, given=False):
    """Five lines on what was taken from an image: geometry, wavelength, exposure, gain and masks.
    shape: slow and fast pixels. masked: pixels that are left out, by the reason. given: whether
    gain and zero were."""
    p = image
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


def _exchanged(photons):
    """Whether pixels are more like those that are as many further as there are rows than like those
    below them, so that slow and fast are exchanged."""
    slow, fast = photons.shape
    if slow == fast or photons.size < _FEW:
        return False
    middle = photons.ravel()[max(photons.size - _MANY, 0) // 2:][:_MANY]

    def unlike(step):
        off = numpy.abs(middle[step:] - middle[:-step])
        off = off[numpy.isfinite(off)]
        return numpy.minimum(off, 4 * numpy.median(off) + 1).mean() if off.size else 0.0  # whatever spots have

    return bool(unlike(slow) < _MORE_ALIKE * unlike(fast))


def checked(image):
    """The image, if its numbers are possible. FileError."""
    for name, (least, most, unit) in _POSSIBLE.items():
        if not least <= getattr(image, name) <= most:
            raise FileError(f"{image.path}: its header says a {name} of {getattr(image, name):g}{unit}; from {least:g} to {most:g}{unit} are possible; "
                            "correct it and its unit, or give --geometry=FILE.expt")
    for name in ("centre", "two_theta", "start", "step", "seconds"):
        if not numpy.isfinite(getattr(image, name)).all():
            raise FileError(f"{image.path}: its header says a {name} of {getattr(image, name)}; it has to be a finite number")
    said = image.axes is not None or image.panels is not None
    slow, fast = image.photons.shape[-2:]
    if not said and not image.two_theta and not all(-n < at < 2 * n for at, n in zip(image.centre, (fast, slow))):
        raise FileError(f"{image.path}: its header has the beam at pixel {image.centre[0]:.6g}, {image.centre[1]:.6g}, far off a detector of "
                        f"{fast} x {slow}; correct it and its unit, or give --geometry=FILE.expt")
    if not _USUAL[0] <= image.wavelength <= _USUAL[1]:
        warnings.warn(f"{image.path}: its header says a wavelength of {image.wavelength:g} A, which is unusual for X-rays; look whether its unit is right",
                      Warning, stacklevel=2)
    if image.photons.ndim == 2 and _exchanged(image.photons):
        raise FileError(f"{image.path}: its rows are cut where no rows end: its header says {fast} x {slow} pixels, and it looks like {slow} x {fast}; "
                        "correct the header")
    image.seconds = max(image.seconds, 0.0)  # less than none is not known
    if not image.cutoff > 0:
        image.cutoff = numpy.inf
    if image.thickness > 0 and image.material and attenuation_length(image.material, image.wavelength) is None:
        warnings.warn(f"{image.path}: the attenuation of its sensor of {image.material} is not known here; spots at high "
                      "angles lie farther out than they are predicted", Warning, stacklevel=2)
    return image
