#!/usr/bin/env python3
"""one_mlir_test.py BIN LIBRARY: no process maps MLIR twice, and the compiler library shows nothing but
its entry. LIBRARY has MLIR and LLVM in itself, nb-opt and its like map the shared libMLIR."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN, LIBRARY = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
MLIR = re.compile(r"calling init: (\S*(?:libMLIR|libnb-compiler)[^/\s]*)")
FLAGS = "-cell 70 80 90 90 90 90 -default_F 1 -detpixels 8 -nopgm -nonoise".split()


def mapped(*command, **how):
    """The libraries that have MLIR in themselves and are mapped while the command runs."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True, cwd=scratch, **how,
                              env={**os.environ, "LD_DEBUG": "libs", "NB_CACHE": "off"})
    assert done.returncode == 0, done.stderr[-2000:]
    return {os.path.realpath(m) for m in MLIR.findall(done.stderr)}


class OneMlir(unittest.TestCase):
    def test_compiling(self):
        self.assertEqual(mapped(BIN / "nb-sim", *FLAGS), {str(LIBRARY.resolve())})

    def test_interpreting(self):
        self.assertEqual(mapped(BIN / "nb-sim", "--no-fuse", *FLAGS), {str(LIBRARY.resolve())})

    def test_experimenters(self):
        for program in ("nb-opt", "nb-run"):
            with self.subTest(program):
                found = mapped(BIN / program, "--help")
                self.assertEqual([pathlib.Path(f).name[:10] for f in found], ["libMLIR.so"])

    def test_library_is_closed(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["nb_compiler_get_api"])
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(needed, "NEEDED.*(MLIR|LLVM)")

    def test_library_has_the_targets_of_the_compiler(self):
        """Each of LLVM's code generators has a pass of this name."""
        names = re.findall(rb"\0([\w-]+) (?:DAG->DAG )?(?:Pattern )?Instruction Selection\0", LIBRARY.read_bytes())
        self.assertEqual(set(names) - {b"After"}, {b"AArch64", b"AMDGPU", b"NVPTX", b"X86"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
