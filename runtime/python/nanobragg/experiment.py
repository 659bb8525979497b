"""An experiment in plain objects.

What is left open (``None``) is chosen as nb-sim chooses it. All numbers are in SI units: ``70 * nb.angstrom``,
``0.5 * nb.degree``. Fields of quantities are those of nb-sim's table (``_core.quantities``).
"""

import dataclasses
import functools
import operator
import warnings

from . import _core
from ._errors import Warning, unknown

# What is larger is no experiment but a number without its unit: field -> metres, and the unit that was meant.
_implausible = {"wavelength": (1e-7, "angstrom"), "cell": (1e-6, "angstrom"), "pixel_size": (0.1, "millimeter"), "distance": (100.0, "millimeter"),
                "close_distance": (100.0, "millimeter")}

# Class -> field -> what _core.quantities() says of it.
_quantities = {}
for _name, *_rest in _core.quantities():
    _quantities.setdefault(_name.split(".")[0], {})[_name.split(".")[1]] = _rest


def _field(doc):
    """A field of a dataclass that is no quantity of the table."""
    return dataclasses.field(default=None, metadata={"doc": doc})


def _strict(cls):
    """A dataclass with the table's quantities, whose constructor and attributes refuse unknown names with the closest one."""
    cls.__annotations__ = dict(cls.__dict__.get("__annotations__", {}))
    for name, (kind, takes, unit, meaning, _) in _quantities[cls.__name__].items():
        said = meaning if kind != "choice" else " or ".join(map(str, takes)) + ": " + meaning
        cls.__annotations__[name] = object
        setattr(cls, name, _field(said + (f", {unit}" if unit != "1" else "")))
    cls = dataclasses.dataclass(kw_only=True)(cls)
    names = [f.name for f in dataclasses.fields(cls)]
    made = cls.__init__

    @functools.wraps(made)
    def __init__(self, *args, **values):
        for name in values:
            if name not in names:
                raise TypeError(unknown(cls.__name__, name, names))
        made(self, *args, **values)

    def __setattr__(self, name, value):
        if name not in names:
            raise AttributeError(unknown(cls.__name__, name, names))
        object.__setattr__(self, name, value)

    cls.__init__ = __init__
    cls.__setattr__ = __setattr__
    lines = [cls.__doc__.rstrip(), "", "    Fields:"]
    lines += [f"        {f.name}: {f.metadata['doc']}" for f in dataclasses.fields(cls)]
    cls.__doc__ = "\n".join(lines) + "\n"
    return cls


def _whole(value, name, lowest):
    """A whole number, also 5.0 and those of NumPy."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != value or whole < lowest:
        raise ValueError(f"{name} needs a whole number of at least {lowest}, not {value!r}")
    return whole


def _list(value, counts, name, kind):
    """So many numbers; one may stand alone."""
    wanted = " or ".join(map(str, counts)) + (" whole" if kind == "whole" else "") + (" number" if list(counts) == [1] else " numbers")
    if isinstance(value, str) or (1 not in counts and not hasattr(value, "__iter__")):
        raise ValueError(f"{name} needs {wanted}, not {value!r}")
    values = list(value) if hasattr(value, "__iter__") else [value]
    if len(values) not in counts:
        raise ValueError(f"{name} needs {wanted} and is given {len(values)}")
    return values


# What Python says in another order than nb-sim.
_flat = {"region": lambda region: [bound for pair in reversed(list(region)) for bound in pair]}


class _Part:
    """A part of an experiment."""

    def give(self, inputs):
        """Puts what is said into the inputs."""
        for name, (kind, takes, _, _, lowest) in _quantities[type(self).__name__].items():
            value, full = getattr(self, name), f"{type(self).__name__}.{name}"
            if value is None:
                continue
            if kind == "choice":
                self._choose(inputs, full, name, value, takes)
                continue
            values = _list(_flat.get(name, lambda v: v)(value), takes, name, kind)
            if name in _implausible:
                self._warn_if_implausible(name, values[0])
            inputs.set(full, [_whole(v, name, lowest) if kind == "whole" else float(v) for v in values])
        for name, flag in self._flags.items():
            if getattr(self, name) is not None:
                inputs.set_flag(flag, str(getattr(self, name)))
        self._give_more(inputs)

    _flags = {}  # fields that are no quantities and the flags that take them

    def _give_more(self, inputs):
        """What comes from memory."""

    @staticmethod
    def _choose(inputs, full, name, value, words):
        word = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        if word in words:
            inputs.choose(full, word)
        elif word != "no" or not isinstance(value, bool):  # False: a switch that is not switched on
            raise ValueError(unknown(name, str(word), words))

    @staticmethod
    def _warn_if_implausible(name, value):
        limit, unit = _implausible[name]
        if value >= limit:
            warnings.warn(f"{name} is {value:g} m, and all numbers are in SI units; was {value:g} * nb.{unit} meant?", Warning, stacklevel=5)


@_strict
class Crystal(_Part):
    """A crystal: cell, orientation, size, structure factors."""
    matrix: object = _field("instead of a cell: 3 x 3, columns a*, b*, c* in the lab frame, 1/m")
    hkl: str = _field("file of structure factors, lines h k l F")
    structure_factors: tuple = _field("(array[h, k, l] in electrons, (hmin, kmin, lmin)), instead of hkl")

    _flags = {"hkl": "-hkl"}

    def _give_more(self, inputs):
        if self.structure_factors is not None:
            try:
                values, lowest = self.structure_factors
                lowest = tuple(operator.index(i) for i in lowest)
            except (TypeError, ValueError):
                raise TypeError("structure_factors are a pair (array[h, k, l], (hmin, kmin, lmin)), the latter three integers") from None
            inputs.set_grid(values, lowest)


@_strict
class Beam(_Part):
    """The beam and what is in it: wavelength, intensity, divergence, polarization, background."""
    sources: object = _field("rows (x, y, z, weight, wavelength): where sources are, any scale, and m")
    sourcefile: str = _field("file of sources")
    background: str = _field("table of amorphous scattering: a file as of -stol, water or air")

    _flags = {"sourcefile": "-sourcefile", "background": "-stol"}

    def _give_more(self, inputs):
        for row in () if self.sources is None else self.sources:
            row = [float(v) for v in row]
            if len(row) not in (3, 4, 5):
                raise ValueError("a source is x, y, z, weight and wavelength, the last two of which may be missing")
            inputs.add_source(row[:3], row[3] if len(row) > 3 else 1.0, row[4] if len(row) > 4 else None)


@_strict
class Detector(_Part):
    """A detector: place, pixels, sensor, response."""
    mask: object = _field("array (slow, fast), 0 where a pixel is not rendered")
    gain_map: object = _field("array of the image's shape, ADU per photon")
    panels: str = _field("file of panels, docs/panels.md")

    _flags = {"panels": "--panels"}

    def _give_more(self, inputs):
        import numpy
        if self.mask is not None:
            inputs.set_mask(numpy.ascontiguousarray(numpy.asarray(self.mask) != 0, dtype=numpy.uint8))
        if self.gain_map is not None:
            inputs.set_gain_map(numpy.ascontiguousarray(self.gain_map, dtype=float))


@_strict
class Goniometer(_Part):
    """The spindle."""
