"""Runs of nb-compare: its exit status, its reports and its picture.

    nb_compare_test.py NB_COMPARE"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        generator = np.random.default_rng(1)
        self.image = generator.random((12, 15)).astype(np.float32)
        self.other = self.image.copy()
        self.other[3, 7] += 0.5
        self.a, self.b = self.path("a.npy"), self.path("b.npy")
        np.save(self.a, self.image)
        np.save(self.b, self.other)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_same(self):
        done = run(self.a, self.a, "--rtol=0", "--min-correlation=1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_difference_alone_is_no_failure(self):
        done = run(self.a, self.b)
        self.assertEqual(done.returncode, 0)
        self.assertIn("slow 3, fast 7", done.stdout)

    def test_thresholds_fail_with_3(self):
        for threshold in ("--atol=0.1", "--rtol=1e-9", "--max-rms=1e-6", "--max-abs=0.4",
                          "--min-correlation=0.9999", "--max-sum-deviation=1e-5",
                          "--max-rel=1e-3", "--min-peaks=1000"):
            done = run(self.a, self.b, threshold)
            self.assertEqual(done.returncode, 3, threshold + done.stdout + done.stderr)
            self.assertIn("FAILED: ", done.stdout)

    def test_roi_without_the_pixel_passes(self):
        self.assertEqual(run(self.a, self.b, "--atol=0.1", "--roi", 8, 14, 0, 11).returncode, 0)
        self.assertEqual(run(self.a, self.b, "--atol=0.1", "--roi", 7, 7, 3, 3).returncode, 3)

    def test_json_agrees_with_numpy(self):
        report = json.loads(run(self.a, self.b, "--json").stdout)
        a, b = self.image.astype(float), self.other.astype(float)
        self.assertAlmostEqual(report["correlation"], np.corrcoef(a.ravel(), b.ravel())[0, 1], 12)
        self.assertAlmostEqual(report["rms"], np.sqrt(np.mean((a - b) ** 2)), 12)
        self.assertAlmostEqual(report["sum_ratio"], a.sum() / b.sum(), 12)
        worst = report["max_absolute"]
        self.assertEqual((worst["slow"], worst["fast"]), (3, 7))

    def test_raw_floats_with_shape(self):
        raw = self.path("a.bin")
        self.image.tofile(raw)
        self.assertEqual(run(raw, raw, "--shape=12,15", "--atol=0").returncode, 0)
        self.assertEqual(run(raw, raw).returncode, 1)
        self.assertEqual(run(raw, self.b, "--atol=0.1").returncode, 3)

    def test_shapes_whose_product_overflows(self):
        raw = self.path("a.bin")
        self.image.tofile(raw)
        for shape, status in (("4294967296,4294967296", 1), ("4503599627370497,4096", 1),
                              ("9223372036854775807,2", 2), ("4611686018427387904,1", 2)):
            done = run(raw, raw, f"--shape={shape}")
            self.assertEqual(done.returncode, status, shape + done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("nb-compare: error:"), 1, done.stderr)

    def test_arrays_whose_shape_lies(self):
        for shape in ("4294967296, 4294967296", "0, 18446744073709551615", "0, 7",
                      "9223372036854775808, 2"):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
            path = self.path("lie.npy")
            with open(path, "wb") as file:
                file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
            done = run(path, path)
            self.assertEqual(done.returncode, 1, shape + done.stdout + done.stderr)
            self.assertIn("lie.npy: has ", done.stderr)

    def test_pipes_are_read_once(self):
        raw = self.path("a.bin")
        self.image.tofile(raw)
        for first, second in (("a.npy", "b.npy"), ("a.npy", "a.bin"), ("a.bin", "b.npy")):
            done = subprocess.run(
                f"{PROGRAM} <(cat {self.path(first)}) <(cat {self.path(second)}) --atol=0.1",
                shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0 if first[0] == second[0] else 3,
                             done.stdout + done.stderr)

    def test_picture(self):
        picture = self.path("d.png")
        self.assertEqual(run(self.a, self.b, f"--png={picture}").returncode, 0)
        with open(picture, "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_bad_input_fails_with_1(self):
        for words in ([self.a, self.path("missing")],
                      [self.a, self.b, "--roi", 20, 30, 0, 1],
                      [self.a, self.b, "--png", self.path("no/such/folder.png")]):
            done = run(*words)
            self.assertEqual(done.returncode, 1, str(words) + done.stdout + done.stderr)
            self.assertTrue(done.stderr, words)

    def test_unusable_command_line_fails_with_2(self):
        for words, why in (([], "name TEST and REFERENCE"), ([self.a], "name TEST and REFERENCE"),
                           ([self.a, self.b, self.a], "unexpected argument"),
                           ([self.a, self.b, "--nonsense"], "unknown flag"),
                           ([self.a, self.b, "--rtol=-1"], "--rtol: '-1' is not a number"),
                           ([self.a, self.b, "--rtol=x"], "--rtol: 'x' is not a number"),
                           ([self.a, self.b, "--rtol"], "--rtol needs a value"),
                           ([self.a, self.b, "--roi", 1, 2, 3], "--roi needs a value"),
                           ([self.a, self.b, "--roi", 1, 2, 3, "x"], "--roi: 'x' is not a number"),
                           ([self.a, self.b, "--shape=4"], "is not SLOW,FAST"),
                           ([self.a, self.b, "--shape=0,4"], "--shape: '0' is not a number")):
            done = run(*words)
            self.assertEqual(done.returncode, 2, str(words) + done.stdout + done.stderr)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
