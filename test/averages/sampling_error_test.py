#!/usr/bin/env python3
"""sampling_error_test.py NB_SIM: the warning about coarse sampling says how far the photons of spots are off, within
a factor of two: a coarse image against a fine one of the same experiment."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

NB_SIM = os.path.abspath(sys.argv[1])
PIXELS, HALF = 200, 4
COMMON = ("-cell 40 50 60 85 95 100 -default_F 100 -xds -lambda 1 -polar 0.9 -noprogress -nonoise -nopgm -detpixels "
          f"{PIXELS} -floatfile image.bin").split()


class Sampling(unittest.TestCase):
    def image(self, flags):
        """The image and what the warning says, in per cent, if there is one."""
        osc, steps = (re.search(flag + r" ([\d.]+)", flags) for flag in ("-osc", "-phisteps"))
        if osc:  # a step stands at its beginning; here in its middle, so that both images have one range
            flags += f" -phi {30 + float(osc[1]) / int(steps[1]) / 2}"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([NB_SIM, *COMMON, *flags.split()], cwd=folder, text=True, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr[-500:])
            image = np.fromfile(os.path.join(folder, "image.bin"), "<f4").astype(float).reshape(PIXELS, PIXELS)
        said = re.search(r"uncertain by (about|more than) (\d+) %", done.stdout + done.stderr)
        return image, float(said[2]) if said else None

    def spots(self, image):
        """Sums of windows around the brightest pixels, as a function of an image."""
        rest, places = image.copy(), []
        middle = slice(PIXELS // 2 - 12, PIXELS // 2 + 12)
        rest[middle, middle] = 0  # the direct beam
        least = rest.max() * 1e-4
        while rest.max() > least and len(places) < 400:
            y, x = np.unravel_index(rest.argmax(), rest.shape)
            if HALF <= min(y, x) and max(y, x) < PIXELS - HALF:
                places.append((y, x))
            rest[max(0, y - HALF):y + HALF + 1, max(0, x - HALF):x + HALF + 1] = 0
        self.assertGreater(len(places), 15)
        return lambda of: np.array([of[y - HALF:y + HALF + 1, x - HALF:x + HALF + 1].sum() for y, x in places])

    def agrees(self, common, coarse, fine):
        image, said = self.image(f"{common} {coarse}")
        truth, _ = self.image(f"{common} {fine}")
        sums = self.spots(truth)
        measured = 100 * np.sqrt(((sums(image) - sums(truth))**2).sum() / (sums(truth)**2).sum())
        self.assertIsNotNone(said, f"no warning, {measured:.1f} % are measured")
        text = f"{said} % are said, {measured:.1f} % measured"
        self.assertGreater(measured, said / 2, text)
        if said < 100:  # else it is more
            self.assertLess(measured, 2 * said, text)

    def test_pixels_of_a_still(self):
        self.agrees("-gauss_xtal -N 30 -misset 10 20 30 -distance 100 -pixel 0.15 -mosaic 0.1",
                    "-oversample 1 -mosaic_dom 200", "-oversample 4 -mosaic_dom 200")

    def test_pixels_of_a_rotation(self):
        self.agrees("-N 20 -misset 40 20 30 -distance 100 -pixel 0.18 -osc 1",
                    "-oversample 1 -phisteps 40", "-oversample 4 -phisteps 40")

    def test_pixels_of_round_crystals(self):
        self.agrees("-round_xtal -N 30 -misset 10 20 70 -distance 90 -pixel 0.25 -osc 0.5",
                    "-oversample 1 -phisteps 20", "-oversample 6 -phisteps 40")

    def test_phi_steps(self):
        self.agrees("-gauss_xtal -N 20 -misset 10 50 30 -distance 100 -pixel 0.15 -osc 2",
                    "-oversample 3 -phisteps 4", "-oversample 3 -phisteps 60")

    def test_domains_of_a_still(self):
        self.agrees("-gauss_xtal -N 30 -misset 10 50 70 -distance 120 -pixel 0.2 -mosaic 0.4",
                    "-oversample 3 -mosaic_dom 30", "-oversample 3 -mosaic_dom 1500")

    def test_domains_of_a_rotation(self):
        self.agrees("-gauss_xtal -N 20 -misset 10 50 70 -distance 120 -pixel 0.2 -mosaic 0.4 -osc 0.5",
                    "-oversample 2 -mosaic_dom 6 -phisteps 12", "-oversample 2 -mosaic_dom 150 -phisteps 12")

    def test_domains_of_an_ellipsoid(self):
        self.agrees("-gauss_xtal -N 25 -misset 10 50 70 -distance 120 -pixel 0.2 -mosaic_abc 0.3 0.3 0.3",
                    "-oversample 3 -mosaic_dom 30", "-oversample 3 -mosaic_dom 600")

    def test_divergence(self):
        self.agrees("-gauss_xtal -N 40 -misset 70 40 60 -distance 100 -pixel 0.2 -divergence_sigma 4 1",
                    "-oversample 5 -hdivsteps 4 -vdivsteps 4", "-oversample 5 -hdivsteps 20 -vdivsteps 20")

    def test_wavelengths(self):
        self.agrees("-gauss_xtal -N 40 -misset 70 40 60 -distance 100 -pixel 0.2 -dispersion 4",
                    "-oversample 5 -dispsteps 6", "-oversample 5 -dispsteps 100")

    def test_all_of_it(self):
        self.agrees("-N 30 -misset 20 40 60 -distance 150 -pixel 0.25 -mosaic 0.05 -osc 0.5",
                    "-oversample 1 -phisteps 5 -mosaic_dom 3", "-oversample 4 -phisteps 20 -mosaic_dom 15")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
