#!/usr/bin/env python3
"""--precision=mixed and f32 against f64: NB_SIM names the program.

The bound of mixed, relative to a pixel and to the brightest pixel: 1e-5 and 1e-7. Amplitudes are
good to about 1e-6; their phases come from 32-bit fractions of a turn, N times which is off by
3 N 2^-33; sums are f64, so that the number of samples does not matter."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

BEAM = "-lambda 1 -distance 100 -pixel 0.1 -misset 10 20 30 -mosaic 0.5"
CELL = "-cell 50 60 70 80 95 102 -default_F 100"


def image(words, precision, *more):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["NB_SIM"], *words.split(), f"--precision={precision}",
                        "-floatfile", "out.bin", "-nopgm", "-nonoise", "--quiet", *more],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return np.fromfile(os.path.join(folder, "out.bin"), "<f4")


class PrecisionTest(unittest.TestCase):
    def assertClose(self, words, precision="mixed", relative=1e-5, absolute=1e-7):
        got, want = (image(words, p).astype(float) for p in (precision, "f64"))
        self.assertGreater(want.max(), 0)
        excess = np.abs(got - want) / (relative * np.abs(want) + absolute * want.max())
        self.assertLessEqual(excess.max(), 1, f"worst pixel {got[excess.argmax()]:.9g} "
                                              f"instead of {want[excess.argmax()]:.9g}")

    def test_every_precision_is_another_kernel(self):
        words = f"{CELL} {BEAM} -N 10 -square_xtal -detpixels 64 -oversample 1"
        images = [image(words, p).tobytes() for p in ("f64", "mixed", "f32")]
        self.assertEqual(len(set(images)), 3)

    def test_mixed_up_to_a_thousand_cells(self):
        # A larger Gaussian crystal has peaks too narrow for this image: nothing but zeros.
        sizes = {"-square_xtal": (1, 5, 10, 100, 1000), "-round_xtal": (1, 5, 10, 100, 1000),
                 "-gauss_xtal": (1, 5, 10),
                 "-gauss_xtal -Ncells_def 0.5 -0.3 0.2": (1, 5, 10), "-tophat_spots": (1, 5, 10)}
        for shape, cells in sizes.items():
            for n in cells:
                with self.subTest(cells=n, shape=shape):
                    self.assertClose(f"{CELL} {BEAM} -N {n} {shape} -detpixels 64 "
                                     "-mosaic_domains 10 -oversample 1")

    def test_mixed_with_unequal_cells_and_a_bragg_peak_in_the_image(self):
        # The direct beam: h = k = l = 0 in the image's centre.
        self.assertClose(f"{CELL} {BEAM} -Na 1000 -Nb 3 -Nc 70 -detpixels 33 -mosaic_domains 4 "
                         "-oversample 1 -square_xtal")

    def test_a_hundred_thousand_samples_per_pixel_do_not_drift(self):
        self.assertClose(f"{CELL} {BEAM} -N 1000 -square_xtal -detpixels 4 -mosaic_domains 1000 "
                         "-oversample 10")

    def test_mixed_does_not_depend_on_the_number_of_threads(self):
        words = f"{CELL} {BEAM} -N 10 -square_xtal -detpixels 65 -oversample 1"
        one, three = (image(words, "mixed", f"--threads={n}") for n in (1, 3))
        self.assertTrue(np.array_equal(one, three))

    def test_indices_beyond_the_range_of_fixed_point_are_not_a_number(self):
        words = f"-cell 1e9 1e9 1e9 90 90 90 -default_F 100 {BEAM} -N 2 -detpixels 8 -oversample 1"
        self.assertTrue(np.isfinite(image(words, "f64")).all())
        self.assertTrue(np.isnan(image(words, "mixed")).any())

    def test_single_precision_is_good_for_a_preview_of_a_small_crystal(self):
        self.assertClose(f"{CELL} {BEAM} -N 3 -square_xtal -detpixels 64 -oversample 1", "f32",
                         relative=1e-2, absolute=1e-3)

    def test_gradients(self):
        words = f"{CELL} {BEAM} -N 3 -mosaic_dom 3 -detpixels 64 -oversample 1"

        def gradient(precision):
            done = subprocess.run([os.environ["NB_SIM"], *words.split(), "--grad=cell,misset,detector",
                                   f"--precision={precision}", "--json", "--quiet", "--no-fallback"],
                                  check=True, text=True, capture_output=True)
            self.assertEqual(done.stderr, "")
            entries = json.loads(done.stdout)["gradient"]
            return np.concatenate([np.atleast_1d(e["gradient"]) * (e["value"] or 1) for e in entries])

        want = gradient("f64")
        for precision, tolerance in (("mixed", 1e-4), ("f32", 1e-2)):
            np.testing.assert_allclose(gradient(precision), want, rtol=0,
                                       atol=tolerance * np.abs(want).max())


if __name__ == "__main__":
    unittest.main()
