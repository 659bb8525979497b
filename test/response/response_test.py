#!/usr/bin/env python3
"""response_test.py NB_SIM NB_GRADCHECK: what the detector makes of photons (-gain, -gain_map), against NumPy.

The expectation is always a run without the flag, whose image is in photons."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PIXELS = 24
EXPERIMENT = ("-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
              f"-pixel 2 -detpixels {PIXELS} -mosaic 1 -mosaic_dom 3 -fluence 1e29").split()
ADC = 40
ENGINES = ([], ["--no-fuse"], ["--device=gpu-on-cpu"])


class Response(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        random = np.random.default_rng(7)
        self.map = random.uniform(0.5, 2, (PIXELS, PIXELS))
        self.map[3, 5] = 0  # a dead pixel
        np.save(self.path("gains.npy"), self.map)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *flags, program=None, status=0):
        environment = os.environ | {"NB_CACHE_DIR": self.path("cache")}
        done = subprocess.run([program or NB_SIM, *EXPERIMENT, *flags], cwd=self.folder,
                              env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def image(self, *flags):
        self.run_it(*flags, "-nonoise", "-nopgm", "-noprogress", "--quiet")
        return np.fromfile(self.path("floatimage.bin"), "<f4").reshape(PIXELS, PIXELS).astype(float)

    def noise(self, *flags):
        self.run_it(*flags, "-noisefile", "noise.img", "-seed", "5", "-nopgm", "--quiet")
        with open(self.path("noise.img"), "rb") as file:
            data = file.read()
        counts = np.frombuffer(data[512:], "<u2")
        return counts.astype(int).reshape(PIXELS, PIXELS)

    def test_gain_multiplies_every_pixel(self):
        photons = self.image()
        self.assertGreater(photons.max(), 1)
        for engine in ENGINES:
            with self.subTest(engine):
                np.testing.assert_allclose(self.image("-gain", "2.5", *engine), 2.5 * photons,
                                           rtol=2e-7)

    def test_gain_map_multiplies_each_pixel_by_its_own(self):
        photons = self.image()
        for engine in ENGINES:
            with self.subTest(engine):
                np.testing.assert_allclose(self.image("-gain_map", "gains.npy", *engine),
                                           self.map * photons, rtol=2e-7)
                np.testing.assert_allclose(
                    self.image("-gain_map", "gains.npy", "-gain", "3", *engine),
                    3 * self.map * photons, rtol=2e-7)

    def test_mixed_precision(self):
        photons = self.image()
        got = self.image("-gain_map", "gains.npy", "-gain", "3", "--precision=mixed")
        np.testing.assert_allclose(got, 3 * self.map * photons, rtol=1e-5,
                                   atol=1e-7 * photons.max())

    def test_a_gain_of_one_changes_no_bit(self):
        np.testing.assert_array_equal(self.image("-gain", "1"), self.image())

    def test_outside_of_the_region_there_is_nothing(self):
        got = self.image("-gain", "2", "-roi", "4", "9", "2", "7")
        self.assertTrue((got[2:8, 4:10] > 0).all())
        got[2:8, 4:10] = 0
        self.assertFalse(got.any())

    def test_noise_is_drawn_from_photons_and_then_amplified(self):
        photons = self.noise() - ADC
        self.assertGreater(photons.max(), 10)
        # A power of two divides without rounding, so that the same photons are drawn.
        np.testing.assert_array_equal(self.noise("-gain", "4"), 4 * photons + ADC)

    def test_a_gain_below_one_amplifies_and_then_truncates(self):
        photons = self.noise() - ADC
        np.testing.assert_array_equal(self.noise("-gain", "0.25"), photons // 4 + ADC)

    def test_gradient_by_the_gain(self):
        photons = self.image()
        for engine in ENGINES:
            with self.subTest(engine):
                done = self.run_it("-gain", "2.5", "--grad=gain", "--json", *engine)
                gradient = json.loads(done.stdout)["gradient"][0]
                self.assertEqual(gradient["unit"], "ADU")
                self.assertAlmostEqual(gradient["gradient"] / photons.sum(), 1, places=6)

    def test_derivatives_of_first_and_second_order(self):
        for flags in ([], ["--order=2"], ["--mode=forward"]):
            with self.subTest(flags):
                done = self.run_it("-gain", "2.5", "-gain_map", "gains.npy", "--wrt=gain,cell_a",
                                   "--loss=random:3", *flags, program=NB_GRADCHECK)
                self.assertEqual(done.stdout.count("passed: "), 2, done.stdout)

    def test_trace_shows_the_stage(self):
        photons = self.image()
        done = self.run_it("-gain", "2.5", "-gain_map", "gains.npy", "--trace-pixel", "6,9")
        values = dict(line.split()[1:3] for line in done.stdout.splitlines()
                      if line.startswith("TRACE"))
        self.assertAlmostEqual(float(values["I_pixel_final"]) / photons[6, 9], 1, places=6)
        self.assertAlmostEqual(float(values["gained"]) / (self.map[6, 9] * photons[6, 9]), 1,
                               places=6)
        self.assertAlmostEqual(float(values["adu"]) / (2.5 * self.map[6, 9] * photons[6, 9]), 1,
                               places=6)

    def test_refusals(self):
        np.save(self.path("small.npy"), np.ones((4, 5)))
        bad = np.ones((PIXELS, PIXELS))
        bad[2, 1] = np.nan
        np.save(self.path("bad.npy"), bad)
        for flags, status, message in (
                (["-gain", "0"], 2, "-gain"),
                (["-gain", "-1"], 2, "-gain"),
                (["-gain_map", "small.npy"], 1,
                 f"the map has 5 x 4 pixels but the detector has {PIXELS} x {PIXELS}"),
                (["-gain_map", "bad.npy"], 1, "the gain of pixel fast 1, slow 2 is nan"),
                (["-gain_map", "none.npy"], 1, "none.npy"),
                (["--grad=gain"], 2, "'gain' is not used by this experiment")):
            with self.subTest(flags):
                done = self.run_it(*flags, status=status)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("error"), 1, done.stderr)


if __name__ == "__main__":
    NB_SIM, NB_GRADCHECK = (os.path.abspath(path) for path in sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
