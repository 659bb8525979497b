#!/usr/bin/env python3
"""--cull=exact and --cull=TOL against --cull=off on random experiments: NB_SIM names the program.

exact: the same image bit by bit. TOL: each pixel lacks at most TOL times what it would have if every
sample were at the peak of its reflection, which is the image of the same experiment with -fudge so
small that spots have no end. Gradients: to rounding, and to TOL."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PANELS = [{"offset_mm": [0, 0, 0], "fast": [0, 0, 1], "slow": [0, -1, 0]},
          {"offset_mm": [0, 85, 0], "fast": [0, 0, 1], "slow": [0.1, -0.99498743710662, 0]}]


def write_mask(path, pixels=200):
    """Every third pixel and the lower half are masked."""
    header = f"{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n" \
             f"SIZE1={pixels};\nSIZE2={pixels};\n}}\n"
    values = np.ones((pixels, pixels), "<u2")
    values[:, ::3] = 0
    values[pixels // 2:] = 0
    with open(path, "wb") as file:
        file.write(header.encode().ljust(512))
        file.write(values.tobytes())


def run(words, *more):
    """The image, and what --timing says."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "panels.json"), "w") as file:
            json.dump(PANELS, file)
        write_mask(os.path.join(folder, "mask.img"))
        subprocess.run([os.environ["NB_SIM"], *words.split(), "-floatfile", "out.bin", "-nopgm",
                        "-nonoise", "--quiet", "--no-fallback", "--timing=t.json", *more],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "t.json")) as file:
            return np.fromfile(os.path.join(folder, "out.bin"), "<f4"), json.load(file)


def gradient(words, parameters, *more):
    result = subprocess.run([os.environ["NB_SIM"], *words.split(), f"--grad={parameters}", "--json",
                             "--quiet", "--no-fallback", *more], check=True, stdout=subprocess.PIPE, text=True)
    values = []
    for row in json.loads(result.stdout[result.stdout.index("{"):])["gradient"]:
        values.extend(np.atleast_1d(row["gradient"]))
    return np.array(values, float)


def experiment(r):
    """Flags of an experiment in which few samples have light."""
    cell = [r.uniform(40, 120) for _ in range(3)] + [r.uniform(75, 105) for _ in range(3)]
    n = r.choice((60, 100, 200, 300))
    words = ["-cell", *(f"{x:.3f}" for x in cell), "-N", str(n), "-default_F", "100",
             "-lambda", f"{r.uniform(0.8, 1.5):.3f}", "-distance", f"{r.uniform(60, 200):.2f}",
             "-detpixels", "200", "-pixel", "0.4", "-misset", *(f"{r.uniform(0, 90):.3f}" for _ in range(3)),
             "-mosaic", f"{r.uniform(0.05, 1):.3f}", "-mosaic_dom", str(r.choice((1, 7, 20)))]
    words += r.choice((["-gauss_xtal"], ["-gauss_xtal"], ["-tophat_spots"], ["-round_xtal"], ["-square_xtal"],
                       ["-square_xtal"], ["-gauss_xtal", "-Ncells_def", "10", "-8", "5"]))
    maybe = [["-phi", "10", "-osc", "1", "-phisteps", "5"], ["-twotheta", "20"],
             ["-hdivrange", "1", "-hdivsteps", "3"], ["-dispersion", "1", "-dispsteps", "4"],
             ["-detector_rotx", "5", "-detector_roty", "-10"], ["-oversample", "2"],
             ["-detector_thick", "1500", "-detector_thicksteps", "5", "-detector_abs", "3000"],
             ["-roi", "13", "150", "21", "190"], ["-water", "0.1"], ["-Xbeam", "20", "-Ybeam", "55"],
             ["-pivot", "sample"], ["-nopolar"], ["-dmin", "3"], ["-mask", "mask.img"],
             ["-curved_det"], ["-curved_det", "-mosaic_dom", "300"]]
    if "-Ncells_def" not in words:
        maybe.append(["-compat", "c"])
    for flags in r.sample(maybe, r.randrange(4)):
        words += flags
    if "-oversample" not in words:
        words += ["-oversample", "1"]
    if r.random() < 0.2 and "-mask" not in words and "-curved_det" not in words:
        words.append("--panels=panels.json")
    return " ".join(words)


