#!/usr/bin/env python3
"""round_trip_test.py NB_SIM: an image rendered from the file that --write-expt wrote with it is the same, also
with mosaic domains that are drawn."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

NB_SIM = os.path.abspath(sys.argv[1])
GEOMETRY = ("-cell 40 50 60 80 95 105 -misset 10 20 30 -lambda 1.1 -polar 0.8 -distance 90 -detpixels 150 -pixel 0.4 "
            "-phi 7 -osc 1 -detector_rotx 3 -twotheta 5")
OTHERS = "-hkl list.hkl -default_F 30 -N 12 -oversample 2 -phisteps 4 -noprogress -nonoise -nopgm"


class RoundTrip(unittest.TestCase):
    def both(self, geometry, others, once=""):
        """The image of the command line, and of the file; `once` is for the first alone."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "list.hkl"), "w") as file:  # no Friedel mates alike, no direct beam
                for h in range(-8, 9):
                    for k in range(-8, 9):
                        for l in range(-8, 9):
                            file.write(f"{h} {k} {l} {(h * 7 + k * 11 + l * 13) % 17 * 10 * any((h, k, l))}\n")

            def image(flags):
                done = subprocess.run([NB_SIM, *flags.split(), "-floatfile", "image.bin"], cwd=folder, text=True,
                                      capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                return np.fromfile(os.path.join(folder, "image.bin"), "<f4").astype(float)
            return image(f"{geometry} {others} {once} --write-expt=one.expt"), image(f"--expt=one.expt {others}")

    def same(self, others, once=""):
        for convention in ("-xds", "-mosflm", "-adxv"):
            first, again = self.both(f"{GEOMETRY} {convention}", f"{OTHERS} {others}", once)
            self.assertGreater(first.max(), 1)
            self.assertLess(np.abs(first - again).max(), 1e-6 * first.max(), convention)

    def test_one_domain(self):
        self.same("-gauss_xtal")

    def test_drawn_domains(self):
        self.same("-mosaic 0.5 -mosaic_domains 8")

    def test_domains_by_axes(self):
        self.same("-mosaic_abc 0.5 0.1 0.3 -mosaic_domains 8")

    def test_averages_stand_in_the_file(self):
        for spread in "-mosaic 0.3", "-mosaic_abc 0.4 0.1 0.2":
            self.same("-gauss_xtal", f"--average=closed {spread} --bandwidth-sigma=0.2 -divergence_sigma 0.5 0.2")

    def test_flags_decide_what_is_averaged(self):
        _, again = self.both(f"{GEOMETRY} -xds", f"{OTHERS} -gauss_xtal --average=sampled",
                             "--average=closed -mosaic 0.3")
        sampled, _ = self.both(f"{GEOMETRY} -xds", f"{OTHERS} -gauss_xtal")
        self.assertLess(np.abs(sampled - again).max(), 1e-6 * sampled.max())

    def test_domains_of_the_laboratory_are_others(self):
        first, again = self.both(f"{GEOMETRY} -xds", f"{OTHERS} -mosaic 0.5 -mosaic_domains 8 -mosaic_lab")
        self.assertGreater(np.abs(first - again).max(), 1e-2 * first.max())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
