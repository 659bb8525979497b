#!/usr/bin/env python3
"""check_test.py NB_SIM COMPILER: --doctor tests an installation, --check describes a run and makes no file."""

import os
import re
import subprocess

import nb_sim
from nb_sim import FAKE_COMPILER, NB_SIM, NbSimTest

SMALL = "-cell 40 50 60 90 90 90 -default_F 10 -N 3 -lambda 1 -distance 100 -detpixels 64 -pixel 1 -oversample 1"


class Doctor(NbSimTest):
    def test_this_installation(self):
        done = self.run_nb_sim(["--doctor"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in (r"nb-sim +\d+\.\d+\.\d+, /.*nb-sim", r"processor +\S.*, \d+ threads", f"compiler +{re.escape(FAKE_COMPILER)}",
                     r"kernel cache +off: ", r"GPU cuda +\S", r"self-test +passed: a kernel was compiled, and agrees with the interpreter"):
            self.assertRegex(done.stdout, f"(?m)^{line}")
        self.assertEqual(self.snapshot(), {})

    def test_without_a_compiler(self):
        done = subprocess.run([NB_SIM, "--doctor", "-lambda", "1"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--doctor looks at the installation and takes no other flags, as '-lambda'", done.stderr)
        done = subprocess.run([NB_SIM, "--doctor"], env=dict(os.environ, NB_COMPILER_LIBRARY="/nowhere/libnb-compiler.so", NB_CACHE="off"),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^compiler +NO: .*/nowhere/libnb-compiler.so")
        self.assertNotIn("self-test", done.stdout)


class Check(NbSimTest):
    def test_an_image(self):
        self.add("image.pgm", "earlier")
        before = self.snapshot()
        done = self.run_nb_sim([*SMALL.split(), "-mosaic", "1", "-mosaic_domains", "5", "--check"])
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in (r"images +1 image of 64 x 64 pixels \(fast x slow\)", r"samples +5 in a pixel: 1 source, 5 mosaic domains, 1 phi step, ",
                     r"program +compiled kernel, f64, ", r"files +floatimage.bin, image.pgm \(exists, and would be replaced\), ",
                     r"time +about \S+ s, on the processor, measured"):
            self.assertRegex(done.stdout, f"(?m)^{line}")
        self.assertIn("WARNING: undersampled", done.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_a_series(self):
        done = self.run_nb_sim([*SMALL.split(), "--frames=100", "--osc-per-frame=0.1", "--check", "--nexus=a.nxs"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^images +100 images of ")
        self.assertRegex(done.stdout, r"(?m)^files +a.nxs$")
        self.assertRegex(done.stdout, r"(?m)^time +about .*, \S+ s an image")
        done = self.run_nb_sim([*SMALL.split(), "--frames=12", "--osc-per-frame=0.1", "--check", "--png=a.png", "--cbf=b.cbf"])
        self.assertRegex(done.stdout, r"(?m)^files +a_####.png, b_####.cbf$")
        self.assertEqual(self.snapshot(), {})

    def test_what_is_wrong_with_the_run_is_wrong_with_its_plan(self):
        done = self.run_nb_sim([*SMALL.split(), "-distance", "0.1", "--check"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("0.1 m would be -distance 100", done.stderr)


if __name__ == "__main__":
    nb_sim.main()
