"""Maps of Miller indices, labels of spots and random orientations as arrays."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb

NB_SIM = sys.argv.pop(1)
FLAGS = ("-cell 70 80 90 85 95 100 -default_F 100 -N 8 -gauss_xtal -lambda 1.1 -distance 80 -pixel 0.5 -detpixels_f 60 -detpixels_s 48 "
         "-oversample 1 -fluence 1e26 -misset 10 20 30 -detector_rotx 3 -twotheta 5 -mosaic 0.2 ")


class MillerIndices(unittest.TestCase):
    def test_those_of_the_command_line(self):
        for more in ("", "-osc 0.4 -phi 3 -phisteps 5", "-xds -ORGX 20 -ORGY 30", "--average=closed -osc 1"):
            with self.subTest(more), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "map.npy")
                subprocess.run([NB_SIM, *(FLAGS + more).split(), f"--write-map={file}", "-floatfile", f"{folder}/image.npy", "-nonoise",
                                "-nopgm", "--quiet"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
                written = np.load(file)
                sim = nb.Simulator.from_flags(FLAGS + more)
                np.testing.assert_allclose(np.moveaxis(sim.miller_indices(), -1, 0), written[:3], atol=2e-5)

    def test_that_of_a_trace(self):
        sim = nb.Simulator.from_flags(FLAGS + "-mosaic 0")
        maps = sim.miller_indices()
        for slow, fast in ((0, 0), (7, 31), (47, 59)):
            traced = next(v for name, v in sim.trace(slow, fast).items() if name.partition("[")[0] == "hkl_frac")
            np.testing.assert_allclose(maps[slow, fast], traced, atol=1e-9)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "flat panels"):
            nb.Simulator.from_flags(FLAGS + "-curved_det").miller_indices()
        with self.assertRaisesRegex(ValueError, "list of pixels"):
            nb.Simulator.from_flags(FLAGS, pixels=[(1, 2)]).miller_indices()


class Spots(unittest.TestCase):
    def test_a_gain_map_leaves_photons_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            gains = np.random.default_rng(3).uniform(0.5, 4, (48, 60))
            np.save(f"{folder}/gains.npy", gains)
            plain, amplified = (nb.Simulator.from_flags(FLAGS + more).spots(least=1.0) for more in ("", f"-gain_map {folder}/gains.npy"))
        np.testing.assert_array_equal(amplified.labels, plain.labels)
        np.testing.assert_allclose(amplified.photons, plain.photons, rtol=1e-6)

    def test_labels_are_rows(self):
        sim = nb.Simulator.from_flags(FLAGS + "-water 20 -stol water -gain 3")
        image = nb.Simulator.from_flags(FLAGS).image()
        spots = sim.spots(least=1.0)
        np.testing.assert_array_equal(spots.labels > 0, image >= 1)  # background and gain are no light of a spot
        self.assertGreater(len(spots), 10)
        self.assertEqual(len(np.unique(spots.miller_index, axis=0)), len(spots))
        for row in range(0, len(spots), 7):
            lit = spots.labels == row + 1
            self.assertAlmostEqual(spots.photons[row] / image[lit].sum(), 1)
            slow, fast = np.argwhere(lit).mean(axis=0) + 0.5
            self.assertLess(np.hypot(spots.fast[row] - fast, spots.slow[row] - slow), 2)
            np.testing.assert_array_equal(np.rint(sim.miller_indices()[lit]), np.tile(spots.miller_index[row], (lit.sum(), 1)))

    def test_panels(self):
        panels = [nb.Panel((-0.02 + 0.022 * i, -0.01, 0.08), (1, 0, 0), (0, 1, 0), (30, 40)) for i in range(2)]
        sim = nb.Simulator(nb.Crystal(cell=(7e-9, 8e-9, 9e-9, *[90 * nb.degree] * 3), ncells=8, default_F=100, misset=(0.1, 0.2, 0.3)),
                           nb.Beam(wavelength=1e-10, fluence=1e28), nb.Detector(panels=panels, pixel_size=0.5e-3, oversample=1))
        spots = sim.spots()
        self.assertEqual((spots.labels.shape, sim.miller_indices().shape), ((2, 30, 40), (2, 30, 40, 3)))
        self.assertEqual(set(spots.panel), {0, 1})
        for panel in (0, 1):
            np.testing.assert_array_equal(np.unique(spots.labels[panel])[1:] - 1, np.flatnonzero(spots.panel == panel))

    def test_no_light(self):
        spots = nb.Simulator.from_flags(FLAGS + "-fluence 0").spots()
        self.assertEqual((len(spots), spots.labels.max(), spots.miller_index.shape), (0, 0, (0, 3)))


class Orientations(unittest.TestCase):
    def test_uniform(self):
        """A direction of the crystal lies near the poles (within 25 degrees of z or -z) as often as it should: 9.4 %."""
        angles = nb.random_misset(4000, seed=1)
        self.assertEqual(angles.shape, (4000, 3))
        from nanobragg import _core
        axes = np.array([np.reshape(_core.rotation_of(a.tolist()), (3, 3))[:, 0] for a in angles])
        np.testing.assert_allclose((axes**2).mean(axis=0), 1 / 3, atol=0.02)
        near = np.mean(abs(axes[:, 2]) > np.cos(25 * nb.degree))
        self.assertAlmostEqual(near, 1 - np.cos(25 * nb.degree), delta=0.015)

    def test_seeds(self):
        np.testing.assert_array_equal(nb.random_misset(3, seed=5), nb.random_misset(3, seed=5))
        np.testing.assert_array_equal(nb.random_misset(seed=5), nb.random_misset(3, seed=5)[0])
        self.assertFalse((nb.random_misset() == nb.random_misset()).all())
        self.assertEqual(len({tuple(nb.random_misset(seed=seed)) for seed in range(100)}), 100)
        sim = nb.Simulator.from_flags(FLAGS)
        sim.set(misset=nb.random_misset(seed=5))
        np.testing.assert_array_equal(sim["misset"], nb.random_misset(seed=5))


if __name__ == "__main__":
    unittest.main()
