"""pixels_test.py NB_SIM COMPILER: --pixels against the whole image, on all engines."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

NB_SIM, COMPILER = (os.path.abspath(path) for path in sys.argv[1:3])
CRYSTAL = ("-cell 63 64 84 90 95 110 -default_F 100 -N 6 -misset 10 20 30 -lambda 1.1 -mosaic_spread 0.3 "
           "-mosaic_domains 3 -distance 100 --quiet --threads=2").split()
PLAIN = CRYSTAL + "-detpixels_x 40 -detpixels_y 30 -pixel 0.5 -oversample 2".split()
PANELS = json.dumps([
    {"offset_mm": [0, 5, 0], "fast": [0, 0, 1], "slow": [0, -1, 0], "pixels": [20, 12]},
    {"offset_mm": [3, -4, 2], "fast": [0, 0.1, 1], "slow": [0, -1, 0.1], "pixels": [16, 12]},
    {"offset_mm": [0, 0, -9], "fast": [0, 1, 0], "slow": [0, 0, 1], "pixels": [20, 9]}])
ENGINES = (["--no-fallback"], ["--no-fuse"], ["--device=gpu-on-cpu", "--no-fallback"])


class PixelListTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = tempfile.mkdtemp(prefix="nb-pixels-kernels-")
        cls.addClassCleanup(shutil.rmtree, cls.kernels)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-pixels-")
        self.addCleanup(shutil.rmtree, self.folder)

    def add(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def start(self, words):
        environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=self.kernels)
        return subprocess.run([NB_SIM, *words], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)

    def run_well(self, *words):
        done = self.start(words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def array(self, name):
        return np.load(os.path.join(self.folder, name))

    def gradient(self, *words):
        result = json.loads(self.run_well(*words, "--json"))
        numbers = [np.ravel(g["gradient"]) for g in result["gradient"]]
        return result["loss"], np.concatenate(numbers)

    def listed(self, shape, count, seed=1):
        """Pixels in no order, some of them twice, as panel, fast, slow; and two boxes."""
        chance = random.Random(seed)
        panels, slow, fast = shape
        pixels = [(chance.randrange(panels), chance.randrange(fast), chance.randrange(slow))
                  for _ in range(count)]
        text = "# panel fast slow\n" + "".join("%d %d %d\n" % p for p in pixels)
        for panel in (panels - 1, 0):
            text += "%d 2 9 3 6\n" % panel
            pixels += [(panel, f, s) for s in range(3, 6) for f in range(2, 9)]
        self.add("list.txt", text)
        return np.array(pixels)

    def check_values(self, experiment, shape):
        self.run_well(*experiment, "-floatfile", "all.npy", "-nonoise", "-nopgm")
        image = self.array("all.npy").reshape(shape)
        panel, fast, slow = self.listed(shape, 90).T
        expected = image[panel, slow, fast]
        self.assertGreater(np.count_nonzero(expected), 20)
        for engine in ENGINES:
            self.run_well(*experiment, "--pixels=list.txt", "-floatfile", "list.npy", *engine)
            np.testing.assert_allclose(self.array("list.npy"), expected, rtol=2e-6,
                                       atol=1e-9 * image.max(), err_msg=str(engine))

    def test_values_are_those_of_the_image(self):
        self.check_values(PLAIN, (1, 30, 40))

    def test_mixed_precision(self):
        self.check_values(PLAIN + ["--precision=mixed"], (1, 30, 40))

    def test_curved_detector_and_sensor(self):
        self.check_values(PLAIN + "-curved_det -detector_thick 300 -detector_abs 200 "
                                  "-detector_thicksteps 2".split(), (1, 30, 40))

    def test_panels(self):
        self.add("panels.json", PANELS)
        # Pixels that a panel does not have are masked: 0.
        self.check_values(CRYSTAL + "-pixel 0.5 -oversample 1 --panels=panels.json".split(), (3, 12, 20))

    def test_region_and_gain_map(self):
        gains = np.linspace(0.5, 2, 1200).reshape(30, 40)
        np.save(os.path.join(self.folder, "gains.npy"), gains)
        self.check_values(PLAIN + "-gain_map gains.npy -roi 5 30 4 20".split(), (1, 30, 40))

    SPREAD = "-psf fiber -psf_fwhm 600 -psf_radius 5 -gain 2".split()

    def test_point_spread(self):
        for kind in (self.SPREAD, "-psf gauss -psf_fwhm 900 -roi 5 30 4 20".split()):
            self.check_values(PLAIN + kind, (1, 30, 40))
        gains = np.linspace(0.5, 2, 1200).reshape(30, 40)
        np.save(os.path.join(self.folder, "gains.npy"), gains)
        self.check_values(PLAIN + [*self.SPREAD, "-gain_map", "gains.npy"], (1, 30, 40))

    def test_point_spread_on_panels(self):
        self.add("panels.json", PANELS)
        self.check_values(CRYSTAL + "-pixel 0.5 -oversample 1 --panels=panels.json".split() + self.SPREAD, (3, 12, 20))

    def test_point_spread_across_the_squares_of_a_long_list(self):
        """Photons that reach pixels of several squares of 32 count in each."""
        large = CRYSTAL + "-detpixels_x 150 -detpixels_y 90 -pixel 0.2 -oversample 1".split() + self.SPREAD
        self.check_values(large, (1, 90, 150))
        names = "--grad=cell,psf_fwhm,gain,pixel_size,distance"
        loss, expected = self.gradient(*large, names)
        self.add("list.txt", "0 0 150 0 90\n")
        found_loss, found = self.gradient(*large, names, "--pixels=list.txt")
        self.assertAlmostEqual(found_loss / loss, 1, 10)
        np.testing.assert_allclose(found, expected, rtol=1e-7)

    def test_point_spread_has_the_derivatives_of_the_image(self):
        data = np.random.default_rng(1).uniform(0, 5, (30, 40)).astype(np.float32)
        np.save(os.path.join(self.folder, "data.npy"), data)
        panel, fast, slow = self.listed((1, 30, 40), 50).T
        counts = np.zeros((30, 40))
        np.add.at(counts, (slow, fast), 1)
        sigma = np.where(counts > 0, 1 / np.sqrt(np.maximum(counts, 1)), np.inf)
        np.save(os.path.join(self.folder, "sigma.npy"), sigma)
        flags = [*PLAIN, *self.SPREAD, "--grad=cell,distance,psf_fwhm,gain,pixel_size"]
        loss, expected = self.gradient(*flags, "--loss=chi2:data.npy,sigma=sigma.npy")
        for engine in ENGINES:
            found_loss, found = self.gradient(*flags, "--loss=chi2:data.npy", "--pixels=list.txt", *engine)
            self.assertAlmostEqual(found_loss / loss, 1, 5)
            np.testing.assert_allclose(found, expected, rtol=1e-5)
        for words, folder in ((["--pixels=list.txt"], "list"), ([], "all")):
            self.run_well(*PLAIN, *self.SPREAD, "--jacobian=cell_a,psf_fwhm,gain", "--out=" + folder, *words)
        for name in ("image", "d_cell_a", "d_psf_fwhm", "d_gain"):
            expected = self.array(f"all/{name}.npy")[slow, fast]
            np.testing.assert_allclose(self.array(f"list/{name}.npy"), expected, rtol=1e-9,
                                       atol=1e-10 * abs(expected).max())

    def test_point_spread_computes_the_neighbours_alone(self):
        self.add("list.txt", "0 20 22 10 12\n")  # and two pixels on each side of them
        self.run_well(*PLAIN, "-psf", "gauss", "-psf_fwhm", "500", "-psf_radius", "2", "--pixels=list.txt", "--timing=time.json")
        with open(os.path.join(self.folder, "time.json")) as file:
            self.assertEqual(json.load(file)["samples"], 6 * 6 * 3 * 4)

    def test_gradients_are_those_of_the_image(self):
        names = "--grad=cell,misset,detector,mosaic,wavelength"
        loss, expected = self.gradient(*PLAIN, names)
        self.add("list.txt", "0 0 40 0 15\n0 0 40 15 30\n")
        for engine in ENGINES:
            found_loss, found = self.gradient(*PLAIN, names, "--pixels=list.txt", *engine)
            self.assertAlmostEqual(found_loss / loss, 1, 10)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10 * abs(expected).max())

    def test_gradients_by_panels(self):
        self.add("panels.json", PANELS)
        flags = CRYSTAL + "-pixel 0.5 -oversample 1 --panels=panels.json --grad=panels,distance".split()
        loss, expected = self.gradient(*flags)
        self.add("list.txt", "2 0 20 0 12\n0 0 20 0 12\n1 0 20 0 12\n")
        for engine in ENGINES[:2]:  # a GPU adds to one place from a whole warp, whose pixels may be of several panels
            found_loss, found = self.gradient(*flags, "--pixels=list.txt", *engine)
            self.assertAlmostEqual(found_loss / loss, 1, 10)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10 * abs(expected).max())

    def test_loss_takes_the_pixels_out_of_an_image_or_a_list(self):
        panel, fast, slow = self.listed((1, 30, 40), 50).T
        data = np.random.default_rng(1).uniform(0, 5, (30, 40)).astype(np.float32)
        np.save(os.path.join(self.folder, "data.npy"), data)
        np.save(os.path.join(self.folder, "short.npy"), data[slow, fast])
        flags = [*PLAIN, "--pixels=list.txt", "--grad=cell_a"]
        from_image = self.gradient(*flags, "--loss=chi2:data.npy,sigma=2")
        self.assertEqual(self.gradient(*flags, "--loss=chi2:short.npy,sigma=2"), from_image)
        self.run_well(*PLAIN, "--pixels=list.txt", "-floatfile", "list.npy")
        values = self.array("list.npy").astype(float)
        self.assertAlmostEqual(from_image[0] / np.sum(((values - data[slow, fast]) / 2) ** 2), 1, 5)

    def test_jacobian(self):
        self.listed((1, 30, 40), 20)
        for words, folder in ((["--pixels=list.txt"], "list"), ([], "all")):
            self.run_well(*PLAIN, "--jacobian=cell_a,distance", "--out=" + folder, *words)
        panel, fast, slow = self.listed((1, 30, 40), 20).T
        for name in ("image", "d_cell_a", "d_distance"):
            expected = self.array(f"all/{name}.npy")[slow, fast]
            np.testing.assert_allclose(self.array(f"list/{name}.npy"), expected, rtol=1e-9,
                                       atol=1e-10 * abs(expected).max())

    def test_cost_is_that_of_the_list_and_no_image_is_written(self):
        self.listed((1, 30, 40), 10)
        self.run_well(*PLAIN, "--pixels=list.txt", "--timing=time.json")
        with open(os.path.join(self.folder, "time.json")) as file:
            samples = json.load(file)["samples"]
        self.assertLessEqual(samples, 64 * 3 * 4)
        self.assertEqual(sorted(os.listdir(self.folder)), ["floatimage.bin", "list.txt", "time.json"])
        self.assertEqual(os.path.getsize(os.path.join(self.folder, "floatimage.bin")), 4 * 52)

    def test_text(self):
        pixels = self.listed((1, 30, 40), 10)
        self.run_well(*PLAIN, "--pixels=list.txt", "-floatfile", "list.npy")
        self.run_well(*PLAIN, "--pixels=list.txt", "-floatfile", "table.txt")
        table = np.loadtxt(os.path.join(self.folder, "table.txt"))
        np.testing.assert_array_equal(table[:, :3], pixels)
        np.testing.assert_array_equal(table[:, 3].astype(np.float32), self.array("list.npy"))

    def refused(self, text, *parts, words=()):
        self.add("list.txt", text)
        done = self.start([*PLAIN, "--pixels=list.txt", *words])
        self.assertNotEqual(done.returncode, 0)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["list.txt"])

    def test_what_is_no_list_is_refused(self):
        self.refused("0 1 2\n0 40 2\n", "list.txt:2", "fast is 40", "0 to 39")
        self.refused("1 4 2\n", "list.txt:1", "panel is 1")
        self.refused("0 4 2.5\n", "slow is 2.5")
        self.refused("0 4 2 5\n", "has 4 numbers")
        self.refused("0 4 4 5 6\n", "fast1 is 4")
        self.refused("0 4 41 5 6\n", "fast1 is 41")
        self.refused("# none\n", "lists no pixel")
        self.refused("0 a 1\n", "list.txt:1")
        self.refused("0 1 1\n", "a list of pixels is not an image", words=["-intfile", "x.img"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
