"""Lengths, wavelengths and times in words of headers."""

import re

from .._errors import FileError

# How many mm, Å and s a unit is.
_UNITS = {"length": {"m": 1e3, "meter": 1e3, "metre": 1e3, "cm": 10.0, "mm": 1.0, "millimeter": 1.0, "millimetre": 1.0, "um": 1e-3, "\u00b5m": 1e-3,
                     "\u03bcm": 1e-3, "micron": 1e-3, "micrometer": 1e-3, "micrometre": 1e-3, "nm": 1e-6, "angstrom": 1e-7},
          "wavelength": {"a": 1.0, "\u00e5": 1.0, "ang": 1.0, "angstrom": 1.0, "nm": 10.0, "pm": 0.01, "m": 1e10, "meter": 1e10, "metre": 1e10},
          "time": {"s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "ns": 1e-9, "min": 60.0}}
_PLAIN = {"length": "mm", "wavelength": "angstrom", "time": "s"}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FIRST = re.compile(rf"\s*({NUMBER})(?![\d.,])\s*([A-Za-z\u00b5\u03bc\u00c5\u00e5]*)\.?(?![^\s;)])")


def known(unit, kind):
    """How many mm, Å or s a unit of a length, wavelength or time is; None where it is not one."""
    units, unit = _UNITS[kind], unit.lower()
    return units.get(unit, units.get(unit.removesuffix("s")))


def factor(path, name, unit, kind):
    """The same; FileError where it is not one."""
    if (found := known(unit, kind)) is None:
        raise FileError(f"{path}: its {name} is in '{unit}', which is not a known unit of a {kind}; write it in {_PLAIN[kind]}")
    return found


def first(path, name, text, kind, unit):
    """The number that a text begins with in mm, Å or s. unit: where none follows it. FileError."""
    if not (found := _FIRST.match(text)):
        raise FileError(f"{path}: its header has '{text[:40]}' for {name}, and a number is needed; write it in {_PLAIN[kind]}, or give --geometry=FILE.expt")
    return float(found[1]) * factor(path, name, found[2] or unit, kind)
