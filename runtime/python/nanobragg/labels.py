"""Which reflection a pixel's light is from."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from ._arrays import distinct, doubles

if TYPE_CHECKING:
    from .simulator import Simulator


@dataclasses.dataclass
class Spots:
    """Spots of an image; see ``Simulator.spots``.

    ``labels``
        In the image's shape: 0, or the number of the pixel's spot, which is 1 + its row in the
        other arrays.
    ``miller_index``
        (n, 3) whole numbers.
    ``photons``
        Bragg light of the spot's pixels.
    ``panel``
        Number of the panel, from 0.
    ``fast``, ``slow``
        Centre of the light in pixels; (0, 0) is the outer corner of the first pixel.
    """

    labels: NDArray[numpy.int32]
    miller_index: NDArray[numpy.int64]
    photons: NDArray[numpy.float64]
    panel: NDArray[numpy.int64]
    fast: NDArray[numpy.float64]
    slow: NDArray[numpy.float64]

    def __len__(self) -> int:
        return len(self.photons)

    def __repr__(self) -> str:
        return f"<{len(self)} spots, {numpy.count_nonzero(self.labels)} pixels>"


def _wavelength(sim):
    if "wavelength" in sim:
        return sim["wavelength"]
    waves = sim["source_wavelength"] * sim["wavelength_scale"] + sim["wavelength_offset"]
    return numpy.average(waves, weights=sim["source_weight"])


def _is_continuous(sim):
    return "spectrum_density" in sim


def is_flat(sim: Simulator) -> bool:
    """Whether the detector's panels are flat."""
    return not re.search(r"curvature=(right|c)\b", sim._core.variant())


def _require_flat_image(sim):
    if len(sim.shape) == 1:
        raise ValueError("a list of pixels is not an image; make the simulator without pixels=")
    if not is_flat(sim):
        raise ValueError("Detector.curved: maps are for flat panels")


def directions(sim: Simulator, pixels: Any = None) -> NDArray[numpy.float64]:
    """Unit vectors from the sample to the centre of each pixel, ``(*shape, 3)``, for flat detectors.
    pixels: only for these, (n, 3) rows of panel, slow, fast, which may be fractions."""
    _require_flat_image(sim)
    size = sim["pixel_size"]
    corner, along_fast, along_slow = numpy.moveaxis(numpy.asarray(sim._core.lab()[1]), 1, 0)  # (panels, 3) each
    if pixels is None:
        slow, fast = ((numpy.arange(n) + 0.5)[:, None] * size for n in sim.shape[-2:])
        away = (corner[:, None, None] + slow[:, None] * along_slow[:, None, None] + fast * along_fast[:, None, None]).reshape(*sim.shape, 3)
    else:
        panel, (slow, fast) = pixels[:, 0].astype(int), pixels[:, 1:].T
        away = corner[panel] + size * ((slow[:, None] + 0.5) * along_slow[panel] + (fast[:, None] + 0.5) * along_fast[panel])
    return away / numpy.sqrt(numpy.einsum("...i,...i", away, away))[..., None]


def miller_indices(sim: Simulator, wavelength: float | None) -> NDArray[numpy.float64]:
    """As ``Simulator.miller_indices``."""
    beam = sim["beam_direction"] / numpy.linalg.norm(sim["beam_direction"])
    if wavelength is None:
        wavelength = _wavelength(sim)
        if _is_continuous(sim):  # each pixel has the wavelength of its spot
            table, rows = sim._core.spot_rows()
            wavelength = 1e-10 * numpy.append(table["wavelength"], 1e10 * wavelength)[rows].reshape(*sim.shape, 1)
    return (directions(sim) - beam) @ numpy.asarray(sim._core.lab()[0]).T / wavelength


def _bragg_light(sim):
    """The image without background, water, gain and dead time, but with the point spread."""
    others = {"water_size": 0.0, "background_F": 0.0, "gain": 1.0, "dead_time": 0.0}
    without = {name: numpy.broadcast_to(value, numpy.shape(sim[name])) for name, value in others.items() if name in sim.parameters}
    if without:
        sim = sim.copy()
        sim.set(**without)
    light, gains = sim.image(), sim._core.gain_map()
    return light / numpy.where(gains > 0, gains, 1).reshape(light.shape) if len(gains) else light


def spots(sim: Simulator, least: float, image: Any, out: NDArray[numpy.int32] | None = None) -> Spots:
    """As ``Simulator.spots``. out: the array for the labels, in the image's shape."""
    light = _bragg_light(sim) if image is None else doubles(image, "the image")
    if light.shape != sim.shape:
        raise ValueError(f"the image has shape {light.shape}, but the simulator's has {sim.shape}")
    least = max(least, numpy.finfo(float).tiny)
    _require_flat_image(sim)
    if not _is_continuous(sim):
        labels = numpy.empty(light.shape, numpy.int32) if out is None else out
        return Spots(labels, *sim._core.label(light, least, _wavelength(sim), labels))
    table, spot = sim._core.spot_rows()
    lit = numpy.flatnonzero((light.reshape(-1) >= least) & (spot >= 0))
    of_lit = light.reshape(-1)[lit]
    rows = numpy.column_stack([table["panel"], table["miller_index"]])[spot[lit]]
    _, first, number = distinct(rows)
    photons = numpy.bincount(number, of_lit, len(first)).astype(float)
    places = numpy.unravel_index(lit, light.reshape(-1, *sim.shape[-2:]).shape)[1:]
    slow, fast = (numpy.bincount(number, of_lit * (at + 0.5), len(first)) / photons for at in places)
    labels = numpy.empty(light.shape, numpy.int32) if out is None else out
    labels.fill(0)
    labels.reshape(-1)[lit] = number + 1
    return Spots(labels, rows[first, 1:], photons, rows[first, 0], fast, slow)
