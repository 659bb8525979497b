"""Pictures of images. ``image`` needs matplotlib; ``png`` needs nothing."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ._arrays import Array, doubles
from .labels import directions, is_flat

if TYPE_CHECKING:
    from .simulator import Simulator


def _rows(array):
    """Panels below one another, (panel * slow, fast); 0 where there is no finite number."""
    array = doubles(array, "the image")
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(f"the image has shape {array.shape}; it has to be (slow, fast) or (panel, slow, fast)")
    return numpy.where(numpy.isfinite(array), array, 0).reshape(-1, array.shape[-1])


def _range(rows):
    """The lowest and highest value shown: the four decades below the brightest pixels, or fewer
    above a background."""
    top = numpy.percentile(rows, 99.9)
    top = top if top > 0 else max(rows.max(), 0) or 1.0
    low = max(top * 1e-4, numpy.percentile(rows, 1), 1e-300)
    return (low if low < 0.99 * top else 0.1 * top), top


def _levels(array):
    """0 to 1 on a logarithmic scale."""
    rows = _rows(array)
    low, top = _range(rows)
    return numpy.clip(numpy.log(numpy.maximum(rows, low) / low) / math.log(top / low), 0, 1)


def png(array: Any) -> bytes:
    """The picture as the bytes of a PNG file: dark spots on white."""
    return grey_png(_levels(array))


def grey_png(levels):
    """Levels from 0, white, to 1, black, as the bytes of a PNG file."""
    grey = (255 * (1 - levels)).astype(numpy.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def two_theta(sim: Simulator) -> Array:
    """Angles between beam and pixels in rad, in the image's shape, for flat detectors."""
    beam = sim["beam_direction"] / numpy.linalg.norm(sim["beam_direction"])
    return numpy.arccos(numpy.clip(directions(sim) @ beam, -1, 1))


def image(array: Any, sim: Simulator | None = None, ax: Any = None, rings: bool | Sequence[float] = True, cmap: Any = "gray_r",
          levels: tuple[float, float] | None = None) -> Any:
    """Draws an image, (slow, fast), on a logarithmic scale, and returns the axes.

    levels: (lowest, highest) of the scale; None: the four decades below the brightest pixels, or
    fewer above a background. sim: shows the photons of the pixel under the cursor and, if the
    detector has one panel, the Miller index of the pixel and rings of resolution (A). rings:
    resolutions in A, or True for a choice, or False. Panels are drawn below one another, with
    outlines.
    """
    try:
        import matplotlib.pyplot as plt
        from matplotlib.colors import LogNorm
    except ImportError:
        raise ImportError("nanobragg.plot.image needs matplotlib; pip install matplotlib") from None
    flat, shape = _rows(array), numpy.shape(array)
    if sim is not None and shape != sim.shape:
        raise ValueError(f"the image has shape {shape}, but the simulator's has {sim.shape}")
    panels = shape[0] if len(shape) == 3 else 1
    if ax is None:
        ax = plt.subplots()[1]
    low, high = levels or _range(flat)
    ax.imshow(numpy.maximum(flat, low), norm=LogNorm(low, high), cmap=cmap, interpolation="nearest")
    ax.set_xlabel("fast (pixels)")
    ax.set_ylabel("slow (pixels)")
    height = flat.shape[0] // panels
    for i in range(1, panels):
        ax.axhline(i * height - 0.5, color="tab:blue", linewidth=0.8)
    if sim is not None and rings is not False and panels == 1 and is_flat(sim):
        resolution = sim["wavelength"] / (2 * numpy.sin(numpy.maximum(two_theta(sim), 1e-9) / 2)) * 1e10
        if rings is True:
            corner = resolution.min()
            rings = [round(d, 1 - math.floor(math.log10(d))) for d in (corner * 1.2, corner * 1.6, corner * 2.5, corner * 5)]
        drawn = ax.contour(resolution, levels=sorted(rings), colors="tab:red", linewidths=0.6, linestyles="dashed")
        ax.clabel(drawn, fmt=lambda d: f"{d:g} Å", fontsize="small")

    def under_cursor(x, y):
        fast, slow = int(round(x)), int(round(y))
        if not (0 <= slow < flat.shape[0] and 0 <= fast < flat.shape[1]):
            return ""
        text = f"slow {slow % height}, fast {fast}: {flat[slow, fast]:.4g}"
        if panels > 1:
            text = f"panel {slow // height}, {text}"
        if sim is not None:
            values = sim.trace(slow // height, slow % height, fast)
            for name, hkl in values.items():  # the first source, phi step and domain's
                if name.partition("[")[0] == "hkl_frac":
                    text += "  hkl " + " ".join(f"{v:.2f}" for v in hkl)
                    break
        return text

    ax.format_coord = under_cursor
    return ax
