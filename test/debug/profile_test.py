#!/usr/bin/env python3
"""profile_test.py NB_SIM COMPILER PERF_EVENTS: nb-sim --profile."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_SIM, COMPILER, PERF_EVENTS = map(os.path.abspath, sys.argv[1:4])
# Enough to compute that clocks of 250 Hz see it.
CRYSTAL = ("-cell 100 90 80 90 95 90 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 1024 --cull=off "
           "--quiet -nopgm -nonoise -osc 1 -phisteps 10 -oversample 4").split()
HEADER = re.compile(r"^profile: (\d+) samples in kernels, ([\d.]+)% of them on lines of the program, and \d+ elsewhere$",
                    re.M)


class Profile(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nb-profile-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=str(self.folder / "kernels"))
        self.environment.pop("NB_CACHE", None)

    def nb_sim(self, *words, **environment):
        done = subprocess.run([NB_SIM, *CRYSTAL, *words], cwd=self.folder, env={**self.environment, **environment},
                              text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def profile(self, *words, by="", **environment):
        """The table's rows, (share, line, op), of a run in which many samples are on lines. by: the text that says what interrupts."""
        out = self.nb_sim(*words, "--profile", **environment)
        self.assertRegex(out, f"(?m)^sampled by .*{by}")
        header = HEADER.search(out)
        self.assertTrue(header, out)
        self.assertGreater(int(header[1]), 20, out)
        self.assertGreater(float(header[2]), 90, out)
        rows = re.findall(r"^ *([\d.]+)% +(\d+)  (.*)$", out[header.end():], re.M)
        self.assertAlmostEqual(sum(float(share) for share, _, _ in rows), 100, delta=2)
        return [(float(share), int(line), op) for share, line, op in rows]

    def test_lines_are_those_of_the_program(self):
        program = self.nb_sim("--emit=nb").splitlines()
        for compiled in "compiled", "cached":
            with self.subTest(compiled):
                rows = self.profile()
                self.assertTrue(rows[0][2].startswith("%F_latt = nb.lattice_factor square %hkl"), rows)
                self.assertEqual([row[0] for row in rows], sorted((row[0] for row in rows), reverse=True))
                for _, line, op in rows:
                    if line:
                        self.assertTrue(program[line - 1].strip().startswith(op.removesuffix("...")), (line, op))

    def test_kernel_of_no_cache(self):
        self.assertIn("nb.lattice_factor", self.profile(NB_CACHE="off")[0][2])

    def test_what_the_system_permits(self):
        # The processor's cycles are a clock here, which every system has.
        for permitted, by in ("cycles", "cycles of the processor$"), ("none", r"a timer \(its cycles may not be counted; .*\)$"):
            with self.subTest(permitted):
                rows = self.profile("--threads=2", by=by, LD_PRELOAD=PERF_EVENTS, NB_TEST_PERF_EVENTS=permitted)
                self.assertIn("nb.lattice_factor", rows[0][2])

    def test_all_threads_are_sampled(self):
        self.nb_sim("--threads=4", "--profile")
        begin = os.times().children_user
        out = self.nb_sim("--threads=4", "--profile", LD_PRELOAD=PERF_EVENTS, NB_TEST_PERF_EVENTS="cycles")
        seconds = os.times().children_user - begin
        samples = sum(map(int, re.search(r"profile: (\d+) samples .* and (\d+) elsewhere", out).groups()))
        # 1000 per second; the calling thread alone would have a quarter of them.
        self.assertGreater(samples, 500 * seconds, out)

    def test_image_is_the_same(self):
        image = self.folder / "floatimage.bin"
        self.nb_sim()
        plain = image.read_bytes()
        self.nb_sim("--profile")
        self.assertEqual(image.read_bytes(), plain)

    def test_derivatives(self):
        out = self.nb_sim("-phisteps", "2", "--grad=cell", "--profile")
        self.assertRegex(out, r"cell_a .*[\s\S]*\nprofile: \d\d+ samples in kernels")
        self.assertIn("nb.lattice_factor", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
