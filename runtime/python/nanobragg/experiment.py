"""An experiment in plain objects.

Each field becomes the flag of nb-sim that says the same, so that what is left open (``None``) is chosen
as nb-sim chooses it. All numbers are in SI units: ``70 * nb.angstrom``, ``0.5 * nb.degree``.
"""

import dataclasses
import functools
import operator
import warnings

from . import units
from ._errors import Warning, unknown

# What is larger is no experiment but a number without its unit: field -> metres, and the unit that was meant.
_implausible = {"wavelength": (1e-7, "angstrom"), "cell": (1e-6, "angstrom"), "pixel_size": (0.1, "millimeter"), "distance": (100.0, "millimeter"),
                "close_distance": (100.0, "millimeter")}


def _text(value, unit):
    """A number in the flag's unit: the shortest that means the same once it is read."""
    value = float(value)
    scaled = value / unit
    for digits in (12, 15, 16):
        short = float(f"{scaled:.{digits}g}")
        if short * unit == value:
            return repr(short)
    return repr(scaled)


def _flag(name, unit=1.0, doc="", default=None, convert=None):
    """A field of a dataclass and the flag that it becomes; unit None: a switch or a word."""
    return dataclasses.field(default=default, metadata={"flag": name, "unit": unit, "doc": doc,
                                                        "convert": convert})


def _strict(cls):
    """A dataclass whose constructor and attributes refuse unknown names with the closest one."""
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


