"""Beam and detector in the header of a full CBF (imgCIF)."""

import dataclasses

import numpy

from .. import _core
from .._errors import FileError
from ._axes import Axis, Unplaced, frame


def _rows(tables, category, *names):
    columns = [tables.get(f"_{category}.{name}") for name in names]
    longest = max((len(c) for c in columns if c), default=0)
    return list(zip(*(c if c else ["."] * longest for c in columns)))


def _number(text):
    """0 where nothing is said."""
    try:
        return float(text.split("(")[0])
    except ValueError:
        return 0.0


def is_full(header):
    return "_axis.vector[1]" in header.lower() and "_array_structure_list_axis" in header.lower()


@dataclasses.dataclass
class Element:
    """A flat part of a detector: directions of its pixels and its corner (mm) in the laboratory,
    pixels (slow, fast) that it has and where they begin in the file's images, one below another."""

    fast: numpy.ndarray
    slow: numpy.ndarray
    corner: numpy.ndarray
    size: tuple
    raw: tuple


def read_header(path, header):
    """Wavelength (A), size of a pixel (mm), the numbers from which on and down to which there is no
    measurement (inf, -1: nothing is said), and the detector's Elements."""
    tables = dict(_core.cif_items(path, header + "\n;\n"))  # the text field that the header of the pixels begins
    wavelengths = tables.get("_diffrn_radiation_wavelength.wavelength") or tables.get("_diffrn_radiation_wavelength.value")
    wavelength = _number(wavelengths[0]) if wavelengths else 0.0
    axes = _axes(tables)
    by_set = {row[0] if row[0] != "." else row[1]: row[1:] for row in
              _rows(tables, "array_structure_list_axis", "axis_set_id", "axis_id", "displacement", "displacement_increment")}
    directions, whole = {}, {}
    for array, section, index, dimension, precedence, axis in _rows(tables, "array_structure_list", "array_id", "array_section_id", "index",
                                                                    "dimension", "precedence", "axis_set_id"):
        if axis != ".":
            directions.setdefault((array, section), []).append((_number(precedence), index, int(_number(dimension)), by_set.get(axis)))
        if section == ".":
            whole[array, precedence] = int(_number(dimension))
    starts = {row[:3]: int(_number(row[3])) for row in _rows(tables, "array_structure_list_section", "array_id", "id", "index", "start")}
    first = _first_images(tables, whole)
    elements, sizes = [], set()
    for (array, section), order in directions.items():
        order = sorted(order, key=lambda one: one[0])
        if len(order) != 2 or any(by is None or by[0] not in axes for *_, by in order):
            raise Unplaced(f"{path}: has {len(order)} directions of pixels with axes (_array_structure_list) for a part of its detector; "
                            "two are needed. Give --geometry=FILE.expt, which says where the detector stands")
        begin = [starts.get((array, section, index), 1) - 1 for _, index, *_ in order]
        image = first.get(array, 0) + starts.get((array, section, "3"), 1) - 1
        elements.append(Element(*_placed(path, axes, [by for *_, by in order], sizes), tuple(one[2] for one in order[::-1]),
                                (image * whole.get((array, "2"), 0) + begin[1], begin[0])))
    if not elements:
        raise FileError(f"{path}: does not say along which axes its pixels lie (_array_structure_list)")
    pixel = max(sizes)
    if max(abs(size / pixel - 1) for size in sizes) > 1e-3:
        raise FileError(f"{path}: its pixels are {min(sizes):.4g} mm by {pixel:.4g} mm; nb-refine needs square pixels")
    overload = max([_number(text) for text in tables.get("_array_intensities.overload", [])], default=0.0)
    undefined = [_number(text) for text in tables.get("_array_intensities.undefined_value", []) if text != "."]
    return wavelength, pixel, overload if overload > 0 else numpy.inf, min(undefined, default=-1.0), elements


def _axes(tables):
    settings = {name: (angle, shift) for category, *columns in
                (("diffrn_scan_axis", "axis_id", "angle_start", "displacement_start"),
                 ("diffrn_scan_frame_axis", "axis_id", "angle", "displacement"))
                for name, angle, shift in _rows(tables, category, *columns)}
    axes = {}
    for name, kind, above, *numbers in _rows(tables, "axis", "id", "type", "depends_on", *(f"vector[{i}]" for i in (1, 2, 3)),
                                             *(f"offset[{i}]" for i in (1, 2, 3))):
        angle, shift = map(_number, settings.get(name, (".", ".")))
        rotates = kind.lower().startswith("rot")
        numbers = numpy.array([_number(n) for n in numbers])
        axes[name] = Axis(numbers[:3], numpy.radians(angle) if rotates else shift, rotates, numbers[3:],
                          None if above == "." else above)
    return axes


def _first_images(tables, whole):
    """The number of the first image of each array in the file."""
    frames = sorted(_rows(tables, "diffrn_data_frame", "binary_id", "array_id"), key=lambda row: _number(row[0]))
    first, count = {}, 0
    for _, array in frames:
        first[array] = count
        count += whole.get((array, "3"), 1)
    return first


def _placed(path, axes, order, sizes):
    """Fast and slow direction and corner of pixels along two axes; adds their sizes."""
    axes = dict(axes)
    names = [name for name, _, _ in order]
    steps = [_number(step) for *_, step in order]
    if not all(abs(step) > 0 for step in steps):
        raise FileError(f"{path}: does not say how large its pixels are (_array_structure_list_axis.displacement_increment)")
    sizes.update(abs(step) for step in steps)
    for name, start, _ in order:
        axes[name] = dataclasses.replace(axes[name], value=axes[name].value + _number(start))
    directions = [numpy.sign(step) * (frame(path, axes, axes[name].depends_on)[0] @ axes[name].vector)
                  for name, step in zip(names, steps)]
    # One of the two stands on the other; its end is the first pixel.
    last = names[0] if axes[names[0]].depends_on == names[1] else names[1]
    return *directions, frame(path, axes, last)[1]
