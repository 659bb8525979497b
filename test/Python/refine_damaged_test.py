"""refine_damaged_test.py [--files N] [--seed S]: what nb-refine reads, valid files whose meaning is damaged: experiment
lists, reflection tables, finished results and checkpoints. Each is used, refused in one printable sentence, or costs the
shots that it is about, and no others."""

import argparse
import contextlib
import dataclasses
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import refine_test  # skips where something is missing
from damage import ODD, damage_tree, damaged_bytes
from nanobragg import refine
from nanobragg.refine import _files
from nanobragg.refine.__main__ import main

shots_module = sys.modules["nanobragg.refine.shots"]

class Damaged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="nb-damaged-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.data = refine_test.Data(cls.folder)
        cls.out = os.path.join(cls.folder, "good")
        cls.results = refine.shots(refine_test.FLAGS, cls.data.expt, cls.data.refl, system="tetragonal", out=cls.out)

    def quick(self, index, *given, **how):
        """A shot's refinement without its fit: the experiment and shoeboxes are looked at."""
        sim = given[0]()
        refine._shot.shoeboxes_of(sim, np.asarray(given[1], float), given[4], given[3], how["trusted"], how["margin"])
        result = self.results[index]
        few = {name: values[:len(given[2])] for name, values in result.spots.items()}
        return dataclasses.replace(result, spots=few | {"box": np.arange(len(few["hkl"]))})

    def refined(self, expt, refl):
        """nb-refine of these files, with fits left out."""
        out = os.path.join(self.folder, "out")
        shutil.rmtree(out, ignore_errors=True)
        kept, shots_module.refine_shot = shots_module.refine_shot, self.quick
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), np.errstate(all="ignore"):
                status = main(["stills", expt, refl, "--out", out, "--workers=1", "--", *refine_test.FLAGS])
        finally:
            shots_module.refine_shot = kept
        self.assertTrue(all(line.isprintable() for line in said.getvalue().splitlines()), said.getvalue())
        if status:
            self.assertIn("nb-refine: error: " if "error" in said.getvalue() else "rejected", said.getvalue())
        return status, said.getvalue()

    def each(self, one):
        for i in range(WORDS.files):
            with self.subTest(seed=WORDS.seed, file=i):
                one(random.Random(WORDS.seed * 1000003 + i))

    def test_experiment_lists(self):
        path = os.path.join(self.folder, "damaged.expt")
        with open(self.data.expt) as file:
            text = file.read()
        self.assertEqual(self.refined(self.data.expt, self.data.refl)[0], 0)

        def one(draws):
            tree = json.loads(text)
            for _ in range(draws.choice((1, 1, 2))):
                damage_tree(tree, draws)
            with open(path, "w") as file:
                json.dump(tree, file)
            self.refined(path, self.data.refl)

        self.each(one)
        for bad in ("[" * 100000, '{"a":' * 100000, "", "[]", "nul"):
            with open(path, "w") as file:
                file.write(bad)
            status, said = self.refined(path, self.data.refl)
            self.assertEqual(status, 1)
            self.assertIn("is not an experiment list", said)

    def test_reflection_tables(self):
        path = os.path.join(self.folder, "damaged.refl")
        with open(self.data.refl, "rb") as file:
            content = file.read()
        msgpack = _files._msgpack()

        def one(draws):
            if draws.random() < 0.3:
                changed = damaged_bytes(content, draws)
            else:
                tree = msgpack.unpackb(content, raw=False, strict_map_key=False)
                damage_tree(tree, draws)
                try:
                    changed = msgpack.packb(tree, use_bin_type=True)
                except (OverflowError, ValueError):
                    return
            with open(path, "wb") as file:
                file.write(changed)
            self.refined(self.data.expt, path)

        self.each(one)

    def test_one_bad_shot_is_one_bad_shot(self):
        path = os.path.join(self.folder, "one.expt")
        for kind, key in (("crystal", "real_space_a"), ("imageset", "images")):
            for value in ODD:
                if "NaN" in (word := json.dumps(value)) or "Infinity" in word:
                    continue  # no JSON: the whole list is none
                with open(self.data.expt) as file:
                    tree = json.load(file)
                tree[kind][1][key] = value
                with open(path, "w") as file:
                    json.dump(tree, file)
                status, said = self.refined(path, self.data.refl)
                self.assertEqual(status, 0, said)
                self.assertIn("2 of 3 shots refined", said)

    def test_resume_makes_damaged_results_again(self):
        out = os.path.join(self.folder, "again")
        shutil.copytree(self.out, out)
        for name in os.listdir(os.path.join(out, "finished")):
            with open(os.path.join(out, "finished", name), "wb") as file:
                file.write(b"half of it")
        with self.assertWarnsRegex(nb.Warning, "is damaged"):
            results = refine.shots(refine_test.FLAGS, self.data.expt, self.data.refl, system="tetragonal", out=out, resume=True)
        np.testing.assert_array_equal(results[1].matrix, self.results[1].matrix)

    def test_without_scipy(self):
        blocked = "import sys; sys.modules['scipy'] = None; from nanobragg.refine.__main__ import main; sys.exit(main(['stills', 'a', 'b']))"
        done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "nb-refine: error: refinement needs scipy: pip install scipy\n"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-k")
    WORDS = parser.parse_args()
    unittest.main(argv=["refine_damaged_test.py", *(["-k", WORDS.k] if WORDS.k else [])])
