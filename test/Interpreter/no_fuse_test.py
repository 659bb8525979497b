"""nb-sim with and without the fused kernel; called as no_fuse_test.py NB_SIM."""

import decimal
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

NB_SIM = os.path.abspath(sys.argv.pop(1))
EXPERIMENT = ("-cell 100 110 120 90 90 90 -N 5 -lambda 1 -distance 100 -pixel 0.1 -detpixels 32 "
              "-oversample 1 -mosaic 1 -mosaic_dom 3 -default_F 100 -seed 1 -compat c").split()
# A corner of an orthogonal crystal: h k l with one missing reflection.
REFLECTIONS = "".join(f"{h} {k} {l} {10 + h + 2 * k + 3 * l}\n"
                      for h in (-1, 0, 1) for k in (-1, 0, 1) for l in (-1, 0, 1)
                      if (h, k, l) != (0, 0, 0))


class InterpreterTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-interpreter-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_it(self, *words, variables=None, status=0):
        environment = {key: value for key, value in os.environ.items()
                       if not key.endswith("_DISABLE_COMPILE")}
        environment.update(NB_CACHE_DIR=os.path.join(self.folder, "cache"), **(variables or {}))
        done = subprocess.run([NB_SIM, *EXPERIMENT, *words], cwd=self.folder, env=environment,
                              text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done

    def image(self):
        with open(os.path.join(self.folder, "floatimage.bin"), "rb") as file:
            data = file.read()
        return struct.unpack(f"<{len(data) // 4}f", data)

    def engine(self, *words, **how):
        done = self.run_it("--quiet", "--timing", "timing.json", *words, **how)
        with open(os.path.join(self.folder, "timing.json")) as file:
            return json.load(file)["engine"], done

    def trace(self, *words):
        values = {}
        for line in self.run_it("--quiet", *words).stdout.splitlines():
            word, key, value = line.split(" ", 2)
            self.assertEqual(word, "TRACE")
            values.setdefault(key, value)
        return values

    def test_both_engines_say_and_make_the_same(self):
        def said(text):
            return [re.sub(r"compiled in .*|wrote .*", "", line) for line in text.splitlines()
                    if "seconds" not in line]

        fused = self.run_it("-noprogress")
        image = self.image()
        interpreted = self.run_it("-noprogress", "--no-fuse")
        self.assertEqual(said(fused.stdout), said(interpreted.stdout))
        other = self.image()
        self.assertGreater(max(image), 0)
        for a, b in zip(image, other):
            self.assertLessEqual(abs(a - b), 1e-6 * abs(a) + 1e-9 * max(image))

    def test_variables_choose_the_interpreter(self):
        for name in ("NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"):
            for value, engine in (("1", "interpreter"), ("yes", "interpreter"), ("0", "fused"),
                                  ("", "fused")):
                with self.subTest(name=name, value=value):
                    self.assertEqual(self.engine(variables={name: value})[0], engine)
        self.assertEqual(self.engine()[0], "fused")
        self.assertEqual(self.engine("--no-fuse")[0], "interpreter")

    def test_interpreter_takes_over_from_a_compiler_that_fails_where_it_may(self):
        broken = {"NB_TEST_COMPILE_ERROR": "the linker is on strike"}
        done = self.run_it("--fallback", variables=broken)
        self.assertIn("WARNING: the kernel cannot be compiled (the linker is on strike)",
                      done.stderr)
        image = self.image()
        self.assertEqual(self.engine("--fallback", variables=broken)[0], "interpreter")
        self.run_it("--no-fuse")
        self.assertEqual(image, self.image())

    def test_a_compiler_that_fails_is_an_error(self):
        for words in ((), ("--no-fallback",), ("--frames=2", "-osc", "1"), ("--grad=cell",)):
            with self.subTest(words):
                done = self.run_it(*words, status=1,
                                   variables={"NB_TEST_COMPILE_ERROR": "the linker is on strike"})
                self.assertIn("the linker is on strike", done.stderr)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "floatimage.bin")))

    def test_threads_do_not_change_the_image(self):
        self.run_it("--no-fuse", "--threads", "1")
        image = self.image()
        self.run_it("--no-fuse", "--threads", "3")
        self.assertEqual(image, self.image())

    def test_trace_holds_the_pixel_of_the_image(self):
        values = self.trace("--trace-pixel", "20,10", "--no-fuse")
        image = self.image()
        self.assertEqual(float(values["floatimage_accumulated"]), image[20 * 32 + 10])
        self.assertEqual(values["steps"], "3")
        self.assertEqual(values["capture_fraction"], "1")
        self.assertEqual(values["F_cell_source[mosaic=0]"], "default")
        total = sum(float(values[f"I_sample[mosaic={i}]"]) for i in range(3))
        self.assertAlmostEqual(total / float(values["I_before_scaling"]), 1, 12)

    def test_trace_agrees_with_geometry(self):
        values = self.trace("--trace-pixel", "20,10")
        x, y, z = map(float, values["pixel_pos_meters"].split())
        r = math.sqrt(x * x + y * y + z * z)
        self.assertAlmostEqual(float(values["R_distance_meters"]), r, 14)
        self.assertAlmostEqual(float(values["omega_pixel_sr"]) / (1e-8 / r**2 * 0.1 / r), 1, 12)
        self.assertAlmostEqual(float(values["cos_2theta"]), x / r, 14)
        self.assertAlmostEqual(float(values["polar"]), (1 + (x / r) ** 2) / 2, 14)

    def test_trace_agrees_with_the_c_programs_printout(self):
        # The C program's output for this pixel; where it has several layers, for the last one.
        printed = {"pixel_pos_meters[layer=1]": "0.1001 0.00125 -0.00025",
                   "hkl_frac[layer=1]": "0.674367 1.166060 -0.249045",
                   "hkl_rounded[layer=1]": "1 1 0",
                   "F_cell[layer=1]": "157.134", "F_latt[layer=1]": "1.08574",
                   "I_before_scaling": "56555.78676", "polar": "0.9999862522",
                   "omega_pixel_sr": "9.997562995e-07", "capture_fraction": "0.1170036384",
                   "floatimage_accumulated": "0.006615529303",
                   "rot_a_angstroms": "80.96665639 47.69300544 -34.20201433",
                   "rot_b_angstroms": "-49.35200016 96.65506147 17.94935023",
                   "rot_c_angstroms": "45.40206824 2.55969757 111.04998941"}
        reflections = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "parity",
                                   "inputs", "small.hkl")
        words = ("-default_F 1 -detpixels 64 -phi 0.5 -osc 1 -phisteps 1 -polar 0.9 "
                 "-detector_thick 100 -thicksteps 2 -detector_abs 50 -misset 10 20 30 "
                 "-mosaic_dom 1 -interpolate -printout_pixel 30 20").split()
        values = self.trace("-mosaic", "0", "-hkl", reflections, *words)
        for key, expected in printed.items():
            for a, b in zip(values[key].split(), expected.split(), strict=True):
                last_digit = 10.0 ** decimal.Decimal(b).as_tuple().exponent
                self.assertAlmostEqual(float(a), float(b), msg=key, delta=0.6 * last_digit)

    def test_trace_shows_capture_fractions(self):
        values = self.trace("--trace-pixel", "20,10", "-detector_thick", "100", "-detector_abs",
                            "50", "-thicksteps", "2")
        self.assertTrue(0 < float(values["capture_fraction"]) < 1)

    def test_trace_changes_nothing_else(self):
        self.run_it("--quiet")
        image = self.image()
        self.run_it("--quiet", "--trace-pixel", "20,10")
        self.assertEqual(image, self.image())

    def test_printout_pixel_is_fast_slow(self):
        self.assertEqual(self.trace("-printout_pixel", "10", "20"),
                         self.trace("--trace-pixel", "20,10"))
        self.assertEqual(self.trace("-printout", "-roi", "10", "10", "20", "20"),
                         self.trace("--trace-pixel", "20,10", "-roi", "10", "10", "20", "20"))

    def test_trace_outside_the_image_is_an_error(self):
        done = self.run_it("--quiet", "--trace-pixel", "32,0", status=1)
        self.assertIn("pixel slow 32, fast 0 is outside the image of 32 slow x 32 fast pixels",
                      done.stderr)

    def test_probes_report_values_and_lookups(self):
        with open(os.path.join(self.folder, "some.hkl"), "w") as file:
            file.write(REFLECTIONS)
        done = self.run_it("--quiet", "-hkl", "some.hkl", "-nointerpolate", "--probe",
                           "F_cell,nb.lattice_factor", "--json")
        probes = {probe["name"]: probe for probe in json.loads(done.stdout)["probes"]}
        self.assertEqual(set(probes), {"F_cell", "F_latt"})
        samples = 32 * 32 * 3
        self.assertEqual(probes["F_latt"]["components"][0]["count"], samples)
        lookups = probes["F_cell"]["lookups"]
        self.assertEqual(lookups["in_range"] + lookups["out_of_range"], samples)
        self.assertGreater(lookups["out_of_range"], 0)
        self.assertAlmostEqual(lookups["hit_rate"], lookups["in_range"] / samples)

    def test_probes_do_not_change_the_image(self):
        self.run_it("--quiet", "--no-fuse")
        image = self.image()
        done = self.run_it("--quiet", "--probe", "*")
        self.assertLess(len(done.stdout.splitlines()), 70)
        self.assertEqual(image, self.image())
        done = self.run_it("--quiet", "--probe", "*", "--json")
        self.assertEqual(image, self.image())
        probes = {probe["name"]: probe["components"] for probe in reversed(json.loads(done.stdout)["probes"])}
        # A value that is the same for all pixels counts for each of them.
        for name, numbers in (("pixel_pos", 3), ("distance", 1), ("detector_rotation", 9)):
            self.assertEqual([component["count"] for component in probes[name]], [3072] * numbers)

    def test_probe_of_nothing_is_an_error(self):
        done = self.run_it("--quiet", "--probe", "nonsense", status=1)
        self.assertIn("no value of the program is named 'nonsense'", done.stderr)

    def test_check_finite_says_where(self):
        self.run_it("--quiet", "--check-finite")
        # Structure factors so large that F^2, or what it is multiplied by, overflows somewhere.
        done = self.run_it("--quiet", "--check-finite", "-default_F", "1e153", status=1)
        self.assertRegex(done.stderr, r"'\S+' \(\S+\) yields inf at pixel slow \d+, fast \d+.*"
                                      r"operands ")

    def test_emit_shows_the_interpreted_program(self):
        done = self.run_it("--no-fuse", "--emit", "mlir")
        self.assertIn("nb.sum", done.stdout)
        self.assertNotIn("nb.tabulate", done.stdout)
        done = self.run_it("--no-fuse", "--emit", "asm", status=1)
        self.assertIn("interpreted", done.stderr)


if __name__ == "__main__":
    unittest.main()
