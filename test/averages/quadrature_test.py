"""Averages by as many draws as each pixel asks for: against the closed form, against fine grids, and with responses,
lists of pixels and derivatives. Derivatives with respect to what hardly spreads, of the closed form and of draws."""

import os
import subprocess
import tempfile
import unittest

import numpy as np

import nanobragg as nb

NB_SIM = os.environ["NB_SIM"]
CRYSTAL = ("-cell 40 50 60 85 95 100 -default_F 100 -misset 10 20 30 -lambda 1 -distance 60 -pixel 0.3 -fluence 1e24 "
           "-polar 0.5")
SPREADS = "-mosaic 0.3 --bandwidth-sigma=0.2 -divergence_sigma 0.5 0.7"
TOLERANCE = 0.02


def run(flags):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([NB_SIM, *f"{CRYSTAL} -detpixels 36 {flags}".split(), "-floatfile", "image.bin", "-nonoise",
                               "-nopgm", "-noprogress", "--no-fallback"],
                              cwd=folder, text=True, capture_output=True, timeout=300)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return np.fromfile(os.path.join(folder, "image.bin"), "<f4").astype(float), done.stdout


def quadrature(flags):
    return run(f"{flags} --average=quadrature --average-tolerance={TOLERANCE}")[0]


class QuadratureTest(unittest.TestCase):
    def assert_near(self, image, other, tolerance=TOLERANCE):
        self.assertGreater(other.max(), 0)
        self.assertLess(np.abs(image - other).max(), tolerance * other.max())

    def test_gaussian_crystals_have_the_closed_form(self):
        for more in (f"-N 8 {SPREADS}", f"-N 16 {SPREADS} -osc 0.3", "-N 60", f"-N 20 {SPREADS} -curved_det"):
            with self.subTest(more):
                self.assert_near(quadrature("-gauss_xtal " + more), run("--average=closed -gauss_xtal " + more)[0])

    def test_other_crystals_have_what_fine_samples_have(self):
        # A step, as a top hat is, is as far off in the samples.
        for shape, tolerance in (("-square_xtal", 1), ("-round_xtal", 1), ("-tophat_spots", 2)):
            with self.subTest(shape):
                self.assert_near(quadrature(f"{shape} -N 20"),
                                 run(f"{shape} -N 20 -oversample 40 -oversample_omega")[0], tolerance * TOLERANCE)

    def test_draws_are_where_the_light_is(self):
        _, text = run(f"-N 30 {SPREADS} --average=quadrature --average-tolerance=0.02")
        line = next(line for line in text.splitlines() if line.startswith("quadrature: "))
        words = line.split()
        fewest, most, mean = int(words[1]), int(words[3]), int(words[7])
        self.assertLessEqual(4 * fewest, most)
        self.assertLess(mean, most)

    def test_a_tolerance_that_is_not_reached_is_said(self):
        flags = f"{CRYSTAL} -detpixels 6 -N 40 {SPREADS} --average=quadrature --average-tolerance=1e-7"
        with self.assertWarnsRegex(nb.Warning, "pixels may be off by up to"):
            nb.Simulator.from_flags(flags).image()

    def test_the_response_of_the_detector_follows(self):
        flags = f"-gauss_xtal -N 20 {SPREADS} -psf gauss -psf_fwhm 400"
        self.assert_near(quadrature(flags), run(flags + " --average=closed")[0])

    def test_a_list_of_pixels_has_those_of_the_image(self):
        flags = (f"{CRYSTAL} -detpixels 48 -gauss_xtal -N 20 {SPREADS} --average=quadrature "
                 f"--average-tolerance={TOLERANCE}")
        image = nb.Simulator.from_flags(flags).image()
        slow, fast = np.mgrid[8:40, 8:40].reshape(2, -1)
        listed = nb.Simulator.from_flags(flags, pixels=np.stack([slow, fast], 1)).image()
        self.assert_near(listed, image[slow, fast])

    def test_a_list_without_a_rendered_pixel_is_dark(self):
        flags = f"{CRYSTAL} -detpixels 24 -N 5 -roi 0 3 0 3 --average=quadrature"
        dark = nb.Simulator.from_flags(flags, pixels=[[10, 10], [11, 10]])
        np.testing.assert_array_equal(dark.image(), 0)
        self.assertEqual(dark.jvp({"cell_a": 1.0}).max(), 0)
        self.assertEqual(dark.gradient("cell_a", cotangent=dark.image())["cell_a"], 0)

    def test_derivatives_are_those_of_its_draws(self):
        flags = f"{CRYSTAL} -detpixels 24 -square_xtal -N 2 {SPREADS} -osc 0.2"
        drawn = nb.Simulator.from_flags(f"{flags} --average=draws --average-draws=128")
        alike = nb.Simulator.from_flags(f"{flags} --average=quadrature --average-tolerance=0.1")
        np.testing.assert_allclose(alike.image(), drawn.image(), rtol=1e-12)
        weights = np.random.default_rng(1).uniform(size=drawn.image().shape)
        names, direction = "cell_a,misset_x,mosaic_spread,distance", {"cell_a": 1e-10, "misset_x": 0.01}
        for of in (lambda s: s.gradient(names, cotangent=weights), lambda s: s.jacobian(names),
                   lambda s: {"": s.jvp(direction)}, lambda s: s.hvp(direction, cotangent=weights)):
            a, b = of(alike), of(drawn)
            for name in b:
                np.testing.assert_allclose(a[name], b[name], rtol=1e-9, err_msg=name)

    def test_derivatives_of_both_modes_agree(self):
        flags = f"{CRYSTAL} -detpixels 24 -gauss_xtal -N 20 {SPREADS} -osc 0.2"
        drawn = nb.Simulator.from_flags(f"{flags} --average=quadrature --average-tolerance={TOLERANCE}")
        weights = np.random.default_rng(1).uniform(size=drawn.image().shape)
        along = drawn.jvp({"cell_a": 1.0})
        self.assertAlmostEqual(float((weights * along).sum() / drawn.gradient("cell_a", cotangent=weights)["cell_a"]), 1)
        closed = nb.Simulator.from_flags(f"{flags} --average=closed").jvp({"cell_a": 1.0})
        self.assertLess(np.abs(along - closed).max(), 0.08 * np.abs(closed).max())


