"""Kernels on processors that are not at hand, under qemu's user emulation: of several versions of
one kernel the right one is chosen, and a kernel for aarch64 renders what one for this machine
does."""

import argparse
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

FLAGS = ("-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -detpixels 48 -pixel 1"
         " -misset 10 20 30 -fluence 1e29 -Xbeam 24.5 -Ybeam 24.5 -mosflm -oversample 1").split()
QUIET = ["-nonoise", "-nopgm", "--threads=1"]
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
arguments = None


def emulator(architecture):
    for name in (f"qemu-{architecture}", f"qemu-{architecture}-static"):
        if path := shutil.which(name):
            return path
    raise unittest.SkipTest(f"there is no qemu-{architecture}; install qemu-user")


class Emulated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_tool(self, *command, text=True):
        return subprocess.run([str(word) for word in command], text=text, capture_output=True,
                              cwd=self.root, env=os.environ | {"NB_CACHE": "off"})

    def compile(self, *words):
        done = self.run_tool(arguments.nb_compile, *FLAGS, *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def own_image(self):
        done = self.run_tool(arguments.nb_sim, *FLAGS, *QUIET, "-floatfile", "own.bin")
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.fromfile(self.root / "own.bin", "<f4").astype(float)

    @unittest.skipUnless(platform.machine() == "x86_64", "nb-sim is no x86-64 program")
    def test_version_for_the_processor(self):
        qemu = emulator("x86_64")
        self.compile("--target=" + ",".join(LEVELS), "-o", "k.so")
        own = self.own_image()
        for processor, level in (("Nehalem", "x86-64-v2"), ("Haswell", "x86-64-v3")):
            done = self.run_tool(qemu, "-cpu", processor, arguments.nb_sim, *FLAGS, *QUIET,
                                 "--kernel=k.so", "-floatfile", "q.bin", "--timing=t.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{level}\"", (self.root / "t.json").read_text())
            image = np.fromfile(self.root / "q.bin", "<f4")
            self.assertLess(np.abs(image - own).max(), 1e-6 * own.max())
        self.compile("--target=x86-64-v3", "-o", "k3.so")
        done = self.run_tool(qemu, "-cpu", "Nehalem", arguments.nb_sim, *FLAGS, *QUIET,
                             "--kernel=k3.so")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"this processor lacks .*\bavx2\b")

    def bare_image(self, target, triple, run):
        """The image of the program that needs no library."""
        self.compile("--emit=obj", f"--target={target}", "-o", "kernel.o")
        self.compile("--emit=header", "-o", "kernel.h")
        built = self.run_tool(arguments.clang, f"--target={triple}", "-std=c11", "-O1", "-Wall",
                              "-Wextra", "-Werror", "-ffreestanding", "-fno-builtin",
                              "-fno-stack-protector", "-nostdlib", "-static", "-fuse-ld=lld",
                              "-I", arguments.include, "-I", ".",
                              pathlib.Path(__file__).parent / "bare.c", "kernel.o", "-o", "bare")
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.run_tool(*run, self.root / "bare", text=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.frombuffer(done.stdout, "<f4").astype(float)

    def test_kernel_for_aarch64(self):
        qemu = emulator("aarch64")
        own = self.own_image()
        self.assertGreater(own.std(), 0)
        for target in ("aarch64", "aarch64-neoverse-n1"):
            image = self.bare_image(target, "aarch64-linux-gnu", [qemu])
            self.assertLess(np.abs(image - own).max(), 1e-6 * own.max(), target)

    @unittest.skipUnless(platform.machine() == "x86_64", "no x86-64 processor")
    def test_kernel_without_a_library_here(self):
        own = self.own_image()
        image = self.bare_image("x86-64-v2", "x86_64-linux-gnu", [])
        self.assertLess(np.abs(image - own).max(), 1e-6 * own.max())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("nb-compile", "nb-sim", "clang", "include"):
        parser.add_argument("--" + name, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
