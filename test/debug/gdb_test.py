#!/usr/bin/env python3
"""gdb_test.py NB_SIM COMPILER: sessions of gdb with runs of nb-sim."""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_SIM, COMPILER = map(os.path.abspath, sys.argv[1:3])
GDB = shutil.which("gdb")
SMALL = ("-cell 100 90 80 90 95 90 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 16 -oversample 1 "
         "-nonoise -nopgm -noprogress --threads=1").split()


@unittest.skipUnless(GDB, "skipped: there is no gdb; install the Debian package of this name")
class Gdb(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-gdb-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, DEBUGINFOD_URLS="",
                                NB_CACHE_DIR=os.path.join(self.folder, "kernels"), HOME=self.folder)
        self.environment.pop("NB_CACHE", None)

    def nb_sim(self, *words):
        return subprocess.run([NB_SIM, *SMALL, *words], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=120, check=True).stdout

    def gdb(self, *commands):
        """The text of a session with these commands. A run that stands still fails."""
        words = [word for command in ("set breakpoint pending on", *commands) for word in ("-ex", command)]
        done = subprocess.run([GDB, "-nx", "-batch", *words, "--args", NB_SIM, *SMALL], cwd=self.folder,
                              env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120)
        return done.stdout

    def test_run_ends_as_without_gdb(self):
        for what in "compiled", "cached":
            with self.subTest(what):
                self.assertRegex(self.gdb("run"), r"wrote .*/floatimage\.bin[\s\S]*exited normally")

    def test_breakpoint_at_the_function_that_renders(self):
        self.nb_sim()
        said = self.gdb("break image_run_tile", "run", "backtrace")
        self.assertRegex(said, r"Breakpoint 1, .*image_run_tile")
        self.assertRegex(said, r"#1 .*nanobragg::")


    def place(self, op):
        """FILE:LINE of the only op of this kind in the program of the cached kernel."""
        program, = pathlib.Path(self.folder, "kernels").glob("*.mlir")
        line, = [number for number, text in enumerate(program.read_text().splitlines(), 1) if op in text]
        return f"{program.name}:{line}"

    def test_breakpoint_at_a_line_of_the_program(self):
        self.nb_sim()
        place = self.place("nb.lattice_factor")
        said = self.gdb(f"break {place}", "run", "backtrace 1", "list", "delete", "continue")
        self.assertRegex(said, r"Breakpoint 1, .*image_run_tile \(\) at " + place)
        self.assertRegex(said, r"(?m)^#0 .*image_run_tile \(\) at " + place)
        self.assertRegex(said, place.split(":")[1] + r"\t +%F_latt = nb.lattice_factor square %hkl, %ncells")
        self.assertRegex(said, r"%hkl = nb.miller_index")
        self.assertRegex(said, r"exited normally")

    def test_parameters_are_variables(self):
        self.nb_sim()
        names = "cell_b", "cell_beta", "spindle_axis", "mosaic_domains", "mosaic_unit_angle[0]", "wavelength"
        for function in "image_prepare", "image_run_tile":
            with self.subTest(function):
                said = self.gdb(f"break {function}", "run", *(f"print {name}" for name in names))
                values = re.findall(r"^\$\d+ = (.*)$", said, re.M)
                self.assertEqual(len(values), len(names), said)
                self.assertAlmostEqual(float(values[0]), 90e-10)
                self.assertAlmostEqual(float(values[1]), 95 * math.pi / 180)
                self.assertRegex(values[2], r"^\{-?[\d.]+, -?[\d.]+, -?[\d.]+\}$")
                self.assertEqual(values[3], "1")
                self.assertAlmostEqual(float(values[5]) * 1e10, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
