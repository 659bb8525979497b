#!/usr/bin/env python3
"""lines_test.py NB_SIM NB_COMPILE COMPILER LLVM_TOOLS: debug information of the kernels that nb-sim keeps."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_SIM, NB_COMPILE, COMPILER, LLVM = map(os.path.abspath, sys.argv[1:5])
SMALL = ("-cell 100 90 80 90 95 90 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 16 -oversample 2 "
         "-noprogress --cull=off --specialize=off").split()
IMAGE = ["-nonoise", "-nopgm"]
EXPERIMENTS = {
    "crystal": [],
    "mosaic": "-mosaic 1 -mosaic_dom 3 -osc 1 -phisteps 2 -round_xtal".split(),
    "mixed": "--precision=mixed -mosaic 1 -mosaic_dom 3".split(),
    "sensor": "-detector_thick 450 -detector_abs 300 -thicksteps 2 -dispersion 1 -dispsteps 3".split(),
}


class Lines(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nb-lines-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = self.folder / "kernels"
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=str(self.cache))
        self.environment.pop("NB_CACHE", None)

    def run_program(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def kernel(self, *words):
        """The cache's only kernel, which a run with these flags leaves."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.run_program(NB_SIM, *SMALL, *words)
        kernel, = self.cache.glob("*.so")
        return kernel

    def section(self, file, name):
        copy = self.folder / "section"
        self.run_program(f"{LLVM}/llvm-objcopy", f"--dump-section={name}={copy}", file, "/dev/null")
        return copy.read_bytes()

    def places(self, kernel, *addresses):
        """FILE:LINE of each."""
        out = self.run_program(f"{LLVM}/llvm-symbolizer", "-f=none", "--output-style=GNU", f"--obj={kernel}",
                               *map(hex, addresses))
        return [line.split(" ")[0] for line in out.splitlines() if line]

    def functions(self, kernel):
        """Address and size by name."""
        out = self.run_program(f"{LLVM}/llvm-nm", "--print-size", "--defined-only", kernel)
        return {name: (int(address, 16), int(size, 16))
                for address, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", out, re.M)}

    def test_code_is_that_without_debug_information(self):
        for name, flags in EXPERIMENTS.items():
            with self.subTest(name):
                kernel, plain = self.kernel(*IMAGE, *flags), self.folder / "plain.so"
                self.run_program(NB_COMPILE, *SMALL[:-1], *flags, "-o", plain)
                self.same_code(kernel, plain)

    def same_code(self, kernel, plain):
        self.assertIn(".debug_line", self.run_program(f"{LLVM}/llvm-readelf", "-S", kernel))
        self.assertNotIn(".debug_line", self.run_program(f"{LLVM}/llvm-readelf", "-S", plain))
        for section in ".text", ".rodata", ".data.rel.ro", ".eh_frame":
            self.assertEqual(self.section(kernel, section), self.section(plain, section), section)

    def test_source_is_the_program_beside_the_kernel(self):
        kernel = self.kernel(*IMAGE)
        program = kernel.with_suffix(".mlir")
        self.assertEqual(program.read_text(), self.run_program(NB_SIM, *SMALL, "--emit=nb"))
        (line, text), = [(number, text) for number, text in enumerate(program.read_text().splitlines(), 1)
                         if "func.func @image" in text]
        address, _ = self.functions(kernel)["image_run_tile"]
        self.assertEqual(self.places(kernel, address), [f"{program}:{line}"], text)

    def lines(self, kernel, function):
        """The line of each byte; 0: none."""
        begin, size = self.functions(kernel)[function]
        places = [place.rsplit(":")[1] for place in self.places(kernel, *range(begin, begin + size))]
        return [int(line) if line.isdigit() else 0 for line in places]

    def test_code_is_on_lines(self):
        for name, flags in EXPERIMENTS.items():
            with self.subTest(name):
                kernel = self.kernel(*IMAGE, *flags)
                source = kernel.with_suffix(".mlir").read_text().splitlines()
                lines = self.lines(kernel, "image_run_tile")
                self.assertLess(lines.count(0), 0.1 * len(lines))
                ops = {match[0] for line in set(lines) - {0} for match in [re.search(r"nb\.\w+", source[line - 1])] if match}
                self.assertGreaterEqual(ops, {"nb.lattice_factor", "nb.normalize", "nb.intensity"})

    def test_derivatives_are_on_the_lines_that_they_are_of(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        self.run_program(NB_SIM, *SMALL, "--grad=cell")
        kernel, = [file for file in self.cache.glob("*.so") if "image_vjp_run_tile" in self.functions(file)]
        source = kernel.with_suffix(".mlir").read_text().splitlines()
        lines = self.lines(kernel, "image_vjp_run_tile")
        self.assertLess(lines.count(0), 0.1 * len(lines))
        self.assertTrue([line for line in set(lines) - {0} if "nb.miller_index" in source[line - 1]])
        plain = self.folder / "plain.so"
        self.run_program(NB_COMPILE, *SMALL[:-1], "--grad=cell", "-o", plain)
        self.same_code(kernel, plain)

    def test_programs_go_with_their_kernels(self):
        kernel = self.kernel(*IMAGE)
        program = kernel.with_suffix(".mlir")
        self.assertEqual(program.stat().st_mode & 0o777, 0o600)
        os.utime(program, (1, 1))
        self.run_program(NB_SIM, *SMALL, *IMAGE)
        self.assertGreater(program.stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
