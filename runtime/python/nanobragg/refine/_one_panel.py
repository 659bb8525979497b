"""Detectors of several panels, each computed as a detector of one panel: lists of pixels on one
panel have short lists of reflections, those on several have all of them."""

import numpy

from ..experiment import Detector
from ._positions import placed


def in_one_panel(panels, fields):
    """A Detector of these fields for DIALS' panels of one: the first alone, as large as the
    largest."""
    if len(panels) == 1:
        return Detector(**fields)
    first, size = panels[0], numpy.max([p["image_size"] for p in panels], axis=0)
    at = Detector.plane(1e-3 * numpy.array(first["origin"]), first["fast_axis"], first["slow_axis"], (int(size[1]), int(size[0])),
                        first["pixel_size"][0] * 1e-3, **fields)
    at.beam_direction = at.polarization_axis = None  # the list's
    return at


def faces_of(plain):
    """For each panel of a detector what its simulator of one panel has."""
    corners, axes = placed(plain)
    return [{"fast_axis": fast, "slow_axis": slow, "normal_axis": normal, "close_distance": corner @ normal,
             "beam_center_fast": -corner @ fast, "beam_center_slow": -corner @ slow}
            for corner, (fast, slow, normal) in zip(corners, axes)]
