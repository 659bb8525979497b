"""Images of the spots of a table of reflections, against averages of each pixel."""

import sys
import unittest

import numpy as np

import nanobragg as nb

SIZE = 512
FLAGS = (f"-lambda 1 -distance 100 -detpixels {SIZE} -pixel 0.08 -gauss_xtal -N 15 -cell 70 80 90 85 95 100 -misset 17 29 41 "
         "-default_F 100 -fluence 1e24 --average=closed -mosaic 0.2 --bandwidth-sigma=0.2 -divergence_sigma 0.4")
NUMBERS = ("misset_x", "misset_z", "mosaic_spread", "bandwidth_sigma", "hdiv_sigma", "ncells_a", "fluence", "cell_beta")


def simulator(*more, **settings):
    return nb.Simulator.from_flags(" ".join([FLAGS, *more]), threads=1, **settings)


def averaged(*flags):
    """Averages of each pixel: images of half as many pixels are not made of spots."""
    return sum(simulator(*flags, "--average-tolerance=1e-6", f"-roi 0 {SIZE - 1} {begin} {begin + SIZE // 2 - 1}").image(dtype=np.float64)
               for begin in (0, SIZE // 2))


def peaks_near(image, pixels=8):
    """The brightest pixel within as many pixels of each."""
    for axis in (-2, -1):
        rows = [np.roll(image, shift, axis) for shift in range(-pixels, pixels + 1)]
        image = np.max(rows, axis=0)
    return image


class Images(unittest.TestCase):
    def check(self, *flags, tolerance=1e-3, within=1.5, **settings):
        """Whatever is lit is within the tolerance of its spot's peak; returns both images."""
        image = simulator(*flags, f"--average-tolerance={tolerance}", **settings).image(dtype=np.float64)
        exact = averaged(*flags)
        self.assertTrue((image != exact).any(), "averages of each pixel were made in place of spots")
        bright = 1e-2 * exact.max()
        self.assertGreater((exact > bright).sum(), 20)
        off = np.abs(image - exact) / np.maximum(peaks_near(exact), bright)
        # At the edges peaks are not seen. Factors of a pixel are those of the spot, in the image to
        # compare with those of its middle.
        self.assertLess(off[8:-8, 8:-8].max(), within * tolerance)
        self.assertLess(abs(image.sum() / exact.sum() - 1), tolerance)
        return image, exact

    def test_a_still(self):
        self.check()
        self.check(tolerance=1e-2)

    def test_thin_slanted_spots_that_an_edge_divides(self):
        """About 8 times as long as wide, and much smaller than a pixel, whose average is off by 0.002 itself; with too few nodes 0.03."""
        self.check("-lambda 0.165 -pixel 0.23 -N 700 -cell 10.6 53.6 21.3 90 108.5 90 -misset 15 18 -37 -mosaic 0.003 --bandwidth-sigma=0 "
                   "-divergence_sigma 0.001 -detector_rotx 27 -detector_roty -27", within=4)

    def test_the_direct_beam_is_a_spot(self):
        image, exact = self.check()
        near = np.s_[SIZE // 2 - 6:SIZE // 2 + 6, SIZE // 2 - 6:SIZE // 2 + 6]
        np.testing.assert_allclose(image[near].sum(), exact[near].sum(), rtol=1e-3)

    def test_turned_detector(self):
        self.check("-twotheta 20 -detector_rotx 5 -detector_rotz 3")

    def test_one_layer_of_a_sensor_and_polarization(self):
        self.check("-detector_thick 450 -detector_abs 300 -detector_thicksteps 1 -polar 0.9")

    def test_water_and_background(self):
        self.check("-water 50 -stol water -thickness 0.05")

    def test_a_region(self):
        part = np.zeros((SIZE, 640))
        part[50:511, 30:601] = simulator("-detpixels_f 640").image(dtype=np.float64)[50:511, 30:601]
        np.testing.assert_allclose(simulator("-detpixels_f 640 -roi 30 600 50 510").image(dtype=np.float64), part, atol=1e-5 * part.max())

    def test_no_spread_at_all(self):
        flags = FLAGS.replace("-mosaic 0.2 --bandwidth-sigma=0.2 -divergence_sigma 0.4", "-oversample 4")
        spots, pixels = (nb.Simulator.from_flags(flags + more, threads=1).image(dtype=np.float64)
                         for more in ("", " --average-tolerance=1e-6"))
        np.testing.assert_allclose(spots, pixels, atol=2e-3 * pixels.max())

    def test_threads_and_the_gpus_twin(self):
        one = simulator().image(dtype=np.float64)
        np.testing.assert_array_equal(nb.Simulator.from_flags(FLAGS, threads=3).image(dtype=np.float64), one)
        twin = simulator(device="gpu-on-cpu").image(dtype=np.float64)
        # Its blocks are larger, and so are the parts of spots that are not left out.
        np.testing.assert_allclose(twin, one, atol=1e-5 * one.max())

    def test_what_is_too_wide_is_averaged_pixel_by_pixel(self):
        wide = "-mosaic 0.6 -N 100 --bandwidth-sigma=0 -divergence_sigma 0"
        exact = simulator(wide, "--cull=1e-9").image(dtype=np.float64)
        np.testing.assert_allclose(simulator(wide, "--cull=1e-8").image(dtype=np.float64), exact, atol=1e-6 * exact.max())

    def test_more_spots_than_pixels_are_averaged_pixel_by_pixel(self):
        """Their table would take longer, and more memory than there is."""
        many = "-lambda 0.05 -cell 50 50 50 90 90 90 -N 8 -pixel 0.2 -mosaic 0 --bandwidth-sigma=0 -divergence_sigma 0 --average-tolerance=1e-2 --cull=1e-9"
        halves = sum(simulator(many, f"-roi 0 {SIZE - 1} {begin} {begin + SIZE // 2 - 1}").image(dtype=np.float64) for begin in (0, SIZE // 2))
        np.testing.assert_allclose(simulator(many).image(dtype=np.float64), halves, atol=1e-8 * halves.max())
        with self.assertRaisesRegex(RuntimeError, "averages in closed form would take longer"):
            simulator(many, "-cell 600 600 600 90 90 90 -N 1").image()
        with self.assertRaisesRegex(ValueError, "reflections are on the detector, whose list needs .* GB of memory"):
            simulator(many, "-cell 600 600 600 90 90 90 -N 1").reflections()

    def test_numbers_change(self):
        sim = simulator()
        before = sim.image(dtype=np.float64).copy()
        sim["distance"] = 0.12
        np.testing.assert_array_equal(sim.image(dtype=np.float64), simulator("-distance 120").image(dtype=np.float64))
        sim["distance"] = 0.1
        np.testing.assert_array_equal(sim.image(dtype=np.float64), before)


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.weights = np.random.default_rng(5).normal(size=(SIZE, SIZE))

    def difference(self, sim, name):
        here = sim[name]
        step = 1e-5 * here if name not in ("misset_x", "misset_z") else 1e-6
        sums = []
        for number in (here + step, here - step):
            sim[name] = number
            sums.append((sim.image(dtype=np.float64) * self.weights).sum())
        sim[name] = here
        return (sums[0] - sums[1]) / (2 * step)

    def check(self, *flags, names=NUMBERS):
        sim = simulator(*flags)
        gradient = sim.gradient(",".join(names), cotangent=self.weights)
        jacobian = sim.jacobian(",".join(names))
        for name in names:
            # Reflections at the end of the table come and go.
            np.testing.assert_allclose(gradient[name], self.difference(sim, name), rtol=1e-3, err_msg=name)
            np.testing.assert_allclose((jacobian[name] * self.weights).sum(), gradient[name], rtol=1e-9, err_msg=name)
            change = sim.jvp({name: 1.0})
            np.testing.assert_allclose(change, jacobian[name], atol=1e-12 * np.abs(change).max(), err_msg=name)

    def test_against_differences(self):
        self.check()

    def test_what_is_no_spot_has_derivatives_too(self):
        self.check("-water 50 -polar 0.9", names=("misset_x", "fluence", "water_size"))

    def test_they_are_nearly_those_of_averages_of_each_pixel(self):
        names = ",".join(NUMBERS)
        of_spots = simulator().gradient(names, cotangent=self.weights)
        of_pixels = simulator("--average-tolerance=1e-6").gradient(names, cotangent=self.weights)
        for name in NUMBERS:
            np.testing.assert_allclose(of_spots[name], of_pixels[name], rtol=2e-2, err_msg=name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
