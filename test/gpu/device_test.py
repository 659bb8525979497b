#!/usr/bin/env python3
"""device_test.py NB_SIM NB_COMPILE: --device=gpu-on-cpu renders and differentiates what the CPU's
kernels do, and what cannot be had is refused in one sentence."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
SMALL = "-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -pixel 1 -oversample 2".split()
# Nearly all samples are dark.
SHARP = ("-cell 70 80 90 90 100 90 -N 200 -gauss_xtal -lambda 1 -distance 100 -pixel 0.5 -detpixels 150 "
         "-oversample 1 -default_F 10 -misset 10 20 30 -mosaic 0.3 -mosaic_dom 30").split()
NB_SIM = ""


class Device(unittest.TestCase):
    device = "gpu-on-cpu"
    # Sums over pixels are added up in another order on each device.
    rounding = 1e-13

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def some(self, cases):
        """The cases that are compared on this device."""
        return cases

    def nb_sim(self, *words):
        return subprocess.run([NB_SIM, *words], cwd=self.root, text=True, capture_output=True)

    def render(self, device, *words):
        done = self.nb_sim(*words, f"--device={device}", "--no-fallback", "--threads=1", "--quiet",
                           "-nonoise", "-nopgm", "-floatfile", "image.bin", "--timing", "t.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.device_of(json.loads((self.root / "t.json").read_text())), device)
        return np.fromfile(self.root / "image.bin", "<f4").astype(float)

    def device_of(self, timing):
        target = timing["target"]
        return target.rpartition(" ")[2] if "gpu-on-cpu" in target else "cpu"

    def compare(self, *words, rtol=1e-6, atol=1e-9):
        want, got = self.render("cpu", *words), self.render(self.device, *words)
        self.assertGreater(want.size, 0)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol * np.abs(want).max())
        return want

    def test_pixels_next_to_the_edges_of_blocks(self):
        for pixels in (1, 127, 128, 129, 257):
            with self.subTest(pixels):
                image = self.compare(*SMALL, "-detpixels_x", str(pixels), "-detpixels_y", "3")
                self.assertTrue((image > 0).all())

    def test_region_of_interest_is_0_outside(self):
        image = self.compare(*SMALL, "-detpixels", "200", "-roi", "100", "150", "20", "30")
        rows, columns = np.nonzero(image.reshape(200, 200))
        self.assertEqual((rows.min(), rows.max(), columns.min(), columns.max()), (20, 30, 100, 150))

    def test_several_panels(self):
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in (0, 40)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        image = self.compare(*SMALL, "-detpixels", "32", "--panels", "panels.json")
        self.assertEqual(image.size, 2 * 32 * 32)

    def test_threads_do_not_change_the_image(self):
        words = (*SMALL, "-detpixels", "150", f"--device={self.device}", "--quiet", "-nonoise", "-nopgm")
        for threads in (1, 3):
            self.assertEqual(self.nb_sim(*words, f"--threads={threads}", "-floatfile",
                                         f"{threads}.bin").returncode, 0)
        self.assertEqual((self.root / "1.bin").read_bytes(), (self.root / "3.bin").read_bytes())

    def test_mixed_and_single_precision(self):
        for precision, rtol in (("mixed", 1e-5), ("f32", 1e-3)):
            self.compare(*SMALL, "-detpixels", "64", f"--precision={precision}", rtol=rtol, atol=1e-6)

    def test_samples_without_light(self):
        """Warps run over lists of blocks of 32 pixels; images are bitwise those of all samples."""
        hkl = str(DATA / "1hpv_3.0A.hkl")
        for words in self.some((
                (), ("-phi", "1", "-osc", "1", "-phisteps", "3"), ("-oversample", "2"),
                ("-dispersion", "1", "-dispsteps", "3", "-divergence", "1", "-divsteps", "2"),
                ("-detector_thick", "500", "-detector_abs", "200", "-detector_thicksteps", "3"),
                ("-roi", "20", "120", "40", "110"), ("-tophat_spots", "-N", "30"), ("-water", "20"),
                ("-hkl", hkl), ("-detpixels_x", "33"), ("--precision=mixed", "-N", "120"),
                ("-curved_det", "-mosaic_dom", "300", "-mosaic", "0.3"),
                ("-Ncells_def", "2", "1", "-3"))):
            with self.subTest(words):
                everything = self.render(self.device, *SHARP, *words, "--cull=off")
                np.testing.assert_array_equal(
                    self.render(self.device, *SHARP, *words, "--cull=exact"), everything)
                timing = json.loads((self.root / "t.json").read_text())
                self.assertLess(timing["samples_evaluated"], 0.5 * timing["samples"])
                self.assertGreater(np.count_nonzero(everything), 0)
        everything = self.render(self.device, *SHARP)
        timing = json.loads((self.root / "t.json").read_text())
        self.assertEqual(timing["samples_evaluated"], timing["samples"])
        for words in (("--cull=1e-9",), ("-square_xtal", "--cull=1e-9"), ("-round_xtal", "--cull=1e-5")):
            with self.subTest(words):
                off = self.render(self.device, *SHARP, *words, "--cull=off")
                some = self.render(self.device, *SHARP, *words)
                timing = json.loads((self.root / "t.json").read_text())
                self.assertLess(timing["samples_evaluated"], 0.9 * timing["samples"])
                self.assertTrue((some <= off * (1 + 1e-6)).all())
                peak = off.max()
                if "-round_xtal" in words:  # its pixels at their peaks
                    peak = self.render(self.device, *SHARP, *words, "-fudge", "0", "--cull=off").max()
                np.testing.assert_allclose(some, off, rtol=1e-6, atol=1e-5 * peak)

    def test_gradients_of_what_is_lit(self):
        for words in self.some((("--cull=1e-24", "-dispersion", "1", "-dispsteps", "3"), ("--cull=1e-24",),
                                ("--cull=1e-24", "-roi", "20", "120", "40", "110"))):
            self.assertGreaterEqual(self.compare_gradients(*SHARP, *words, "--grad=scalars", rtol=1e-11), 10)

    def test_gradients_of_mixed(self):
        for words in ((), ("-gauss_xtal",)):
            words = (*SMALL, "-detpixels", "64", "--precision=mixed", "--grad=cell,ncells,misset,fluence", *words)
            self.assertGreaterEqual(self.compare_gradients(*words, rtol=1e-6), 10)

    def test_warps_of_64(self):
        """On the processor, as AMD's gfx9 has them: pixels are the same, sums over them differ by their order. Blocks
        of pixels that are lit have twice the columns."""
        wide = "gpu-on-cpu:64"
        for words in ((*SMALL, "-detpixels_x", "129", "-detpixels_y", "3"),
                      (*SMALL, "-detpixels", "200", "-roi", "100", "150", "20", "30"),
                      (*SMALL, "-detpixels", "64", "--precision=mixed"),
                      (*SHARP, "--cull=exact"), (*SHARP, "--cull=1e-9"),
                      (*SHARP, "--cull=exact", "-oversample", "2", "-roi", "20", "120", "40", "110"),
                      (*SHARP, "--cull=exact", "-curved_det", "-mosaic_dom", "300")):
            with self.subTest(words):
                narrow = self.render("gpu-on-cpu", *words)
                of_32 = json.loads((self.root / "t.json").read_text())
                np.testing.assert_allclose(self.render(wide, *words), narrow, rtol=1e-6,
                                           atol=1e-5 * narrow.max() if "--cull=1e-9" in words else 0)
                self.assertGreater(np.count_nonzero(narrow), 0)
                of_64 = json.loads((self.root / "t.json").read_text())
                if words[:len(SHARP)] == tuple(SHARP):
                    self.assertLess(of_64["samples_evaluated"], 0.6 * of_64["samples"])
                    self.assertGreater(of_64["samples_evaluated"], of_32["samples_evaluated"])
        for words in ((*SMALL, "-detpixels", "150", "--grad=scalars"),
                      (*SMALL, "-detpixels", "33", "-gauss_xtal", "-oversample", "2", "--grad=scalars"),
                      (*SHARP, "--cull=1e-24", "--grad=scalars")):
            with self.subTest(words):
                self.assertGreaterEqual(self.compare_gradients(*words, rtol=1e-11, device=wide), 10)

    def gradient(self, device, *words):
        done = self.nb_sim(*words, f"--device={device}", "--no-fallback", "--threads=1", "--quiet",
                           "--json", "--timing", "t.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["engine"], "fused")
        return result

    def compare_gradients(self, *words, rtol=None, device=None):
        """The sums of both devices differ by rounding, of terms that may cancel: it is
        measured by the loss, per size of the parameter."""
        rtol = rtol or self.rounding
        want, got = self.gradient("cpu", *words), self.gradient(device or self.device, *words)
        self.assertGreater(abs(want["loss"]), 0)
        self.assertLess(abs(got["loss"] - want["loss"]), rtol * abs(want["loss"]))
        compared = 0
        for x, y in zip(want["gradient"], got["gradient"], strict=True):
            self.assertEqual(x["parameter"], y["parameter"])
            flat = [np.ravel(np.asarray(g[k], float)) for g in (x, y) for k in ("value", "gradient")]
            size = 1 if x["unit"] in ("rad", "1") else np.abs(flat[0]).max() or 1
            scale = abs(want["loss"]) / size + np.abs(flat[1])
            self.assertLess((np.abs(flat[3] - flat[1]) / scale).max(), 10 * rtol, x["parameter"])
            compared += bool(np.abs(flat[1]).max() > 0)
        return compared

    def test_gradients(self):
        hkl = str(DATA / "1hpv_3.0A.hkl")
        several = "-phi 1 -osc 2 -phisteps 2 -mosaic_dom 3 -mosaic_spread 1 -dispersion 1 -dispsteps 2"
        for name, least, flags in self.some((
                ("all scalars", 15, "-detpixels 150"),
                ("tables", 20, f"-detpixels 35 {several} -oversample 2"),
                ("gauss", 10, f"-detpixels 33 {several} -gauss_xtal"),
                ("gauss matrix", 13, f"-detpixels 33 {several} -gauss_xtal -Ncells_def 1 -0.5 0.3"),
                ("gain", 16, "-detpixels 40 -gain 2.5"),
                ("round", 10, "-detpixels 33 -round_xtal"),
                ("curved", 10, "-detpixels 40 -curved_det"),
                ("thick sensor", 15, "-detpixels 20 -detector_thick 500 -detector_abs 200 "
                                     "-detector_thicksteps 3"),
                ("interpolated", 10, f"-detpixels 20 -hkl {hkl} -interpolate"),
                ("region", 10, "-detpixels 200 -roi 120 161 20 30"))):
            with self.subTest(name):
                words = [*SMALL, *flags.split(), "--grad=scalars"]
                if name == "interpolated":
                    del words[words.index("-default_F"):words.index("-default_F") + 2]
                self.assertGreaterEqual(self.compare_gradients(*words), least)

    def test_gradients_by_tables_and_vectors(self):
        flags = "-detpixels 40 -dispersion 1 -dispsteps 3 -mosaic_dom 4 -mosaic_spread 1".split()
        self.assertGreater(self.compare_gradients(
            *SMALL, *flags, "--grad=source_weight,beam_direction,polarization_axis,fast_axis"), 2)

    def test_gradients_by_panels(self):
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in (0, 40)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        self.assertGreater(self.compare_gradients(
            *SMALL, "-detpixels", "40", "--panels", "panels.json", "--grad=panels"), 2)

    def test_threads_do_not_change_the_gradient(self):
        words = (*SMALL, "-detpixels", "150", f"--device={self.device}", "--quiet", "--grad=scalars",
                 "--json")
        one, three = (self.nb_sim(*words, f"--threads={n}").stdout for n in (1, 3))
        self.assertTrue(one.startswith("{"))
        self.assertEqual(one, three)

    def test_gradients_by_structure_factors(self):
        plain = [*SMALL, "-hkl", str(DATA / "1hpv_3.0A.hkl")]
        del plain[plain.index("-default_F"):plain.index("-default_F") + 2]
        one_plane = self.root / "one_plane.hkl"
        one_plane.write_text("".join(f"{h} {k} 0 {10 + h * k}\n"
                                     for h in range(-9, 10) for k in range(-9, 10)))
        for name, flags in self.some((
                ("nearest", "-detpixels 70 -mosaic_dom 3 -mosaic_spread 1 --grad=F"),
                ("with scalars", "-detpixels_x 130 -detpixels_y 3 -oversample 2 --grad=F,cell,misset"),
                ("interpolated", "-detpixels 33 -interpolate --grad=F"),
                ("rows shorter than four", f"-detpixels 33 -interpolate -hkl {one_plane} --grad=F"),
                ("region", "-detpixels 140 -roi 75 100 60 66 --grad=F"),
                ("gauss", "-detpixels 40 -gauss_xtal -phi 1 -osc 2 -phisteps 2 --grad=F"))):
            with self.subTest(name):
                self.assertGreaterEqual(self.compare_gradients(*plain, *flags.split()), 1)

    def refused(self, *words):
        done = self.nb_sim(*SMALL, "-detpixels", "8", *words)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertEqual(os.listdir(self.root), [])
        return done.stderr

    def test_devices_that_there_are_not(self):
        for device in ("tpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1"):
            self.assertIn("is not a device; use one of auto, cpu, gpu-on-cpu, gpu-on-cpu:64, all, cuda, "
                          "cuda:N, cuda:all, opencl, opencl:N, opencl:all",
                          self.refused(f"--device={device}"))


if __name__ == "__main__":
    NB_SIM = os.path.abspath(sys.argv[-2])
    unittest.main(argv=sys.argv[:-2])
