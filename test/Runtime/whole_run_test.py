#!/usr/bin/env python3
"""whole_run_test.py NB_SIM FAKE_COMPILER: what nb-sim itself does, whatever the kernel computes."""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NB_SIM, FAKE_COMPILER = (os.path.abspath(path) for path in sys.argv[1:3])
CRYSTAL = "-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 1 -distance 100".split()
SMALL = CRYSTAL + ["-detpixels", "20", "-oversample", "1", "-seed", "1"]
OUTPUTS = {"floatimage.bin", "intimage.img", "image.pgm", "noiseimage.img"}


class NbSim(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=FAKE_COMPILER, NB_CHECK_IMAGES="0",
                                NB_CACHE="off")

    def start(self, *words, **options):
        return subprocess.Popen([NB_SIM, *words], cwd=self.folder.name, env=self.environment,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **options)

    def run_it(self, *words, **options):
        process = self.start(*words, **options)
        process.out, process.err = process.communicate(timeout=60)
        return process

    def files(self):
        return set(os.listdir(self.folder.name))

    def test_writes_all_images_and_nothing_else(self):
        done = self.run_it(*SMALL)
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(self.files(), OUTPUTS)
        self.assertEqual(os.path.getsize(os.path.join(self.folder.name, "floatimage.bin")), 1600)

    def test_lines_that_other_programs_parse_come_in_order(self):
        out = self.run_it(*SMALL).out
        place = -1
        for line in ["nanoBragg nanocrystal diffraction simulator", "mosflm convention selected.",
                     "pivoting detector around direct beam spot", "XDS incident beam: 0 0 1",
                     "auto-selected no interpolation", "Unit Cell: 100 100 100 90 90 90",
                     "Recp Cell: 0.01 0.01 0.01 90 90 90", "volume = 1e+06 A^3",
                     "crystal is 0.05 x 0.05 x 0.05 microns", "phi0 = 0",
                     "  created a total of 1 sources:", "  0 initialized hkls (all others =100)",
                     "  parallelpiped xtal: 5x5x5 cells", "  wave=1e-10 meters +/- 0% in 1 steps",
                     "  distance=0.1 detsize=0.002x0.002  pixel=0.0001 meters (20x20 pixels)",
                     "DIRECTION_OF_DETECTOR_X-AXIS= 0 0 1", "INCIDENT_BEAM_DIRECTION= 1 0 0",
                     "1x1 pixel oversample steps", "noise image paramters:", "  seed: -1",
                     "solid angle subtended by detector = 0.000399959 steradian",
                     "writing floatimage.bin as 400 4-byte floats",
                     "max_I = 39  at 0.00195 0.00195", "mean= 20 rms= ", "intfile_scale = 1410.26",
                     "writing intimage.img as 2-byte integers", "pgm_scale = ",
                     "writing image.pgm as 1-byte integers", "photons on noise image (0 overloads)",
                     "writing noiseimage.img as 2-byte integers", "compiled in "]:
            found = out.find(line, place + 1)
            self.assertGreater(found, place, f"{line!r} is missing or out of order in\n{out}")
            place = found

    def solid_angle(self, *words):
        out = self.run_it(*CRYSTAL, "-xds", "-distance", "10", "-ORGX", "100.5", "-ORGY", "100.5",
                          "-detpixels_f", "200", "-oversample", "1", *words).out
        return float(out.split("solid angle subtended by detector = ")[1].split()[0])

    def test_solid_angle_of_a_cubes_face_is_a_sixth_of_the_sphere(self):
        sixth = 4 * math.pi / 6
        face = ["-detpixels_s", "200"]
        for words in [], ["-mosaic", "1", "-mosaic_domains", "3"], ["-point_pixel"]:
            self.assertAlmostEqual(self.solid_angle(*face, *words) / sixth, 1, delta=2e-5)
        self.assertAlmostEqual(self.solid_angle(*face, "-roi", "0", "199", "0", "99") / sixth, 0.5,
                               delta=2e-5)

    def test_solid_angle_adds_up_panels(self):
        with open(os.path.join(self.folder.name, "panels.json"), "w") as file:
            json.dump([{"offset_mm": [0, y, 0], "fast": [1, 0, 0], "slow": [0, 1, 0]}
                       for y in (0, 10)], file)
        halves = self.solid_angle("-detpixels_s", "100", "--panels=panels.json")
        self.assertAlmostEqual(halves / (4 * math.pi / 6), 1, delta=2e-5)

    def test_quiet_says_nothing(self):
        done = self.run_it("--quiet", *SMALL, "-roi", "0", "5", "0", "5")
        self.assertEqual((done.returncode, done.out, done.err), (0, "", ""))

    def test_progress_lines_rise_to_100(self):
        out = self.run_it(*SMALL).out
        percents = [int(line.split("%")[0]) for line in out.splitlines() if "% done" in line]
        self.assertEqual(percents, sorted(percents))
        self.assertEqual(percents[-1], 100)
        self.assertNotIn("% done", self.run_it(*SMALL, "-noprogress").out)

    def test_image_does_not_depend_on_threads(self):
        images = []
        for threads in "1", "3":
            self.run_it(*SMALL, "--threads=" + threads)
            with open(os.path.join(self.folder.name, "floatimage.bin"), "rb") as file:
                images.append(file.read())
        self.assertEqual(*images)

    def test_timing(self):
        done = self.run_it(*SMALL, "--timing=time.json", "--threads=2")
        self.assertEqual(done.returncode, 0, done.err)
        with open(os.path.join(self.folder.name, "time.json")) as file:
            timing = json.load(file)
        self.assertEqual((timing["engine"], timing["threads"], timing["samples"],
                          timing["kernel_compiles"]), ("fused", 2, 400, 1))
        for key in "startup_seconds", "compile_seconds", "run_seconds", "total_seconds":
            self.assertGreaterEqual(timing[key], 0)
        self.assertAlmostEqual(timing["ns_per_sample"], timing["run_seconds"] / 400 * 1e9)

    def slow_run(self):
        # 1024 rows of 9 ms on two threads: long enough to be interrupted on any machine.
        return self.start(*CRYSTAL, "-detpixels", "1024", "-oversample", "1", "-phisteps", "10",
                          "-osc", "1", "-phi", "1", "--threads=2")

    def wait_for_progress(self, process):
        for line in process.stdout:
            if "% done" in line:
                return
        self.fail("the run ended before it was interrupted: " + process.stderr.read())

    def test_ctrl_c_leaves_old_outputs_and_no_temporaries(self):
        with open(os.path.join(self.folder.name, "floatimage.bin"), "w") as file:
            file.write("precious")
        process = self.slow_run()
        self.wait_for_progress(process)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted", err)
        self.assertEqual(self.files(), {"floatimage.bin"})
        with open(os.path.join(self.folder.name, "floatimage.bin")) as file:
            self.assertEqual(file.read(), "precious")

    def test_sigterm_has_its_own_status(self):
        process = self.slow_run()
        self.wait_for_progress(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)
        self.assertEqual(self.files(), set())

    def assert_one_error(self, done, status, *words):
        self.assertEqual(done.returncode, status, done.err)
        self.assertEqual(done.err.count("nb-sim: error: "), 1, done.err)
        for word in words:
            self.assertIn(word, done.err)
        self.assertEqual(self.files(), set())

    def test_missing_output_folder_is_reported_before_the_run(self):
        done = self.run_it(*SMALL, "-intfile", "nowhere/x.img")
        self.assert_one_error(done, 1, "nowhere/x.img")
        self.assertNotIn("% done", done.out)

    def test_full_disk_is_an_error(self):
        self.assert_one_error(self.run_it(*SMALL, "-floatfile", "/dev/full"), 1, "/dev/full")

    def test_out_of_memory_is_an_error(self):
        with open(NB_SIM, "rb") as file:
            program = file.read()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("a sanitizer needs more address space than the test allows")
        limit = 4 << 30
        done = self.run_it(*CRYSTAL, "-detpixels", "40000", "-oversample", "1",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_one_error(done, 1, "out of memory")

    def test_missing_compiler_is_an_error(self):
        self.environment["NB_COMPILER_LIBRARY"] = "/nonexistent.so"
        self.assert_one_error(self.run_it(*SMALL), 1, "/nonexistent.so", "NB_COMPILER_LIBRARY")

    def test_library_without_interpreter_is_an_error(self):
        self.assert_one_error(self.run_it(*SMALL, "--no-fuse"), 1, "has no interpreter")

    def test_printout_of_many_pixels_is_refused(self):
        self.assert_one_error(self.run_it(*SMALL, "-printout"), 1, "-printout")

    def test_unknown_flag_is_a_usage_error(self):
        self.assert_one_error(self.run_it(*SMALL, "-lamda", "1"), 2, "-lamda", "-lambda")

    def test_emit_prints_the_program_and_runs_nothing(self):
        done = self.run_it(*SMALL, "--emit=llvm")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue(done.out.startswith("llvm: shape="), done.out)
        self.assertEqual(self.files(), set())

    def test_list_parameters_needs_no_compiler(self):
        self.environment["NB_COMPILER_LIBRARY"] = "/nonexistent.so"
        done = self.run_it(*SMALL, "--list-parameters")
        self.assertEqual(done.returncode, 0, done.err)
        lines = {line.split()[0]: line.split() for line in done.out.splitlines() if line}
        self.assertEqual(lines["wavelength"][1:4], ["m", "1e-10", "yes"])
        self.assertEqual(lines["phi_steps"][3], "no")
        self.assertEqual(lines["misset"][1], "misset_x,misset_y,misset_z")
        self.assertEqual(lines["water"][1], "-")
        self.assertEqual(lines["sources"][2], "1")
        self.assertEqual(lines["mask"][2], "-")

    def test_help_names_the_c_program(self):
        for flag in "-h", "-help", "--help":
            done = self.run_it(flag)
            self.assertEqual(done.returncode, 0)
            self.assertIn("usage: nanobragg", done.out.lower())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
