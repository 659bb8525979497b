"""The tutorial on a still: its commands, run as printed, and their results."""

import contextlib
import csv
import importlib.util
import io
import os
import re
import shlex
import sys
import tempfile
import unittest

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

from nanobragg.refine.__main__ import main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
TUTORIAL = os.path.join(ROOT, "docs", "tutorials", "thaumatin")
LONG = os.environ.get("NB_TEST_TUTORIAL")  # runs its long commands, too


def commands():
    """The page's commands of nb-refine, as lists of words without the first."""
    with open(os.path.join(TUTORIAL, "README.md")) as page:
        blocks = re.findall(r"```sh\n(.*?)```", page.read(), re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("nb-refine ")]


class OfThaumatin(unittest.TestCase):
    """Stills of the staff of DLS I24 (2019), data repository of DIALS, CC-BY 4.0."""

    def run_(self, words):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            out, = [word.removeprefix("--out=") for word in words if word.startswith("--out=")]
            words = [f"--out={folder}" if word == f"--out={out}" else word for word in words]
            images = [word for word in words if "*" in word]
            self.assertLessEqual(len(images), 1)
            if images:
                stem, end = images[0].split("*")
                listed = sorted(name for name in os.listdir("data") if f"data/{name}".startswith(stem) and name.endswith(end))
                at = words.index(images[0])
                words[at:at + 1] = [f"data/{name}" for name in listed]
            self.assertEqual(main(words), 0)
            with open(os.path.join(folder, "shots.csv")) as file:
                rows = list(csv.DictReader(file))
            with open(os.path.join(folder, "report.html")) as file:
                self.assertIn("Largest causes of the misfit", file.read())
        return said.getvalue(), rows

    def setUp(self):
        before = os.getcwd()
        os.chdir(TUTORIAL)
        self.addCleanup(os.chdir, before)

    def test_the_first_command(self):
        said, (row,) = self.run_(commands()[0])
        self.assertIn("1 of 1 images indexed", said)
        self.assertGreater(int(row["indexed"]), 0.95 * int(row["spots"]))
        self.assertTrue(345.5 < float(row["distance_mm"]) < 347)
        self.assertLess(abs(float(row["chi2_background"]) - 1), 0.1)
        self.assertLess(float(row["chi2"]), 6)
        self.assertLess(float(row["rms_px"]), 0.75)

    @unittest.skipUnless(LONG, "skipped: set NB_TEST_TUTORIAL=1 for the commands that take minutes")
    def test_the_others(self):
        several, together = commands()[1:]
        _, (row,) = self.run_(several)
        self.assertLess(float(row["chi2"]), 3)
        self.assertLess(float(row["rms_px"]), 0.45)
        _, rows = self.run_(together)
        self.assertEqual([row["status"] for row in rows], ["indexed"] * 7)
        for tested in rows[5:]:
            self.assertLess(float(tested["chi2"]), float(tested["chi2_model"]))


if __name__ == "__main__":
    unittest.main()
