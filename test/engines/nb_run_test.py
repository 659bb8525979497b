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
func.func @two_images(%n: index, %x: f64) -> (tensor<?x?x?xf64>, f64) {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %img, %x : tensor<?x?x?xf64>, f64
}
func.func @in_image(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %total = nb.image panel %q in %n, slow %t in %n, fast %g in %n : f64 {
      %both = arith.addi %f, %g : index
      %i = arith.index_cast %both : index to i64
      %column = arith.sitofp %i : i64 to f64
      %y = arith.mulf %column, %x : f64
      nb.yield %y : f64
    }
    nb.yield %total : f64
  }
  return %img : tensor<?x?x?xf64>
}
func.func @table_chosen(%n: index, %c: i1, %t: !nb.table<?xf64>, %u: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %v = scf.if %c -> !nb.table<?xf64> {
    scf.yield %t : !nb.table<?xf64>
  } else {
    scf.yield %u : !nb.table<?xf64>
  }
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %x = nb.lookup %v[%i] : !nb.table<?xf64>
      nb.yield %x : f64
    }
    nb.yield %I : f64
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
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %one = arith.constant 1 : index
  %least = arith.constant -0.7 : f64
  %most = arith.constant 1.1 : f64
  %middle = arith.constant 20.0 : f64
  %img:11 = nb.image panel %p in %one, slow %s in %one, fast %f in %n : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>,
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64> {
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
    %square = arith.mulf %x, %x : f64
    %isNormal = math.isnormal %square : f64
    %large = arith.mulf %square, %square : f64
    %isInfinite = math.isinf %large : f64
    %infiniteOr = arith.select %isInfinite, %least, %most : f64
    %kind = arith.select %isNormal, %infiniteOr, %x : f64
    nb.yield %cbrt, %asinh, %acosh, %atanh, %erfc, %clamped, %power, %both, %log1p, %expm1, %kind
        : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
  }
  return %img#0, %img#1, %img#2, %img#3, %img#4, %img#5, %img#6, %img#7, %img#8, %img#9, %img#10 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>,
    tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
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
        names = "cbrt asinh acosh atanh erfc clampf fpowi sincos log1p expm1 kinds".split()
        outputs = [word for name in names for word in ("--out", f"{name}.npy")]
        for scale in (0.05, 0.37, 1e-9, 2e-155, 1e153):
            x = (columns - 20.0) * scale
            with np.errstate(all="ignore"):
                right = [np.cbrt(x), np.arcsinh(x), np.arccosh(x), np.arctanh(x), np.array([math.erfc(e) for e in x]),
                         np.clip(x, -0.7, 1.1), x ** columns, np.sin(x) - np.cos(x),
                         np.log1p(x), np.expm1(x)]
                is_normal = (x * x >= np.finfo(float).tiny) & np.isfinite(x * x)
                right.append(np.where(is_normal, np.where(np.isinf((x * x) ** 2), -0.7, 1.1), x))
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
            self.run_function("called", ["arg0=9", f"arg1={count}"], "--compare-engines")

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

    def test_refusals_say_what_to_write_instead(self):
        for function, arguments, flag, said in (
                ("two_images", ["arg0=2", "arg1=7"], "--compare-engines", "returns 2 results, images among them, and engines are compared by one image; return the one to compare alone"),
                ("in_image", ["arg0=2", "arg1=7"], "", "stands inside an image; write a sum over its pixels"),
                ("in_image", ["arg0=2", "arg1=7"], "--no-fuse", "inside an image cannot be run; write a sum over its pixels"),
                ("table_chosen", ["arg0=2", "arg1=1", "arg2=1,2", "arg3=3,4"], "--no-fuse", "look both up, and choose among the numbers (arith.select)")):
            with self.subTest(function, flag=flag):
                self.assertIn(said, self.refused(function, arguments, *flag.split()))

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

    def assert_engines_make(self, function, arguments, expected):
        for engine in ((), ("--no-fuse",), ("--check-bounds",)):
            self.run_function(function, arguments, "--out=made.npy", *engine)
            np.testing.assert_array_equal(self.load("made.npy"), np.broadcast_to(expected, (1, 3, 20)), str(engine))

    def write_images(self, text):
        """Writes a program; CONSTANTS and IMAGE stand for what its functions have in common."""
        self.write("program.mlir", text.replace("CONSTANTS", """
            %zero = arith.constant 0 : index
            %one = arith.constant 1 : index
            %three = arith.constant 3 : index
            %twenty = arith.constant 20 : index
            %none = arith.constant 0.0 : f64""").replace(
                "IMAGE", "nb.image panel %p in %one, slow %s in %three, fast %f in %twenty : tensor<?x?x?xf64>"))

    def test_entries_that_a_branch_or_an_empty_loop_guards(self):
        self.save("empty.npy", np.array([]))
        self.write_images("""
          func.func @by_index(%n: index, %t: !nb.table<?xf64>, %m: index) -> tensor<?x?x?xf64> {CONSTANTS
            %far = arith.constant 100000000000 : index
            %image = IMAGE {
              %I = nb.sum source %i in %n : f64 {
                %k = arith.muli %i, %far : index
                %there = arith.cmpi ult, %k, %m : index
                %v = scf.if %there -> f64 {
                  %x = nb.lookup %t[%k] : !nb.table<?xf64>
                  scf.yield %x : f64
                } else {
                  scf.yield %none : f64
                }
                nb.yield %v : f64
              }
              nb.yield %I : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          // The first branch is taken by some pixels of a row, the one in it by others.
          func.func @by_pixel(%i: index, %t: !nb.table<?xf64>, %first: index, %last: index) -> tensor<?x?x?xf64> {CONSTANTS
            %image = IMAGE {
              %c = arith.cmpi uge, %f, %first : index
              %v = scf.if %c -> f64 {
                %d = arith.cmpi ugt, %f, %last : index
                %w = scf.if %d -> f64 {
                  scf.yield %none : f64
                } else {
                  %x = nb.lookup %t[%i] : !nb.table<?xf64>
                  scf.yield %x : f64
                }
                scf.yield %w : f64
              } else {
                scf.yield %none : f64
              }
              nb.yield %v : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          func.func @divided(%n: index) -> tensor<?x?x?xf64> {CONSTANTS
            %image = IMAGE {
              %c = arith.cmpi ne, %f, %zero : index
              %v = scf.if %c -> index {
                %q = arith.divui %n, %f : index
                scf.yield %q : index
              } else {
                scf.yield %zero : index
              }
              %i = arith.index_cast %v : index to i64
              %x = arith.sitofp %i : i64 to f64
              nb.yield %x : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          func.func @empty(%n: index, %t: !nb.table<?xf64>, %k: index) -> tensor<?x?x?xf64> {CONSTANTS
            %image = IMAGE {
              %I = nb.sum source %i in %n : f64 {
                %x = nb.lookup %t[%k] : !nb.table<?xf64>
                nb.yield %x : f64
              }
              nb.yield %I : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          // What is tabulated over a dimension of a negative count.
          func.func @negative(%n: index, %m: index) -> tensor<?x?x?xf64> {CONSTANTS
            %image = IMAGE {
              %I = nb.sum source %i in %n, mosaic %k in %m : f64 {
                %sum = arith.addi %i, %k : index
                %whole = arith.index_cast %sum : index to i64
                %x = arith.sitofp %whole : i64 to f64
                %y = math.exp %x : f64
                %z = math.sin %y : f64
                %column = arith.index_cast %f : index to i64
                %c = arith.sitofp %column : i64 to f64
                %r = arith.mulf %z, %c : f64
                nb.yield %r : f64
              }
              nb.yield %I : f64
            }
            return %image : tensor<?x?x?xf64>
          }""")
        self.assert_engines_make("by_index", ("arg0=5", "arg1=7,2", "arg2=2"), 7)
        self.assert_engines_make("by_index", ("arg0=5", "arg1=empty.npy", "arg2=0"), 0)
        columns = np.arange(20)
        far = 900000000000
        self.assert_engines_make("by_pixel", (f"arg0={far}", "arg1=1,2,3", "arg2=5", "arg3=4"), 0)
        self.assert_engines_make("by_pixel", ("arg0=2", "arg1=1,2,3", "arg2=5", "arg3=9"),
                                 3.0 * ((columns >= 5) & (columns <= 9)))
        self.assert_engines_make("divided", ("arg0=100",), np.r_[0, 100 // columns[1:]])
        self.assert_engines_make("empty", ("arg0=0", "arg1=1,2,3", f"arg2={far}"), 0)
        self.assert_engines_make("empty", ("arg0=2", "arg1=1,2,3", "arg2=1"), 4)
        for n, m in ((-3, 2), (2, -3), (-3, -3), (0, 4)):
            self.assert_engines_make("negative", (f"arg0={n}", f"arg1={m}"), 0)

    def test_arithmetic_without_flags_is_that_of_ieee_754(self):
        self.save("x.npy", np.array([1e18, -1.0, 800, -720]))
        self.write_images("""
          func.func @floors(%d: f64) -> tensor<?x?x?xf64> {
            %one = arith.constant 1 : index
            %many = arith.constant 2000 : index
            %image = nb.image panel %p in %one, slow %s in %one, fast %f in %many : tensor<?x?x?xf64> {
              %i = arith.index_cast %f : index to i64
              %x = arith.sitofp %i : i64 to f64
              %q = arith.divf %x, %d : f64
              %r = math.floor %q : f64
              nb.yield %r : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          func.func @sums(%n: index, %w: f64, %y: f64) -> tensor<?x?x?xf64> {CONSTANTS
            %image = IMAGE {
              %I = nb.sum source %i in %n : f64 {
                %yw = arith.mulf %y, %w : f64
                nb.yield %yw : f64
              }
              nb.yield %I : f64
            }
            return %image : tensor<?x?x?xf64>
          }
          func.func @functions(%t: !nb.table<?xf64>, %n: index) -> tensor<?x?x?xf64> {
            %one = arith.constant 1 : index
            %four = arith.constant 4 : index
            %sixteen = arith.constant 16 : index
            %image = nb.image panel %p in %one, slow %s in %four, fast %f in %sixteen : tensor<?x?x?xf64> {
              %x = nb.lookup %t[%s] : !nb.table<?xf64>
              %column = arith.index_cast %f : index to i64
              %c = arith.sitofp %column : i64 to f64
              %none = arith.constant 0.0 : f64
              %no_c = arith.mulf %c, %none : f64
              %y = arith.addf %x, %no_c : f64
              %sin = math.sin %y : f64
              %cos = math.cos %y : f64
              %exp = math.exp %y : f64
              %rsqrt = math.rsqrt %y : f64
              %eight = arith.constant 8 : index
              %twelve = arith.constant 12 : index
              %c4 = arith.cmpi ult, %f, %four : index
              %c8 = arith.cmpi ult, %f, %eight : index
              %c12 = arith.cmpi ult, %f, %twelve : index
              %a = arith.select %c12, %exp, %rsqrt : f64
              %b = arith.select %c8, %cos, %a : f64
              %r = arith.select %c4, %sin, %b : f64
              nb.yield %r : f64
            }
            return %image : tensor<?x?x?xf64>
          }""")
        for engine in ((), ("--no-fuse",)):
            self.run_function("floors", ("arg0=49",), "--out=floors.npy", *engine)
            np.testing.assert_array_equal(self.load("floors.npy")[0, 0], np.arange(2000) // 49)
            self.run_function("functions", ("arg0=x.npy", "arg1=4"), "--out=functions.npy", *engine)
            x = self.load("x.npy")[:, None]
            with np.errstate(all="ignore"):
                expected = np.hstack([np.repeat(f(x), 4, 1)
                                      for f in (np.sin, np.cos, np.exp, lambda v: 1 / np.sqrt(v))])
            np.testing.assert_allclose(self.load("functions.npy")[0], expected, rtol=1e-15)
        self.assert_engines_make("sums", ("arg0=0", "arg1=inf", "arg2=1"), 0)
        self.assert_engines_make("sums", ("arg0=1024", f"arg1={2**-20}", f"arg2={2.0**1015}"), 2.0**1005)

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
