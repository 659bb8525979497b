"""The response of a detector to photons: docs/detector-response.md."""

import math
import operator
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core
from ._arrays import Array, doubles
from ._errors import unknown

_kinds = ("gauss", "fiber")
_orders = ("detector", "noisify", "simtbx")


def point_spread(image: Any, kind: str, width: float, radius: int | None = None, threads: int = 0) -> Array:
    """The image with point spread, as by ``nb-sim -psf``.

    image: (slow, fast) or (panel, slow, fast). kind: "gauss" or "fiber". width: full width at half
    maximum in pixels. radius: in pixels; the default contains all but 1e-7 of a Gaussian's light,
    or 98 % of a fiber's. Shares within it add up to 1; light that leaves a panel is lost. The
    operator is its own transpose, so it maps cotangents, too.
    """
    image, shape = _image(image, "the image", any_sign=True)
    kind, width, radius = _spread(kind, width, radius)
    return _core.point_spread(image, kind, width, radius, _whole("threads", threads, 0, 4096)).reshape(shape)


def true_counts(counts: Any, dead_time: float, exposure: float) -> Array:
    """The photons that give these counts on a detector with ``-dead_time``: the inverse of y exp(-y
    dead_time / exposure).

    counts: any shape, not negative. dead_time, exposure: s. Two numbers of photons give the same
    counts; this is the smaller one, below exposure / dead_time. Raises ValueError for more counts
    than exposure / (e dead_time).
    """
    counts = numpy.asarray(counts, dtype=float)
    rate = _number("dead_time", dead_time, 0, math.inf) / _number("exposure", exposure, 0, math.inf, above=True)
    if not (counts >= 0).all():
        raise ValueError("counts contain a negative number or NaN; they have to be at least 0")
    lost = counts * rate
    if (lost > math.exp(-1)).any():
        raise ValueError(f"counts are up to {counts.max()}; with this dead time and exposure they are at most "
                         f"{math.exp(-1) / rate}")
    u = lost.copy()  # photons times rate: u exp(-u) = lost
    for _ in range(60):  # Newton's steps, which come from below and halve the distance even where the slope is 0
        slope = (1 - u) * numpy.exp(-u)
        u = numpy.where(slope > 0, u + (lost - u * numpy.exp(-u)) / numpy.where(slope > 0, slope, 1), u)
        u = numpy.minimum(u, 1)
    return u / rate if rate > 0 else counts


def counts(photons: Any, seed: int, *, shot: int = 0, flicker: float = 0.0, calibration: float = 0.0, calibration_seed: int = 123456789,
           gain: float = 1.0, offset: float = 0.0, readout_noise: float = 0.0, dead_pixels: float = 0.0, hot_pixels: float = 0.0,
           psf: str | None = None, psf_width: float | None = None, psf_radius: int | None = None, order: str = "detector",
           bits: int = 16, overload: float | None = None, threads: int = 0) -> NDArray[numpy.int32]:
    """Draws the counts of one exposure with ``photons`` as expected values, as ``nb-sim
    -noisefile`` does.

    photons: of a simulator without ``-gain`` and ``-psf``, (slow, fast) or (panel, slow, fast), not
    negative, finite. seed, shot: shots of one seed are independent of each other. Counts do not
    depend on the number of threads. flicker (of the beam) and calibration (of the pixels'
    sensitivity, by calibration_seed): fractions. gain: ADU per photon. offset, readout_noise: ADU.
    dead_pixels, hot_pixels: fractions of the pixels. psf, psf_width, psf_radius: point spread of
    the counted photons, as in ``point_spread``. order: "detector", "noisify" or "simtbx".

    Returns whole counts, int32, from 0 to ``overload``: by default 65535 with bits=16, 2**31 - 1
    with 32.
    """
    photons, shape = _image(photons, "photons")
    if order not in _orders:
        raise ValueError(unknown("order", order, _orders))
    if bits not in (16, 32):
        raise ValueError(f"bits is {bits!r}; it has to be 16 or 32")
    how: dict[str, Any] = {"order": order, "bits": bits, "psf": "", "psf_width": 1.0, "psf_radius": 0}
    for name, value, low in (("seed", seed, 0), ("shot", shot, 0), ("calibration_seed", calibration_seed, -2**31 + 1)):
        how[name] = _whole(name, value, low, 2**31 - 1)
    for name, number, high in (("flicker", flicker, 1), ("calibration", calibration, 1), ("dead_pixels", dead_pixels, 1),
                               ("hot_pixels", hot_pixels, 1), ("readout_noise", readout_noise, math.inf)):
        how[name] = _number(name, number, 0, high)
    how["gain"], how["offset"] = _number("gain", gain, 0, math.inf, above=True), _number("offset", offset, -math.inf, math.inf)
    how["overload"] = None if overload is None else _number("overload", overload, 1, 65535 if bits == 16 else 2147483647)
    if psf is not None:
        if psf_width is None:
            raise ValueError("psf= needs psf_width=, the full width at half maximum in pixels")
        how["psf"], how["psf_width"], how["psf_radius"] = _spread(psf, psf_width, psf_radius)
        if order == "noisify":
            raise ValueError("psf= cannot be combined with order='noisify'; use nb-sim -compat noisify")
    elif psf_width is not None or psf_radius is not None:
        raise ValueError("psf_width and psf_radius need psf='gauss' or psf='fiber'")
    # Far above all overloads; single precision ends at 3e38.
    drawn: Any = _core.counts(numpy.minimum(photons, 1e30), how, _whole("threads", threads, 0, 4096))
    return drawn.astype(numpy.int32).reshape(shape)


def _image(value, what, any_sign=False):
    array = doubles(value, what)
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(f"{what} has shape {array.shape}; it has to be (slow, fast) or (panel, slow, fast)")
    if not any_sign and not ((array >= 0) & (array < numpy.inf)).all():
        raise ValueError(f"{what} have pixels that are negative or not finite; all have to be finite and at least 0")
    return array.reshape((-1, *array.shape[-2:])), array.shape


def _spread(kind, width, radius):
    if kind not in _kinds:
        raise ValueError(unknown("psf", kind, _kinds))
    if radius is None:
        radius = 0
    else:
        radius = _whole("the radius of a point spread in pixels", radius, 1, 1000)
    return kind, _number("the width of a point spread", width, 0, math.inf, above=True), radius


def _whole(name, value, low, high):
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it has to be a whole number") from None
    if not low <= whole <= high:
        raise ValueError(f"{name} is {value!r}; it has to be a whole number from {low} to {high}")
    return whole


def _number(name, value, low, high, above=False):
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; it has to be a number") from None
    if not math.isfinite(value) or value < low or value > high or (above and value == low):
        bounds = f"above {low}" if above else f"from {low} to {high}" if math.isfinite(high) else f"at least {low}"
        raise ValueError(f"{name} is {value!r}; it has to be a finite number" + (f" {bounds}" if low > -math.inf else ""))
    return value
