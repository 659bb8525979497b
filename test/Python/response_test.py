"""Point spread and counts in Python: those of nb-sim, laws, hostile use."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb

FLAGS = "-cell 70 80 90 90 90 90 -N 5 -default_F 300 -detpixels_f 60 -detpixels_s 50 -pixel 0.5 -oversample 1".split()


def photons(*more):
    return nb.Simulator.from_flags([*FLAGS, *more]).image()


def counted(*flags):
    """nb-sim's -noisefile of 16 bits."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "nanobragg.simulate", *FLAGS, *flags, "-noisefile", "n.img", "-nopgm"], cwd=folder, check=True, capture_output=True)
        with open(os.path.join(folder, "n.img"), "rb") as file:
            return np.frombuffer(file.read()[512:], dtype="<u2").reshape(50, 60)


class Response(unittest.TestCase):
    def test_point_spread_is_the_simulators(self):
        for kind, width in (("gauss", 1.7), ("fiber", 0.6)):
            got = nb.point_spread(photons(), kind, width, radius=9)
            want = photons("-psf", kind, "-psf_fwhm", width * 500, "-psf_radius", 9)
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12 * want.max())

    def test_derivatives_by_a_width_that_goes_to_0(self):
        f = nb.Simulator.from_flags([*FLAGS, *"-psf fiber -psf_fwhm 400 -psf_radius 9".split()]).function("psf_fwhm")
        weights = np.random.default_rng(1).uniform(size=(50, 60))
        first = lambda width: f.vjp(np.array([width]), weights)[0]
        step = 1e-8
        slopes = [first(k * step) for k in (1, 2, 3)]
        slope, curvature = 3 * slopes[0] - 3 * slopes[1] + slopes[2], (-5 * slopes[0] + 8 * slopes[1] - 3 * slopes[2]) / (2 * step)
        lights = [(f.image(np.array([k * step])) * weights).sum() for k in (1, 3)]
        np.testing.assert_allclose((lights[1] - lights[0]) / (2 * step), slopes[1], rtol=1e-4)
        for width in (1e-15, 1e-12, 1e-10, 1e-9):
            np.testing.assert_allclose(first(width), slope + width * curvature, rtol=1e-6)
            np.testing.assert_allclose(f.hvp(np.array([width]), np.array([1.0]), weights)[0], curvature, rtol=1e-2)

    def test_true_counts_are_the_inverse_below_the_largest_rate(self):
        photons = np.linspace(0, 9.99e5, 101).reshape(101, 1)
        counted = photons * np.exp(-photons * 2e-6 / 2)
        np.testing.assert_allclose(nb.true_counts(counted, 2e-6, 2.0), photons, rtol=1e-9)
        np.testing.assert_array_equal(nb.true_counts([3.0], 0, 1), [3])
        for counts, message in (([4e5], "at most"), ([-1], "at least 0")):
            with self.assertRaisesRegex(ValueError, message):
                nb.true_counts(counts, 1e-6, 1)

    def test_point_spread_keeps_light_and_is_its_transpose(self):
        point = np.zeros((2, 41, 41))
        point[1, 20, 20] = 3
        spread = nb.point_spread(point, "gauss", 2.5)
        self.assertAlmostEqual(spread[1].sum(), 3, 12)
        self.assertEqual(spread[0].sum(), 0)
        random = np.random.default_rng(1)
        x, y = random.normal(size=(2, 30, 20))
        self.assertAlmostEqual((nb.point_spread(x, "fiber", 1.1) * y).sum(), (x * nb.point_spread(y, "fiber", 1.1)).sum(), 10)

    def test_counts_are_those_of_nb_sim(self):
        for flags, how in (("-seed 7 -adc 40", {"seed": 7, "offset": 40}),
                           ("-seed 3 -adc 10 -gain 1.5 -readout_noise 3 -calibration 0.03 -flicker 0.1",
                            {"seed": 3, "offset": 10, "gain": 1.5, "readout_noise": 3, "calibration": 0.03, "flicker": 0.1}),
                           ("-seed 3 -adc 10 -psf fiber -psf_fwhm 400 -psf_radius 8 --noise-shot=4 -calib_seed 55 --dead-pixels=0.01 "
                            "--hot-pixels=0.02 -overload 900 --detector-order=simtbx -calibration 0.1",
                            {"seed": 3, "offset": 10, "psf": "fiber", "psf_width": 0.8, "psf_radius": 8, "shot": 4, "calibration_seed": 55,
                             "dead_pixels": 0.01, "hot_pixels": 0.02, "overload": 900, "order": "simtbx", "calibration": 0.1})):
            with self.subTest(flags):
                want, got = counted(*flags.split()), nb.counts(photons(), **how)
                self.assertEqual(got.dtype, np.int32)
                # Means are rounded to float32 here, and there they come through the gain: a draw in a thousand may turn.
                self.assertLess(np.count_nonzero(got != want), 4)

    def test_laws(self):
        flat = np.full((400, 500), 20.0)
        drawn = nb.counts(flat, 1, bits=32).astype(float)
        self.assertAlmostEqual(drawn.mean(), 20, delta=5 * np.sqrt(20 / flat.size))
        self.assertAlmostEqual(drawn.var(), 20, delta=0.5)
        other = nb.counts(flat, 1, shot=1).astype(float)
        self.assertLess(abs(np.corrcoef(drawn.ravel(), other.ravel())[0, 1]), 5 / np.sqrt(flat.size))
        np.testing.assert_array_equal(nb.counts(flat, 1, threads=1), nb.counts(flat, 1, threads=2))
        readout = nb.counts(flat, 1, gain=2, offset=100, readout_noise=5).astype(float)
        self.assertAlmostEqual(readout.var(), 4 * 20 + 25, delta=2)
        self.assertAlmostEqual(readout.mean(), 139.5, delta=0.1)  # truncated

    def test_hostile(self):
        good = np.ones((3, 4))
        for wrong, message in ((lambda: nb.counts(-good, 1), "negative"), (lambda: nb.counts(good * np.nan, 1), "negative or not finite"),
                               (lambda: nb.counts(good[0], 1), "slow, fast"), (lambda: nb.counts(good, 1, threads=-1), "threads"),
                               (lambda: nb.counts(good, -1), "seed is .*; it has to be a whole number"), (lambda: nb.counts(good, 1, order="simtx"), "simtbx"),
                               (lambda: nb.counts(good, 1, bits=8), "bits is 8; it has to be 16 or 32"), (lambda: nb.counts(good, 1, psf="gauss"), "psf_width"),
                               (lambda: nb.counts(good, 1, psf_width=2), "need psf="), (lambda: nb.counts(good, 1, gain=0), "gain is 0"),
                               (lambda: nb.counts(good, 1, flicker=2), "flicker is 2"), (lambda: nb.counts(good, 1, overload=1e9), "overload"),
                               (lambda: nb.point_spread(good, "gaus", 1), "gauss"), (lambda: nb.point_spread(good, "gauss", -1), "width"),
                               (lambda: nb.point_spread(good, "gauss", 1, radius=0), "radius"),
                               (lambda: nb.point_spread(np.zeros((0, 3)), "gauss", 1), "shape")):
            with self.assertRaisesRegex(ValueError, message):
                wrong()
        for wrong, message in ((lambda: nb.counts(good + 1j, 1), "complex"), (lambda: nb.counts(good, 1.5), "seed is .*; it has to be a whole number"),
                               (lambda: nb.counts(good, "a"), "seed is .*; it has to be a whole number"), (lambda: nb.counts(good, 1, gain="a"), "gain is 'a'; it has to be a number"),
                               (lambda: nb.point_spread(good, "gauss", 1, radius=0.5), "radius"), (lambda: nb.counts(None, 1), "photons")):
            with self.assertRaisesRegex(TypeError, message):
                wrong()
        np.testing.assert_array_equal(nb.counts(np.full((4, 4), 1e300), 1), 65535)
        np.testing.assert_array_equal(nb.point_spread(np.arange(24.0).reshape(4, 6)[::2, ::3], "gauss", 1),
                                      nb.point_spread(np.arange(24.0).reshape(4, 6)[::2, ::3].copy(), "gauss", 1))


if __name__ == "__main__":
    unittest.main()
