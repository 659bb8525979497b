"""Averages in closed form: against draws of the same distributions, between engines, in derivatives and in what is
refused."""

import os
import subprocess
import tempfile
import unittest

import numpy as np

NB_SIM = os.environ["NB_SIM"]
CRYSTAL = ("-cell 30 40 50 85 95 100 -default_F 100 -N 8 -gauss_xtal -misset 10 20 30 -lambda 1 -distance 40 -pixel 0.4 "
           "-detpixels 32 -fluence 1e24 -polar 0.5")
SPREADS = "-mosaic 0.5 --bandwidth-sigma=0.3 -divergence_sigma 0.5 0.7"


def run(flags, check=True):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([NB_SIM, *flags.split(), "-floatfile", "image.bin", "-nonoise", "-nopgm", "-noprogress",
                               "--no-fallback"],
                              cwd=folder, text=True, capture_output=True, timeout=300)
        if done.returncode or not check:
            return done
        return np.fromfile(os.path.join(folder, "image.bin"), "<f4").astype(float)


class ClosedTest(unittest.TestCase):
    def assert_near(self, image, other, tolerance):
        self.assertGreater(other.max(), 0)
        self.assertLess(np.abs(image - other).max(), tolerance * other.max())

    def test_draws_of_the_same_distributions(self):
        for more in (SPREADS, SPREADS + " -osc 0.5", SPREADS + " -curved_det", "-mosaic_abc 0.2 0.4 0.8",
                     "-mosaic 0.5 -detector_abs 300 -detector_thick 300 -detector_thicksteps 3",
                     SPREADS + " -dispersion 2 -dispsteps 3", SPREADS + " -Ncells_def 1 2 0.5"):
            with self.subTest(more):
                flags = f"{CRYSTAL} {more}"
                self.assert_near(run(flags + " --average=closed"), run(flags + " --average=draws --average-draws=65536"),
                                 0.01)

    def test_all_engines_have_the_same_image(self):
        flags = f"{CRYSTAL} {SPREADS} -osc 0.3 --average=closed"
        image = run(flags + " --no-fuse")
        for engine, tolerance in (("--cull=off", 3e-7), ("--cull=exact", 3e-7), ("", 1e-6),
                                  ("--precision=mixed --cull=exact", 1e-5), ("--device=gpu-on-cpu", 1e-6),
                                  ("--device=gpu-on-cpu --cull=1e-9", 3e-7)):
            with self.subTest(engine):
                self.assert_near(run(f"{flags} {engine}"), image, tolerance)

    def test_a_pixel_with_several_reflections_has_them_in_all_engines(self):
        flags = ("-cell 142 75 54 82 77 98 -misset 84 32 31 -default_F 200 -N 100 -gauss_xtal -lambda 1.24 -distance 30 "
                 "-pixel 1.3 -detpixels 12 --average=closed")
        image = run(flags)
        self.assertGreater(np.count_nonzero(image > image.max() / 100), 5)
        self.assert_near(run(flags + " --no-fuse"), image, 2e-6)

    def test_large_cells_and_short_wavelengths_lose_no_reflection(self):
        # Boxes of indices with 10^8 to 10^13 nodes.
        spots = "-misset 10 20 30 -default_F 100 -gauss_xtal -pixel 0.1 -detpixels 24 --average=closed "
        for flags in ("-cell 600 590 610 85 95 100 -lambda 0.05 -distance 4000 -N 10",
                      "-cell 600 590 610 85 95 100 -lambda 1 -distance 400 -N 6 -mosaic 0.02",
                      "-cell 30 40 50 85 95 100 -lambda 0.05 -distance 400 -N 30 -osc 0.05"):
            image = run(f"{spots} {flags} --no-fuse")
            for engine, tolerance in (("--cull=off", 3e-7), ("", 1e-6), ("--cull=exact", 3e-7),
                                      ("--device=gpu-on-cpu", 3e-7), ("--device=gpu-on-cpu --cull=1e-9", 3e-7),
                                      ("--precision=mixed", 2e-5)):
                with self.subTest(flags + " " + engine):
                    self.assert_near(run(f"{spots} {flags} {engine}"), image, tolerance)

    def test_a_narrow_spot_with_a_wide_spectrum_is_right_in_f32(self):
        # In f32 the inverse of the covariance has few digits or none: pixels were a per cent off, or NaN.
        flags = ("-cell 90 100 110 -misset 10 20 30 -default_F 100 -gauss_xtal -N 400 -lambda 0.5 -distance 3000 -pixel 1 "
                 "-detpixels 24 --bandwidth-sigma=0.3 --average=closed")
        self.assert_near(run(flags + " --precision=f32"), run(flags), 1e-5)

    def test_diffuse_scattering_is_where_no_reflection_has_light(self):
        flags = CRYSTAL + " -mosaic 0.1 --average=closed -diffuse_gamma 20 30 40 -diffuse_sigma 0.3 0.4 0.5"
        image = run(flags)
        self.assertGreater(image.min(), 0)
        np.testing.assert_allclose(run(flags + " --no-fuse"), image, rtol=1e-5)

    def test_a_crystal_without_spreads_is_averaged_over_its_pixels(self):
        flags = CRYSTAL.replace("-N 8", "-N 200").replace("-distance 40", "-distance 300 -nopolar").replace("32", "160")
        fine = run(flags + " -oversample 80")
        self.assert_near(run(flags + " --average=closed"), fine, 1e-3)

    def test_each_layer_of_a_sensor_has_its_own_solid_angle(self):
        # On the front face all would be 1 % brighter.
        flags = (CRYSTAL.replace("-N 8", "-N 40").replace("-distance 40", "-distance 76").replace("32", "48") +
                 " -detector_abs 2000 -detector_thick 1000 -detector_thicksteps 6")
        for more in ("", " -water 20 -fluence 1e20", " -curved_det"):
            with self.subTest(more):
                fine = run(flags + more + " -oversample 24 -oversample_omega -oversample_thick")
                for average, tolerance in (("closed", 3e-3), ("draws --average-draws=16384", 5e-3)):
                    image = run(f"{flags}{more} --average={average}")
                    lit = fine > 0.1 * fine.max()
                    self.assertLess(abs(image[lit].sum() / fine[lit].sum() - 1), tolerance)

    def test_water_in_layers_has_the_solid_angle_of_each(self):
        # Next to nothing is absorbed, so that the layers have equal shares.
        flags = ("-cell 30 -default_F 1e-3 -N 5 -gauss_xtal -misset 10 20 30 -lambda 1 -distance 40 -pixel 0.1 -detpixels 3 -water 1000 "
                 "-nopolar -detector_thick 10000 -detector_abs 1e9 ")
        of_layers = np.mean([(40 / (40 + depth))**2 for depth in range(10)])
        for more in ("--average=closed", "-oversample_omega -oversample 1"):
            with self.subTest(more):
                one, ten = (run(f"{flags} -detector_thicksteps {n} {more}")[4] for n in (1, 10))
                self.assertAlmostEqual(ten / one, of_layers, delta=1e-4)

    def test_draws_are_of_all_shapes(self):
        for shape in ("-square_xtal", "-round_xtal"):
            with self.subTest(shape):
                flags = CRYSTAL.replace("-gauss_xtal", shape).replace("-N 8", "-N 20")
                self.assert_near(run(flags + " --average=draws --average-draws=16384"),
                                 run(flags + " -oversample 40 -oversample_omega"), 0.02)

    def test_parts_of_a_pixel_add_up(self):
        # Spots as narrow as a pixel, also at their rims; a thick and a curved detector have other lists of light.
        flags = CRYSTAL.replace("-N 8", "-N 60").replace("-pixel 0.4", "-pixel 0.1").replace("32", "96")
        flags += " -mosaic 0.02 --bandwidth-sigma=0.2 -osc 0.1 --average=closed"
        for more in ("", " -curved_det", " -detector_abs 300 -detector_thick 300 -detector_thicksteps 2"):
            with self.subTest(more):
                image = run(flags + more)
                parts = run(flags + more + " -oversample 3")
                self.assert_near(image, parts, 1e-3)
                lit = parts > 1e-3 * parts.max()
                self.assertGreater(lit.sum(), 15)
                self.assertLess(np.abs(image[lit] / parts[lit] - 1).max(), 0.01)

    def test_a_pixel_that_is_a_quarter_of_its_spot_is_the_mean_of_its_parts(self):
        # Far away, so that nothing bends; the series for short intervals has all its terms.
        flags = ("-cell 100 -default_F 100 -gauss_xtal -N 10 -misset 10 20 30 -lambda 1 -distance 2000 -pixel 0.27 -detpixels 40 "
                 "-nopolar --average=closed --average-tolerance=1e-6 --cull=off")
        self.assert_near(run(flags), run(flags + " -oversample 4"), 1e-6)

    def test_series_are_averaged_unless_samples_are_counted(self):
        def said(flags):
            done = run(f"-cell 30 -default_F 100 -N 8 -detpixels 8 {flags}", check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return "averaged in closed form" in done.stdout + done.stderr
        self.assertTrue(said("-gauss_xtal --frames=2"))
        self.assertFalse(said("-gauss_xtal"))
        self.assertFalse(said("-round_xtal --frames=2"))
        self.assertFalse(said("-gauss_xtal --frames=2 -mosaic 0.1 -mosaic_domains 3"))
        self.assertFalse(said("-gauss_xtal --frames=2 --average=sampled"))

    def test_another_tolerance_is_the_same(self):
        flags = f"{CRYSTAL} {SPREADS} -osc 0.3 --average=closed"
        self.assert_near(run(flags + " --average-tolerance=1e-6"), run(flags), 5e-4)

    def test_what_has_no_closed_form_is_refused(self):
        for flags, said in (("--average=closed", "give -gauss_xtal"),
                            ("-gauss_xtal --average=closed -compat c", "give --average=sampled"),
                            ("-gauss_xtal --bandwidth-sigma=0.1", "give --average=closed")):
            with self.subTest(flags):
                done = run(f"-cell 30 -default_F 100 -N 8 -detpixels 8 {flags}", check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
