"""An experiment in plain objects.

Fields left open (``None``) are chosen as nb-sim chooses them. All numbers are in SI units: ``70 *
nb.angstrom``, ``0.5 * nb.degree``. Fields of quantities are those of nb-sim's table
(``_core.quantities``).
"""

import dataclasses
import functools
import operator
import os

import numpy

from . import _core
from ._arrays import refuse_units
from ._errors import unknown
from .factors import box

Panel = _core.Panel

# Class -> field -> what _core.quantities() says of it.
_quantities = {}
for _name, *_rest in _core.quantities():
    _quantities.setdefault(_name.split(".")[0], {})[_name.split(".")[1]] = _rest


def _field(doc):
    """A field of a dataclass that is not a quantity of the table."""
    return dataclasses.field(default=None, metadata={"doc": doc})


def _strict(cls):
    """A dataclass with the table's quantities, whose constructor and attributes refuse unknown
    names with the closest one."""
    cls.__annotations__ = dict(cls.__dict__.get("__annotations__", {}))
    for name, (kind, takes, unit, meaning, _) in _quantities.get(cls.__name__, {}).items():
        said = meaning if kind != "choice" else " or ".join(map(str, takes)) + ": " + meaning
        cls.__annotations__[name] = object
        setattr(cls, name, _field(said + (f", {unit}" if unit != "1" else "")))
    cls = dataclasses.dataclass(kw_only=True, repr=False)(cls)
    names = [f.name for f in dataclasses.fields(cls)]
    made = cls.__init__

    @functools.wraps(made)
    def __init__(self, *args, **values):
        if args:
            raise TypeError(f"{cls.__name__} takes its fields by name: {cls.__name__}({names[0]}={args[0]!r})")
        for name in values:
            if name not in names:
                raise TypeError(unknown(cls.__name__, name, names))
        made(self, **values)

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


def _list(value, counts, name, kind, meaning):
    """So many numbers; one may stand alone."""
    refuse_units(value, name)
    wanted = " or ".join(map(str, counts)) + (" whole" if kind == "whole" else "") + (" number" if list(counts) == [1] else " numbers")
    if 1 not in counts and not hasattr(value, "__iter__"):
        raise ValueError(f"{name} needs {wanted}, not {value!r}")
    values = list(value) if hasattr(value, "__iter__") else [value]
    if len(values) not in counts:
        raise ValueError(f"{name} needs {wanted} and is given {len(values)}: {meaning}")
    for one in values:
        refuse_units(one, name)
    return values


class _Part:
    """A part of an experiment."""

    _files = {}  # fields that name files, and what _core calls those

    def __repr__(self):
        given = [f"{f.name}={value!r}" for f in dataclasses.fields(self) if (value := getattr(self, f.name)) is not None]
        return f"{type(self).__name__}({', '.join(given)})"

    def give(self, request):
        """Puts what is set into the request."""
        for name, (kind, takes, _, meaning, lowest) in _quantities.get(type(self).__name__, {}).items():
            value, full = getattr(self, name), f"{type(self).__name__}.{name}"
            if value is None:
                continue
            if full == "Crystal.misset" and isinstance(value, str) and value == "random":
                request.random_orientation()
                continue
            if kind == "choice":
                self._choose(request, full, name, value, takes)
                continue
            values = _list(value, takes, full, kind, meaning)
            request.set(full, [_whole(v, full, lowest) if kind == "whole" else float(v) for v in values])
        for name, kind in self._files.items():
            if isinstance(getattr(self, name), (str, os.PathLike)):
                request.set_file(kind, os.fspath(getattr(self, name)))
        self._give_more(request)

    def _give_more(self, request):
        """Takes fields that are no quantity of the table and no file."""

    @staticmethod
    def _choose(request, full, name, value, words):
        word = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        if word in words:
            request.choose(full, word)
        elif word != "no" or not isinstance(value, bool):  # False: a switch that is not switched on
            raise ValueError(unknown(name, str(word), words))


def _matrix(value, name):
    matrix = numpy.asarray(value, dtype=float)
    if matrix.shape != (3, 3):
        raise ValueError(f"{name} has shape (3, 3), but the array has shape {matrix.shape}")
    return matrix


def random_misset(count=None, seed=None):
    """Angles for ``misset`` (rad), uniform over all rotations: (3,), or (count, 3).

    seed: a whole number from 0, or a random generator of NumPy; None: different ones each time.
    Uniformly drawn angles would crowd at the poles.
    """
    drawn = numpy.random.default_rng(seed).normal(size=(1 if count is None else operator.index(count), 4))
    w, x, y, z = drawn.T / numpy.linalg.norm(drawn, axis=1)  # a unit quaternion, uniform over the sphere
    angles = numpy.stack([numpy.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), numpy.arcsin(numpy.clip(2 * (w * y - x * z), -1, 1)),
                          numpy.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))], axis=1)
    return angles[0] if count is None else angles


