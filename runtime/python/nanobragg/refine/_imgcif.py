"""What the header of a full CBF (imgCIF) says of beam and detector."""

import re

import numpy

from .._errors import FileError
from ._axes import Axis, flat, frame

# A text field, a quoted word, a comment, or another word.
_TOKEN = re.compile(r"^;(.*?)^;|'([^\n]*?)'(?=\s|$)|\"([^\n]*?)\"(?=\s|$)|(#[^\n]*)|(\S+)", re.S | re.M)


def _tables(header):
    """Values of each item (category.name, in lower case), as a list."""
    words = [(found.lastindex != 5, found[found.lastindex]) for found in _TOKEN.finditer(header) if found.lastindex != 4]
    tables, at = {}, 0

    def is_name(i):
        return i < len(words) and not words[i][0] and words[i][1].startswith("_")

    while at < len(words):
        if not words[at][0] and words[at][1].lower() == "loop_":
            at += 1
            names = []
            while is_name(at):
                names.append(words[at][1].lower())
                at += 1
            values = []
            while at < len(words) and (words[at][0] or not re.match(r"_|loop_|data_", words[at][1].lower())):
                values.append(words[at][1])
                at += 1
            for i, name in enumerate(names):
                tables[name] = values[i::len(names)]
        elif is_name(at) and at + 1 < len(words) and (words[at + 1][0] or not words[at + 1][1].startswith("_")):
            tables[words[at][1].lower()] = [words[at + 1][1]]
            at += 2
        else:
            at += 1
    return tables


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


def read_header(path, header, beam):
    """Wavelength (A), axes, distance (mm), centre (pixels), size of a pixel (mm), overload."""
    tables = _tables(header)
    wavelengths = tables.get("_diffrn_radiation_wavelength.wavelength") or tables.get("_diffrn_radiation_wavelength.value")
    wavelength = _number(wavelengths[0]) if wavelengths else 0.0
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
                          None if above in (".", "?") else above)
    by_set = {row[0] if row[0] != "." else row[1]: row[1:] for row in
              _rows(tables, "array_structure_list_axis", "axis_set_id", "axis_id", "displacement", "displacement_increment")}
    order = sorted((_number(precedence), by_set.get(axis)) for precedence, axis in
                   _rows(tables, "array_structure_list", "precedence", "axis_set_id"))
    if len(order) != 2 or any(row is None or row[0] not in axes for _, row in order):
        raise FileError(f"{path}: has {len(order)} directions of pixels with axes (_array_structure_list), and photographs are "
                        "taken of flat detectors of one panel; index it with DIALS and give its .expt and .refl")
    steps = []
    for _, (name, start, step) in order:
        axes[name].value += _number(start)
        steps.append(_number(step))
    if not all(abs(step) > 0 for step in steps) or abs(abs(steps[0] / steps[1]) - 1) > 1e-3:
        raise FileError(f"{path}: its pixels are {steps[0]:.4g} mm by {steps[1]:.4g} mm; photographs need square ones")
    names = [row[0] for _, row in order]
    directions = [numpy.sign(step) * (frame(path, axes, axes[name].depends_on)[0] @ axes[name].vector)
                  for name, step in zip(names, steps)]
    # One of the two stands on the other; its end is the first pixel.
    last = names[0] if axes[names[0]].depends_on == names[1] else names[1]
    base, distance, at = flat(path, *directions, frame(path, axes, last)[1], beam)
    overload = max([_number(text) for text in tables.get("_array_intensities.overload", [])], default=0.0)
    return wavelength, base, distance, tuple(v / abs(steps[0]) for v in at), abs(steps[0]), overload
