"""Photographs in NXmx files (HDF5), masters of Eiger detectors among them."""

import re

import numpy

from .. import _core
from .._errors import FileError
from ._axes import Axis, flat, frame
from ._photographs import BEAM, Photograph, checked

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


def _place(path, file, detector, modules):
    """Axes, distance, and place of the beam on the detector."""
    fast, slow, corner = (modules[0].get(n) for n in ("fast_pixel_direction", "slow_pixel_direction", "module_offset"))
    if fast is None or slow is None:
        said = [detector.get(n) for n in ("detector_distance", "beam_center_x", "beam_center_y")]
        said[0] = said[0] if said[0] is not None else detector.get("distance")
        if any(node is None for node in said):
            raise FileError(f"{path}: does not say where its detector stands (module, or detector_distance and beam_center_x, _y)")
        return None, _length(path, said[0]), (_number(said[1]), _number(said[2]))
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
    base, distance, at = flat(path, *directions, start, BEAM)
    return base, distance, at


def read_nexus(path, name, number):
    """Frame ``number`` of the file ``name``; path: both as the user wrote them."""
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
        if len(modules) > 1:
            raise FileError(f"{path}: its detector has {len(modules)} modules with places of their own, and photographs are taken "
                            "of flat detectors of one; index it with DIALS and give its .expt and .refl")
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
        base, distance, at = _place(path, file, detector, modules)
        centre = at if base is None else tuple(v / pixel for v in at)
        cutoff = _number(detector.get("saturation_value"), numpy.inf)
        thickness = detector.get("sensor_thickness")
        material = detector.get("sensor_material")
        image = _core.read_image(path)
        if image.ndim == 3 and len(image) == 1:
            image = image[0]
        if image.ndim != 2:
            raise FileError(f"{path}: has {len(image)} panels, and photographs are taken of flat detectors of one; index it with "
                            "DIALS and give its .expt and .refl")
        photons = numpy.where(image >= 2**31 - 1, -1, image)  # Dectris marks pixels that are none by the largest number
        mask = detector.get("pixel_mask")
        if mask is not None and mask.shape[-2:] == image.shape:
            photons = numpy.where(mask[()].reshape(-1, *image.shape)[0] != 0, -1, photons)
        return checked(Photograph(path, photons, float(wavelengths[min(number, len(wavelengths) - 1)]), distance, centre, pixel,
                          thickness=_length(path, thickness) if thickness is not None else 0.0,
                          material={"Silicon": "Si"}.get(text := _text(material[()]) if material is not None else "", text),
                          cutoff=cutoff if cutoff > 0 else numpy.inf, axes=base))


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
    """Those of a class within a group."""
    return [] if parent is None else [node for node in parent.values() if _text(node.attrs.get("NX_class", "")) == kind]
