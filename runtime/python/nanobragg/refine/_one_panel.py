"""Detectors of several panels, each computed as a detector of one panel: lists of pixels on one panel have short lists of
reflections, those on several have all of them."""

import contextlib
import copy
import json
import os
import tempfile

import numpy

from ._positions import placed

@contextlib.contextmanager
def of_one_panel(listed, index, path):
    """Name of an experiment list whose experiment has one panel, as large as the largest."""
    number = listed["experiment"][index]["detector"]
    panels = listed["detector"][number]["panels"]
    if len(panels) == 1:
        yield path
        return
    content = copy.deepcopy(listed)
    detector = content["detector"][number]
    detector.pop("hierarchy", None)
    detector["panels"] = [detector["panels"][0] | {"image_size": numpy.max([p["image_size"] for p in panels], axis=0).tolist(),
                                                   "mask": [], "raw_image_offset": [0, 0]}]
    for images in content.get("imageset", []):
        images["mask"] = ""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "one_panel.expt")
        with open(name, "w") as file:
            json.dump(content, file)
        yield name


def faces_of(plain):
    """For each panel of a detector what its simulator of one panel has."""
    corners, axes = placed(plain)
    return [{"fast_axis": fast, "slow_axis": slow, "normal_axis": normal, "close_distance": corner @ normal,
             "beam_center_fast": -corner @ fast, "beam_center_slow": -corner @ slow}
            for corner, (fast, slow, normal) in zip(corners, axes)]
