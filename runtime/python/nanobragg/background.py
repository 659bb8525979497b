"""Amorphous background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _core
from ._arrays import Array

if TYPE_CHECKING:
    from .simulator import Simulator


def extract_background(simulator: Simulator, image: Any, bins: int = 100) -> Array:
    """The table that ``-stol`` reads, from an image: an array of shape (n, 4) with sin(theta)/lambda in 1/A, structure
    factor in electrons per molecule, robust standard deviation of a pixel's, and number of pixels.

    It is of the first material of the simulator's experiment, of which thickness, density and molar mass count, and its
    table as far as it says which angles are meant; whatever else the experiment has (a crystal, other materials) is
    taken off first. ``image`` is in photons and has the simulator's shape; pixels that are NaN, masked or outside the
    region do not count. ``numpy.savetxt("air.stol", table[:, :2])`` writes a file for ``-stol``."""
    image = numpy.ascontiguousarray(image, dtype=numpy.float64)
    if image.shape != tuple(simulator.shape):
        raise ValueError(f"the image has shape {image.shape}, but the simulator's has {tuple(simulator.shape)}")
    table = _core.extract_background(simulator._core, image.reshape(-1), bins)
    return numpy.array(table, dtype=numpy.float64).reshape(-1, 4)
