"""Photographs in NXmx files (HDF5), masters of Eiger detectors among them."""

import re

import numpy

from .. import _core
from .._errors import FileError
from ._axes import Axis, frame
from ._imgcif import Element
from ._photographs import BEAM, Photograph, checked, measured, standing

_MM = {"m": 1e3, "mm": 1.0, "um": 1e-3, "micron": 1e-3, "microns": 1e-3, "angstrom": 1e-7, "cm": 10.0}
_TURN = numpy.diag([-1.0, 1.0, -1.0])  # from NXmx's frame, in which the beam is along z


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _number(node, default=None):
    return float(numpy.ravel(node[()])[0]) if node is not None else default


def _length(path, node):
    """In mm; as HDF5 without a unit has it, in m."""
    unit = _text(node.attrs.get("units", "m"))
    if unit not in _MM:
        raise FileError(f"{path}: {node.name} is in {unit}, which is no length that is known here; write m or mm")
    return _number(node) * _MM[unit]


def _axis(path, node):
    rotates = _text(node.attrs.get("transformation_type", "translation")) == "rotation"
    if rotates:
        value = _number(node) * (1.0 if _text(node.attrs.get("units", "deg")).startswith("rad") else numpy.pi / 180)
    else:
        value = _length(path, node)
    offset = numpy.array(node.attrs.get("offset", (0, 0, 0)), float) * _MM.get(_text(node.attrs.get("offset_units", "m")), 1e3)
    return Axis(numpy.array(node.attrs["vector"], float), value, rotates, offset, _above(node))


def _above(node):
    """The full name of what an axis depends on."""
    name = _text(node.attrs.get("depends_on", "."))
    if name == ".":
        return None
    return name if name.startswith("/") else node.parent.name + "/" + name


def _elements(path, file, modules):
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
                if name not in file:
                    raise FileError(f"{path}: has no {name}, on which the place of its detector depends")
                axes[name] = _axis(path, file[name])
                waiting += [axes[name].depends_on] if axes[name].depends_on else []
        directions = [_TURN @ frame(path, axes, axes[n.name].depends_on)[0] @ axes[n.name].vector for n in (fast, slow)]
        start = _TURN @ frame(path, axes, corner.name if corner is not None else axes[fast.name].depends_on)[1]
        begin, size = (numpy.ravel(module[n][()]).astype(int) if n in module else None for n in ("data_origin", "data_size"))
        raw = (0, 0) if begin is None else (int(begin[-2] + (begin[-3] * size[-2] if len(begin) > 2 else 0)), int(begin[-1]))
        elements.append(Element(*directions, start, None if size is None else tuple(size[-2:]), raw))
    return elements


def _said(path, detector):
    """Distance (mm) and the beam's place (pixels), of a file that knows no modules."""
    said = [detector.get(n) for n in ("detector_distance", "beam_center_x", "beam_center_y")]
    said[0] = said[0] if said[0] is not None else detector.get("distance")
    if any(node is None for node in said):
        raise FileError(f"{path}: does not say where its detector stands (module, or detector_distance and beam_center_x, _y); give an "
                        "experiment list that does with --geometry=FILE.expt")
    return _length(path, said[0]), (_number(said[1]), _number(said[2]))


