#!/usr/bin/env python3
"""limits_test.py NB_SIM COMPILER SLOW_COMPILER: what a system refuses (threads, file sizes, stack), what
no experiment has, and signals at any moment end in a clear sentence and leave earlier outputs alone."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time

import nb_sim
from nb_sim import EARLIER, NB_SIM, NbSimTest

SLOW_COMPILER = os.path.abspath(sys.argv.pop(3))
COMPILER = nb_sim.FAKE_COMPILER  # the command line's compiler is the real one
CRYSTAL = ("-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -detpixels 64 -pixel 1"
           " -misset 10 20 30 -oversample 1 -nonoise -nopgm -noprogress").split()
NOBODY = 65534
BIGGEST = {"-lambda": 1, "-energy": 1, "-dispersion": 1, "-hdivrange": 1, "-vdivrange": 1, "-polar": 1,
           "-fluence": 1, "-flux": 1, "-exposure": 1, "-beamsize": 1, "-distance": 1,
           "-close_distance": 1, "-pixel": 1, "-Xbeam": 1, "-Ybeam": 1, "-ORGX": 1, "-ORGY": 1,
           "-detector_rotx": 1, "-detector_roty": 1, "-detector_rotz": 1, "-twotheta": 1,
           "-detector_thick": 1, "-detector_abs": 1, "-cell": 6, "-misset": 3, "-N": 1, "-Na": 1,
           "-mosaic": 1, "-phi": 1, "-osc": 1, "-phistep": 1, "-default_F": 1, "-fudge": 1,
           "-dmin": 1, "-water": 1, "-samplesize": 1, "-xtalsize": 1, "-adc": 1, "-scale": 1}


class Limits(NbSimTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)

    def run_limited(self, words, limits=(), user=None, **environment):
        """Under resource limits, soft and hard, which root is not subject to in all cases."""
        def restrict():
            for kind, value in limits:
                resource.setrlimit(kind, (value, value))
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
        return subprocess.run(
            [NB_SIM, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=120, preexec_fn=restrict,
            env=os.environ | {"NB_COMPILER_LIBRARY": COMPILER, "NB_CACHE": "off"} | environment)

    def image(self):
        with open(os.path.join(self.folder, "floatimage.bin"), "rb") as file:
            return file.read()

    def assert_one_error(self, done, *parts):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("nb-sim: error: "), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_threads_that_cannot_be_started(self):
        self.assertEqual(self.run_limited(CRYSTAL + ["--threads=1"]).returncode, 0)
        expected = self.image()
        user = NOBODY if os.geteuid() == 0 else None  # root may start any number
        for most in range(1, 6) if user else [1]:
            for engine in ((), ("--no-fuse",)):
                os.unlink(os.path.join(self.folder, "floatimage.bin"))
                os.unlink(os.path.join(self.folder, "intimage.img"))
                done = self.run_limited(CRYSTAL + ["--threads=8", *engine],
                                        [(resource.RLIMIT_NPROC, most)], user)
                self.assertEqual(done.returncode, 0, f"{most} {engine} {done.stderr}")
                if not engine:
                    self.assertEqual(self.image(), expected)
        self.assertEqual(sorted(os.listdir(self.folder)), ["floatimage.bin", "intimage.img"])

    def test_more_threads_than_any_machine_has(self):
        done = self.run_limited(CRYSTAL + ["--threads=10000000"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("from 0 to 4096", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_file_size_limit(self):
        for name, content in EARLIER.items():
            self.add(name, content)
        before = self.snapshot()
        for environment in ({}, {"NB_CACHE": "", "NB_CACHE_DIR": self.folder + "-cache"}):
            done = self.run_limited(CRYSTAL, [(resource.RLIMIT_FSIZE, 1024)], **environment)
            self.assert_one_error(done, "floatimage.bin: cannot be written", "File too large")
            self.assertEqual(self.snapshot(), before)

    def test_small_stack(self):
        self.assertEqual(self.run_limited(CRYSTAL).returncode, 0)
        expected = self.image()
        for words in ((), ("--no-fuse",), ("--grad=cell",), ("--emit=asm",)):
            done = self.run_limited([*CRYSTAL, *words], [(resource.RLIMIT_STACK, 64 << 10)])
            self.assertEqual(done.returncode, 0, f"{words} {done.stderr}")
            if not words:
                self.assertEqual(self.image(), expected)

    def test_numbers_beyond_all_bounds(self):
        """An error, or an image that is finite, or a warning that names the flag."""
        cache = {"NB_CACHE": "", "NB_CACHE_DIR": self.folder + "-cache"}
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", cache["NB_CACHE_DIR"]]))
        warned = 0
        for flag, count in BIGGEST.items():
            for number in ("1e308", "-1e308", "1e200", "1e20", "-1e10"):
                done = self.run_limited([*CRYSTAL, "-detpixels", "8", flag, *[number] * count], **cache)
                what = f"{flag} {number}: {done.returncode} {done.stderr}"
                self.assertIn(done.returncode, (0, 1, 2), what)
                if done.returncode:
                    self.assertEqual(done.stderr.count("nb-sim: error: "), 1, what)
                    continue
                finite = all(b & 0x7f80 != 0x7f80
                             for b in memoryview(self.image()).cast("H")[1::2])
                if not finite:
                    warned += 1
                    self.assertIn("are infinite or not a number; " + flag, done.stderr, what)
        self.assertGreater(warned, 0)

    def test_signals_are_heard_at_once(self):
        os.mkfifo(os.path.join(self.folder, "never.hkl"))
        for name, content in EARLIER.items():
            self.add(name, content)
        before = self.snapshot()
        cache = self.folder + "-cache"
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", cache]))
        reading = (["-hkl", "never.hkl"], {"NB_CACHE": "off"})
        compiling = ([], {"NB_CACHE": "", "NB_CACHE_DIR": cache, "NB_TEST_BUILD_SECONDS": "30",
                          "NB_COMPILER_LIBRARY": SLOW_COMPILER})
        rendering = (["-oversample", "100", "-mosaic", "1", "-mosaic_dom", "1000"], {"NB_CACHE": "off"})
        for words, environment in (reading, compiling, rendering):
            for which in (signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen(
                    [NB_SIM, *CRYSTAL, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    env=os.environ | {"NB_COMPILER_LIBRARY": COMPILER} | environment)
                time.sleep(1.5)
                self.assertIsNone(process.poll(), f"{words} ended by itself")
                begin = time.monotonic()
                process.send_signal(which)
                process.wait(30)
                seconds = time.monotonic() - begin
                self.assertEqual(process.returncode, 128 + which, words)
                self.assertEqual(process.stderr.read().count("nb-sim: interrupted"), 1)
                process.stderr.close()
                print(f"{words} {which.name}: {seconds:.3f} s", flush=True)
                self.assertLess(seconds, 10, words)  # 0.2 s on an idle machine; the work itself takes longer than 30 s
                self.assertEqual(self.snapshot(), before)

    def test_pipes_that_files_name_are_not_waited_for(self):
        os.mkfifo(os.path.join(self.folder, "never.ins"))
        os.mkfifo(os.path.join(self.folder, "never"))
        self.add("never.hkl", "   1   2   3  135.60    1.00\n   0   0   0    0.00    0.00\n")
        self.add("channels.csv", "9000 never\n9100 never\n")
        done = self.run_limited([*CRYSTAL, "--write-expt=masked.expt", "-nonoise", "-nopgm"])
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "masked.expt")) as file:
            experiment = json.load(file)
        experiment["imageset"] = [{"__id__": "ImageSet", "images": ["x.cbf"], "mask": "never"}]
        experiment["experiment"][0]["imageset"] = 0
        self.add("masked.expt", json.dumps(experiment))
        for words in (["-hkl", "never.hkl", *CRYSTAL], ["--hkl-channels=channels.csv", *CRYSTAL], ["--expt=masked.expt", *CRYSTAL]):
            done = self.run_limited(words)
            self.assertEqual((done.returncode, done.stderr.count("is not a regular file")), (1, 1), done.stderr)

    def test_nexus_at_a_limit_of_file_sizes(self):
        done = self.run_limited([*CRYSTAL, "--nexus=x.nxs"], [(resource.RLIMIT_FSIZE, 8192)])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("x.nxs: cannot be written", done.stderr)

    def test_drivers_of_the_working_directory_are_not_loaded(self):
        for name in ("libcuda.so.1", "libOpenCL.so.1", "libamdhip64.so.6"):
            self.add(name, "no library")
        for device, path in (("cuda", ":/usr/lib"), ("opencl", "."), ("cuda", "/usr/lib:")):
            done = self.run_limited([*CRYSTAL, f"--device={device}"], LD_LIBRARY_PATH=path)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("is in the working directory", done.stderr)

    def test_list_that_asks_for_gigabytes(self):
        self.add("two.hkl", "0 0 0 10\n900 900 900 10\n")
        begin = time.monotonic()
        done = self.run_limited([*CRYSTAL, "-hkl", "two.hkl"])
        self.assertLess(time.monotonic() - begin, 20)
        self.assert_one_error(done, "two.hkl: the indices span h 0..900", "5.9 GB for 2 reflections")

    def test_image_larger_than_memory(self):
        with open(NB_SIM, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer needs more address space than the test allows")
        done = self.run_limited([*CRYSTAL, "-detpixels", "20000"], [(resource.RLIMIT_AS, 1 << 30)])
        self.assert_one_error(done, "400000000 pixels", "3.2 GB", "1.1 GB")

    def test_very_long_unknown_flag(self):
        begin = time.monotonic()
        done = self.run_limited([*CRYSTAL, "-" + "x" * 120000])
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown flag '-xxx", done.stderr)
        self.assertLess(len(done.stderr), 1000)

    def test_panels_with_a_number_out_of_range(self):
        self.add("p.json", '[{"offset_mm": [0, 0, 1e999], "fast": [0, 0, 1], "slow": [0, 1, 0]}]')
        self.assert_one_error(self.run_limited([*CRYSTAL, "--panels=p.json"]), "p.json: has a number")

    def test_link_to_a_file_that_does_not_exist_yet(self):
        os.mkdir(os.path.join(self.folder, "data"))
        link = os.path.join(self.folder, "floatimage.bin")
        os.symlink("data/real.bin", link)
        self.assertEqual(self.run_limited(CRYSTAL).returncode, 0)
        self.assertTrue(stat.S_ISLNK(os.lstat(link).st_mode))
        self.assertEqual(os.path.getsize(os.path.join(self.folder, "data/real.bin")), 64 * 64 * 4)

    def test_standard_output_that_is_appended_to_a_log(self):
        self.add("log", "first line\n")
        with open(os.path.join(self.folder, "log"), "ab") as log:
            done = subprocess.run(
                [NB_SIM, *CRYSTAL, "--quiet", "-floatfile", "/dev/stdout"], cwd=self.folder, stdout=log,
                env=os.environ | {"NB_COMPILER_LIBRARY": COMPILER, "NB_CACHE": "off"})
        self.assertEqual(done.returncode, 0)
        content = self.snapshot()["log"]
        self.assertTrue(content.startswith(b"first line\n"))
        self.assertEqual(len(content), len(b"first line\n") + 64 * 64 * 4)


if __name__ == "__main__":
    nb_sim.main()
