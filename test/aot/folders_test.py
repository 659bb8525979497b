#!/usr/bin/env python3
"""folders_test.py NB_SIM NB_COMPILE: programs find kernels that were compiled ahead of time by what
these do, in the folders of NB_KERNEL_PATH, and need no compiler then."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FLAGS = ("-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -detpixels 48 -pixel 1"
         " -misset 10 20 30").split()
NB_SIM = NB_COMPILE = ""


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.kernels = str(self.root / "kernels")

    def run_tool(self, *words, path=None, compiler=True):
        environment = os.environ | {"NB_CACHE": "off"}
        if path is not None:
            environment["NB_KERNEL_PATH"] = path
        if not compiler:
            environment["NB_COMPILER_LIBRARY"] = "/nonexistent.so"
        return subprocess.run(words, cwd=self.root, text=True, capture_output=True,
                              env=environment)

    def compile(self, *words, output="kernels/"):
        done = self.run_tool(NB_COMPILE, *FLAGS, *words, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)

    def render(self, *words, **settings):
        done = self.run_tool(NB_SIM, *FLAGS, *words, "-nonoise", "-nopgm", "--no-fallback",
                             "-floatfile", "image.bin", "--timing=t.json", **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        timing = json.loads((self.root / "t.json").read_text())
        return (self.root / "image.bin").read_bytes(), timing["kernel_loads"]

    def test_image_without_a_compiler(self):
        self.compile("--target=x86-64-v2,x86-64-v3")
        self.assertEqual(len(list((self.root / "kernels").glob("cpu-*.so"))), 1)
        for numbers in ((), ("-lambda", "2", "-detpixels", "32", "-mosaic", "1", "-mosaic_dom", "3")):
            image, loads = self.render(*numbers, path=f"/nonexistent:{self.kernels}", compiler=False)
            self.assertEqual(loads, 1)
        self.compile("--target=x86-64-v3", output="one.so")
        self.assertEqual(image, self.render(*numbers, "--kernel=one.so", compiler=False)[0])

    def test_variants_and_precisions_have_names_of_their_own(self):
        for words in ((), ("-round_xtal",), ("--precision=mixed",), ("--grad=cell",),
                      ("--grad=wavelength",)):
            self.compile(*words)
        self.assertEqual(len(list((self.root / "kernels").iterdir())), 5)
        for words in ((), ("-round_xtal",), ("--precision=mixed",)):
            self.assertEqual(self.render(*words, path=self.kernels, compiler=False)[1], 1)
        done = self.run_tool(NB_SIM, *FLAGS, "-gauss_xtal", "--no-fallback", "-floatfile", "g.bin",
                             path=self.kernels, compiler=False)
        self.assertIn("cannot open the compiler library", done.stderr)

    def test_gradient_without_a_compiler(self):
        self.compile("--grad=cell")
        words = [NB_SIM, *FLAGS, "--grad=cell", "--json", "--no-fallback"]
        # The loss needs the image too, in f64.
        done = self.run_tool(*words, path=self.kernels, compiler=False)
        self.assertNotEqual(done.returncode, 0)
        self.compile("--grad=none")
        done = self.run_tool(*words, path=self.kernels, compiler=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        got, want = json.loads(done.stdout), json.loads(self.run_tool(*words).stdout)
        self.assertEqual(got["loss"], want["loss"])

    def test_folders_that_cannot_be_used(self):
        for words in (("--emit=obj",), ("--specialize=sources",)):
            done = self.run_tool(NB_COMPILE, *FLAGS, *words, "-o", "kernels/")
            self.assertEqual(done.returncode, 2)
            self.assertIn("-o kernels/ names a folder", done.stderr)
        self.assertEqual(os.listdir(self.root), [])

    def test_damaged_file_is_an_error(self):
        """Also where the interpreter could take its place, and also with --quiet."""
        self.compile()
        (file,) = (self.root / "kernels").iterdir()
        good = file.read_bytes()
        for damaged in (b"no kernel", good[:-1], good[:len(good) // 2],
                        good[:3000] + bytes([good[3000] ^ 1]) + good[3001:]):
            file.write_bytes(damaged)
            for words in ((), ("--no-fallback",), ("--quiet",)):
                done = self.run_tool(NB_SIM, *FLAGS, *words, "-floatfile", "i.bin",
                                     path=self.kernels)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"cannot use the kernel file {self.kernels}/{file.name}", done.stderr)
                self.assertIn("compile it again", done.stderr)
            done = self.run_tool(NB_COMPILE, "--inspect", str(file))
            self.assertEqual(done.returncode, 1, done.stdout)


if __name__ == "__main__":
    NB_SIM, NB_COMPILE = (os.path.abspath(word) for word in sys.argv[-2:])
    unittest.main(argv=sys.argv[:-2])
