"""The environment variables that turn compilation off, on whole runs of nb-sim.

    guard_test.py NB_SIM"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

EXPERIMENT = ("-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
              "-pixel 2 -detpixels 24 -nonoise -nopgm -noprogress").split()
VARIABLES = ("NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE")


class Guard(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_with(self, flags=(), **variables):
        environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        environment |= variables | {"NB_CACHE_DIR": os.path.join(self.folder, "cache")}
        done = subprocess.run([PROGRAM, *EXPERIMENT, "--timing=timing.json", *flags],
                              cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(self.folder, "timing.json"), encoding="utf-8") as file:
            engine = json.load(file)["engine"]
        image = np.fromfile(os.path.join(self.folder, "floatimage.bin"), np.float32)
        return engine, image

    def test_without_them_the_kernel_runs(self):
        engine, image = self.run_with()
        self.assertEqual(engine, "fused")
        self.assertGreater(image.max(), 0)

    def test_either_spelling_asks_for_the_interpreter(self):
        _, reference = self.run_with()
        for variable in VARIABLES:
            for value in ("1", "yes", "true"):
                engine, image = self.run_with(**{variable: value})
                self.assertEqual(engine, "interpreter", f"{variable}={value}")
                np.testing.assert_allclose(image, reference, rtol=1e-6)

    def test_zero_and_nothing_mean_off(self):
        for variable in VARIABLES:
            for value in ("0", ""):
                engine, _ = self.run_with(**{variable: value})
                self.assertEqual(engine, "fused", f"{variable}={value!r}")

    def test_one_spelling_does_not_undo_the_other(self):
        engine, _ = self.run_with(**dict(zip(VARIABLES, ("0", "1"))))
        self.assertEqual(engine, "interpreter")

    def test_they_do_as_the_flag_does(self):
        engine, by_flag = self.run_with(["--no-fuse"])
        self.assertEqual(engine, "interpreter")
        _, by_variable = self.run_with(NANOBRAGG_DISABLE_COMPILE="1")
        np.testing.assert_array_equal(by_flag, by_variable)


class Comparison(unittest.TestCase):
    """Both engines are compared whatever the variables say."""

    def run_comparison(self, *flags, **variables):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, *EXPERIMENT, "--compare-engines", *flags], cwd=folder,
                                  env=os.environ | variables, capture_output=True, text=True)
            self.assertEqual(os.listdir(folder), [], "a comparison writes no file")
            return done

    def test_agreement(self):
        for variables in ({}, {"NANOBRAGG_DISABLE_COMPILE": "1"}):
            done = self.run_comparison(**variables)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("576 pixels", done.stdout)
            self.assertIn("the engines agree", done.stdout)

    def test_tolerance_is_that_of_the_precision(self):
        for precision in ("mixed", "f32"):
            done = self.run_comparison("--precision=" + precision)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            strict = self.run_comparison("--precision=" + precision, "--compare-tolerance", "1e-9", "1e-12")
            self.assertEqual(strict.returncode, 3, strict.stdout + strict.stderr)

    def test_beyond_the_tolerance(self):
        done = self.run_comparison("--compare-tolerance", "0", "0")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("first stage that differs: ", done.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
