"""compare.py MODEL IMAGE=EXPERIMENTS...: the trained spot finder and dials.find_spots compared.

EXPERIMENTS (.expt) contains orientation and geometry. A spot indexes if the nearest node of the
lattice is at most 0.6 degrees from the Ewald sphere and 2 pixels from the spot. Precision: spots
that index among those found; recall: reflections found among those that either finder found; F1:
their harmonic mean. Needs DIALS.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import spot_finder
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentListFactory
from scipy.spatial.transform import Rotation

import nanobragg as nb


def dials_spots(image):
    """Centres in pixels, as dials.find_spots finds them with its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (["dials.import", image], ["dials.find_spots", "imported.expt", "nproc=1"]):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        table = flex.reflection_table.from_file(f"{folder}/strong.refl")
        return table["xyzobs.px.value"].as_numpy_array()[:, :2]


def indexed(spots, image, file):
    """Miller indices of the spots that index, and how many they are."""
    experiment = ExperimentListFactory.from_json_file(file, check_format=False)[0]
    panel, s0 = experiment.detector[0], np.array(experiment.beam.get_s0())
    matrix = rotation(experiment, image) @ np.array(experiment.crystal.get_A()).reshape(3, 3)
    places = np.array([panel.get_pixel_lab_coord(tuple(spot)) for spot in spots]).reshape(-1, 3)
    s1 = places / np.linalg.norm(places, axis=1, keepdims=True) * np.linalg.norm(s0)
    hkl = np.rint((s1 - s0) @ np.linalg.inv(matrix).T)
    nodes = hkl @ matrix.T
    rays = s0 + nodes
    lengths = np.maximum(np.linalg.norm(nodes, axis=1), 1e-9)
    off = np.degrees((np.linalg.norm(rays, axis=1) - np.linalg.norm(s0)) / lengths)
    predicted = np.array([panel.get_ray_intersection_px(tuple(ray)) for ray in rays]).reshape(-1, 2)
    good = (np.hypot(*(predicted - spots).T) < 2) & (np.abs(off) < 0.6) & hkl.any(axis=1)
    return {tuple(index) for index in hkl[good].astype(int)}, int(good.sum())


def rotation(experiment, image):
    """From the crystal's frame to the laboratory, in the middle of the image."""
    if not (experiment.scan and experiment.goniometer):
        return np.eye(3)
    start, width = experiment.scan.get_oscillation()
    number = int(re.findall(r"\d+", pathlib.Path(image).name.split(".")[0])[-1])
    angle = np.radians(start + width * (number - experiment.scan.get_array_range()[0] - 0.5))
    goniometer = experiment.goniometer
    fixed, setting = (np.array(m).reshape(3, 3) for m in (
        goniometer.get_fixed_rotation(), goniometer.get_setting_rotation()))
    turn = Rotation.from_rotvec(angle * np.array(goniometer.get_rotation_axis_datum()))
    return setting @ turn.as_matrix() @ fixed


def main():
    model, *pairs = sys.argv[1:]
    network, level = spot_finder.load_or_train(pathlib.Path(model), 0)
    print(f"{'image':24} {'finder':8} spots  index  precision  recall  F1")
    for image, file in (pair.split("=") for pair in pairs):
        found = {"network": spot_finder.find(network, level, nb.read_image(image))[:, :2],
                 "DIALS": dials_spots(pathlib.Path(image).resolve())}
        results = {finder: indexed(spots, image, file) for finder, spots in found.items()}
        known = set.union(*(hkl for hkl, _ in results.values()))
        for finder, (hkl, good) in results.items():
            precision, recall = good / max(len(found[finder]), 1), len(hkl) / max(len(known), 1)
            f1 = 2 * precision * recall / max(precision + recall, 1e-9)
            name = pathlib.Path(image).name.split(".")[0]
            print(f"{name:24} {finder:8} {len(found[finder]):5}  {good:5}  {precision:9.3f}  "
                  f"{recall:6.3f}  {f1:.3f}", flush=True)


if __name__ == "__main__":
    main()