def random_rotation(seed=None):
    """A rotation matrix, uniform over all rotations, for ``Crystal(rotation=...)``; seed as in
    ``random_misset``."""
    return numpy.reshape(_core.rotation_of(random_misset(seed=seed).tolist()), (3, 3))


def _rotation(value):
    """The matrix of a rotation that is given as a matrix or as a quaternion (w, x, y, z)."""
    value = numpy.asarray(value, dtype=float)
    if value.shape == (4,) and (norm := numpy.linalg.norm(value)) > 0:
        w, (x, y, z) = value[0] / norm, value[1:] / norm
        cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return numpy.eye(3) + 2 * w * cross + 2 * cross @ cross
    if value.shape != (3, 3) or not numpy.allclose(value @ value.T, numpy.eye(3), atol=1e-6) or numpy.linalg.det(value) < 0:
        raise ValueError("Crystal.rotation is not a rotation: give a 3 x 3 rotation matrix or a quaternion (w, x, y, z)")
    return value


@_strict
class Crystal(_Part):
    """A crystal: cell, orientation, size, structure factors.

    Its orientation is one of ``misset`` (angles, or "random"), ``rotation``, ``matrix`` and
    ``real_space``; ``misset`` may be added to ``matrix`` or ``real_space``, which it rotates.
    """
    rotation: object = _field("instead of misset: a 3 x 3 rotation matrix, or a quaternion (w, x, y, z), which rotates the cell from a "
                              "along x and b in the x-y plane; random_rotation() makes one")
    matrix: object = _field("instead of a cell: 3 x 3, columns a*, b*, c* in the lab frame, 1/m")
    real_space: object = _field("instead of a cell: 3 x 3, rows a, b, c in the lab frame, m")
    hkl: str = _field("file of structure factors (text, MTZ, CIF, SHELX) or atomic model (PDB, CIF)")
    structure_factors: object = _field("(array[h, k, l] in electrons, (hmin, kmin, lmin)), gemmi's Mtz or AsuData, or a DataSet of "
                                       "reciprocalspaceship; instead of hkl")

    _files = {"hkl": "hkl"}

    def _give_more(self, request):
        said = [name for name in ("rotation", "matrix", "real_space") if getattr(self, name) is not None]
        if self.rotation is not None and self.misset is not None:
            said.append("misset")
        if len(said) > 1:
            raise ValueError(f"Crystal has an orientation by {' and by '.join(said)}; give one of them")
        if self.rotation is not None:
            request.set("Crystal.misset", list(_core.misset_of(_rotation(self.rotation).reshape(-1).tolist())))
        if self.matrix is not None:
            request.set_matrix(_matrix(self.matrix, "matrix").reshape(-1).tolist())
        if self.real_space is not None:
            vectors = _matrix(self.real_space, "real_space")
            _core.check_field("Crystal.real_space", "-cell", vectors.reshape(-1).tolist())
            if not abs(numpy.linalg.det(vectors)) > 0:
                raise ValueError("Crystal.real_space has vectors that lie in a plane; give rows a, b, c in m")
            request.set_matrix(numpy.linalg.inv(vectors).reshape(-1).tolist())
        if self.structure_factors is not None:
            request.set_grid(*box(self.structure_factors))


@dataclasses.dataclass(kw_only=True)
class Background:
    """Amorphous material in the beam.

    stol: sin(theta)/lambda, 1/m, ascending. factor: the structure factor at each of these,
    electrons per molecule. thickness: m, along the beam. density: kg/m^3. molar_mass: kg/mol.
    """

    stol: object
    factor: object
    thickness: float = None
    density: float = None
    molar_mass: float = None


