#!/usr/bin/env python3
"""labels_test.py NB_SIM COMPILER HKL: the spots of --write-refl and --write-stream are where the image has them, with the
photons that it has there, and the image has no others."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from msgpack_table import read_table

NB_SIM, COMPILER, HKL = (os.path.abspath(path) for path in sys.argv[1:4])
CELL = "63.4 63.4 83.8 90 90 120".split()
CRYSTAL = ["-hkl", HKL, "-cell", *CELL, *"-misset 12 34 56 -gauss_xtal -oversample 2 -fluence 1e26 -lambda 1 -seed 3 "
           "-noprogress -nopgm -nonoise".split()]
CAMERA = "-xds -distance 160 -detpixels 500 -pixel 0.3".split()


def centroid(pixels, box):
    """The centre of a part of an image, in its pixels; along slow and fast."""
    slow, fast = np.mgrid[box[2]:box[3], box[0]:box[1]] + 0.5
    part = pixels[box[2]:box[3], box[0]:box[1]]
    return np.array([(part * fast).sum(), (part * slow).sum()]) / part.sum()


class Labels(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-labels-")
        self.addCleanup(shutil.rmtree, self.folder)

    def simulate(self, *words):
        done = subprocess.run([NB_SIM, *CRYSTAL, *words], cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env=dict(os.environ, NB_COMPILER_LIBRARY=COMPILER))
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])

    def path(self, name):
        return os.path.join(self.folder, name)

    def images(self, count):
        return np.array([np.load(self.path(f"f_{i + 1:04}.npy")) for i in range(count)], dtype=float)

    def isolated(self, boxes):
        """Those whose box, one pixel wider, meets no other on the same images."""
        alone = []
        for i, b in enumerate(boxes):
            meets = ((boxes[:, 0] <= b[1]) & (b[0] <= boxes[:, 1]) & (boxes[:, 2] <= b[3]) & (b[2] <= boxes[:, 3]) &
                     (boxes[:, 4] <= b[5]) & (b[4] <= boxes[:, 5]))
            if meets.sum() == 1:
                alone.append(i)
        return alone

    def test_rotation_series(self):
        self.simulate(*CAMERA, *"-N 30 -mosaic 0.05 -mosaic_dom 10 --frames=6 --osc-per-frame=0.5 -phisteps 20".split(),
                      "-floatfile", "f.npy", "--write-refl=a.refl")
        table, images = read_table(self.path("a.refl")), self.images(6)
        box, at, sums = table["bbox"], table["xyzcal.px"], table["intensity.sum.value"]
        strong = [i for i in self.isolated(box) if sums[i] > 1000 and box[i, 4] > 0 and box[i, 5] < 6]
        self.assertGreater(len(strong), 100)
        away, turned, share = [], [], []
        for i in strong:
            part = images[box[i, 4]:box[i, 5]]
            away.append(centroid(part.sum(0), box[i]) - at[i, :2])
            each = part[:, box[i, 2]:box[i, 3], box[i, 0]:box[i, 1]].sum((1, 2))
            turned.append((each * (np.arange(box[i, 4], box[i, 5]) + 0.5)).sum() / each.sum() - at[i, 2])
            share.append(each.sum() / sums[i])
        np.testing.assert_allclose(np.mean(away, 0), 0, atol=0.05, err_msg="pixels, on average")
        self.assertLess(np.abs(away).max(), 0.7, "pixels")
        self.assertLess(abs(np.mean(turned)), 0.1, "frames, on average")
        self.assertLess(np.abs(turned).max(), 0.8, "frames")
        np.testing.assert_allclose(share, 1, rtol=1e-6, err_msg="no pixel of a box is nearer to another node")
        # Refinement asks for centroids of the light, in pixels and in mm.
        seen, off = table["xyzobs.px.value"], np.array(away)
        np.testing.assert_allclose(seen[strong, :2] - at[strong, :2], off, atol=1e-3)
        np.testing.assert_allclose(seen[strong, 2] - at[strong, 2], turned, atol=1e-3)
        step = np.array([0.3, 0.3, np.radians(0.5)])
        np.testing.assert_allclose(table["xyzobs.mm.value"] - table["xyzcal.mm"], (seen - at) * step, atol=1e-9)
        np.testing.assert_allclose(table["xyzobs.mm.variance"], np.tile(step**2 / 12, (len(at), 1)))
        self.assertEqual(set(table["flags"]), {7})

    def test_no_light_elsewhere(self):
        self.simulate(*CAMERA, *"-N 12 -mosaic 0.1 -mosaic_dom 20 --frames=3 --osc-per-frame=0.5".split(),
                      "-floatfile", "f.npy", "--write-stream=a.stream")
        images = self.images(3)
        dark = np.ones(images.shape, bool)
        dark[:, 240:260, 240:260] = False  # the reflection 0 0 0
        bright = images[dark].max()
        with open(self.path("a.stream")) as file:
            chunks = file.read().split("Begin chunk")[1:]
        for i, chunk in enumerate(chunks):
            found = re.findall(r"^ *(-?\d+) +(-?\d+) +(-?\d+) +(\S+) +\S+ +\S+ +\S+ +(\S+) +(\S+) p0$", chunk, re.M)
            self.assertIn(f"f_{i + 1:04}.npy", chunk)
            self.assertEqual(int(re.search(r"num_reflections = (\d+)", chunk)[1]), len(found))
            for *_, fast, slow in found:
                f, s = int(float(fast)), int(float(slow))
                dark[i, max(s - 4, 0):s + 5, max(f - 4, 0):f + 5] = False
        self.assertLess(images[dark].max(), 0.02 * bright)

    def test_stills_with_a_spectrum_on_two_tilted_panels(self):
        tilt = math.radians(20)
        panels = [{"name": n, "type": "", "fast_axis": [1, 0, 0], "slow_axis": slow, "origin": origin,
                   "image_size": [500, 240], "pixel_size": [0.3, 0.3], "trusted_range": [0, 1e9], "gain": 1.0,
                   "thickness": 0.45, "material": "Si", "mu": 1.5, "mask": [[100, 0, 120, 240]],
                   "px_mm_strategy": {"type": "ParallaxCorrectedPxMmStrategy"}}
                  for n, slow, origin in (("up", [0, -math.cos(tilt), -math.sin(tilt)], [-75, 73, -130]),
                                          ("down", [0, -1, 0], [-75, -1, -160]))]
        model = {"__id__": "ExperimentList",
                 "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0}],
                 "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0,
                           "polarization_normal": [0, 1, 0], "polarization_fraction": 0.999}],
                 "detector": [{"panels": panels}]}
        with open(self.path("a.expt"), "w") as file:
            json.dump(model, file)
        with open(self.path("shots.txt"), "w") as file:
            file.write("misset\n10 20 30\n-60 10 80\n45 5 -20\n")
        self.simulate("--expt=a.expt", "--shots=shots.txt", *"-N 25 -mosaic 0.1 -mosaic_dom 40 -dispersion 0.2".split(),
                      *"-dispsteps 5 -detector_thicksteps 5 -floatfile f.npy --write-refl=a.refl".split())
        table, images = read_table(self.path("a.refl")), self.images(3)
        self.assertEqual(images.shape, (3, 2, 240, 500))
        self.assertEqual(set(table["id"]), {0, 1, 2})
        self.assertEqual(set(table["panel"]), {0, 1})
        away = []
        for still in range(3):
            for panel in range(2):
                mine = (table["id"] == still) & (table["panel"] == panel)
                box, at, sums = (table[name][mine] for name in ("bbox", "xyzcal.px", "intensity.sum.value"))
                masked = (at[:, 0] > 90) & (at[:, 0] < 130)
                self.assertFalse(((at[:, 0] > 102) & (at[:, 0] < 118) & (box[:, 0] >= 100) & (box[:, 1] <= 120)).any(),
                                 "a spot behind the mask has no light")
                for i in self.isolated(box):
                    if sums[i] > 3000 and not masked[i]:
                        away.append(centroid(images[still, panel], box[i]) - at[i, :2])
        self.assertGreater(len(away), 60)
        np.testing.assert_allclose(np.mean(away, 0), 0, atol=0.15)
        self.assertLess(np.percentile(np.abs(away), 90), 1)

    def test_a_sensor_of_unknown_thickness_is_none(self):
        """dxtbx writes a thickness of 1e-6 mm where an image file names the material alone."""
        images = []
        for thickness in (0, 1e-6):
            panel = {"name": "", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-10, 10, -100],
                     "image_size": [200, 200], "pixel_size": [0.1, 0.1], "trusted_range": [0, 1e9], "gain": 1.0, "mask": [],
                     "thickness": thickness, "material": "Si", "mu": 3.9, "px_mm_strategy": {"type": "ParallaxCorrectedPxMmStrategy"}}
            model = {"__id__": "ExperimentList", "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0}],
                     "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0,
                               "polarization_normal": [0, 1, 0], "polarization_fraction": 0.999}],
                     "detector": [{"panels": [panel]}]}
            with open(self.path("a.expt"), "w") as file:
                json.dump(model, file)
            subprocess.run([NB_SIM, *"--expt=a.expt -cell 60 60 60 90 90 90 -N 5 -default_F 100 -floatfile f.npy -nonoise -nopgm".split()],
                           cwd=self.folder, capture_output=True, check=True, env=dict(os.environ, NB_COMPILER_LIBRARY=COMPILER))
            images.append(np.load(self.path("f.npy")))
        self.assertGreater(images[0].max(), 0)
        np.testing.assert_array_equal(*images)

    def test_a_real_experiment_as_dials_predicts_it(self):
        """One frame of a tilted Eiger with a sensor and three axes; number and places are those of DIALS, as a public
        project's test of its own predictor has them."""
        panel = {"name": "m", "type": "SENSOR_PAD", "image_size": [4148, 4362], "pixel_size": [0.075, 0.075],
                 "fast_axis": [0.9999343565703017, 0.008972928699089156, 0.007125243918478585],
                 "slow_axis": [0.009011312015482328, -0.9999449607587793, -0.005373240073119384],
                 "origin": [-154.36992588196173, 164.3947680648576, -198.15267891180412], "trusted_range": [0, 46051],
                 "thickness": 0.45, "material": "Si", "mu": 3.9219876752936167, "mask": [], "gain": 1.0,
                 "px_mm_strategy": {"type": "ParallaxCorrectedPxMmStrategy"}}
        model = {"__id__": "ExperimentList",
                 "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0, "goniometer": 0, "scan": 0,
                                 "crystal": 0}],
                 "beam": [{"__id__": "monochromatic", "direction": [-0.0034229667619783467, 0, 0.999994141632113],
                           "wavelength": 0.9762458439949315, "polarization_normal": [0, 1, 0],
                           "polarization_fraction": 0.999}],
                 "detector": [{"panels": [panel]}],
                 "goniometer": [{"axes": [[1.0, -0.0025, 0.0056], [-0.006, -0.0264, -0.9996], [1, 0, 0]],
                                 "angles": [0, 0, 0], "names": ["phi", "chi", "omega"], "scan_axis": 2}],
                 "scan": [{"image_range": [1, 1], "batch_offset": 0,
                           "properties": {"epochs": [0], "exposure_time": [0], "oscillation": [0, 0.09999999999999964]}}],
                 "crystal": [{"__id__": "crystal", "space_group_hall_symbol": " P 1",
                              "real_space_a": [-18.3617922001806, -1.3985262449809124, -54.866705726818],
                              "real_space_b": [-32.09880690850544, 47.2184015325075, 9.47764074028691],
                              "real_space_c": [115.77476247140888, 86.89078795711316, -40.81230881268615]}]}
        with open(self.path("a.expt"), "w") as file:
            json.dump(model, file)
        words = "--expt=a.expt -default_F 100 -N 30 -gauss_xtal -oversample 1 -detector_thicksteps 1 -phisteps 2".split()
        done = subprocess.run([NB_SIM, *words, *"-fluence 1e25 -nonoise -nopgm -noprogress --write-refl=a.refl".split()],
                              cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env=dict(os.environ, NB_COMPILER_LIBRARY=COMPILER))
        self.assertEqual(done.returncode, 0, done.stderr)
        table = read_table(self.path("a.refl"))
        self.assertEqual(len(table["id"]), 464)
        for hkl, place in (((-28, 14, 93), (3937.314, 91.352, 0.649)), ((-26, 14, 90), (3769.996, 214.530, 0.341)),
                           ((-14, -30, -11), (2979.930, 3628.805, 0.877))):
            ours = table["xyzcal.px"][(table["miller_index"] == hkl).all(1)]
            np.testing.assert_allclose(ours, [place], atol=6e-4)

    def test_background_is_not_part_of_a_spot(self):
        words = [*CAMERA, *"-N 30 -mosaic 0.05 -mosaic_dom 10 -osc 0.5 -phisteps 5".split()]
        self.simulate(*words, "--write-refl=a.refl")
        self.simulate(*words, "--write-refl=b.refl", "-water", "2")
        a, b = (read_table(self.path(name)) for name in ("a.refl", "b.refl"))
        with_water = {tuple(h): i for h, i in zip(b["miller_index"], b["intensity.sum.value"])}
        strong = [(i, with_water[tuple(h)]) for h, i in zip(a["miller_index"], a["intensity.sum.value"]) if i > 3000]
        self.assertGreater(len(strong), 30)
        ratio = np.array([x / y for x, y in strong])
        self.assertLess(abs(np.median(ratio) - 1), 0.01)
        self.assertGreater((b["intensity.sum.variance"].sum()), 1.5 * a["intensity.sum.variance"].sum())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
