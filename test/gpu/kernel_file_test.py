#!/usr/bin/env python3
"""kernel_file_test.py NB_COMPILE: kernel files of GPUs hold cubin where there is ptxas, and PTX."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

FLAGS = "-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50".split()
NB_COMPILE = ""


def has_ptxas():
    root = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return any(shutil.which(name) for name in ("ptxas", f"{root}/bin/ptxas",
                                               "/usr/local/cuda/bin/ptxas"))


class KernelFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def nb_compile(self, *words, **environment):
        return subprocess.run([NB_COMPILE, *map(str, words)], cwd=self.root, text=True,
                              capture_output=True, env=os.environ | environment)

    def compile(self, *words, output="kernel.so", **environment):
        done = self.nb_compile(*FLAGS, *words, "-o", output, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.root / output

    def refused(self, *words, **environment):
        done = self.nb_compile(*FLAGS, *words, "-o", "kernel", **environment)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.root / "kernel").exists())
        return done.stderr

    def codes(self, file):
        text = self.nb_compile("--inspect", file).stdout
        return re.findall(r"^code +(sm_\d+) (\w+), (?:made by CUDA|version) ([\d.]+), \d+ bytes$",
                          text, re.M)

    def program(self, name, script):
        path = self.root / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return str(path)

    @unittest.skipUnless(has_ptxas(), "there is no ptxas, in PATH, CUDA_HOME or /usr/local/cuda")
    def test_cubin_is_of_the_chip(self):
        for chip, number in (("sm_80", 80), ("sm_90", 90), ("sm_100", 100)):
            header = self.compile(f"--target={chip}", "--emit=cubin", output="k.cubin").read_bytes()
            self.assertEqual(header[:4], b"\x7fELF")
            machine, = struct.unpack_from("<H", header, 18)
            flags, = struct.unpack_from("<I", header, 48)
            self.assertEqual(machine, 190)  # EM_CUDA
            # The chip stands in the lowest byte of the flags, in later files in the next one.
            self.assertIn(number, (flags & 0xff, flags >> 8 & 0xff))

    @unittest.skipUnless(has_ptxas(), "there is no ptxas, in PATH, CUDA_HOME or /usr/local/cuda")
    def test_best_comes_first(self):
        codes = self.codes(self.compile("--target=sm_80,sm_100,sm_90,sm_90"))
        self.assertEqual([code[:2] for code in codes],
                         [("sm_100", "cubin"), ("sm_90", "cubin"), ("sm_80", "cubin"),
                          ("sm_100", "ptx")])
        self.assertEqual(codes[-1][2], "8.7")

    @unittest.skipUnless(has_ptxas(), "there is no ptxas, in PATH, CUDA_HOME or /usr/local/cuda")
    def test_gradients(self):
        file = self.compile("--target=sm_90", "--grad=cell")
        self.assertEqual(len(self.codes(file)), 2)
        self.assertTrue(b"image_vjp_reduce\0" in file.read_bytes())

    def test_ptx_without_ptxas(self):
        file = self.compile("--target=sm_90,sm_80", NB_PTXAS="off")
        self.assertEqual(self.codes(file), [("sm_90", "ptx", "7.8"), ("sm_80", "ptx", "7.8")])
        self.assertIn("there is no ptxas",
                      self.refused("--target=sm_90", "--emit=cubin", NB_PTXAS="off"))

    def test_a_file_for_each_chip(self):
        done = self.nb_compile(*FLAGS, "--target=sm_80,sm_90", "--emit=ptx", "-o", "k.ptx")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.root)), ["k.sm_80.ptx", "k.sm_90.ptx"])
        for chip in ("sm_80", "sm_90"):
            self.assertIn(f".target {chip}", (self.root / f"k.{chip}.ptx").read_text())

    def test_object(self):
        file = self.compile("--target=sm_90", "--emit=obj", "--symbol=my_kernel", NB_PTXAS="off")
        self.assertEqual(self.codes(file), [("sm_90", "ptx", "7.8")])
        text = self.nb_compile("--inspect", file).stdout
        self.assertRegex(text, r"target +\S+ x86-64 sm_90\nneeds +nothing more\n")

    def test_ptxas_that_is_none(self):
        self.assertIn("NB_PTXAS names '/nowhere', which is not a program",
                      self.refused("--target=sm_90", NB_PTXAS="/nowhere"))
        self.assertIn("NB_PTXAS names 'nowhere'; give an absolute path",
                      self.refused("--target=sm_90", NB_PTXAS="nowhere"))
        self.assertIn("its --version names no release",
                      self.refused("--target=sm_90", NB_PTXAS=self.program("other", "echo hello")))

    def test_ptxas_that_fails(self):
        ptxas = self.program("old", '[ "$1" = --version ] && exec echo release 11.0\n'
                                    "echo 'ptxas fatal: sm_90 is not defined' >&2; exit 255\n")
        message = self.refused("--target=sm_90", NB_PTXAS=ptxas)
        self.assertIn("failed: ptxas fatal: sm_90 is not defined", message)
        self.assertIn("NB_PTXAS=off", message)

    def test_gpus_and_processors_in_one_file(self):
        self.assertIn("the targets sm_90,x86-64-v3 are GPUs and processors",
                      self.refused("--target=sm_90,x86-64-v3"))


if __name__ == "__main__":
    NB_COMPILE = os.path.abspath(sys.argv[-1])
    unittest.main(argv=sys.argv[:-1])
