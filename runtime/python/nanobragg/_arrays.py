"""Turns what users give into arrays that the compiled part takes."""

import re
import shlex
from collections.abc import Iterable
from typing import Any

import numpy
from numpy.typing import NDArray

from ._on_device import Handed

Array = NDArray[numpy.float64]


_UNITS = {"Å": "angstrom", "A": "angstrom", "Angstrom": "angstrom", "nm": "nanometer", "um": "micrometer", "µm": "micrometer",
          "mm": "millimeter", "m": "meter", "deg": "degree", "degrees": "degree", "°": "degree", "mrad": "milliradian", "rad": "radian",
          "eV": "electronvolt", "keV": "kiloelectronvolt", "%": "percent", "s": "second"}


def refuse_units(value: Any, what: str) -> None:
    """Strings such as "0.98 A", and quantities of pint and astropy, are no numbers: NumPy would
    drop their units."""
    if isinstance(value, str):
        number, unit = re.fullmatch(r"\s*([-+.\deE]*)\s*(.*?)\s*", value, re.DOTALL).groups()
        unit = _UNITS.get(unit, unit if unit in _UNITS.values() else "angstrom")
        raise TypeError(f"{what} is the string {value!r}; numbers are in SI units: {number or '0.98'} * nb.{unit}")
    for attribute, number in (("to_base_units", "to_base_units().magnitude"), ("si", "si.value")):
        if hasattr(value, attribute):
            raise TypeError(f"{what} is a quantity with a unit, {value}; give its number in SI units, .{number}")


def doubles(value: Any, what: str) -> Array:
    """float64 one after another, without a copy where it is that already."""
    refuse_units(value, what)
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        if value.device.type != "cpu":
            raise ValueError(f"{what} is a tensor on {value.device}; give it as .cpu()")
        value = value.detach()
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
        raise ValueError(f"{what} is a masked array, with masked elements; give it filled, as .filled(0)")
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            value = numpy.from_dlpack(Handed(value))
        array = numpy.asarray(value)
    except (TypeError, ValueError, BufferError) as error:
        raise TypeError(f"{what} is neither a number nor an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} is an array of {array.dtype}; it has to contain real numbers")
    shape = array.shape  # ascontiguousarray makes (1,) of ()
    return numpy.ascontiguousarray(array, dtype=numpy.float64).reshape(shape)


def distinct(rows: NDArray[numpy.integer]) -> tuple[NDArray[numpy.integer], NDArray[numpy.int64], NDArray[numpy.int64]]:
    """The different rows of whole numbers, (n, 3) for instance, in ascending order; the first of
    each; and the number of each row among them. Faster than numpy.unique with an axis."""
    if not len(rows):
        return rows, *numpy.zeros((2, 0), dtype=numpy.int64)
    code = numpy.ravel_multi_index(tuple((rows - rows.min(axis=0)).T), tuple(numpy.ptp(rows, axis=0) + 1))
    _, first, number = numpy.unique(code, return_index=True, return_inverse=True)
    return rows[first], first, number


def pixel_rows(pixels: Any) -> NDArray[numpy.int64]:
    """Panel, slow, fast of each pixel, (pixels, 3), from that or from slow, fast, (pixels, 2)."""
    array = numpy.asarray(pixels)
    if array.ndim != 2 or array.shape[1] not in (2, 3) or len(array) == 0:
        raise ValueError(f"pixels= has shape {array.shape}; it has to be an array (pixels, 3) of panel, slow and fast, "
                         "or (pixels, 2) of slow and fast")
    if array.dtype.kind not in "iu":
        raise TypeError(f"pixels= is an array of {array.dtype}; it has to contain whole numbers")
    rows = numpy.zeros((len(array), 3), dtype=numpy.int64)
    rows[:, 3 - array.shape[1]:] = array
    return rows


def words(flags: str | Iterable[object]) -> list[str]:
    """Flags of nb-sim, a string or a list, as words."""
    if isinstance(flags, str):
        try:
            return shlex.split(flags)
        except ValueError as error:
            raise ValueError(f"the flags cannot be split into words: {str(error).lower()}; give a list of words") from None
    try:
        # repr of a float has all its digits; NumPy's says what it is of, too.
        return [repr(float(w)) if isinstance(w, (float, numpy.floating)) else str(w) for w in flags]
    except TypeError:
        raise TypeError(f"flags are a string or a list of words, not {flags!r}") from None


def names(wrt: Any) -> str:
    """Parameters as the compiled part takes them: comma-separated names and groups."""
    if isinstance(wrt, str):
        return ",".join(word.strip() for word in wrt.split(","))
    try:
        words = list(wrt)
    except TypeError:
        words = [wrt]
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{word!r} is not the name of a parameter; give names, such as 'cell' or ['cell_a', 'misset']")
    if not words:
        raise ValueError("no parameter is named; give names, such as 'cell' or ['cell_a', 'misset']")
    return ",".join(words)
