"""Images of the spots of a table of reflections, against averages of each pixel."""

import os
import sys
import unittest
import warnings

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
    tight = "--average-tolerance=1e-6" if "-osc" not in " ".join(flags) else "--average-tolerance=1e-5 -phisteps 8"
    return sum(simulator(*flags, tight, f"-roi 0 {SIZE - 1} {begin} {begin + SIZE // 2 - 1}").image(dtype=np.float64)
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
        sim = simulator(*flags, f"--average-tolerance={tolerance}", **settings)
        image, exact = sim.image(dtype=np.float64), averaged(*flags)
        self.assertTrue(sim.averages.startswith("the sum of"), sim.averages)
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

    def test_a_complete_crossing(self):
        self.check("-phi 10 -osc 1 -mosaic 0.05")

    def test_crossings_that_the_step_cuts(self):
        """Spots near the spindle move by their own width and more, and have several parts."""
        for step in ("-osc 0.1", "-phi 33 -osc 0.4"):
            self.check(step)

    def test_lines_of_a_spectrum(self):
        self.check("-dispersion 0.4 -dispsteps 3")

    def test_layers_of_a_sensor(self):
        self.check("-detector_thick 450 -detector_abs 300 -detector_thicksteps 3")
        self.check("-detector_thick 450 -detector_abs 300 -detector_thicksteps 2 -dispersion 0.4 -dispsteps 2 -osc 0.2")

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

    def test_listed_pixels(self):
        whole = simulator("--average-tolerance=1e-3")
        image = whole.image(dtype=np.float64)
        bright = np.argwhere(image > 1e-3 * image.max())[::2]
        order = np.random.default_rng(1).permutation(len(bright))
        # Boxes row by row, pixels in any order, and one twice.
        boxes = [(s + i, f + j) for s, f in bright[:600:4] for i in range(-4, 5) for j in range(-4, 5)]
        places = np.array([p for p in [*boxes, *bright[order], bright[0]] if max(p) < SIZE and min(p) >= 0])
        places = np.tile(places, (1 + 2**15 // len(places), 1))
        listed = simulator("--average-tolerance=1e-3", pixels=[(0, *map(int, place)) for place in places])
        # Blocks of pixels differ, and with them the tails of spots, which end at 1e-6 of the peak.
        np.testing.assert_allclose(listed.image(dtype=np.float64), image[tuple(places.T)], rtol=0, atol=5e-6 * image.max())
        self.assertTrue(listed.averages.startswith("the sum of"), listed.averages)
        weight = np.zeros_like(image)
        np.add.at(weight, tuple(places.T), 1)
        of_list, of_image = listed.gradient("cell,mosaic_spread", np.ones(len(places))), whole.gradient("cell,mosaic_spread", weight)
        for name, value in of_list.items():
            self.assertAlmostEqual(value / of_image[name], 1, delta=1e-4)
        # Seven directions at once and one alone.
        jacobian = listed.jacobian("cell,mosaic_spread")
        for name in ("cell_b", "cell_alpha", "mosaic_spread"):
            alone = whole.jvp({name: 1.0})[tuple(places.T)]
            np.testing.assert_allclose(jacobian[name], alone, rtol=0, atol=1e-4 * np.abs(alone).max())

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
        sim = simulator(wide, "--cull=1e-8")
        np.testing.assert_allclose(sim.image(dtype=np.float64), exact, atol=1e-6 * exact.max())
        self.assertIn("of each pixel", sim.averages)

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


def random_flags(rng):
    """A crystal, a beam, a rotation step or none, sources and layers."""
    def uniform(low, high):
        return f"{rng.uniform(low, high):.4g}"

    def log(low, high):
        return f"{np.exp(rng.uniform(np.log(low), np.log(high))):.4g}"
    flags = ["-cell", *(uniform(40, 110) for _ in range(3)), "90", uniform(80, 110), "90", "-misset", *(uniform(0, 360) for _ in range(3)),
             "-N", str(int(float(log(8, 60)))), "-mosaic", log(0.03, 0.4), f"--bandwidth-sigma={log(0.01, 0.3)}", "-divergence_sigma", log(0.05, 0.6),
             "-distance", uniform(70, 160), "-detector_rotx", uniform(-10, 10), "-polar", uniform(-1, 1)]
    kind = rng.integers(4)
    if kind != 0:
        flags += ["-phi", uniform(0, 90), "-osc", log(0.03, 2)]
    if kind == 2:
        flags += ["-dispersion", uniform(0.1, 1), "-dispsteps", "2"]
    if kind == 3:
        flags += ["-detector_thick", "400", "-detector_abs", "300", "-detector_thicksteps", "2"]
    return " ".join(flags)


class RandomExperiments(unittest.TestCase):
    def test_errors_are_within_the_tolerance_or_pixels_are_averaged(self):
        served = 0
        for seed in range(int(os.environ.get("EXPERIMENTS", "6"))):
            flags = random_flags(np.random.default_rng(seed))
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                sim = simulator(flags)
                image = sim.image(dtype=np.float64)
            exact = averaged(flags)
            bright = 1e-2 * exact.max()
            off = (np.abs(image - exact) / np.maximum(peaks_near(exact), bright))[8:-8, 8:-8]
            most = np.quantile(off[exact[8:-8, 8:-8] > bright], 0.99)
            print(f"{seed}: {sim.averages}; {off.max():.1e} at worst, {most:.1e} of 99 %; {flags}", *(w.message for w in told), flush=True)
            served += sim.averages.startswith("the sum")
            if not told:
                self.assertLess(most, 1e-3, flags)
                self.assertLess(off.max(), 4e-3, flags)  # tails of crossings
        self.assertGreater(served, 3)


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.weights = np.random.default_rng(5).normal(size=(SIZE, SIZE))

    def difference(self, sim, name):
        here = sim[name]
        step = 1e-5 * here if name not in ("misset_x", "misset_z", "phi0") else 3e-6  # rounding is 1e-3 of a step of 1e-6
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

    def test_of_rotations_sources_and_layers(self):
        self.check("-osc 0.2", names=("misset_x", "mosaic_spread", "cell_beta", "osc", "phi0", "distance"))
        self.check("-dispersion 0.4 -dispsteps 2 -detector_thick 450 -detector_abs 300 -detector_thicksteps 2",
                   names=("misset_x", "wavelength", "sensor_thickness", "dispersion"))

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
