"""Runs of nb-run: arguments, results, both engines, instruments and exit status.

    nb_run_test.py NB_RUN NB_SIM"""

import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM_TEXT = """
func.func @scaled(%x: f64 {nb.name = "x"}, %v: !nb.vec3<f64>, %n: index) -> (f64, !nb.vec3<f64>, index) {
  %square = arith.mulf %x, %x : f64
  %w = nb.scale %v, %square : !nb.vec3<f64>
  return %square, %w, %n : f64, !nb.vec3<f64>, index
}
func.func @weighted(%n: index, %w: !nb.table<?xf64>, %mask: tensor<?x?x?xi8>) -> tensor<?x?x?xf64> {
  %one = arith.constant 1 : index
  %img = nb.image panel %p in %one, slow %s in %n, fast %f in %n mask(%mask : tensor<?x?x?xi8>)
      : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %I = nb.sum source %k in %n : f64 {
      %weight = nb.lookup %w[%k] : !nb.table<?xf64>
      %term = arith.mulf %weight, %column : f64
      nb.yield %term : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}
func.func @error_functions(%n: index) -> tensor<?x?x?xf64> {
  %step = arith.constant 0.0625 : f64
  %start = arith.constant -6.0 : f64
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %img = nb.image panel %p in %one, slow %s in %three, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %number = arith.sitofp %i : i64 to f64
    %along = arith.mulf %number, %step : f64
    %at = arith.addf %along, %start : f64
    %single = arith.truncf %at : f64 to f32
    %erf = math.erf %at : f64
    %erfc = math.erfc %at : f64
    %erfc32 = math.erfc %single : f32
    %wide = arith.extf %erfc32 : f32 to f64
    %is_third = arith.cmpi eq, %s, %two : index
    %is_second = arith.cmpi eq, %s, %one : index
    %first = arith.select %is_second, %erfc, %erf : f64
    %value = arith.select %is_third, %wide, %first : f64
    nb.yield %value : f64
  }
  return %img : tensor<?x?x?xf64>
}
func.func @structure_factors(%F: !nb.hkl_grid<f64> {nb.name = "F"}, %hkl: !nb.vec3<f64>, %default: f64) -> f64 {
  %f = nb.structure_factor nearest %F[%hkl] default %default : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}
func.func @doubled(%m: !nb.mat3<f64>, %n: index, %t: !nb.table<?x!nb.vec3<f64>>) -> !nb.table<?x!nb.vec3<f64>> {
  %r = nb.tabulate mosaic %j in %n : !nb.table<?x!nb.vec3<f64>> {
    %v = nb.lookup %t[%j] : !nb.table<?x!nb.vec3<f64>>
    %w = nb.transform %m, %v : !nb.vec3<f64>
    nb.yield %w : !nb.vec3<f64>
  }
  return %r : !nb.table<?x!nb.vec3<f64>>
}
func.func @single(%n: index) -> (tensor<?x?x?xf32>, f64, f64) {
  %one = arith.constant 1 : index
  %img:3 = nb.image panel %p in %one, slow %s in %n, fast %f in %n : tensor<?x?x?xf32>, f32, !nb.vec3<f32> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f32
    %vector = nb.vec %column, %column, %column : f32
    nb.yield %column, %column, %vector : f32, f32, !nb.vec3<f32>
  }
  %y = nb.component %img#2[1] : !nb.vec3<f32>
  %sum = arith.extf %img#1 : f32 to f64
  %sum_y = arith.extf %y : f32 to f64
  return %img#0, %sum, %sum_y : tensor<?x?x?xf32>, f64, f64
}
func.func private @powers(%x: f64, %n: index) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 1.0 : f64
  %sum = scf.for %k = %zero to %n step %one iter_args(%a = %start) -> f64 {
    %product = arith.mulf %a, %x : f64
    %next = arith.addf %product, %start : f64
    scf.yield %next : f64
  }
  return %sum : f64
}
func.func @called(%n: index, %count: index) -> tensor<?x?x?xf64> {
  %one = arith.constant 1 : index
  %img = nb.image panel %p in %one, slow %s in %one, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %sum = func.call @powers(%column, %count) : (f64, index) -> f64
    nb.yield %sum : f64
  }
  return %img : tensor<?x?x?xf64>
}
func.func @narrow(%n: index, %x: i32) -> (index, i32) {
  return %n, %x : index, i32
}
func.func @takes_narrow(%n: index, %x: f32) -> tensor<?x?x?xf64> {
  %y = arith.extf %x : f32 to f64
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}
func.func @chosen(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %zero = arith.constant 0.0 : f64
  %isNegative = arith.cmpf olt, %x, %zero : f64
  %img = scf.if %isNegative -> tensor<?x?x?xf64> {
    %one = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
      nb.yield %zero : f64
    }
    scf.yield %one : tensor<?x?x?xf64>
  } else {
    %other = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
      nb.yield %x : f64
    }
    scf.yield %other : tensor<?x?x?xf64>
  }
  return %img : tensor<?x?x?xf64>
}
func.func @functions(%n: index, %scale: f64) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>,
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %one = arith.constant 1 : index
  %least = arith.constant -0.7 : f64
  %most = arith.constant 1.1 : f64
  %middle = arith.constant 20.0 : f64
  %img:10 = nb.image panel %p in %one, slow %s in %one, fast %f in %n : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>,
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %k = arith.index_cast %f : index to i32
    %places = arith.subf %column, %middle : f64
    %x = arith.mulf %places, %scale : f64
    %cbrt = math.cbrt %x : f64
    %asinh = math.asinh %x : f64
    %acosh = math.acosh %x : f64
    %atanh = math.atanh %x : f64
    %erfc = math.erfc %x : f64
    %clamped = math.clampf %x to [%least, %most] : f64
    %power = math.fpowi %x, %k : f64, i32
    %sin, %cos = math.sincos %x : f64
    %both = arith.subf %sin, %cos : f64
    %log1p = math.log1p %x : f64
    %expm1 = math.expm1 %x : f64
    nb.yield %cbrt, %asinh, %acosh, %atanh, %erfc, %clamped, %power, %both, %log1p, %expm1
        : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
  }
  return %img#0, %img#1, %img#2, %img#3, %img#4, %img#5, %img#6, %img#7, %img#8, %img#9 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>,
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}
"""


class NbRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("program.mlir", PROGRAM_TEXT)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def save(self, name, array):
        np.save(os.path.join(self.folder, name), array)

    def load(self, name):
        return np.load(os.path.join(self.folder, name))

    def attempt(self, function, arguments, *flags, **variables):
        words = [word for argument in arguments for word in ("--arg", argument)]
        return subprocess.run(
            [NB_RUN, "program.mlir", f"--function={function}", *words, *flags], cwd=self.folder,
            env=os.environ | variables, capture_output=True, text=True)

    def run_function(self, function, arguments, *flags, **variables):
        done = self.attempt(function, arguments, *flags, **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refused(self, function, arguments, *flags, status=1):
        done = self.attempt(function, arguments, *flags)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    SCALED = ("x=3", "arg1=1,2,-0.5", "arg2=7")

    def test_results_are_printed(self):
        for flags in ((), ("--no-fuse",)):
            self.assertEqual(self.run_function("scaled", self.SCALED, *flags),
                             "result 0: 9\nresult 1: 9 18 -4.5\nresult 2: 7\n")

    def test_results_are_written(self):
        outputs = [word for i in range(3) for word in ("--out", f"{i}.npy")]
        for flags in ((), ("--no-fuse",)):
            self.run_function("scaled", self.SCALED, *flags, *outputs)
            self.assertEqual(self.load("0.npy").shape, ())
            np.testing.assert_array_equal(self.load("1.npy"), [9, 18, -4.5])
            self.assertEqual(self.load("2.npy"), 7)

    def test_image_with_mask_and_table_from_files(self):
        mask = np.array([[[1, 1, 0], [0, 1, 1], [1, 1, 1]]], float)
        self.save("mask.npy", mask)
        self.save("w.npy", np.array([0.5, 1.0, 2.0]))
        arguments = ("arg0=3", "arg1=w.npy", "arg2=mask.npy")
        for flags in ((), ("--no-fuse",)):
            self.run_function("weighted", arguments, "--out=i.npy", *flags)
            np.testing.assert_allclose(self.load("i.npy"), 3.5 * np.arange(3) * mask, rtol=1e-15)

    def test_error_functions_are_right_to_a_part_of_themselves(self):
        x = np.arange(540) / 16 - 6
        self.run_function("error_functions", (f"arg0={len(x)}",), "--out", "image.npy")
        erf, erfc, erfc32 = self.load("image.npy").reshape(3, -1)
        np.testing.assert_allclose(erf, [math.erf(v) for v in x], rtol=0, atol=2e-15)
        np.testing.assert_allclose(erfc, [math.erfc(v) for v in x], rtol=3e-13, atol=1e-300)
        narrow = x < 9
        np.testing.assert_allclose(erfc32[narrow], [math.erfc(v) for v in x[narrow]], rtol=2e-5, atol=1e-18)

    def test_grid_from_array_and_from_hkl(self):
        self.save("F.npy", np.arange(27.0).reshape(3, 3, 3))
        self.write("F.hkl", "1 0 0 12.5\n-1 -1 -1 1\n1 1 1 2\n")
        for flags in ((), ("--no-fuse",)):
            for grid, hkl, value in (("F.npy@-1,-1,-1", "1,0,-1", 21), ("F.npy@-1,-1,-1", "0,2,0", 99),
                                     ("F.hkl", "1,0,0", 12.5)):
                out = self.run_function("structure_factors", (f"F={grid}", f"arg1={hkl}", "arg2=99"),
                                        *flags)
                self.assertEqual(float(out.split(":")[1]), value, (grid, hkl, flags))

    def test_tables_of_vectors_are_the_interpreters(self):
        table = np.array([[1, 2, 3], [4, 5, 6.0]])
        self.save("t.npy", table)
        arguments = ("arg0=2,0,0,0,2,0,0,0,2", "arg1=2", "arg2=t.npy")
        self.run_function("doubled", arguments, "--no-fuse", "--out=r.npy")
        np.testing.assert_array_equal(self.load("r.npy"), 2 * table)
        self.assertIn("--no-fuse", self.refused("doubled", arguments))

    def test_sums_over_pixels_in_single_precision(self):
        """Are rounded once, and not with each pixel: 600 x (0 + ... + 599) is more than f32 counts singly."""
        sum_of_columns = float(np.float32(600 * 600 * 599 / 2))
        for flags in ((), ("--no-fuse",)):
            with self.subTest(flags=flags):
                said = self.run_function("single", ["arg0=600"], *flags)
                self.assertEqual([float(line.split(": ")[1]) for line in said.splitlines()[1:]],
                                 [sum_of_columns, sum_of_columns])

    def test_functions_that_llvm_does_not_have(self):
        columns = np.arange(41)
        names = "cbrt asinh acosh atanh erfc clampf fpowi sincos log1p expm1".split()
        outputs = [word for name in names for word in ("--out", f"{name}.npy")]
        for scale in (0.05, 0.37, 1e-9, 1e154):
            x = (columns - 20.0) * scale
            with np.errstate(all="ignore"):
                right = [np.cbrt(x), np.arcsinh(x), np.arccosh(x), np.arctanh(x), np.array([math.erfc(e) for e in x]),
                         np.clip(x, -0.7, 1.1), x ** columns, np.sin(x) - np.cos(x),
                         np.log1p(x), np.expm1(x)]
            for flags in ((), ("--no-fuse",)):
                self.run_function("functions", ["arg0=41", f"arg1={scale!r}"], *flags, *outputs)
                for name, expected in zip(names, right):
                    if scale > 1 and name in ("sincos", "expm1"):
                        continue  # such arguments lose all their digits
                    with self.subTest(name, scale=scale, flags=flags):
                        np.testing.assert_allclose(self.load(f"{name}.npy").ravel(), expected, rtol=2e-12, atol=1e-300)

    def test_loops_and_calls_in_an_image(self):
        x = np.arange(9.0)
        for count in (0, 1, 4):
            for flags in ((), ("--no-fuse",)):
                self.run_function("called", ["arg0=9", f"arg1={count}"], *flags, "--out", "image.npy")
                np.testing.assert_allclose(self.load("image.npy").ravel(), sum(x ** k for k in range(count + 1)), rtol=1e-14)

    def test_what_no_kernel_takes_or_returns(self):
        """The message says what kernels do take."""
        for function, value, said in (
                ("narrow", "7", "returns a value of type i32, and kernels return f64"),
                ("takes_narrow", "7", "argument 'arg1' of 'takes_narrow' is of type f32, and kernels take f64, index"),
                ("chosen", "7", "choose inside the image (arith.select) and not between images")):
            with self.subTest(function):
                self.assertIn(said, self.refused(function, ["arg0=2", f"arg1={value}"]))
                if function == "chosen":
                    self.assertIn("write the choice into the image", self.refused(function, ["arg0=2", "arg1=7"], "--no-fuse"))
                else:
                    self.run_function(function, ["arg0=2", f"arg1={value}"], "--no-fuse")

    def test_environment_selects_the_interpreter(self):
        self.save("t.npy", np.ones((2, 3)))
        arguments = ("arg0=2,0,0,0,2,0,0,0,2", "arg1=2", "arg2=t.npy")
        for variable in ("NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"):
            self.run_function("doubled", arguments, **{variable: "1"})

    def test_instruments_know_the_names_of_the_text(self):
        self.save("mask.npy", np.ones((1, 3, 3)))
        arguments = ("arg0=3", "arg1=1,2,3", "arg2=mask.npy")
        self.assertRegex(self.run_function("weighted", arguments, "--probe=term"),
                         r"term +27 +0 +6 +2")
        self.assertIn("TRACE weight[source=1] 2\n",
                      self.run_function("weighted", arguments, "--trace-pixel=0,1"))
        done = self.attempt("scaled", ("x=nan", "arg1=1,2,3", "arg2=1"), "--check-finite")
        self.assertEqual(done.returncode, 1)
        self.assertIn("yields nan", done.stderr)

    def test_comparison_of_engines(self):
        out = self.run_function("scaled", self.SCALED, "--compare-stages")
        self.assertIn("after nb-fuse: identical", out)
        self.assertIn("the engines agree", out)

    def test_the_program_that_nb_sim_emits(self):
        flags = "-cell 30 40 50 90 90 90 -default_F 10 -N 4 -lambda 1 -distance 60 -pixel 2 -detpixels 12"
        text = subprocess.run([NB_SIM, *flags.split(), "--emit=nb"], capture_output=True, text=True,
                              check=True).stdout
        self.write("program.mlir", text)
        self.assertIn("give it with --arg cell_a=VALUE", self.refused("image", ()))
        # The experiment gives the numbers, but those of --arg.
        images = []
        for engine in ((), ("--no-fuse",)):
            for wavelength in ((), ("wavelength=1.1e-10",)):
                self.run_function("image", wavelength, "--out=a.npy", *engine, "--", *flags.split(), "--quiet")
                images.append(self.load("a.npy"))
        np.testing.assert_allclose(images[0], images[2], rtol=1e-6)
        np.testing.assert_allclose(images[1], images[3], rtol=1e-6)
        self.assertGreater(abs(images[0] - images[1]).max(), 0.01 * images[0].max())
        subprocess.run([NB_SIM, *flags.split(), "--quiet", "-nopgm", "-nonoise", "-floatfile", "a.bin"], check=True,
                       cwd=self.folder)
        np.testing.assert_allclose(images[0].ravel(), np.fromfile(os.path.join(self.folder, "a.bin"), np.float32),
                                   rtol=1e-6)
        self.assertIn("-nothing", self.refused("image", (), "--", "-nothing", status=2))

    def test_what_a_kernel_would_read_outside_of_its_arguments(self):
        np.save(os.path.join(self.folder, "mask.npy"), np.ones((1, 3, 3)))
        for n, words in (("4", "has 4 pixels where its mask 'arg2' has 3"),
                         ("1e30", "takes numbers up to 9007199254740992"),
                         ("-1e30", "takes numbers up to"), ("1e15", "needs more memory than")):
            self.assertIn(words, self.refused("weighted", (f"arg0={n}", "arg1=1,2,3,4", "arg2=mask.npy")))
        self.assertIn("'nb.lookup' op reads entry 2 of 'arg1', which has 2",
                      self.refused("weighted", ("arg0=3", "arg1=1,2", "arg2=mask.npy")))
        self.assertIn("reads entry 2 of 'arg2', which has 1",
                      self.refused("doubled", ("arg0=1,0,0,0,1,0,0,0,1", "arg1=3", "arg2=1,2,3")))
        self.save("F.npy", np.ones((3, 3, 3)))
        self.assertIn("takes numbers up to", self.refused(
            "structure_factors", ("F=F.npy@1e30,0,0", "arg1=1,0,0", "arg2=1")))
        self.write("program.mlir", """
          func.func @at(%t: !nb.table<?xf64>, %i: index) -> f64 {
            %x = nb.lookup %t[%i] : !nb.table<?xf64>
            return %x : f64
          }
          func.func @next(%t: !nb.table<?xf64>, %i: index) -> f64 {
            %one = arith.constant 1 : index
            %j = arith.addi %i, %one : index
            %x = nb.lookup %t[%j] : !nb.table<?xf64>
            return %x : f64
          }
          func.func @long(%n: index, %x: f64) -> f64 {
            %s = nb.sum source %i in %n, mosaic %j in %n, phi %k in %n : f64 {
              nb.yield %x : f64
            }
            return %s : f64
          }""")
        for i in ("4", "1000000000", "-1"):
            self.assertIn(f"reads entry {i} of 'arg0', which has 4",
                          self.refused("at", ("arg0=1,2,3,4", f"arg1={i}")))
        self.assertIn("result 0: 4", self.run_function("at", ("arg0=1,2,3,4", "arg1=3")))
        # Only the interpreter checks the values that the program computes.
        self.assertIn("reads outside the table",
                      self.refused("next", ("arg0=1,2,3,4", "arg1=3"), "--check-bounds"))
        self.assertIn("result 0: 4",
                      self.run_function("next", ("arg0=1,2,3,4", "arg1=2"), "--check-bounds"))
        self.assertIn("rounds", self.refused("long", ("arg0=1e9", "arg1=1")))

    def test_refusals(self):
        for arguments, words in (
                (("x=3", "arg1=1,2,3"), "has an argument 'arg2' of type index"),
                (self.SCALED + ("y=3",), "no argument 'y'"),
                (self.SCALED + ("x=4",), "is given twice"),
                (("x=3,4", "arg1=1,2,3", "arg2=1"), "takes 1 number(s), not 2"),
                (("x=3", "arg1=1,2", "arg2=1"), "takes 3 number(s), not 2"),
                (("x=3", "arg1=1,2,3", "arg2=1.5"), "whole numbers"),
                (("x=three", "arg1=1,2,3", "arg2=1"), "cannot be 'three'"),
                (("x=none.npy", "arg1=1,2,3", "arg2=1"), "none.npy"),
                (("x", "arg1=1,2,3", "arg2=1"), "expected NAME=VALUE")):
            self.assertIn(words, self.refused("scaled", arguments))
        self.assertIn("there are scaled, weighted", self.refused("nothing", ()))
        self.assertIn("3 result(s)", self.refused("scaled", self.SCALED, "--out=a.npy"))
        self.write("program.mlir", "func.func @broken(%x: f64) -> f64 { return %y : f64 }")
        self.assertIn("program.mlir:1", self.refused("broken", ("arg0=1",)))


if __name__ == "__main__":
    NB_RUN, NB_SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
