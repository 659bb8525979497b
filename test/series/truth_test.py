#!/usr/bin/env python3
"""truth_test.py NB_SIM COMPILER MODEL: what a data set says of itself. --write-map against the formula of a Gaussian
spot and images of single wavelengths, --write-mtz against the image that it makes, --lattices against single crystals."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

NB_SIM, COMPILER, MODEL = (os.path.abspath(path) for path in sys.argv[1:4])
CRYSTAL = "-cell 40 50 60 90 95 90 -default_F 100 -gauss_xtal -oversample 1 -misset 10 20 30".split()
CAMERA = "-lambda 1 -xds -distance 100 -detpixels 120 -pixel 0.5 -fluence 1e25 -nonoise -nopgm -noprogress".split()


class Truth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="nb-truth-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER,
                               NB_CACHE_DIR=os.path.join(cls.folder, "cache"))

    def run_nb_sim(self, *words):
        return subprocess.run([NB_SIM, *words], cwd=self.folder, env=self.environment, text=True, timeout=300,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)

    def add(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def array(self, name):
        return np.load(os.path.join(self.folder, name)).astype(float)

    def image(self, *words):
        done = self.run_nb_sim(*CAMERA, *words, "-floatfile", "image.npy")
        self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr)
        return self.array("image.npy")

    def refused(self, *words):
        done = self.run_nb_sim(*CAMERA, *words)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_partiality_is_the_height_of_the_spot_at_its_fraction_of_hkl(self):
        self.image(*CRYSTAL, "-N", "6", "-water", "50", "--write-map=map.npy")
        h, k, l, wavelength, partiality = self.array("map.npy")
        from_node = sum((6 * (x - np.rint(x))) ** 2 for x in (h, k, l))
        expected = np.exp(-2 * from_node / 0.63)
        self.assertGreater(expected.max(), 0.5)
        np.testing.assert_allclose(partiality, expected, atol=2e-5)
        self.assertEqual(np.unique(wavelength).tolist(), [1])

    def test_a_round_crystal_is_whole_at_its_peak(self):
        self.image(*CRYSTAL, "-N", "4", "-round_xtal", "--write-map=map.npy")
        self.assertGreater(self.array("map.npy")[4].max(), 0.8)
        self.assertLessEqual(self.array("map.npy")[4].max(), 1 + 1e-6)

    def test_the_wavelength_is_the_mean_over_the_light(self):
        alone = []
        for wavelength in ("0.95", "1.05"):
            self.add("one.txt", wavelength + " 1\n")
            alone.append(self.image(*CRYSTAL, "-N", "6", "--spectrum=one.txt"))
        self.add("two.txt", "0.95 1\n1.05 3\n")
        both = self.image(*CRYSTAL, "-N", "6", "--spectrum=two.txt", "--write-map=map.npy")
        light = alone[0] + 3 * alone[1]
        np.testing.assert_allclose(both, light / 4, rtol=1e-5)
        lit = light > 1e-6 * light.max()
        expected = (0.95 * alone[0] + 1.05 * 3 * alone[1])[lit] / light[lit]
        np.testing.assert_allclose(self.array("map.npy")[3][lit], expected, rtol=1e-5)

    def test_maps_of_a_series(self):
        done = self.run_nb_sim(*CAMERA, *CRYSTAL, "-N", "6", *"--frames=2 --osc-per-frame=0.2 -phisteps 2".split(),
                               "--write-map=s.npy", "-floatfile", "f.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = self.array("s_0001.npy"), self.array("s_0002.npy")
        self.assertEqual(first.shape, (5, 120, 120))
        self.assertGreater(np.abs(first[:3] - second[:3]).max(), 1e-3)
        self.assertIn("--write-map", self.refused(*CRYSTAL, "-N", "6", "-curved_det", "--write-map=c.npy"))

    def test_the_factors_of_an_mtz_file_make_the_same_image(self):
        # Anomalous, and its light reaches all of the detector.
        words = ["-N", "6", "-gauss_xtal", "-lambda", "1.5", "--hkl-dmin=2.5"]
        image = self.image("-hkl", MODEL, *words, "--write-mtz=true.mtz")
        again = self.image("-hkl", "true.mtz", "-N", "6", "-gauss_xtal", "-lambda", "1.5")
        self.assertGreater(image.max(), 0)
        np.testing.assert_allclose(again, image, rtol=1e-4, atol=1e-6 * image.max())
        self.assertIn("no list of structure factors", self.refused(*CRYSTAL, "--write-mtz=none.mtz"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none.mtz")))

    def test_a_split_crystal(self):
        self.add("split.txt", "turn weight from to\n0 0 0 1 -1000 1000\n0 1.5 0 0.5 0.5 1.5\n")
        series = [*CRYSTAL, "-N", "6", *"--frames=3 --osc-per-frame=0.5 -osc 0.5 -phisteps 2 --lattices=split.txt".split()]
        done = self.run_nb_sim(*CAMERA, *series, "-floatfile", "f.npy", "--write-expt=split.expt",
                               "--write-refl=split.refl")
        self.assertEqual(done.returncode, 0, done.stderr)
        alone = [self.image(*CRYSTAL, "-N", "6", "-phi", str(phi), *"-osc 0.5 -phisteps 2".split())
                 for phi in (0, 0.5, 1)]
        np.testing.assert_array_equal(self.array("f_0001.npy"), alone[0])
        # Where the second crystal is there it is the first one turned about y.
        for i in (1, 2):
            self.add("one.txt", "turn weight\n0 1.5 0 0.5\n")
            second = self.image(*CRYSTAL, "-N", "6", "-phi", str(0.5 * i), *"-osc 0.5 -phisteps 2".split(),
                                "--lattices=one.txt")
            np.testing.assert_allclose(self.array(f"f_{i + 1:04}.npy"), alone[i] + second, rtol=1e-5)
            self.assertGreater(second.max(), 0)
        # A turn about one of the laboratory's axes adds to the angle of -misset about it.
        upright = [word for word in CRYSTAL if word not in ("-misset", "10", "20", "30")] + ["-N", "6"]
        self.add("z.txt", "turn\n0 0 2\n")
        np.testing.assert_allclose(self.image(*upright, "-misset", "0", "0", "5", "--lattices=z.txt"),
                                   self.image(*upright, "-misset", "0", "0", "7"), rtol=1e-4, atol=1e-9)

    def test_refusals_of_lattices(self):
        for text, part in (("turn\n1 2\n", "bad.txt:2"), ("lattice\n1\n", "is not a column"), ("turn misset\n0 0 1 1 2 3\n", "misset"),
                           ("weight from to\n1 5 4\n", "before it begins"), ("weight\n", "no crystals"),
                           ("weight from to\n1 5 6\n", "no crystal of bad.txt is there")):
            self.add("bad.txt", text)
            self.assertIn(part, self.refused(*CRYSTAL, "-N", "6", "--lattices=bad.txt"), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