class CullingTest(unittest.TestCase):
    def exact(self, words, share):
        """The image, which is the same with exact, where less than that share of the samples is computed."""
        off, _ = run(words, "--cull=off")
        exact, timing = run(words, "--cull=exact")
        self.assertLess(timing["samples_evaluated"], share * timing["samples"])
        self.assertEqual(off.tobytes(), exact.tobytes())
        return off

    def within(self, words, precision, tolerance, off):
        """No pixel lacks more than that; returns the share of the samples that are computed."""
        some, timing = run(words, precision, f"--cull={tolerance}")
        # A square crystal's peak is a Gaussian one's.
        peak, _ = run(words.replace("-square_xtal", "-gauss_xtal"), "-fudge", "1e-12", "--cull=off")
        off, some, peak = (x.astype(float) for x in (off, some, peak))
        self.assertTrue(np.all(np.abs(off - some) <= 1.01 * tolerance * peak + 2e-7 * off))
        return timing["samples_evaluated"] / timing["samples"]

    def test_random_experiments(self):
        r = random.Random(int(os.environ.get("NB_SEED", "5")))
        culled = 0
        trials = int(os.environ.get("NB_TRIALS", "12"))
        for _ in range(trials):
            words = experiment(r)
            precision = "--precision=" + r.choice(("f64", "mixed"))
            tolerance = r.choice((1e-6, 1e-9, 1e-12))
            with self.subTest(words=words, precision=precision, tolerance=tolerance):
                off, _ = run(words, precision, "--cull=off")
                exact, _ = run(words, precision, "--cull=exact")
                self.assertEqual(off.tobytes(), exact.tobytes())
                culled += self.within(words, precision, tolerance, off) < 0.9
        self.assertGreaterEqual(culled, trials // 3)

    def test_gradients(self):
        words = ("-cell 70 80 90 90 100 90 -N 80 -mosaic 0.3 -mosaic_dom 10 -lambda 1 -distance 100 "
                 "-detpixels 128 -pixel 0.6 -default_F 100 -gauss_xtal -oversample 1 -misset 7 8 9")
        parameters = "cell,misset,ncells,distance,mosaic_spread,wavelength,beam_center"
        for more in ("", "-phi 1 -osc 2 -phisteps 4 -hdivrange 1 -hdivsteps 2", "--precision=mixed"):
            off = gradient(words + " " + more, parameters, "--cull=off")
            exact = gradient(words + " " + more, parameters, "--cull=exact")
            some = gradient(words + " " + more, parameters, "--cull=1e-12")
            self.assertTrue(np.all(np.abs(off) > 0))
            np.testing.assert_allclose(exact, off, rtol=1e-11)
            np.testing.assert_allclose(some, off, rtol=1e-6)

    def test_gradient_by_structure_factors(self):
        # A list has an entry of derivatives for each reflection, of which few shine.
        flags = ("-cell 70 80 90 90 100 90 -N 30 -mosaic 1 -mosaic_dom 100 -lambda 1 -distance 100 -detpixels 128 "
                 "-pixel 0.6 -gauss_xtal -oversample 1 -misset 7 8 9 -default_F 0")
        r = random.Random(11)
        indices = [(h, k, l) for h in range(-12, 13) for k in range(-12, 13) for l in range(-12, 13)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.hkl")
            with open(path, "w") as file:
                file.writelines(f"{h} {k} {l} {r.uniform(10, 100):.3f}\n" for h, k, l in indices)
            words = f"{flags} -hkl {path}"
            off, exact, some = (gradient(words, "F", f"--cull={c}") for c in ("off", "exact", "1e-9"))
        self.assertGreater(np.count_nonzero(off > 1e-6 * off.max()), 30)
        np.testing.assert_allclose(exact, off, rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(some, off, rtol=0, atol=1e-7 * off.max())
        self.assertFalse(np.array_equal(some, off))

    def test_where_it_cannot_pay_all_are_computed(self):
        words = ("-cell 70 80 90 90 90 90 -mosaic 0.2 -mosaic_dom 20 -lambda 1 -distance 100 -detpixels 64 -pixel 0.2 "
                 "-default_F 100 -oversample 1")
        for crystal, computed in (("-N 10", 1), ("-N 1", 1), ("-N 300", 0.5)):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([os.environ["NB_SIM"], *words.split(), *crystal.split(), "--cull=1e-9", "-nopgm",
                                       "-floatfile", "a.bin", "-nonoise", "--timing=t.json"], cwd=folder, check=True,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                with open(os.path.join(folder, "t.json")) as file:
                    timing = json.load(file)
                self.assertLessEqual(timing["samples_evaluated"], computed * timing["samples"])
                self.assertEqual("leaves out no sample" in done.stderr, computed == 1, done.stderr)

    def test_listed_pixels(self):
        words = ("-cell 70 80 90 90 90 90 -N 100 -mosaic 0.2 -mosaic_dom 300 -lambda 1 -distance 100 -detpixels 256 "
                 "-pixel 0.4 -default_F 100 -oversample 2 -nopgm -nonoise --quiet")
        for shape, tolerance in (("-gauss_xtal", "1e-12"), ("-square_xtal", "1e-6"), ("-tophat_spots", "exact")):
            images = []
            for cull in ("off", tolerance):
                with tempfile.TemporaryDirectory() as folder:
                    with open(os.path.join(folder, "list.txt"), "w") as file:
                        file.write("0 20 60 30 50\n0 200 230 10 40\n0 7 9\n")
                    subprocess.run([os.environ["NB_SIM"], *words.split(), shape, f"--cull={cull}", "--pixels=list.txt",
                                    "-floatfile", "a.bin", "--timing=t.json"], cwd=folder, check=True)
                    with open(os.path.join(folder, "t.json")) as file:
                        timing = json.load(file)
                    images.append(np.fromfile(os.path.join(folder, "a.bin"), "<f4").astype(float))
            self.assertLess(timing["samples_evaluated"], 0.7 * timing["samples"])
            off, some = images
            self.assertGreater(off.sum(), 0)
            self.assertTrue(np.all(some <= off * (1 + 1e-6)))
            self.assertLess(np.abs(off - some).sum(), 2e-2 * off.sum())

    def test_few_samples_are_computed(self):
        words = ("-cell 70 80 90 90 90 90 -N 100 -mosaic 0.2 -mosaic_dom 20 -lambda 1 -distance 100 "
                 "-detpixels 512 -pixel 0.2 -default_F 100 -gauss_xtal -oversample 1")
        for setting, share in (("exact", 0.2), ("1e-12", 0.005)):
            _, timing = run(words, f"--cull={setting}")
            self.assertLess(timing["samples_evaluated"], share * timing["samples"])
            self.assertLess(timing["samples_lit"], timing["samples_evaluated"])

    def test_between_fringes(self):
        # The envelope of a square crystal alone keeps 8.8 % of these samples.
        words = ("-cell 70 80 90 90 90 90 -N 300 -mosaic 0.2 -mosaic_dom 20 -lambda 1 -distance 100 -misset 10 20 30 "
                 "-detpixels 128 -pixel 0.8 -default_F 100 -square_xtal -oversample 1")
        _, timing = run(words, "--cull=1e-9")
        self.assertLess(timing["samples_evaluated"], 0.06 * timing["samples"])

    def test_sources_of_a_square_crystal(self):
        words = ("-cell 70 80 90 90 90 90 -N 100 -mosaic 0.2 -mosaic_dom 10 -lambda 1 -distance 100 -misset 10 20 30 "
                 "-detpixels 128 -pixel 0.8 -default_F 100 -square_xtal -oversample 1 -hdivrange 10 -hdivsteps 3 -dispersion 3 -dispsteps 3")
        off, _ = run(words, "--cull=off")
        self.assertLess(self.within(words, "--precision=f64", 1e-6, off), 0.5)

    def test_spots_between_the_depths_of_a_thick_sensor(self):
        # Smaller than a pixel, they may miss all pixel centres at the first depth and at the last one.
        words = ("-cell 70 80 90 90 90 90 -mosaic 0.2 -mosaic_dom 30 -lambda 1 -distance 40 -detpixels 300 -pixel 0.2 "
                 "-default_F 100 -oversample 1 -misset 10 20 30 -detector_thick 2000 -detector_thicksteps 5 "
                 "-detector_abs 5000")
        for shape in ("-tophat_spots -N 60", "-gauss_xtal -N 300"):
            self.assertGreater(np.count_nonzero(self.exact(f"{words} {shape}", 0.5)), 50)

    def test_curved_detectors(self):
        words = ("-cell 70 80 90 90 100 90 -N 25 -mosaic 1 -mosaic_dom 50 -lambda 1 -distance 100 -detpixels 400 "
                 "-pixel 0.3 -default_F 100 -oversample 1 -misset 10 20 30 -tophat_spots -curved_det")
        thick = "-detector_thick 2000 -detector_thicksteps 4 -detector_abs 5000"
        for more in ("", "-compat c -fudge 0.01", "-twotheta 25", "-detector_rotx 30 -detector_roty 10 -Xbeam 20",
                     thick, f"{thick} -compat c -fudge 0.01 -detector_rotz 15", "-roi 40 300 100 200",
                     f"{thick} -beam_vector -1 0.1 0", "-pivot sample -twotheta_axis 0 0 1 -twotheta 160"):
            with self.subTest(more=more):
                self.assertGreater(np.count_nonzero(self.exact(f"{words} {more}", 0.1)), 50)

    def test_curved_detector_behind_the_crystal(self):
        # So near that rays go back to its edge: all is computed.
        words = ("-cell 70 80 90 90 90 90 -N 25 -mosaic 1 -mosaic_dom 30 -lambda 1 -distance 20 -detpixels 200 -pixel 0.4 "
                 "-default_F 100 -oversample 1 -misset 10 20 30 -tophat_spots -curved_det")
        off, _ = run(words, "--cull=off")
        exact, timing = run(words, "--cull=exact")
        self.assertEqual(timing["samples_evaluated"], timing["samples"])
        self.assertGreater(np.count_nonzero(off), 0)
        self.assertEqual(off.tobytes(), exact.tobytes())

    def test_orientations_of_all_kinds(self):
        # Too far apart to be looked at together.
        words = ("-cell 70 80 90 90 100 90 -N 60 -lambda 1 -distance 100 -detpixels 256 -pixel 0.4 -default_F 100 "
                 "-oversample 1 -gauss_xtal")
        for more in ("-mosaic 180 -mosaic_dom 40", "-mosaic 20 -mosaic_dom 30 -phi 0 -osc 90 -phisteps 3"):
            with self.subTest(more=more):
                self.exact(f"{words} {more}", 0.2)

    def test_no_sample_has_light(self):
        words = ("-cell 70 80 90 90 90 90 -N 3000 -tophat_spots -lambda 1 -distance 100 -detpixels 64 -pixel 0.2 "
                 "-default_F 100 -oversample 1 -misset 10 20 30")
        image, timing = run(words, "--cull=exact")
        self.assertEqual(np.count_nonzero(image), 0)
        self.assertEqual(timing["samples_evaluated"], 0)
        self.assertEqual(timing["samples_lit"], 0)

    def test_threads_and_background(self):
        words = ("-cell 70 80 90 90 90 90 -N 100 -mosaic 0.2 -mosaic_dom 20 -lambda 1 -distance 100 "
                 "-detpixels 256 -pixel 0.4 -default_F 100 -gauss_xtal -oversample 1 -water 0.2")
        one, _ = run(words, "--threads=1")
        two, _ = run(words, "--threads=2")
        off, _ = run(words, "--cull=off")
        self.assertTrue(np.all(one > 0))
        self.assertEqual(one.tobytes(), two.tobytes())
        self.assertEqual(one.tobytes(), off.tobytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
