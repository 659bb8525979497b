"""Diffraction images in NXmx files (HDF5), including masters of Eiger detectors."""

import json
import math
import os
import re
import warnings

import numpy

from .. import _core
from .._errors import FileError, Warning
from ._axes import Axis, Unplaced, frame
from ._geometry import material_named
from ._imgcif import Element
from ._images import DiffractionImage, checked, measured, standing
from ._units import factor, known

_TURN = numpy.diag([-1.0, 1.0, -1.0])  # from NXmx's frame, in which the beam is along z


class Node:
    """A group or data set of an HDF5 file. A process of its own reads the file (_core.hdf5_tree),
    because HDF5 crashes on damaged ones."""

    def __init__(self, file, name, content):
        self.file, self.name, self.attrs, self._content = file, name, content.get("attributes", {}), content

    @staticmethod
    def read(file):
        """The root of a file."""
        return Node(file, "", json.loads(_core.hdf5_tree(file)))

    def get(self, name):
        """The member of a name, which may be a path; None where there is none."""
        at = self._content
        for part in name.strip("/").split("/"):
            at = at.get("members", {}).get(part)
            if at is None:
                return None
        if "error" in at:
            raise FileError(at["error"])
        return Node(self.file, f"{self.name}/{name.strip('/')}", at)

    def __getitem__(self, name):
        found = self.get(name)
        if found is None:
            raise FileError(f"{self.file}: has no {self.name}/{name}")
        return found

    def groups(self, kind):
        """The members of a class of NeXus."""
        members = self._content.get("members", {})
        return [self[name] for name, member in members.items() if member.get("attributes", {}).get("NX_class") == kind]

    @property
    def size(self):
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def shape(self):
        """Its numbers along each axis."""
        return tuple(self._content.get("size", (0,)))

    @property
    def text(self):
        return str(self._content.get("value") or "")

    @property
    def numbers(self):
        """All its numbers in one row."""
        value = self._content.get("value")
        if isinstance(value, str) or "members" in self._content:
            raise FileError(f"{self.file}: {self.name} is {value!r:.40}, and a number is needed")
        return numpy.ravel(value if value is not None else _core.hdf5_numbers(self.file, self.name))