@_strict
class Beam(_Part):
    """The beam: wavelength, intensity, divergence, polarization, and amorphous material in it."""
    sources: object = _field("rows (x, y, z, weight, wavelength): positions of sources in any unit, and wavelengths in m")
    sourcefile: str = _field("file of sources")
    spectrum: object = _field("file of a spectrum: lines of wavelength (A) or energy (eV) and weight; a shape as in --spectrum, such as "
                              "\"gaussian:12400,3\"; or, with spectrum_between=\"linear\", an array (points, 2) of wavelengths, m, and "
                              "densities over the wavelength")
    background: object = _field("amorphous scattering: a Background, water or air, a file as in -stol, or a list of them")

    _files = {"sourcefile": "sources", "spectrum": "spectrum"}

    def _give_more(self, request):
        if self.wavelength is not None and self.energy is not None:
            raise ValueError("Beam has a wavelength and an energy; give one of them")
        for row in () if self.sources is None else self.sources:
            row = [float(v) for v in row]
            if len(row) not in (3, 4, 5):
                raise ValueError("a source is x, y, z, weight and wavelength, the last two of which may be missing")
            request.add_source(row[:3], row[3] if len(row) > 3 else 1.0, row[4] if len(row) > 4 else None)
        if self.spectrum is not None and not isinstance(self.spectrum, (str, os.PathLike)):
            self._give_spectrum(request)
        several = isinstance(self.background, (list, tuple))
        for one in self.background if several else () if self.background is None else (self.background,):
            if isinstance(one, Background):
                request.add_background(numpy.ravel(one.stol).tolist(), numpy.ravel(one.factor).tolist(), one.thickness,
                                       one.density, one.molar_mass)
            else:
                request.set_file("background", os.fspath(one))

    def _give_spectrum(self, request):
        points = numpy.asarray(self.spectrum, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"Beam.spectrum has shape {points.shape}; it has to be (points, 2), wavelengths in m and densities")
        if self.spectrum_between != "linear":
            raise ValueError('Beam.spectrum is an array, which needs spectrum_between="linear"; lines are rows of Beam.sources')
        mean = request.set_spectrum(points.tolist())
        if self.wavelength is None and self.energy is None:
            request.set("Beam.wavelength", [mean])


@_strict
class Detector(_Part):
    """A detector: place, pixels, sensor, response."""
    mask: object = _field("array (slow, fast), 0 where a pixel is not rendered")
    gain_map: object = _field("array of the image's shape, ADU per photon, or a file")
    panels: object = _field("Panels in the laboratory, the sample at the origin and, unless beam_direction says otherwise, the beam "
                            "along z; or a file of panels, docs/panels.md")

    material: str = _field("material of the sensor: Si, Ge, Se, GaAs, CdTe, CsI or Gd2O2S, whose absorption depends on the energy; "
                           "instead of attenuation_depth")
    efficiency: object = _field("fraction of the photons that is counted: file as in --efficiency, or an array (points, 2) of wavelengths, "
                                "m, and numbers from 0 to 1")

    _files = {"panels": "panels", "gain_map": "gain_map", "material": "sensor_material", "efficiency": "efficiency"}
    _place = ("distance", "close_distance", "beam_center", "close_point", "origin", "fast_axis", "slow_axis", "normal", "convention",
              "pivot", "shape")

    @classmethod
    def plane(cls, origin, fast_axis, slow_axis, shape, pixel_size, **fields):
        """A detector of one panel, by its position relative to the sample.

        origin: outer corner of the first pixel, m. fast_axis, slow_axis: directions of increasing
        pixel numbers. shape: pixels (slow, fast). pixel_size: m. fields: other fields of
        Detector; without beam_direction the beam is along z."""
        fast, slow = (numpy.asarray(axis, dtype=float) / numpy.linalg.norm(axis) for axis in (fast_axis, slow_axis))
        origin, normal = numpy.asarray(origin, dtype=float), numpy.cross(fast, slow)
        normal = normal / numpy.linalg.norm(normal) * (1 if origin @ normal > 0 else -1)
        skew, centre = fast @ slow, numpy.array([-(origin @ fast), -(origin @ slow)])
        centre = (centre - skew * centre[::-1]) / (1 - skew * skew)
        return cls(shape=shape, pixel_size=pixel_size, fast_axis=fast, slow_axis=slow, normal=normal, pivot="sample",
                   close_distance=float(origin @ normal), close_point=centre,
                   **{"beam_direction": (0, 0, 1), "polarization_axis": (1, 0, 0)} | fields)

    def _give_more(self, request):
        if self.panels is not None and not isinstance(self.panels, (str, os.PathLike)):
            for name in self._place:
                if getattr(self, name) is not None:
                    raise ValueError(f"Detector.{name} and Detector.panels both describe the detector; give one of them")
            request.set_panels(list(self.panels))
        if self.mask is not None:
            request.set_mask(numpy.ascontiguousarray(numpy.asarray(self.mask) != 0, dtype=numpy.uint8))
        if self.gain_map is not None and not isinstance(self.gain_map, (str, os.PathLike)):
            request.set_gain_map(numpy.ascontiguousarray(self.gain_map, dtype=float))
        if self.efficiency is not None and not isinstance(self.efficiency, (str, os.PathLike)):
            points = numpy.asarray(self.efficiency, dtype=float)
            if points.ndim != 2 or points.shape[1] != 2:
                raise ValueError(f"Detector.efficiency has shape {points.shape}; it has to be (points, 2), wavelengths in m and numbers from "
                                 "0 to 1")
            request.set_efficiency(points.tolist())


@_strict
class Goniometer(_Part):
    """The spindle."""


@_strict
class Expt(_Part):
    """An experiment of DIALS (.expt): beam, goniometer, scan, crystal and detector. Values of other
    parts override it."""
    file: str = _field("FILE or FILE:NUMBER, counted from 0")

    _files = {"file": "expt"}