def _whole(value, name, lowest=1):
    """A whole number, also 5.0 and those of NumPy."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != value or whole < lowest:
        raise ValueError(f"{name} wants a whole number of at least {lowest}, not {value!r}")
    return whole


def _pair_of_whole(value, name, lowest=1):
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} wants two whole numbers, not {value!r}") from None
    return _whole(first, name, lowest), _whole(second, name, lowest)


def _numbers(value, count, name):
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise ValueError(f"{name} wants {count} numbers, not {value!r}")
    values = [float(v) for v in value]
    if len(values) != count:
        raise ValueError(f"{name} wants {count} numbers and is given {len(values)}")
    return values


class _Part:
    """A part of an experiment that flags can say."""

    def flags(self):
        """The words of this part for nb-sim, as Simulator.from_flags takes them."""
        words = []
        for field in dataclasses.fields(self):
            value, meta = getattr(self, field.name), field.metadata
            if value is None or meta["flag"] is None:
                continue
            if field.name in _implausible:
                self._warn_if_implausible(field.name, value)
            if field.type is int and field.name != "mosaic_seed":
                value = _whole(value, field.name)
            if meta["convert"]:
                words += meta["convert"](value)
            elif isinstance(value, bool):
                words += [meta["flag"]] if value else []
            elif meta["unit"] is None:
                words += [meta["flag"], str(value)]
            elif hasattr(value, "__len__"):
                words += [meta["flag"], *(_text(v, meta["unit"]) for v in value)]
            else:
                words += [meta["flag"], _text(value, meta["unit"])]
        return words

    @staticmethod
    def _warn_if_implausible(name, value):
        limit, unit = _implausible[name]
        first = value[0] if hasattr(value, "__len__") and len(value) else value
        if not isinstance(first, str) and first >= limit:
            warnings.warn(f"{name} is {first:g} m, and all numbers are in SI units; was {first:g} * nb.{unit} meant?", Warning, stacklevel=5)

    def give(self, inputs):
        """Puts what comes from memory into the inputs."""


def _cell(value):
    values = _numbers(value, 6, "cell")
    return ["-cell", *(_text(v, units.angstrom) for v in values[:3]),
            *(_text(v, units.degree) for v in values[3:])]


def _vector(flag, unit):
    def words(value):
        return [flag, *(_text(v, unit) for v in _numbers(value, 3, flag))]
    return words


def _ncells(value):
    values = [value] * 3 if not hasattr(value, "__len__") else list(value)
    if len(values) != 3:
        raise ValueError("ncells wants a whole number, or one for each of a, b and c")
    return [w for flag, v in zip(("-Na", "-Nb", "-Nc"), values) for w in (flag, str(_whole(v, "ncells")))]


_shapes = {"square": "-square_xtal", "round": "-round_xtal", "gauss": "-gauss_xtal", "tophat": "-tophat_spots"}


def _shape(value):
    if value not in _shapes:
        raise ValueError(unknown("shape", value, _shapes))
    return [_shapes[value]]


@_strict
class Crystal(_Part):
    """A crystal: cell, orientation, size, structure factors."""
    cell: tuple = _flag("-cell", doc="(a, b, c, alpha, beta, gamma), m and rad", convert=_cell)
    matrix: object = _flag(None, doc="instead of a cell: 3 x 3, columns a*, b*, c* in the lab frame, 1/m")
    misset: tuple = _flag("-misset", doc="rotations about the lab's X, then Y, then Z, rad",
                          convert=_vector("-misset", units.degree))
    ncells: object = _flag("-N", doc="unit cells along a, b and c; one number for all", convert=_ncells)
    shape: str = _flag("-shape", doc="square, round, gauss or tophat", convert=_shape)
    mosaic_spread: float = _flag("-mosaic", units.degree, "largest rotation of a domain, rad")
    mosaic_domains: int = _flag("-mosaic_domains", None, "mosaic domains")
    mosaic_seed: int = _flag("-mosaic_seed", None, "seed of the domains' rotations")
    hkl: str = _flag("-hkl", None, "file of structure factors, lines h k l F")
    structure_factors: tuple = _flag(None, doc="(array[h, k, l] in electrons, (hmin, kmin, lmin)), instead of hkl")
    default_F: float = _flag("-default_F", 1.0, "structure factor where there is none, electrons")
    interpolate: bool = _flag("-interpolate", doc="tricubic interpolation between structure factors; None: chosen by ncells",
                              convert=lambda v: ["-interpolate" if v else "-nointerpolate"])

    def give(self, inputs):
        if self.structure_factors is not None:
            try:
                values, lowest = self.structure_factors
                lowest = tuple(operator.index(i) for i in lowest)
            except (TypeError, ValueError):
                raise TypeError("structure_factors are a pair (array[h, k, l], (hmin, kmin, lmin)), the latter three integers") from None
            inputs.set_grid(values, lowest)


def _divergence_steps(value):
    horizontal, vertical = _pair_of_whole(value, "divergence_steps", lowest=0)
    return ["-hdivsteps", str(horizontal), "-vdivsteps", str(vertical)]


@_strict
class Beam(_Part):
    """The beam: wavelength, intensity, divergence, polarization."""
    wavelength: float = _flag("-lambda", units.angstrom, "m")
    energy: float = _flag("-energy", units.electronvolt, "J, instead of a wavelength: 12 * nb.kiloelectronvolt")
    fluence: float = _flag("-fluence", 1.0, "photons per m^2")
    flux: float = _flag("-flux", 1.0, "photons per s; with exposure and size, instead of a fluence")
    exposure: float = _flag("-exposure", 1.0, "s")
    size: float = _flag("-beamsize", units.millimeter, "edge of the square beam, m")
    polarization: float = _flag("-polar", 1.0, "Kahn factor, -1 to 1")
    unpolarized: bool = _flag("-nopolar", None, "True: no polarization correction")
    dispersion: float = _flag("-dispersion", units.percent, "full width as a fraction of the wavelength")
    dispersion_steps: int = _flag("-dispsteps", None, "wavelengths")
    hdivergence: float = _flag("-hdivrange", units.milliradian, "full width, rad")
    vdivergence: float = _flag("-vdivrange", units.milliradian, "full width, rad")
    divergence_steps: tuple = _flag("-divsteps", doc="horizontal and vertical directions",
                                    convert=_divergence_steps)
    sources: object = _flag(None, doc="rows (x, y, z, weight, wavelength): where sources are, any scale, and m")
    sourcefile: str = _flag("-sourcefile", None, "file of sources")

    def give(self, inputs):
        for row in () if self.sources is None else self.sources:
            row = [float(v) for v in row]
            if len(row) not in (3, 4, 5):
                raise ValueError("a source is x, y, z, weight and wavelength, the last two of which may be missing")
            inputs.add_source(row[:3], row[3] if len(row) > 3 else 1.0, row[4] if len(row) > 4 else None)


def _shape2(value):
    slow, fast = _pair_of_whole(value, "shape")
    return ["-detpixels_f", str(fast), "-detpixels_s", str(slow)]


def _roi(value):
    (slow0, slow1), (fast0, fast1) = (_pair_of_whole(v, "region", lowest=0) for v in value)
    return ["-roi", str(fast0), str(fast1), str(slow0), str(slow1)]


_conventions = {"mosflm": "-mosflm", "xds": "-xds", "denzo": "-denzo", "adxv": "-adxv", "dials": "-dials"}


def _convention(value):
    if value not in _conventions:
        raise ValueError(unknown("convention", value, _conventions))
    return [_conventions[value]]


def _pivot(value):
    if value not in ("beam", "sample"):
        raise ValueError(unknown("pivot", value, ("beam", "sample")))
    return ["-pivot", value]


def _rotation(value):
    return [w for flag, v in zip(("-detector_rotx", "-detector_roty", "-detector_rotz"),
                                 _numbers(value, 3, "rotation")) for w in (flag, _text(v, units.degree))]


def _pair(first, second, value, unit):
    x, y = value
    return [first, _text(x, unit), second, _text(y, unit)]


def _beam_center(value):
    return _pair("-Xbeam", "-Ybeam", value, units.millimeter)


@_strict
class Detector(_Part):
    """A detector: place, pixels, sensor."""
    convention: str = _flag("-mosflm", doc="mosflm, xds, denzo, adxv or dials: axes and meaning of beam_center",
                            convert=_convention)
    distance: float = _flag("-distance", units.millimeter, "from the sample along the beam, m")
    close_distance: float = _flag("-close_distance", units.millimeter, "from the sample along the normal, m")
    pixel_size: float = _flag("-pixel", units.millimeter, "edge, m")
    shape: tuple = _flag("-detpixels", doc="pixels (slow, fast), as an image's shape", convert=_shape2)
    beam_center: tuple = _flag("-Xbeam", doc="Xbeam and Ybeam, in the convention, m", convert=_beam_center)
    pivot: str = _flag("-pivot", doc="beam or sample: what stays when the detector turns", convert=_pivot)
    rotation: tuple = _flag("-detector_rotx", doc="about the lab's X, then Y, then Z, rad", convert=_rotation)
    twotheta: float = _flag("-twotheta", units.degree, "rad")
    twotheta_axis: tuple = _flag("-twotheta_axis", doc="direction", convert=_vector("-twotheta_axis", 1.0))
    fast_axis: tuple = _flag("-fdet_vector", doc="direction", convert=_vector("-fdet_vector", 1.0))
    slow_axis: tuple = _flag("-sdet_vector", doc="direction", convert=_vector("-sdet_vector", 1.0))
    normal: tuple = _flag("-odet_vector", doc="direction", convert=_vector("-odet_vector", 1.0))
    beam_direction: tuple = _flag("-beam_vector", doc="direction", convert=_vector("-beam_vector", 1.0))
    polarization_axis: tuple = _flag("-polar_vector", doc="direction", convert=_vector("-polar_vector", 1.0))
    close_point: tuple = _flag("-Xclose", doc="Xclose and Yclose, the point nearest to the sample, m",
                               convert=lambda v: _pair("-Xclose", "-Yclose", v, units.millimeter))
    origin: tuple = _flag("-ORGX", doc="ORGX and ORGY of XDS, pixels",
                          convert=lambda v: _pair("-ORGX", "-ORGY", v, 1.0))
    oversample: int = _flag("-oversample", None, "sub-pixels along each edge; None: by the crystal's size")
    thickness: float = _flag("-detector_thick", units.micrometer, "of the sensor, m")
    attenuation_depth: float = _flag("-detector_absorb", units.micrometer, "of the sensor, m")
    thickness_steps: int = _flag("-detector_thicksteps", None, "layers of the sensor")
    curved: bool = _flag("-curved_det", None, "True: all pixels at one distance")
    point_pixel: bool = _flag("-point_pixel", None, "True: no obliquity in the solid angle")
    region: tuple = _flag("-roi", doc="((slow first, last), (fast first, last)), inclusive; the rest stays 0",
                          convert=_roi)
    mask: object = _flag(None, doc="array (slow, fast), 0 where a pixel is not rendered")
    dead_time: float = _flag("-dead_time", 1.0, "s in which a pixel counts nothing after each photon")
    gain: float = _flag("-gain", 1.0, "ADU per photon")
    gain_map: object = _flag(None, doc="array of the image's shape, ADU per photon")
    panels: str = _flag("--panels", None, "file of panels, docs/panels.md")

    def give(self, inputs):
        import numpy
        if self.mask is not None:
            inputs.set_mask(numpy.ascontiguousarray(numpy.asarray(self.mask) != 0, dtype=numpy.uint8))
        if self.gain_map is not None:
            inputs.set_gain_map(numpy.ascontiguousarray(self.gain_map, dtype=float))


@_strict
class Goniometer(_Part):
    """The spindle."""
    phi: float = _flag("-phi", units.degree, "first angle, rad")
    osc: float = _flag("-osc", units.degree, "rotation during the exposure, rad")
    phi_steps: int = _flag("-phisteps", None, "angles")
    axis: tuple = _flag("-spindle_axis", doc="direction", convert=_vector("-spindle_axis", 1.0))
