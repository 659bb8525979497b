#!/usr/bin/env python3
"""structured_test.py NB_SIM FAKE_COMPILER [--files N] [--seed S]: nb-sim reads files that are valid but for their meaning:
experiments, panels, arrays, tables. Each is used, or refused with one line of printable text, in little time and memory.
Python's readers: test/Python/refine_damaged_test.py; HDF5: test/HDF5/hostile_test.py."""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import damage

GOOD = "-default_F 1 -N 5 -nonoise -nopgm --quiet --threads=1 -floatfile a.bin".split()
CELL = "-cell 50 60 70 90 100 90 -distance 100 -detpixels 16".split()
PANELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/examples/panels/two_sizes.json")
MEMORY, SECONDS = 4 << 30, 20

TEXTS = {
    "-hkl": "0 0 1 10.5\n1 2 3 20 0.1\n-2 0 1 5\n0 0 -1 3\n4 4 4 1e3",
    "-mat": "0.01 0 0.001\n0 0.02 0\n0.002 0 0.015\n0 0 0\n1 1 1",
    "-sourcefile": "1 0 0 1 1e-10\n1 0.001 0 0.5 1.01e-10\n1 0 0.001 0.25 1.02e-10",
    "-stol": "0 2.57\n0.0365 2.58\n0.07 2.8\n0.12 5\n0.162 8\n0.2 6.75\n0.4 3.1",
    "--spectrum": "12000 1\n12010 2\n12020 1",
    "--shots": "misset fluence seed\n1,2,3 1e24 4\n4,5,6 2e24 5\n7,8,9 3e24 6",
    "--pixels": "0 0 0\n0 1 2\n0 3 4\n0 2 5 6 9",
}


class Structured(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-structured-")
        self.addCleanup(shutil.rmtree, self.folder)

    def add(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode(errors="replace"))

    def simulate(self, *words):
        return subprocess.run([WORDS.nb_sim, *words], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, NB_COMPILER_LIBRARY=WORDS.compiler, NB_CACHE="off",
                                       NB_CHECK_IMAGES="0"), timeout=SECONDS,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))

    def each(self, words, make):
        used = 0
        for i in range(WORDS.files):
            with self.subTest(words=words, seed=WORDS.seed, file=i):
                make(random.Random(WORDS.seed * 1000003 + i))
                done = self.simulate(*GOOD, *words)
                said = done.stderr.decode()
                self.assertIn(done.returncode, (0, 1, 2), said)
                for line in said.split("\n"):
                    self.assertTrue(line.isprintable(), repr(line))
                    self.assertLess(len(line), 2500)
                    self.assertNotIn("json.exception", line)
                if done.returncode:
                    errors = [line for line in said.split("\n") if "nb-sim: error: " in line]
                    self.assertEqual(len(errors), 1, said)
                    self.assertIn(words[-1].rpartition("=")[2], errors[0])
                used += done.returncode == 0
        print(f"{words[-1]}: {used} of {WORDS.files} were used")
        self.assertTrue(0 < used < WORDS.files or WORDS.files < 10, words)

    def test_experiments(self):
        done = self.simulate(*GOOD, *CELL, *"-phi 0 -osc 1 -gauss_xtal --average=closed -mosaic 0.3".split(),
                             *"--bandwidth-sigma 0.1 -divergence_sigma 0.2 0.1 --cbf=b.cbf --write-expt=good.expt".split())
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "good.expt")) as file:
            good = file.read()
        self.assertIn("nanobragg", json.loads(good)["experiment"][0])

        def make(draws):
            tree = json.loads(good)
            some = tree["experiment"][0]["nanobragg"] if draws.random() < 0.2 else tree
            for _ in range(draws.choice((1, 1, 2, 3))):
                damage.damage_tree(some, draws)
            self.add("a.expt", json.dumps(tree))

        self.each(["-gauss_xtal", "--expt=a.expt"], make)
        for deep in ("[" * 100000, '{"experiment": ' + "[" * 100000 + "]" * 100000 + "}"):
            self.add("a.expt", deep)
            done = self.simulate(*GOOD, "--expt=a.expt")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"nested more than", done.stderr)

    def test_panels(self):
        with open(PANELS) as file:
            good = file.read()

        def make(draws):
            tree = json.loads(good)
            for panel in tree:
                panel["pixels"] = [8, 4]
            damage.damage_tree(tree, draws)
            self.add("p.json", json.dumps(tree))

        self.each([*CELL, "--panels=p.json"], make)

    def test_arrays(self):
        array = np.ones((16, 16))

        def make(draws):
            self.add("a.npy", damage.damaged_npy(array, draws))

        self.each([*CELL, "-gain_map", "a.npy"], make)

    def test_texts(self):
        for flag, good in TEXTS.items():
            def make(draws):
                text = good
                for _ in range(draws.choice((1, 1, 2, 4))):
                    text = damage.damaged_text(text, draws)
                self.add("text.txt", text)

            words = CELL[7:] + ["-lambda", "1"] if flag == "-mat" else list(CELL)
            words += ["--cbf=c.cbf"] if flag == "--shots" else []
            self.each([*words, *([f"{flag}=text.txt"] if flag.startswith("--") else [flag, "text.txt"])], make)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("nb_sim", type=os.path.abspath)
    parser.add_argument("compiler", type=os.path.abspath)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-k")
    WORDS = parser.parse_args()
    with open(WORDS.nb_sim, "rb") as program:
        if b"__asan_init" in program.read():
            MEMORY = resource.RLIM_INFINITY  # AddressSanitizer reserves terabytes
    unittest.main(argv=["structured_test.py", *(["-k", WORDS.k] if WORDS.k else [])])
