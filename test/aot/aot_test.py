"""nb-compile makes kernels that run on lesser processors, for other architectures and from programs;
nb-sim --kernel renders with them what it renders with its own, and refuses those it should."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

PARITY = pathlib.Path(__file__).resolve().parent.parent / "parity"
FLAGS = ("-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -detpixels 48 -pixel 1"
         " -misset 10 20 30").split()
QUIET = ["-nonoise", "-nopgm"]
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
arguments = None


def parity_cases():
    """The first case of each group: every choice of a variant there is."""
    groups = {}
    for case in json.loads((PARITY / "cases.json").read_text())["cases"]:
        groups.setdefault(case["group"], case)
    return [(case["name"], [word.replace("@IN@", str(PARITY / "inputs")) for word in case["args"]])
            for case in groups.values() if "-img" not in case["args"]]


class AheadOfTime(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def run_tool(self, *command):
        return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              cwd=self.root, env=os.environ | {"NB_CACHE": "off"})

    def compile(self, *words, output="kernel.so"):
        done = self.run_tool(arguments.nb_compile, *words, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.root / output

    def render(self, *words):
        done = self.run_tool(arguments.nb_sim, *words, *QUIET, "-floatfile", "image.bin")
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.fromfile(self.root / "image.bin", "<f4").astype(float)

    def refused(self, *words):
        done = self.run_tool(*words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        return done.stderr

    def disassembly(self, file):
        return subprocess.run([f"{arguments.llvm}/llvm-objdump", "-d", file], check=True, text=True,
                              capture_output=True).stdout

    def test_parity_with_least_processor(self):
        cases = parity_cases()
        self.assertGreater(len(cases), 10)
        for name, words in cases:
            with self.subTest(name):
                words = [*words, "-compat", "c"]
                kernel = self.compile(*words, "--target=x86-64-v2")
                self.assertNotRegex(self.disassembly(kernel), r"%[yz]mm")
                got, wanted = self.render(*words, "--kernel", kernel), self.render(*words)
                self.assertLess(np.max(np.abs(got - wanted)), 1e-6 * np.max(np.abs(wanted)))

    def test_versions_use_their_registers(self):
        for level, has, lacks in (("x86-64-v3", "%ymm", "%zmm"), ("x86-64-v4", "%zmm", None)):
            code = self.disassembly(self.compile(*FLAGS, f"--target={level}"))
            self.assertIn(has, code)
            if lacks:
                self.assertNotIn(lacks, code)

    def test_versions_in_one_file(self):
        words = [*FLAGS, "-gauss_xtal", "-mosaic", "1", "-mosaic_dom", "4"]
        kernel = self.compile(*words, "--target=" + ",".join(LEVELS))
        text = self.run_tool(arguments.nb_compile, "--inspect", kernel).stdout
        self.assertEqual(re.findall(r"^target +\S+ (\S+)$", text, re.M), list(reversed(LEVELS)))
        np.testing.assert_allclose(self.render(*words, "--kernel", kernel), self.render(*words),
                                   rtol=1e-5)
        exported = subprocess.run([f"{arguments.llvm}/llvm-nm", "-D", "--defined-only", kernel],
                                  check=True, text=True, capture_output=True).stdout.split()
        self.assertEqual(exported[2::3], ["nb_kernel_get_descriptor"])

    def test_needs_no_library(self):
        kernel = self.compile(*FLAGS)
        headers = subprocess.run([f"{arguments.llvm}/llvm-readelf", "-d", kernel], check=True,
                                 text=True, capture_output=True).stdout
        self.assertNotIn("NEEDED", headers)

    def test_aarch64_disassembles(self):
        for cpu in ("aarch64", "aarch64-neoverse-v1"):
            code = self.disassembly(self.compile(*FLAGS, "--emit=obj", f"--target={cpu}"))
            self.assertIn("littleaarch64", code)
            self.assertRegex(code, r"fmul\s+v\d+\.2d")
            self.assertNotIn("<unknown>", code)
        kernel = self.compile(*FLAGS, "--target=aarch64")
        self.assertIn("it is for aarch64-unknown-linux-gnu generic and this processor is x86_64",
                      self.refused(arguments.nb_sim, *FLAGS, "--kernel", kernel))

    def test_program_as_input(self):
        program = self.compile(*FLAGS, "--emit=nb", output="image.mlir")
        kernel = self.compile(program)
        text = self.run_tool(arguments.nb_compile, "--inspect", kernel).stdout
        self.assertRegex(text, r"wavelength +f64 +m\n")
        np.testing.assert_array_equal(self.render(*FLAGS, "--kernel", kernel), self.render(*FLAGS))
        (self.root / "bad.mlir").write_text("func.func @f( {")
        self.assertIn("cannot be read", self.refused(arguments.nb_compile, "bad.mlir", "-o", "k.so"))

    def test_results_that_are_not_shown(self):
        text = self.run_tool(arguments.nb_compile, *FLAGS, "--emit=nb").stdout
        text = re.sub(r"\) -> (tensor\S+) \{", r') -> (\1, f64 {nb.name = "flux"}) {', text)
        text = re.sub(r"return (%\S+) : (tensor\S+)", r"return \1, %fluence : \2, f64", text)
        (self.root / "two.mlir").write_text(text)
        kernel = self.compile("two.mlir")
        done = self.run_tool(arguments.nb_sim, *FLAGS, "--kernel", kernel, "-floatfile", "two.bin")
        self.assertIn("NOTE: the kernel of --kernel returns 'flux', too", done.stderr)
        kernel = self.compile(*FLAGS)
        done = self.run_tool(arguments.nb_sim, *FLAGS, "--kernel", kernel, "-floatfile", "one.bin")
        self.assertNotIn("returns", done.stderr)

    def test_kernels_of_photons_that_are_spread(self):
        words = [*FLAGS, "-psf", "fiber", "-psf_fwhm", "300", "-gain", "2"]
        kernel = self.compile(*words)
        np.testing.assert_array_equal(self.render(*words, "--kernel", kernel), self.render(*words))
        self.assertIn("image_type", self.refused(arguments.nb_sim, *FLAGS, "--kernel", kernel))
        program = self.root / "spread.mlir"
        program.write_text(self.run_tool(arguments.nb_sim, *words, "--emit=nb").stdout)
        self.assertIn("nb.point_spread", self.refused(arguments.nb_compile, program, "-o", "spread.so"))

    def test_kernels_of_lists_of_pixels(self):
        (self.root / "list.txt").write_text("0 2 9 3 6\n")
        for more in ([], ["-psf", "gauss", "-psf_fwhm", "300"]):
            words = [*FLAGS, *more, "--pixels", "list.txt"]
            kernel = self.compile(*words)
            found = []
            for file in (["--kernel", kernel], []):
                found.append(self.render(*words, *file))
            self.assertEqual(len(found[0]), 21)
            np.testing.assert_array_equal(*found)

    def test_texts(self):
        for kind, word in (("asm", ".globl"), ("llvm", "define"), ("mlir", "nb."),
                           ("header", "nb_kernel_get_descriptor(void);")):
            done = self.run_tool(arguments.nb_compile, *FLAGS, f"--emit={kind}")
            self.assertIn(word, done.stdout, kind)

    def test_header_of_a_program(self):
        text = self.run_tool(arguments.nb_compile, *FLAGS, "--emit=nb").stdout
        (self.root / "p.mlir").write_text(text)
        header = self.run_tool(arguments.nb_compile, "p.mlir", "--emit=header", "--symbol=mine").stdout
        self.assertIn("const nb_kernel_descriptor *mine(void);", header)
        self.assertIn("*   wavelength: f64 [m]", header)
        self.assertRegex(header, r"Outputs:\n \*   image: image")

    def test_programs_as_bytecode(self):
        text = self.run_tool(arguments.nb_compile, *FLAGS, "--emit=nb").stdout
        (self.root / "p.mlir").write_text(text)
        opt = pathlib.Path(arguments.nb_compile).parent / "nb-opt"
        self.run_tool(opt, "p.mlir", "--emit-bytecode", "-o", "p.mlirbc")
        self.assertEqual((self.root / "p.mlirbc").read_bytes()[:4], b"ML\xefR")
        codes = [self.run_tool(arguments.nb_compile, file, "--emit=asm").stdout for file in ("p.mlir", "p.mlirbc")]
        self.assertEqual(*codes)

    def test_header_and_symbol(self):
        object_file = self.compile(*FLAGS, "--emit=obj", "--symbol=my_kernel", output="k.o")
        self.compile(*FLAGS, "--emit=header", "--symbol=my_kernel", output="k.h")
        (self.root / "main.c").write_text(
            '#include "k.h"\nint main(void) { return my_kernel()->abi_version != '
            "NB_KERNEL_ABI_VERSION; }\n")
        subprocess.run([arguments.cc, "-Wall", "-Werror", "-I", arguments.include, "main.c",
                        object_file, "-o", "main"], check=True, cwd=self.root)
        self.assertEqual(subprocess.run([self.root / "main"]).returncode, 0)
        self.assertIn("--emit=so", self.refused(arguments.nb_sim, *FLAGS, "--kernel", object_file))

    def test_variant_that_does_not_fit(self):
        kernel = self.compile(*FLAGS)
        message = self.refused(arguments.nb_sim, *FLAGS, "-round_xtal", "-detector_thick", "100",
                               "-detector_abs", "200", "--kernel", kernel)
        self.assertIn("it has shape=square and shape=round is needed", message)
        self.assertIn("it has capture=none and capture=", message)
        self.assertNotIn("pivot", message)
        self.render(*FLAGS, "-mosaic", "1", "-mosaic_dom", "5", "-detpixels", "32", "-lambda", "2",
                    "--kernel", kernel)

    def test_specialized(self):
        words = [*FLAGS, "-osc", "1", "-phisteps", "3", "-mosaic", "1", "-mosaic_dom", "2",
                 "-oversample", "2"]
        counts = "oversample,phi_steps,mosaic_domains,sources"
        done = self.run_tool(arguments.nb_compile, *words, f"--specialize={counts}", "-o", "s.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"specialized: .* takes one thread \S+ s instead of \S+ s")
        kernel = self.root / "s.so"
        np.testing.assert_array_equal(self.render(*words, "--kernel", kernel), self.render(*words))
        self.render(*words, "-lambda", "1.1", "--kernel", kernel)
        self.assertIn("compiled for phi_steps=3 and phi_steps=4 is needed",
                      self.refused(arguments.nb_sim, *words, "-phisteps", "4", "--kernel", kernel))
        for name in ("cell_a", "layers", "nothing"):
            self.assertIn(f"'{name}' is not a count",
                          self.refused(arguments.nb_compile, *FLAGS, f"--specialize={name}", "-o",
                                       "k.so"))

    def test_known_numbers_of_cells(self):
        # Polynomials in place of quotients: the same to rounding, also on the peak of the direct beam.
        words = [*FLAGS, "-mosaic", "1", "-mosaic_dom", "3", "-square_xtal", "-detpixels", "33",
                 "-oversample", "1"]
        for precision, cells, relative, least in (("f64", "10", 1e-6, 1e-9), ("f64", "25", 1e-6, 1e-9),
                                                  ("f64", "64", 1e-6, 1e-9), ("mixed", "8", 1e-5, 1e-7)):
            here = [*words, "-N", cells, f"--precision={precision}"]
            done = self.run_tool(arguments.nb_compile, *here, "--specialize=ncells", "-o", "n.so")
            self.assertEqual(done.returncode, 0, done.stderr)
            got = self.render(*here, "--kernel", self.root / "n.so")
            want = self.render(*here, "--precision=f64", "--no-fuse")
            np.testing.assert_allclose(got, want, rtol=relative, atol=least * want.max())
        self.assertIn("compiled for ncells_a=8 and ncells_a=9 is needed",
                      self.refused(arguments.nb_sim, *here, "-N", "9", "--kernel", self.root / "n.so"))
        self.assertIn("leave it out of one of them",
                      self.refused(arguments.nb_compile, *words, "--specialize=ncells",
                                   "--grad=ncells", "-o", "k.so"))

    def test_kernels_call_nothing(self):
        for words in ((), ("-round_xtal",), ("-gauss_xtal",), ("--grad=cell,misset,mosaic_spread",),
                      ("-gauss_xtal", "--grad=cell,detector,ncells"), ("--grad=hvp:cell",),
                      ("--target=x86-64",), ("-gauss_xtal", "--target=x86-64")):
            kernel = self.compile(*FLAGS, *words)
            missing = subprocess.run([f"{arguments.llvm}/llvm-nm", "-D", "--undefined-only", kernel],
                                     check=True, text=True, capture_output=True).stdout
            self.assertEqual(missing.split(), [], words)

    def test_files_that_are_no_kernels(self):
        kernel = self.compile(*FLAGS)
        good = kernel.read_bytes()
        for content, why in ((b"", "cannot read"), (b"text\n" * 99, "no ELF file"),
                             (good[:100], "cut short"), (good[:-1], "cut short"),
                             (good[:200] + b"?" + good[201:], "checksum"),
                             (pathlib.Path("/bin/true").read_bytes(), "another program wrote it")):
            kernel.write_bytes(content)
            message = self.refused(arguments.nb_sim, *FLAGS, "--kernel", kernel)
            self.assertIn(why, message)
            self.assertIn(str(kernel), message)
        self.assertIn("cannot read", self.refused(arguments.nb_sim, *FLAGS, "--kernel", "nowhere"))

    def test_command_lines_that_cannot_be_used(self):
        for words, why in (([*FLAGS, "--emit=cubin"], "do not go together"),
                           ([*FLAGS, "--target=sm_90", "--emit=asm"], "do not go together"),
                           ([*FLAGS, "--grad=cell_q", "-o", "k.so"], "closest is 'cell_a'"),
                           ([*FLAGS, "--grad=back:cell", "-o", "k.so"], "'back' is not one of"),
                           ([*FLAGS, "--emit=dll"], "give one of so obj"),
                           ([*FLAGS], "name it with -o"),
                           ([], "nothing to compile"),
                           ([*FLAGS, "-o", "k.so", "--target=pdp11"], "unknown target 'pdp11'"),
                           ([*FLAGS, "-o", "k.so", "--target=x86-64-v2,aarch64"],
                            "several architectures"),
                           ([*FLAGS, "-o", "k.so", "-shape", "x"], "unknown flag"),
                           ([*FLAGS, "-o", "k.so", "--symbol=a"], "--emit=obj"),
                           ([*FLAGS, "-o", "no/such/folder/k.so"], "no/such/folder")):
            self.assertIn(why, self.refused(arguments.nb_compile, *words), words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("nb-compile", "nb-sim", "llvm", "cc", "include"):
        parser.add_argument("--" + name, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
