"""The tree that `cmake --install` makes is complete: nb-sim and nb-compile run from it, and the
examples in C and C++ build against it and render what nb-sim renders."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

arguments = None
# The MOSFLM convention puts the beam half a pixel further.
EXAMPLE_FLAGS = ("-cell 100 100 100 90 90 90 -misset 10 0 0 -N 5 -default_F 100 -round_xtal -lambda 1"
                 " -fluence 1e24 -distance 100 -pixel 0.1 -detpixels 256 -Xbeam 12.75 -Ybeam 12.75"
                 " -oversample 1 -nonoise -nopgm").split()
# As docs/examples/cpp.
CUBIC = ("-cell 100 100 100 90 90 90 -misset 10 0 0 -N 5 -default_F 100 -fluence 1e24 -distance 100"
         " -pixel 0.1 -detpixels 256 -oversample 1 -nonoise -nopgm").split()


def run(*command, **options):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("NB_", "LD_LIBRARY"))}
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          capture_output=True, env=environment | {"NB_CACHE": "off"}, **options)


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.prefix = cls.root / "prefix"
        run(arguments.cmake, "--install", arguments.build, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def tool(self, name):
        return self.prefix / "bin" / name

    def build_example(self, name, build, *options):
        run(arguments.cmake, "-S", pathlib.Path(arguments.examples) / name, "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}", *options)
        run(arguments.cmake, "--build", build)

    def test_nb_sim_finds_the_compiler(self):
        run(self.tool("nb-sim"), *EXAMPLE_FLAGS, "--no-fallback", "-floatfile", self.root / "a.bin",
            cwd=self.root)
        self.assertGreater(np.fromfile(self.root / "a.bin", "<f4").max(), 0)

    def test_plugins(self):
        """One of the user's own in our tools, and ours in stock mlir-opt."""
        build = self.root / "plugin"
        self.build_example("plugin", build, f"-DCMAKE_CXX_COMPILER={arguments.cxx}", "-DCMAKE_BUILD_TYPE=Release")
        plugin, examples = build / "DivideOnce.so", pathlib.Path(arguments.examples)
        tools = pathlib.Path(arguments.llvm)
        done = run(sys.executable, tools / "lit", "-v", f"-Dnb_opt={self.tool('nb-opt')}", f"-Dplugin={plugin}",
                   f"-Dfilecheck={tools / 'FileCheck'}", examples / "plugin")
        self.assertIn("Passed: 1", done.stdout)
        self.op_of_a_plugin(build / "LorentzFactor.so", examples / "plugin")
        pipeline = ("--pipeline=builtin.module(func.func(nb-erase-probes,nb-hoist-invariants,nb-divide-once,"
                    "nb-remove-branches,nb-fuse))")
        done = run(self.tool("nb-try"), *EXAMPLE_FLAGS[:-2], "--quiet", f"--plugin={plugin}", pipeline, "--repeat=1",
                   cwd=self.root)
        self.assertRegex(done.stdout, r"given +yes +(same|identical)")
        done = run(self.tool("nb-sim"), *EXAMPLE_FLAGS, f"--plugin={plugin}", pipeline, cwd=self.root)
        self.assertIn("nb-divide-once", done.stderr)
        pipeline_of_file = "--pipeline=builtin.module(func.func(nb-divide-once))"
        program = self.root / "program.mlir"
        program.write_text(run(self.tool("nb-sim"), *EXAMPLE_FLAGS[:-2], "--quiet", "--emit=nb").stdout)
        told = run(self.tool("nb-compile"), program, f"--plugin={plugin}", pipeline_of_file, "-o", self.root / "p.so").stderr
        self.assertIn("passes: nb-divide-once, nb-set-precision", told)
        ours = next(self.prefix.glob("lib*/NanoBraggPlugin.so"), None) or next(
            self.prefix.glob("lib*/*/NanoBraggPlugin.so"))
        stock = run(tools / "mlir-opt", program, f"--load-dialect-plugin={ours}", f"--load-pass-plugin={ours}",
                    "--pass-pipeline=builtin.module(func.func(nb-hoist-invariants))").stdout
        self.assertIn("nb.image", stock)
        self.assertTrue((self.prefix / "include/nanobragg/mlir/dialect/NBOps.td").exists())
        self.assertTrue(self.tool("nb-lsp-server").exists())

    def op_of_a_plugin(self, plugin, example):
        flags, square, replaced = CUBIC[:-2], self.root / "square.mlir", self.root / "lorentz.mlir"
        square.write_text(run(self.tool("nb-sim"), *flags, "-lambda", "1", "--quiet", "--emit=nb").stdout)
        run(self.tool("nb-opt"), square, f"--plugin={plugin}", f"--patterns={example / 'lorentz.pdll'}", "-o", replaced)
        self.assertEqual(replaced.read_text().count("own.lorentz_factor"), 1)
        done = run(self.tool("nb-run"), replaced, f"--plugin={plugin}", "--compare-engines", "--", *flags, "-lambda", "1")
        self.assertIn("the engines agree", done.stdout)

    def test_own_programs(self):
        """MLIR programs that link the compiler's libraries."""
        build = self.root / "my-opt"
        self.build_example("my-opt", build, f"-DCMAKE_CXX_COMPILER={arguments.cxx}", f"-DCMAKE_C_COMPILER={arguments.cc}")
        program = self.root / "for-my-opt.mlir"
        program.write_text(run(self.tool("nb-sim"), *EXAMPLE_FLAGS[:-2], "--quiet", "--emit=nb").stdout)
        self.assertIn("llvm.func @image_run_tile", run(build / "my-opt", program, "--nb-cpu-pipeline").stdout)
        program.write_text("func.func @f() -> f64 {\n  %x = arith.constant 2.0 : f64\n  %v = nb.vec %x, %x, %x : f64\n"
                           "  %y = nb.dot %v, %v : !nb.vec3<f64>\n  return %y : f64\n}\n")
        self.assertEqual(float(run(build / "interpret", program).stdout), 12)

    def test_compiler_explorer(self):
        """Each compiler of the settings for a Compiler Explorer, run as that does (its lib/compilers/mlir.ts): the
        version, then -o OUTPUT, the options, the input."""
        text = (pathlib.Path(arguments.examples).parent / "editors/nb.local.properties").read_text()
        settings = dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
        self.assertEqual(settings["group.nb.compilerType"], "mlir")
        program, output = self.root / "example.mlir", self.root / "example.out.mlir"
        program.write_text(run(self.tool("nb-sim"), *EXAMPLE_FLAGS[:-2], "--quiet", "--emit=nb").stdout)
        compilers = settings["group.nb.compilers"].split(":")
        for name, expected in zip(compilers, ("nb.tabulate|nb.image", "llvm.func @image_run_tile"), strict=True):
            exe = settings[f"compiler.{name}.exe"].replace("/opt/nanobragg", str(self.prefix))
            self.assertIn("LLVM version", run(exe, "--version").stdout)
            run(exe, "-o", output, *settings[f"compiler.{name}.options"].split(), program)
            self.assertRegex(output.read_text(), expected)

    def test_runtime_component_maps_no_llvm(self):
        prefix = self.root / "runtime"
        run(arguments.cmake, "--install", arguments.build, "--prefix", prefix, "--component",
            "runtime")
        run(self.tool("nb-compile"), *EXAMPLE_FLAGS, "-o", self.root / "k.so")
        for file in [*prefix.glob("bin/*"), *prefix.glob("lib/*.so")]:
            needed = run("ldd", file).stdout
            self.assertNotRegex(needed, "LLVM|MLIR", file)
            self.assertNotIn("not found", needed, file)
        self.assertFalse(list(prefix.rglob("libnb-compiler*")))
        run(prefix / "bin/nb-sim", *EXAMPLE_FLAGS, "--kernel", self.root / "k.so", "-floatfile",
            self.root / "r.bin", cwd=self.root)
        self.assertGreater(np.fromfile(self.root / "r.bin", "<f4").max(), 0)

    def test_example_in_c(self):
        build = self.root / "build"
        self.build_example("c", build, f"-DCMAKE_C_COMPILER={arguments.cc}",
                           "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
        said = run(build / "render", self.root / "c.pgm").stdout
        self.assertIn("code for x86_64", said)

        run(self.tool("nb-sim"), *EXAMPLE_FLAGS, "-floatfile", self.root / "s.bin", cwd=self.root)
        wanted = np.fromfile(self.root / "s.bin", "<f4").reshape(256, 256)
        header, grey = (self.root / "c.pgm").read_bytes().split(b"255\n", 1)
        self.assertEqual(header, b"P5\n256 256\n")
        image = np.frombuffer(grey, np.uint8).reshape(256, 256)
        scaled = (wanted.astype(float) * 255 / wanted.max()).astype(int)
        self.assertGreater(scaled.std(), 1)
        self.assertLessEqual(np.abs(image.astype(int) - scaled).max(), 1)

        file, = self.prefix.rglob("nanobragg.pc")  # without CMake, the same
        flags = run("pkg-config", "--cflags", "--libs", file).stdout.split()
        run(arguments.cc, f"-I{build}", pathlib.Path(arguments.examples) / "c/render.c", build / "round_crystal.o", *flags,
            f"-Wl,-rpath,{self.prefix / 'lib'}", "-o", self.root / "render")
        run(self.root / "render", self.root / "own.pgm")
        self.assertEqual((self.root / "own.pgm").read_bytes(), (self.root / "c.pgm").read_bytes())

    def test_example_in_cpp(self):
        build = self.root / "build-cpp"
        self.build_example("cpp", build, f"-DCMAKE_CXX_COMPILER={arguments.cxx}",
                           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        said = run(build / "scan").stdout
        photons = [float(number) for number in re.findall(r"^\S+ A: (\S+) photons$", said, re.M)]
        self.assertEqual(len(set(photons)), 3, said)
        run(self.tool("nb-sim"), *CUBIC, "-lambda", "1", "-floatfile", self.root / "cpp.bin",
            cwd=self.root)
        self.assertAlmostEqual(photons[1], np.fromfile(self.root / "cpp.bin", "<f4").sum(dtype=float),
                               delta=1e-5 * photons[1])

    def test_interfaces_for_cpp_go_together(self):
        for headers in (("nanobragg.hpp", "Simulator.h"), ("Simulator.h", "nanobragg.hpp")):
            source = "".join(f"#include <nanobragg/{header}>\n" for header in headers)
            said = subprocess.run([arguments.cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-",
                                   f"-I{self.prefix / 'include'}"], input=source, text=True,
                                  capture_output=True).stderr
            self.assertEqual(said, "")

    def test_manual_pages(self):
        for tool in ("nb-sim", "nb-compile", "nb-cache", "nb-compare", "nb-bench", "nb-run"):
            page = (self.prefix / f"share/man/man1/{tool}.1").read_text()
            self.assertTrue(page.startswith('.\\" Generated'), tool)
            for title in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                self.assertEqual(page.count(f".SH {title}\n"), 1, tool)
        self.assertIn("\\-mosaic_domains", (self.prefix / "share/man/man1/nb-sim.1").read_text())

    def test_completion_knows_the_flags(self):
        script = self.prefix / "share/bash-completion/completions/nb-sim"
        completed = run("bash", "-c", f"""
            source {script}
            COMP_WORDS=(nb-sim -mosaic_d); COMP_CWORD=1; _nb_sim; echo "${{COMPREPLY[*]}}"
            COMP_WORDS=(nb-compile --emit = h); COMP_CWORD=3; _nb_compile; echo "${{COMPREPLY[*]}}"
            """).stdout.split("\n")
        self.assertIn("-mosaic_domains", completed[0].split())
        self.assertEqual(completed[1], "header hsaco")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("build", "examples", "cc", "cxx", "cmake", "llvm"):
        parser.add_argument("--" + name, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