def read_nexus(path, name, number, geometry=None):
    """Frame ``number`` of the file ``name``; path: both as the user wrote them. geometry: in place of what the file says."""
    try:
        import h5py
    except ImportError:
        raise FileError(f"{path}: where NXmx files have their detectors is read with h5py: pip install h5py") from None
    with h5py.File(name, "r") as file:
        entry = next((file[n] for n in file if _text(file[n].attrs.get("NX_class", "")) == "NXentry"), file.get("entry"))
        found = [] if entry is None else [g for g in _groups(entry.get("instrument"), "NXdetector")]
        if len(found) != 1:
            raise FileError(f"{path}: has {len(found)} detectors (NXdetector of entry/instrument), and one is needed")
        detector, = found
        modules = _groups(detector, "NXdetector_module") or [detector]
        beams = [*_groups(entry.get("instrument"), "NXbeam"), *_groups(entry.get("sample"), "NXbeam")]
        beams += [entry[n] for n in ("instrument/beam", "sample/beam") if n in entry]
        wavelength = next((b["incident_wavelength"] for b in beams if "incident_wavelength" in b), None)
        if wavelength is None:
            raise FileError(f"{path}: does not say its wavelength (beam/incident_wavelength)")
        wavelengths = numpy.ravel(wavelength[()])
        sizes = [detector.get(n) for n in ("x_pixel_size", "y_pixel_size")]
        if any(node is None for node in sizes):
            fast = modules[0].get("fast_pixel_direction")
            if fast is None:
                raise FileError(f"{path}: does not say how large its pixels are (x_pixel_size, y_pixel_size)")
            sizes = [fast, modules[0].get("slow_pixel_direction", fast)]
        pixel, other = (_length(path, node) for node in sizes)
        if abs(pixel / other - 1) > 1e-3:
            raise FileError(f"{path}: its pixels are {pixel:.4g} mm by {other:.4g} mm; photographs need square ones")
        cutoff = _number(detector.get("saturation_value"), numpy.inf)
        lowest = _number(detector.get("underload_value"), 0)
        kind = " ".join(_text(detector[n][()]) for n in ("description", "type") if n in detector)
        more = {"cutoff": cutoff if cutoff > 0 else numpy.inf, "counting": bool(re.search("eiger|pilatus|pixel|counting", kind, re.I))}
        if (thickness := detector.get("sensor_thickness")) is not None:
            more["thickness"] = _length(path, thickness)
        if (seconds := detector.get("count_time")) is not None:
            more["seconds"] = float(numpy.ravel(seconds[()])[0])
        if (material := detector.get("sensor_material")) is not None:
            text = _text(material[()])
            more["material"] = {"Silicon": "Si"}.get(text, text)
        image = _core.read_image(path)
        if image.ndim == 3 and len(image) == 1:
            image = image[0]
        # Dectris marks pixels that are none by the largest number.
        photons = numpy.where((image >= lowest) & (image < 2**31 - 1), image, -numpy.inf)
        mask = detector.get("pixel_mask")
        if mask is not None and mask.size >= photons.size:
            photons = numpy.where(numpy.ravel(mask[()])[:photons.size].reshape(photons.shape) != 0, -numpy.inf, photons)
        wavelength = float(wavelengths[min(number, len(wavelengths) - 1)])
        if geometry is not None:
            return checked(geometry.photograph(path, photons, more["counting"]))
        elements = _elements(path, file, modules)
        if elements is None and photons.ndim == 3:
            raise FileError(f"{path}: has {len(photons)} panels and does not say where they stand; give --geometry=FILE.expt, which does")
        if elements is None:
            distance, centre = _said(path, detector)
            return checked(Photograph(path, measured(photons, -numpy.inf), wavelength, distance, centre, pixel, **more))
        if len(elements) > 1 and any(element.size is None for element in elements):
            raise FileError(f"{path}: does not say where its modules are in its image (data_origin, data_size)")
        return checked(standing(path, wavelength, pixel, photons, elements, -numpy.inf, **more))


def module_origins(path):
    """Where modules begin (slow, fast) in the images of an NXmx file, (modules, 2); None of other files."""
    name = re.sub(r":\d+$", "", path)
    try:
        import h5py
        with h5py.File(name, "r") as file:
            found = []
            file.visititems(lambda name, node: found.extend(_groups(node, "NXdetector_module")) if isinstance(node, h5py.Group) else None)
            return numpy.array([numpy.ravel(module["data_origin"][()])[-2:] for module in found]) if found else None
    except (ImportError, OSError, KeyError):
        return None


def _groups(parent, kind):
    """The nodes of a class within a group."""
    return [] if parent is None else [node for node in parent.values() if _text(node.attrs.get("NX_class", "")) == kind]