def is_hdf5(name):
    """Whether a regular file begins as HDF5 files do. OSError."""
    if not os.path.isfile(name):
        return False
    with open(name, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def _number(node, default=None):
    return default if node is None else float(node.numbers[0])


def _length(path, node):
    """In mm; as HDF5 without a unit has it, in m."""
    return _number(node) * factor(path, node.name, str(node.attrs.get("units", "m")), "length")


def _wavelengths(path, node):
    """In A; as NXmx without a unit has them, too."""
    return node.numbers * factor(path, "wavelength", str(node.attrs.get("units", "angstrom")), "wavelength")


def _axis(path, node):
    rotates = node.attrs.get("transformation_type", "translation") == "rotation"
    if rotates:
        value = _number(node) * (1.0 if str(node.attrs.get("units", "deg")).startswith("rad") else numpy.pi / 180)
    else:
        value = _length(path, node)
    offset = numpy.array(node.attrs.get("offset", (0, 0, 0)), float) * factor(path, f"offset of {node.name}", str(node.attrs.get("offset_units", "m")), "length")
    return Axis(numpy.array(node.attrs["vector"], float), value, rotates, offset, _above(node))


def _above(node):
    """The full name of what an axis depends on."""
    name = node.attrs.get("depends_on") or "."
    if name == ".":
        return None
    return name if name.startswith("/") else f"{node.name.rpartition('/')[0]}/{name}"


def _elements(path, root, modules):
    """One for each module that says where it stands; None where none does."""
    if any(module.get(n) is None for module in modules for n in ("fast_pixel_direction", "slow_pixel_direction")):
        return None
    elements = []
    for module in modules:
        fast, slow, corner = (module.get(n) for n in ("fast_pixel_direction", "slow_pixel_direction", "module_offset"))
        axes, waiting = {}, [node.name for node in (fast, slow, corner) if node is not None]
        while waiting:
            name = waiting.pop()
            if name not in axes:
                if (node := root.get(name)) is None:
                    raise FileError(f"{path}: has no {name}, on which the place of its detector depends")
                axes[name] = _axis(path, node)
                waiting += [axes[name].depends_on] if axes[name].depends_on else []
        directions = [_TURN @ frame(path, axes, axes[n.name].depends_on)[0] @ axes[n.name].vector for n in (fast, slow)]
        start = _TURN @ frame(path, axes, corner.name if corner is not None else axes[fast.name].depends_on)[1]
        begin, size = (None if node is None else node.numbers.astype(int) for node in map(module.get, ("data_origin", "data_size")))
        raw = (0, 0) if begin is None else (int(begin[-2] + (begin[-3] * size[-2] if len(begin) > 2 else 0)), int(begin[-1]))
        elements.append(Element(*directions, start, None if size is None else tuple(size[-2:]), raw))
    return elements


def _said(path, detector, pixel):
    """Distance (mm) and the beam's place (pixels), of a file that knows no modules. pixel: mm."""
    said = [detector.get(n) for n in ("detector_distance", "beam_center_x", "beam_center_y")]
    said[0] = said[0] if said[0] is not None else detector.get("distance")
    if any(node is None for node in said):
        raise Unplaced(f"{path}: does not say where its detector stands (module, or detector_distance and beam_center_x, _y); give an "
                        "experiment list that does with --geometry=FILE.expt")
    lengths = [known(str(node.attrs.get("units", "")), "length") for node in said[1:]]  # some write the beam's place in mm or m
    return _length(path, said[0]), tuple(_number(node) * (1.0 if length is None else length / pixel) for node, length in zip(said[1:], lengths))


def read_nexus(path, name, number, geometry=None):
    """Frame ``number`` of the file ``name``; path: both as the user wrote them. geometry: in place
    of what the file says."""
    root = Node.read(name)
    entry = next(iter(root.groups("NXentry")), root.get("entry"))
    parts = [part for part in (entry.get("instrument"), entry.get("sample")) if part is not None] if entry else []
    found = [detector for part in parts[:1] for detector in part.groups("NXdetector")]
    if len(found) != 1:
        raise Unplaced(f"{path}: has {len(found)} detectors (NXdetector of entry/instrument), and one is needed; write it again with one")
    detector, = found
    modules = detector.groups("NXdetector_module") or [detector]
    kind = " ".join(node.text for node in map(detector.get, ("description", "type")) if node)
    more = {"counting": bool(re.search("eiger|pilatus|pixel|counting", kind, re.I) and not re.search("jungfrau", kind, re.I)), "cutoff": numpy.inf}
    if (limit := _limit(name, detector, more["counting"])) > 0:
        more["cutoff"] = limit
    # Numbers of detectors that do not count photons are below zero where there is little light.
    lowest = _number(detector.get("underload_value"), 0 if more["counting"] else -numpy.inf)
    if (thickness := detector.get("sensor_thickness")) is not None:
        more["thickness"] = _length(path, thickness)
    if (seconds := detector.get("count_time")) is not None:
        more["seconds"] = _number(seconds) * factor(path, seconds.name, str(seconds.attrs.get("units", "s")), "time")
    if (material := detector.get("sensor_material")) is not None:
        more["material"] = material_named(material.text)
    image, none = _core.nexus_image(name, number)
    # Dectris marks gaps by the largest number, and bad pixels by the one before.
    photons = numpy.where((image >= lowest) & (image < min(none - more["counting"], 2**31 - 1)), image, -numpy.inf)
    mask = node.numbers if (node := detector.get("pixel_mask")) is not None else _setting(name, detector, "pixel_mask")
    shape = node.shape if node is not None else (mask.size,)
    if 0 < mask.size < photons.size or len(shape) > 1 and mask.size and shape[-2:] != photons.shape[-2:]:
        warnings.warn(f"{path}: its pixel_mask has {' x '.join(map(str, shape))} pixels and its image {' x '.join(map(str, photons.shape))}, so that it "
                      "masks none", Warning, stacklevel=2)
    elif mask.size:
        photons = numpy.where(mask[:photons.size].reshape(photons.shape) != 0, -numpy.inf, photons)
    if geometry is not None:
        return checked(geometry.image(path, photons, more["counting"]))
    wavelength, pixel = _wavelength(path, parts, number), _pixel(path, detector, modules)
    elements = _elements(path, root, modules)
    if elements is None and photons.ndim == 3:
        raise Unplaced(f"{path}: has {len(photons)} panels and does not say where they stand; give --geometry=FILE.expt, which does")
    if elements is None:
        distance, centre = _said(path, detector, pixel)
        angle = next((node for name in ("polar_angle", "goniometer/two_theta") if (node := detector.get(name)) is not None), None)
        if angle is not None:
            more["two_theta"] = _number(angle) * (180 / numpy.pi if str(angle.attrs.get("units", "")).startswith("rad") else 1.0)
        return checked(DiffractionImage(path, measured(photons, -numpy.inf), wavelength, distance, centre, pixel, reader="distance and beam of HDF5", **more))
    if len(elements) > 1 and any(element.size is None for element in elements):
        raise FileError(f"{path}: does not say where its modules are in its image (data_origin, data_size)")
    return checked(standing(path, wavelength, pixel, photons, elements, -numpy.inf, reader="modules of NXmx", **more))


def _limit(name, detector, counting):
    """The number from which on light is lost; 0 where the file does not say it."""
    if (said := detector.get("saturation_value")) is not None or not counting:
        return _number(said, 0.0)
    return float(next(iter(_setting(name, detector, "countrate_correction_count_cutoff")), 0.0))


def _setting(name, detector, what):
    """Numbers that masters of Dectris have among the settings of the detector, which the tree leaves
    out; none where there are none."""
    try:
        return numpy.ravel(_core.hdf5_numbers(name, f"{detector.name}/detectorSpecific/{what}"))
    except FileError:
        return numpy.zeros(0)


def _wavelength(path, parts, number):
    """The wavelength of a frame, A. parts: groups that may have a beam."""
    beams = [beam for part in parts for beam in part.groups("NXbeam")] + [beam for part in parts if (beam := part.get("beam"))]
    wavelength = next((found for beam in beams if (found := beam.get("incident_wavelength"))), None)
    if wavelength is None:
        raise Unplaced(f"{path}: does not say its wavelength (beam/incident_wavelength); give --geometry=FILE.expt, which does")
    wavelengths = _wavelengths(path, wavelength)
    return float(wavelengths[min(number, len(wavelengths) - 1)])


def _pixel(path, detector, modules):
    """The edge of a pixel, mm."""
    sizes = [detector.get(n) for n in ("x_pixel_size", "y_pixel_size")]
    if any(node is None for node in sizes):
        fast = modules[0].get("fast_pixel_direction")
        if fast is None:
            raise Unplaced(f"{path}: does not say how large its pixels are (x_pixel_size, y_pixel_size); give --geometry=FILE.expt, which does")
        sizes = [fast, modules[0].get("slow_pixel_direction") or fast]
    pixel, other = (_length(path, node) for node in sizes)
    if not pixel > 0 or abs(pixel - other) > 1e-3 * pixel:
        raise FileError(f"{path}: its pixels are {pixel:.4g} mm by {other:.4g} mm; nb-refine needs square pixels")
    return pixel


def module_origins(path):
    """Where modules begin (slow, fast) in the images of an NXmx file, (modules, 2); None of other
    files."""
    name = re.sub(r":\d+$", "", path)
    try:
        if not is_hdf5(name):
            return None
        found = [module["data_origin"].numbers[-2:].astype(int) for entry in Node.read(name).groups("NXentry")
                 for instrument in entry.groups("NXinstrument") for detector in instrument.groups("NXdetector")
                 for module in detector.groups("NXdetector_module")]
    except (OSError, FileError):
        return None
    return numpy.array(found) if found else None
