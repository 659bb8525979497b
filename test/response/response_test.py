#!/usr/bin/env python3
"""response_test.py NB_SIM NB_GRADCHECK: what the detector makes of photons (-gain, -gain_map, -psf, noise), against NumPy.

The expectation is always a run without the flag, whose image is in photons."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PIXELS = 24
EXPERIMENT = ("-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
              f"-pixel 2 -detpixels {PIXELS} -oversample 2 -mosaic 1 -mosaic_dom 3 -fluence 1e29").split()
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
        seed = [] if "-seed" in flags or "--noise-seed" in flags else ["-seed", "5"]
        self.run_it(*flags, "-noisefile", "noise.img", *seed, "-nopgm", "--quiet")
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

    def point_spread(self, kind, fwhm_um, radius):
        """Shares by their formula, on a square of 2 radius + 1 pixels."""
        w = fwhm_um / 2000  # pixels of 2 mm
        edges = np.arange(-radius - 0.5, radius + 1)
        x, y = np.meshgrid(edges, edges)
        if kind == "gauss":
            erf = np.vectorize(math.erf)
            whole = erf(2 * math.sqrt(math.log(2)) * x / w) * erf(2 * math.sqrt(math.log(2)) * y / w) / 4
        else:
            g = 0.652383013252053 * w
            whole = np.arctan(x * y / (g * np.sqrt(g * g + x * x + y * y))) / (2 * np.pi)
        shares = np.diff(np.diff(whole, axis=0), axis=1)
        return shares / shares.sum()

    def spread(self, photons, shares):
        radius = len(shares) // 2
        out = np.zeros((PIXELS + 2 * radius, PIXELS + 2 * radius))
        for s in range(PIXELS):
            for f in range(PIXELS):
                out[s:s + 2 * radius + 1, f:f + 2 * radius + 1] += photons[s, f] * shares
        return out[radius:-radius, radius:-radius]

    def test_point_spread_against_its_formula(self):
        photons = self.image()
        for kind, fwhm, radius in (("gauss", 3000, 4), ("fiber", 2500, 6), ("fiber", 800, 2)):
            expected = self.spread(photons, self.point_spread(kind, fwhm, radius))
            flags = ["-psf", kind, "-psf_fwhm", str(fwhm), "-psf_radius", str(radius)]
            for engine in ENGINES:
                with self.subTest([kind, *engine]):
                    np.testing.assert_allclose(self.image(*flags, *engine), expected, rtol=3e-7,
                                               atol=1e-9 * photons.max())
        # The gains of pixels act on what has been spread.
        np.testing.assert_allclose(self.image(*flags, "-gain_map", "gains.npy", "-gain", "3"),
                                   3 * self.map * expected, rtol=3e-7, atol=1e-9 * photons.max())

    def test_point_spread_is_in_what_looks_at_the_program(self):
        flags = ["-psf", "fiber", "-psf_fwhm", "3000", "-psf_radius", "4", "-gain", "3", "-roi", "0", "20", "3", "23"]
        image = self.image(*flags)
        for fast, slow in ((0, 3), (9, 11), (20, 23)):
            trace = self.run_it(*flags, "--trace-pixel", f"{slow},{fast}").stdout
            adu = [line.split()[2] for line in trace.splitlines() if line.startswith("TRACE adu ")]
            self.assertEqual(len(adu), 1, trace)
            np.testing.assert_allclose(float(adu[0]), image[slow, fast], rtol=3e-7)
        compared = self.run_it(*flags, "--compare-engines").stdout
        self.assertIn("the engines agree", compared)
        self.assertRegex(compared, r"point spread: largest difference \S+, 0 pixels are beyond")

    def test_shares_do_not_depend_on_the_size_of_the_image(self):
        # The radius of both is larger than the image; what is beyond the edge is lost.
        photons = self.image()
        for kind, fwhm, radius in (("gauss", 40000, 60), ("fiber", 3000, 50)):
            expected = self.spread(photons, self.point_spread(kind, fwhm, radius))
            given = ["-psf_radius", str(radius)] if kind == "gauss" else []
            for engine in ENGINES:
                with self.subTest([kind, *engine]):
                    np.testing.assert_allclose(
                        self.image("-psf", kind, "-psf_fwhm", str(fwhm), *given, *engine), expected,
                        rtol=3e-7, atol=1e-9 * photons.max())

    def test_a_dead_counter_misses_photons(self):
        photons = self.image()
        exposure = 0.1
        dead = 0.7 * exposure / photons.max()  # below the largest count rate
        flags = ["-dead_time", repr(dead), "-exposure", repr(exposure)]
        expected = photons * np.exp(-photons / exposure * dead)
        self.assertLess(expected.sum(), 0.9 * photons.sum())
        for engine in ENGINES:
            with self.subTest(engine):
                np.testing.assert_allclose(self.image(*flags, *engine), expected, rtol=3e-7)
        self.run_it(*flags, "-nopgm", "--quiet")
        self.assertFalse(os.path.exists(self.path("noiseimage.img")))  # its counts would have another variance
        np.testing.assert_allclose(self.image(*flags, "--precision=mixed"), expected, rtol=1e-5,
                                   atol=1e-7 * photons.max())
        # It counts what has spread, and its counts are amplified.
        spread = self.spread(photons, self.point_spread("gauss", 3000, 4))
        expected = 3 * self.map * spread * np.exp(-spread / exposure * dead)
        psf = ["-psf", "gauss", "-psf_fwhm", "3000", "-psf_radius", "4", "-gain", "3", "-gain_map", "gains.npy"]
        for engine in ENGINES:
            with self.subTest(["-psf", *engine]):
                np.testing.assert_allclose(self.image(*flags, *psf, *engine), expected, rtol=3e-7,
                                           atol=1e-9 * photons.max())

    def test_derivatives_of_a_dead_counter(self):
        photons = self.image()
        flags = ["-dead_time", repr(0.7 / photons.max()), "-exposure", "1", "--loss=random:3"]
        psf = ["-psf", "fiber", "-psf_fwhm", "3000", "-psf_radius", "5", "-gain", "2.5"]
        for more in ([], ["--order=2"], ["--mode=forward"], psf, [*psf, "--order=2"],
                     ["--device=gpu-on-cpu"]):
            with self.subTest(more):
                done = self.run_it(*flags, *more, "--wrt=dead_time,exposure,fluence,cell_a",
                                   program=NB_GRADCHECK)
                self.assertEqual(done.stdout.count("passed: "), 2, done.stdout)

    def test_the_region_gets_light_from_around_it(self):
        flags = ["-psf", "gauss", "-psf_fwhm", "3000"]
        whole = self.image(*flags)
        part = self.image(*flags, "-roi", "4", "9", "2", "7")
        np.testing.assert_allclose(part[2:8, 4:10], whole[2:8, 4:10], rtol=3e-7)
        part[2:8, 4:10] = 0
        self.assertFalse(part.any())

    def test_point_spread_is_the_same_on_any_number_of_threads(self):
        flags = ["-psf", "fiber", "-psf_fwhm", "3000", "-gain", "2"]
        np.testing.assert_array_equal(self.image(*flags, "--threads=1"), self.image(*flags, "--threads=3"))

    def test_derivatives_of_point_spread(self):
        with open(self.path("list.txt"), "w", encoding="utf-8") as file:
            file.write("0 2 5 3 6\n0 20 21\n0 3 4\n")
        for kind, flags in (("gauss", []), ("fiber", ["--order=2"]), ("gauss", ["--pixels=list.txt"]),
                            ("fiber", ["--mode=forward", "-roi", "3", "17", "5", "20"])):
            with self.subTest([kind, *flags]):
                done = self.run_it("-psf", kind, "-psf_fwhm", "3000", "-psf_radius", "5", "-gain", "2.5",
                                   "-gain_map", "gains.npy", "--wrt=psf_fwhm,gain,pixel_size,cell_a",
                                   "--loss=random:3", *flags, program=NB_GRADCHECK)
                self.assertEqual(done.stdout.count("passed: "), 2, done.stdout)

    def test_noise_before_light_spreads_has_neighbours_alike(self):
        flat = ["-default_F", "1e-6", "-water", "0.05", "-fluence", "1e27",
                "-psf", "gauss", "-psf_fwhm", "4000"]
        noise = [self.noise(*flat, "--noise-seed", str(seed)) for seed in range(1, 13)]
        self.assertGreater(np.mean(noise), ADC + 20)
        deviation = np.array(noise) - np.mean(noise, axis=0)
        inner = deviation[:, 6:-6, 6:-6]
        variance = (inner ** 2).mean()
        shares = self.point_spread("gauss", 4000, 6)
        beside = (deviation[:, 6:-6, 5:-7] * inner).mean() / variance
        lag = (shares[:, 1:] * shares[:, :-1]).sum() / (shares ** 2).sum()
        self.assertAlmostEqual(beside, lag, delta=0.05)

    def test_noise_does_not_depend_on_threads(self):
        flags = ["-readout_noise", "3", "-calibration", "0.05", "-flicker", "0.02", "-psf", "fiber", "-psf_fwhm", "900"]
        np.testing.assert_array_equal(self.noise(*flags, "--threads=1"), self.noise(*flags, "--threads=3"))

    def test_serial_noise_is_that_of_the_c_program(self):
        # Its own noise image is held against the C program's in test/parity.
        of_c = self.noise("-compat", "c")
        np.testing.assert_array_equal(self.noise("-compat", "c", "--noise=serial"), of_c)
        self.assertTrue((self.noise("-compat", "c", "--noise=philox") != of_c).any())
        self.assertTrue((self.noise() != self.noise("--noise=serial")).any())

    def test_bad_pixels_and_overloads(self):
        flags = ["-water", "0.01", "--dead-pixels=0.1", "--hot-pixels=0.05", "-overload", "300"]
        self.assertGreater(self.noise("-water", "0.01").min(), ADC)
        got = self.noise(*flags)
        self.assertLessEqual(got.max(), 300)
        self.assertAlmostEqual((got == ADC).mean(), 0.1, delta=0.05)
        again = self.noise(*flags, "-seed", "6")
        hot = got == 300
        self.assertGreater((hot & (again == 300)).sum(), 0.02 * got.size)

    def test_wide_counts(self):
        flags = ["-gain", "10000", "-bits", "32"]
        self.run_it(*flags, "-noisefile", "wide.img", "-seed", "5", "-nopgm", "--quiet")
        with open(self.path("wide.img"), "rb") as file:
            data = file.read()
        self.assertIn(b"TYPE=long_integer;", data[:512])
        counts = np.frombuffer(data[512:], "<u4").astype(np.int64).reshape(PIXELS, PIXELS)
        np.testing.assert_array_equal(counts, 10000 * (self.noise() - ADC) + ADC)

    def test_noisify(self):
        """Byte for byte what noisify makes of the image, where NB_NOISIFY names that program."""
        program = os.environ.get("NB_NOISIFY")
        if not program:
            self.skipTest("NB_NOISIFY does not name the program noisify (built from the C program's repository); "
                          "test/IO/NoisifyTest.cpp has digests of its images")
        for flags in ("", "-flicker 0.02 -readout_noise 3 -gain 2.5 -adc 10", "-calibration 0 -calib_seed 9",
                      "-psf gauss -psf_fwhm 3000", "-psf fiber -psf_fwhm 900 -psf_radius 4 -bits 32"):
            with self.subTest(flags):
                self.run_it("-compat", "noisify", "-noisefile", "ours.img", "-floatfile", "photons.bin", "-seed", "5",
                            "-nopgm", "--quiet", *flags.split())
                subprocess.run([program, "-floatfile", "photons.bin", "-noisefile", "theirs.img", "-seed", "5",
                                "-pixel", "2", "-nopgm", *flags.split()], cwd=self.folder, check=True,
                               stdout=subprocess.DEVNULL)
                with open(self.path("ours.img"), "rb") as ours, open(self.path("theirs.img"), "rb") as theirs:
                    header = ours.read(512)
                    size = int(header.split(b"HEADER_BYTES=")[1].split(b";")[0])
                    ours.seek(size)
                    theirs.seek(512)
                    self.assertEqual(ours.read(), theirs.read())

    def test_noisify_leaves_the_image_alone(self):
        photons = self.image()
        np.testing.assert_array_equal(
            self.image("-compat", "noisify", "-gain", "3", "-gain_map", "gains.npy", "-psf", "fiber"), photons)

    def test_no_program_of_panels_of_several_sizes_is_shown(self):
        with open(self.path("panels.json"), "w") as file:
            json.dump([{"offset_mm": [0, 0, 0], "fast": [1, 0, 0], "slow": [0, 1, 0], "pixels": pixels}
                       for pixels in ((PIXELS, PIXELS), (5, 6))], file)
        for flags in (["--emit=nb"], ["--emit=nb", "--grad=distance"]):
            said = self.run_it("--panels=panels.json", "-psf", "gauss", *flags, status=1).stderr
            self.assertIn("no program spreads light over panels of several sizes", said)

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
                (["-dead_time", "1e-6"], 1, "give the time in which they arrive with -exposure"),
                (["-dead_time", "-1", "-exposure", "1"], 2, "-dead_time"),
                (["-dead_time", "1e-6", "-exposure", "1", "-noisefile", "n.img"], 2, "-noisefile"),
                (["-dead_time", "1e-6", "-exposure", "1", "--cbf=n.cbf"], 2, "-nonoise leaves it out"),
                (["-dead_time", "1e-6", "-exposure", "1", "--nexus=n.nxs"], 2, "-nonoise leaves it out"),
                (["-psf", "round"], 2, "'round' is not one of its values; give gauss or fiber"),
                (["-psf", "gauss", "-psf_fwhm", "0"], 2, "-psf_fwhm"),
                (["-psf_radius", "-1"], 2, "-psf_radius"),
                (["-bits", "8"], 2, "'8' is not one of its values; give 16 or 32"),
                (["-readout_noise", "-1"], 2, "-readout_noise"),
                (["-calibration", "3"], 2, "-calibration"),
                (["--grad=psf_fwhm"], 2, "'psf_fwhm' is not used by this experiment"),
                (["--grad=gain"], 2, "'gain' is not used by this experiment")):
            with self.subTest(flags):
                done = self.run_it(*flags, status=status)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("error"), 1, done.stderr)


if __name__ == "__main__":
    NB_SIM, NB_GRADCHECK = (os.path.abspath(path) for path in sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
