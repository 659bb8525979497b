#!/usr/bin/env python3
"""gpu_lines_test.py NB_COMPILE LLVM_TOOLS: lines of the program in code for GPUs."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

NB_COMPILE, LLVM = map(os.path.abspath, sys.argv[1:3])
SMALL = "-cell 100 90 80 90 95 90 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 16 -mosaic 1 -mosaic_dom 3".split()
EXPERIMENTS = {"f64": [], "mixed": ["--precision=mixed", "-oversample", "2"], "gradient": ["--grad=cell"],
               "round": "-round_xtal -osc 1 -phisteps 2".split()}


def has_ptxas():
    root = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return any(shutil.which(name) for name in ("ptxas", f"{root}/bin/ptxas", "/usr/local/cuda/bin/ptxas"))


def sections(file):
    """Contents by name, of an ELF file with 64 bits."""
    data = file.read_bytes()
    begin, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, begin + i * size) for i in range(count)]
    text = data[headers[names][4]:]
    return {text[name:text.index(b"\0", name)].decode(): data[offset:offset + length] if kind != 8 else b""
            for name, kind, _, _, offset, length in headers}


class GpuLines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def run_program(self, *words, status=0):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def compile(self, name, *words):
        self.run_program(NB_COMPILE, *SMALL, *words, "-o", name)
        return self.folder / name

    def names(self, file, program):
        """Does its debug information name the program in the folder of the test?"""
        said = self.run_program(f"{LLVM}/llvm-dwarfdump", "--debug-info", file)
        return f'DW_AT_name\t("{program}")' in said and f'DW_AT_comp_dir\t("{self.folder}")' in said

    def both(self, kind, chip, flags):
        """A file without debug information, one with it, and its program."""
        words = [*flags, f"--target={chip}", f"--emit={kind}"]
        plain, lines = self.compile("plain.bin", *words), self.compile("lines.bin", *words, "-g")
        return plain, lines, (self.folder / "lines.mlir").read_text().splitlines()

    def test_code_objects_of_amd(self):
        for chip in ("gfx90a", "gfx942", "gfx1100", "gfx1201"):
            for name, flags in EXPERIMENTS.items():
                with self.subTest(chip, flags=name):
                    plain, lines, program = self.both("hsaco", chip, flags)
                    before, after = sections(plain), sections(lines)
                    self.assertNotIn(".debug_line", before)
                    for section in ".text", ".rodata", ".note":
                        self.assertEqual(before[section], after[section], section)
                    self.assertTrue(self.names(lines, "lines.mlir"))
                    table = self.run_program(f"{LLVM}/llvm-dwarfdump", "--debug-line", lines)
                    on = {int(line) for line in re.findall(r"(?m)^0x\w+ +(\d+) ", table)}
                    self.assertTrue([line for line in on if line and "nb.lattice_factor" in program[line - 1]])
                    # A row holds up to the next one.
                    rows = [(int(at, 16), int(line)) for at, line in re.findall(r"(?m)^(0x\w+) +(\d+) ", table)]
                    covered = sum(end - at for (at, line), (end, _) in zip(rows, rows[1:]) if line and end > at)
                    self.assertGreater(covered, 0.9 * (rows[-1][0] - rows[0][0]))

    def test_ptx(self):
        for name, flags in EXPERIMENTS.items():
            with self.subTest(name):
                plain, lines, program = self.both("ptx", "sm_90", flags)
                before, after = ([line for line in file.read_text().splitlines() if line and not
                                  re.match(r"\t\.(loc|file|section)|\$L__(func|tmp|info)|\t*}$", line)] for file in (plain, lines))
                self.assertEqual(before, after)
                text = lines.read_text()
                self.assertIn(f'.file\t1 "{self.folder}/lines.mlir"', text)
                self.assertIn("\n.target sm_90\n", text)  # and not ", debug", which ptxas does not optimize
                on = {int(line) for line in re.findall(r"\t\.loc\t1 (\d+) ", text)}
                self.assertTrue([line for line in on if line and "nb.lattice_factor" in program[line - 1]])

    @unittest.skipUnless(has_ptxas(), "there is no ptxas, in PATH, CUDA_HOME or /usr/local/cuda")
    def test_cubin(self):
        for name, flags in EXPERIMENTS.items():
            with self.subTest(name):
                plain, lines, _ = self.both("cubin", "sm_90", flags)
                before, after = sections(plain), sections(lines)
                self.assertIn(".debug_line", after)
                self.assertNotIn(".debug_line", before)
                code = [section for section in before if section.startswith(".text.")]
                self.assertTrue(code)
                for section in code:
                    self.assertEqual(before[section], after[section], section)

    def test_kernel_files(self):
        file = self.compile("kernel.so", "--target=gfx942", "-g")
        self.assertTrue(self.names(file, "kernel.mlir"))
        self.assertIn("nb.lattice_factor", (self.folder / "kernel.mlir").read_text())
        self.assertTrue(self.names(self.compile("processor.so", "-g"), "processor.mlir"))

    def test_where_it_does_not_go(self):
        for words, why in ((("--emit=asm",), "-g is for so"), (("--emit=spirv", "--target=spirv64", "-o", "k"), "-g is for so"),
                           ((), "name it with -o"), (("--emit=ptx", "--target=sm_90"), "name it with -o")):
            self.assertIn(why, self.run_program(NB_COMPILE, *SMALL, "-g", *words, status=2))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
