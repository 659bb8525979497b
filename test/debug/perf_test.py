#!/usr/bin/env python3
"""perf_test.py NB_SIM COMPILER: perf finds the functions and lines of the kernels that NB_KERNEL_FILES keeps."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_SIM, COMPILER = map(os.path.abspath, sys.argv[1:3])
CRYSTAL = ("-cell 100 90 80 90 95 90 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 1024 --cull=off "
           "--quiet -nopgm -nonoise -osc 1 -phisteps 10 -oversample 4").split()


def reason():
    """Why perf cannot be used here; empty: it can."""
    if not shutil.which("perf"):
        return "skipped: there is no perf; install the Debian package linux-perf"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["perf", "record", "-e", "cpu-clock", "-o", f"{folder}/data", "true"],
                              capture_output=True, text=True)
        return "" if done.returncode == 0 else f"skipped: this machine permits no perf: {done.stderr.splitlines()[:1]}"


class KernelFiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nb-perf-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.kept = self.folder / "kept"
        self.kept.mkdir()
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=str(self.folder / "kernels"),
                                NB_KERNEL_FILES=str(self.kept))
        self.environment.pop("NB_CACHE", None)

    def run_program(self, *words, **environment):
        return subprocess.run([str(word) for word in words], cwd=self.folder, env={**self.environment, **environment},
                              text=True, capture_output=True, timeout=300)

    def image(self, *words, **environment):
        done = self.run_program(NB_SIM, *CRYSTAL, *words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "floatimage.bin").read_bytes()

    def files(self):
        return list(self.kept.glob("*/kernel.so"))

    def test_files_stay(self):
        plain = self.image("-detpixels", "16", NB_KERNEL_FILES="")
        self.assertEqual(self.files(), [])
        for number, cache in enumerate(("on", "on", "off"), 1):
            self.assertEqual(self.image("-detpixels", "16", NB_CACHE=cache), plain)
            self.assertEqual(len(self.files()), number)
        for file in self.files():
            self.assertIn(b".debug_line", file.read_bytes())
            self.assertEqual(file.parent.stat().st_mode & 0o777, 0o700)

    def test_unusable_folders_are_refused(self):
        for folder, why in (("kept", "give an absolute path"), (str(self.folder / "missing"), "name a folder that exists")):
            for cache in "on", "off":
                with self.subTest(folder=folder, cache=cache):
                    done = self.run_program(NB_SIM, *CRYSTAL, "-detpixels", "16", NB_KERNEL_FILES=folder, NB_CACHE=cache)
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertRegex(done.stderr, "nb-sim: error: NB_KERNEL_FILES.*" + why)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def perf(self, *words):
        done = self.run_program("perf", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipIf(reason(), reason())
    def test_perf_finds_functions_and_lines(self):
        self.image("-detpixels", "16")
        self.perf("record", "-F", "999", "-e", "cpu-clock", "-o", "data", NB_SIM, *CRYSTAL)
        self.assertRegex(self.perf("report", "-i", "data", "--stdio", "-q", "--sort", "dso,sym"),
                         r"\d%  kernel.so +\[\.\] image_run_tile")
        self.assertRegex(self.perf("report", "-i", "data", "--stdio", "-q", "--dso", "kernel.so", "--sort", "srcline"),
                         r"^ +[\d.]+%  \w{32}\.mlir:[1-9]")
        self.assertIn("%F_latt = nb.lattice_factor square %hkl",
                      self.perf("annotate", "-i", "data", "--stdio", "-l", "image_run_tile"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
