#!/usr/bin/env python3
"""portable_test.py BUILD: what tools/package-portable makes runs after it was moved, with none of
the build's and the system's libraries but the C library's, and without a compiler."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
C_LIBRARY = re.compile(r"linux-vdso|ld-linux|lib(c|m|dl|pthread|rt)\.so")
BUILD = ""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.root = pathlib.Path(cls.scratch.name)
        cls.made = run(sys.executable, "-B", TOOLS / "package-portable", BUILD, cls.root / "made",
                       "--only=images,culling,throughput", "--cases=shape_gauss|interp", "--chips=gpu-on-cpu")
        assert cls.made.returncode == 0, cls.made.stderr
        cls.folder = (cls.root / "made").rename(cls.root / "moved")

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "NB_CACHE": "off",
                "NB_COMPILER_LIBRARY": "/nonexistent.so"}

    def test_is_small(self):
        size = sum(file.stat().st_size for file in self.folder.rglob("*") if not file.is_symlink())
        self.assertLess(size, 40e6)

    def test_libraries_are_its_own(self):
        for program in (self.folder / "bin").iterdir():
            if program.name == "gpu-check":
                continue
            for line in run("ldd", program, env=self.environment()).stdout.splitlines():
                if not C_LIBRARY.search(line):
                    self.assertIn(str(self.folder / "lib"), os.path.realpath(line.split()[2]), line)

    def test_images_without_compiler(self):
        done = run(self.folder / "bin" / "gpu-check", "--device=gpu-on-cpu",
                   "--only=images,culling,throughput", "--cases=shape_gauss|interp", "--pixels=64", "--repeat=1", "--out", self.root / "report",
                   env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        counts = re.search(r"images: (\d+) of (\d+) agree", done.stdout)
        self.assertEqual(counts[1], counts[2])
        self.assertGreater(int(counts[1]), 7)
        (report,) = (self.root / "report").glob("gpu-*.md")
        self.assertIn("agree with the processor's kernels", report.read_text())

    def test_gpu_check_of_the_build(self):
        done = run(sys.executable, "-B", TOOLS / "gpu-check", "--bin", f"{BUILD}/bin",
                   "--device=gpu-on-cpu", "--only=gradients,throughput,sanitizer,counters",
                   "--pixels=16", "--repeat=1", "--out", self.root / "all")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (report,) = (self.root / "all").glob("gpu-*.md")
        self.assertEqual(len(re.findall(r"^\| (constant|nearest) \|", report.read_text(), re.M)), 24)

    def test_no_gpu_is_one_sentence(self):
        done = run(self.folder / "bin" / "gpu-check", "--device=cuda:99", env=self.environment())
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("error:"), 2, done.stderr)  # gpu-check's and nb-sim's
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_folder_that_exists_is_refused(self):
        done = run(sys.executable, "-B", TOOLS / "package-portable", BUILD, self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("exists; name a new folder", done.stderr)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop())
    unittest.main()