class NarrowSpreads(unittest.TestCase):
    """Image and derivatives with respect to a spread that goes to 0 go to those at 0."""

    def check(self, flags, name):
        exact, mixed = (nb.Simulator.from_flags(f"{CRYSTAL} -detpixels 16 -oversample 1 {flags} --precision={p}")
                        for p in ("f64", "mixed"))
        start = np.atleast_1d(exact.function(name).theta)[0]
        unit = np.eye(np.size(exact.function(name).theta))[0]
        weights = np.random.default_rng(1).uniform(size=exact.image().shape)
        weights /= (weights * exact.image()).sum()

        def at(sim, part):
            f = sim.function(name)
            theta = np.where(unit, start * part, f.theta)
            first = f.vjp(theta, weights)[0]
            np.testing.assert_allclose((f.jvp(theta, unit) * weights).sum(), first, rtol=1e-4)
            return (f.image(theta) * weights).sum(), first * start, theta

        # A parabola through the first derivatives at three widths.
        step = 0.01
        values, firsts, _ = zip(*(at(exact, k * step) for k in (1, 2, 3)))
        slope, curvature = 3 * firsts[0] - 3 * firsts[1] + firsts[2], (-5 * firsts[0] + 8 * firsts[1] - 3 * firsts[2]) / (2 * step)
        self.assertAlmostEqual((values[2] - values[0]) / (2 * step), firsts[1], delta=0.01 * abs(firsts[1]))
        for part in (0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4):
            for sim in (exact, mixed):
                value, first, theta = at(sim, part)
                self.assertAlmostEqual(value, values[0] - step * slope - step ** 2 / 2 * curvature,
                                       delta=5e-7 + 2 * part * abs(slope))
                self.assertAlmostEqual(first, slope + part * curvature, delta=1e-3 * abs(firsts[0]) * (sim is exact or 10))
            second = exact.function(name).hvp(theta, unit, weights)[0] * start ** 2
            self.assertAlmostEqual(second, curvature, delta=0.01 * abs(curvature))

    def test_derivatives_by_narrow_spreads(self):
        closed = "-gauss_xtal -N 20 --average=closed"
        for flags, name in ((f"{closed} -mosaic 0.1 -osc 0.1", "osc"),
                            (f"{closed} --bandwidth-sigma=0.2 -osc 0.1", "osc"),
                            (f"{closed} -mosaic 0.1 -osc 0.1", "mosaic_spread"),
                            (f"{closed} -mosaic_abc 0.1 0.2 0.3", "mosaic_abc"),
                            ("-round_xtal -N 5 -mosaic 0.5 -mosaic_dom 3", "mosaic_spread")):
            with self.subTest(flags, by=name):
                self.check(flags, name)


if __name__ == "__main__":
    unittest.main()
