"""Amorphous background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _core
from ._arrays import Array

if TYPE_CHECKING:
    from .simulator import Simulator


def extract_background(simulator: Simulator, image: Any, bins: int = 100) -> Array:
    """Determines the table of an amorphous material, as ``-stol`` reads it, from an image.

    Returns an array of shape (n, 4): sin(theta)/lambda in 1/A, structure factor in electrons per
    molecule, robust standard deviation of the pixels' structure factors, and number of pixels. The
    material is the first one of the simulator's experiment, which supplies its thickness, density
    and molar mass and the range of angles. The light of everything else in the experiment (a
    crystal, other materials) is subtracted. ``image`` is in photons and has the simulator's shape;
    pixels that are NaN, masked or outside the region are ignored. ``numpy.savetxt("air.stol",
    table[:, :2])`` writes a file for ``-stol``."""
    image = numpy.ascontiguousarray(image, dtype=numpy.float64)
    if image.shape != tuple(simulator.shape):
        raise ValueError(f"the image has shape {image.shape}, but the simulator's has {tuple(simulator.shape)}")
    table = _core.extract_background(simulator._core, image.reshape(-1), bins)
    return numpy.array(table, dtype=numpy.float64).reshape(-1, 4)
