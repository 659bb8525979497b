#!/usr/bin/env python3
"""driver_test.py NB_SIM NB_COMPILE FAKE_CUDA LIBNANOBRAGG: how the runtime drives a GPU, on a driver that runs
the kernel's twin for gpu-on-cpu (FakeCuda.cpp): argument packing, copies, residency, errors. At the
end of a process that driver complains of everything that was not freed."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
HKL = str(HERE.parent / "data" / "1hpv_3.0A.hkl")
PARITY = HERE.parent / "parity"
SMALL = "-cell 70 80 90 90 100 90 -N 4 -lambda 1 -distance 50 -pixel 1 -detpixels 70".split()
CONSTANT = (*SMALL, "-default_F", "10")
# Enough samples that a GPU is worth its start.
MANY = ("-oversample", "1", "-mosaic", "0.5", "-mosaic_domains", "10500", "--threads=1")
LARGE = (*CONSTANT, *MANY)
# Nearly all samples are dark.
SHARP = ("-cell 70 80 90 90 100 90 -N 200 -gauss_xtal -lambda 1 -distance 100 -pixel 0.5 -detpixels 150 "
         "-oversample 1 -default_F 10 -misset 10 20 30 -mosaic 0.3 -mosaic_dom 30").split()
QUIET = ("--quiet", "-nonoise", "-nopgm", "--no-fallback")
NB_SIM = NB_COMPILE = FAKE = LIBRARY = ""


class Driver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("NB_CACHE", "LD_LIBRARY_PATH")}
        self.environment["NB_CACHE_DIR"] = str(self.root / "cache")

    def run_tool(self, *command, **environment):
        return subprocess.run([str(word) for word in command], cwd=self.root, text=True,
                              capture_output=True, env=self.environment | environment)

    def nb_sim(self, *words, **environment):
        return self.run_tool(NB_SIM, *words, *QUIET, "-floatfile", "image.bin", "--timing", "t.json",
                             **environment)

    def image(self, *words, **environment):
        done = self.nb_sim(*words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "image.bin").read_bytes()

    def timing(self):
        return json.loads((self.root / "t.json").read_text())

    def driver(self, *words, **settings):
        """The environment in which there is a GPU for these flags, and the image it should make."""
        cache = self.root / f"twin{len(list(self.root.glob('twin*')))}"
        wanted = self.image(*words, "--device=gpu-on-cpu", NB_CACHE_DIR=str(cache))
        twin, = cache.glob("*.so")
        (self.root / "log").unlink(missing_ok=True)
        return wanted, {"LD_LIBRARY_PATH": str(pathlib.Path(FAKE).parent),
                        "NB_FAKE_CUDA_TWIN": str(twin),
                        "NB_FAKE_CUDA_LOG": str(self.root / "log"),
                        "NB_FAKE_CUDA": " ".join(f"{k}={v}" for k, v in settings.items())}

    def log(self, word):
        lines = [line.split() for line in (self.root / "log").read_text().splitlines()]
        return [int(line[1]) if len(line) > 1 and line[1].isdigit() else line[1:]
                for line in lines if line[0] == word]

    def compare(self, *words, exact=True):
        wanted, gpu = self.driver(*words)
        self.assertTrue(any(wanted))
        found = self.image(*words, "--device=cuda", **gpu)
        if exact:
            self.assertTrue(found == wanted, words)
        else:
            np.testing.assert_allclose(np.frombuffer(found, "<f4"), np.frombuffer(wanted, "<f4"),
                                       rtol=1e-6)
        self.assertEqual(self.timing()["device_name"], "Fake GPU (cuda:0, sm_90)")
        return gpu

    def failure(self, *words, status=1, **environment):
        (self.root / "image.bin").unlink(missing_ok=True)
        done = self.nb_sim(*words, **environment)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.root / "image.bin").exists())
        return done.stderr

    # --- images ---

    def test_image_is_the_twins_bit_for_bit(self):
        sources = ("-dispersion", "1", "-dispsteps", "2", "-divergence", "1", "-divsteps", "2")
        for words in ((), ("--precision=mixed",), ("--precision=f32",), sources,
                      ("-roi", "10", "50", "20", "40"), ("-osc", "1", "-phisteps", "3"),
                      ("-mosaic_dom", "3", "-mosaic_spread", "1", "-oversample", "2"),
                      ("-detector_thick", "100", "-detector_abs", "200", "-detector_thicksteps", "2"),
                      ("-gauss_xtal",), ("-detpixels_x", "129", "-detpixels_y", "3")):
            with self.subTest(words):
                self.compare(*CONSTANT, *words)

    def test_structure_factors(self):
        for words in ((), ("-interpolate",)):
            with self.subTest(words):
                self.compare(*SMALL, "-hkl", HKL, *words)

    def test_several_panels_are_several_launches(self):
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in (0, 40)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        self.compare(*CONSTANT, "--panels", "panels.json")
        self.assertEqual(self.log("launch"), [70, 70])
        self.assertEqual(self.timing()["launches"], 2)

    def test_every_structural_choice(self):
        """The first case of each group of the parity corpus, and the first with a mask and with a
        list of sources: every kind of argument there is."""
        chosen = {}
        for case in json.loads((PARITY / "cases.json").read_text())["cases"]:
            if case.get("before"):
                continue
            for kind in (case["group"], *({"-mask", "-sourcefile"} & set(case["args"]))):
                chosen.setdefault(kind, case)
        self.assertTrue({"-mask", "-sourcefile", "hkl", "interp"} <= set(chosen))
        for case in chosen.values():
            with self.subTest(case["name"]):
                # A kernel file's part on the host is for any processor and rounds without fused
                # multiply-add, which a crystal of a thousand cells shows.
                self.compare("-compat", "c", *(word.replace("@IN@", str(PARITY / "inputs"))
                                               for word in case["args"]),
                             exact=case["group"] != "zoom")

    def test_samples_without_light(self):
        """Lists of several launches, made on the host. Images are bitwise those of all samples."""
        for words in ((), ("-dispersion", "1", "-dispsteps", "5"), ("-roi", "10", "120", "70", "80")):
            with self.subTest(words):
                self.compare(*SHARP, "--cull=exact", *words)
                sparse = self.timing()
                culled = (self.root / "image.bin").read_bytes()
                self.compare(*SHARP, "--cull=off", *words)
                self.assertEqual((self.root / "image.bin").read_bytes(), culled)
                self.assertLess(sparse["samples_evaluated"], 0.2 * sparse["samples"])
                self.assertLess(sparse["samples_lit"], sparse["samples_evaluated"])
        self.compare(*SHARP)
        everything = self.timing()
        self.assertEqual(everything["samples_evaluated"], everything["samples"])
        self.compare(*SHARP, "--cull=1e-9")
        launches = self.timing()["launches"]
        self.assertGreater(launches, 2)
        self.assertEqual(self.timing()["uploaded_bytes"], sum(self.log("upload")[-launches - 1:]))

    def test_small_things_go_in_one_copy(self):
        self.compare(*CONSTANT, "-mosaic_dom", "3", "-mosaic_spread", "1")
        upload, = self.log("upload")
        self.assertEqual(self.timing()["uploaded_bytes"], upload)
        self.assertEqual(self.log("download"), [70 * 70 * 4])
        self.assertEqual(self.timing()["device_bytes"], sum(self.log("allocate")))
        self.assertEqual(self.timing()["device_bytes"], self.log("most")[0])

    def test_long_runs_are_several_launches(self):
        words = (*CONSTANT, "-detpixels", "200", "-roi", "0", "0", "0", "0", "-mosaic_dom", "1000",
                 "-mosaic_spread", "1", "-oversample", "20")
        self.compare(*words)
        launches = self.log("launch")
        self.assertEqual(sum(launches), 200 * 2)
        self.assertGreater(len(launches), 5)

    # --- derivatives ---

    def gradient(self, *words, **environment):
        done = self.run_tool(NB_SIM, *words, "--quiet", "--no-fallback", "--json", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {g["parameter"]: np.atleast_1d(g["gradient"])
                for g in json.loads(done.stdout)["gradient"]}

    def twins(self, *words, grad):
        for variable, derivative in (("NB_FAKE_CUDA_TWIN", "none"), ("NB_FAKE_CUDA_TWIN_SUMS", grad)):
            file = self.root / f"{variable}.so"
            done = self.run_tool(NB_COMPILE, *words, f"--grad={derivative}", "--target=gpu-on-cpu",
                                 "-o", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            yield variable, str(file)
        yield "LD_LIBRARY_PATH", str(pathlib.Path(FAKE).parent)
        yield "NB_FAKE_CUDA_LOG", str(self.root / "log")

    def test_gradients(self):
        for words, grad in (((*CONSTANT, "-mosaic_dom", "3", "-mosaic_spread", "1"),
                             "cell,misset,mosaic_spread,wavelength"),
                            ((*SMALL, "-hkl", HKL, "-interpolate"), "cell,detector"),
                            ((*SHARP, "--cull=1e-20"), "cell,misset,mosaic_spread")):
            with self.subTest(grad):
                (self.root / "log").unlink(missing_ok=True)
                gpu = dict(self.twins(*words, grad=grad))
                launches = 4 if "--cull=1e-20" in words else 1
                wanted = self.gradient(*words, f"--grad={grad}", "--device=cpu")
                found = [self.gradient(*words, f"--grad={grad}", "--device=cuda", **gpu)
                         for _ in range(2)]
                for name, values in wanted.items():
                    np.testing.assert_allclose(found[0][name], values, rtol=0,
                                               atol=1e-9 * np.abs(values).max())
                    np.testing.assert_array_equal(found[0][name], found[1][name])
                self.assertEqual(len(self.log("launch")), 2 * 2 * launches)
                self.assertEqual(len(self.log("reduce")), 2 * launches)

    def test_gradients_by_structure_factors(self):
        words, grad = (*SMALL, "-hkl", HKL), "F,cell"
        gpu = dict(self.twins(*words, grad=grad))
        wanted = self.gradient(*words, f"--grad={grad}", "--device=cpu")
        found = self.gradient(*words, f"--grad={grad}", "--device=cuda", **gpu)
        self.assertGreater(np.count_nonzero(wanted["F"]), 10)
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name], values, rtol=0,
                                       atol=1e-9 * np.abs(values).max())

    def test_programs_of_one_simulator_share_the_grid(self):
        words = (*SMALL, "-hkl", HKL)
        gpu = dict(self.twins(*words, grad="cell"))
        self.gradient(*words, "--grad=cell", "--device=cuda", "--timing", "t.json", **gpu)
        self.assertEqual(self.timing()["device_name"], "Fake GPU (cuda:0, sm_90)")
        self.assertEqual(self.timing()["launches"], 2)
        self.assertEqual(self.timing()["uploaded_bytes"], sum(self.log("upload")))
        grid = max(self.log("upload"))
        self.assertGreater(grid, 100 * 100)
        self.assertEqual(self.log("upload").count(grid), 1)

    # --- several devices ---

    def panels(self, count):
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in range(count)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        return "--panels", "panels.json"

    def test_several_devices_render_one_image(self):
        hkl = (*SMALL, "-hkl", HKL)
        for words, devices in ((CONSTANT, 2), ((*hkl, "-roi", "10", "50", "20", "40"), 3),
                               ((*CONSTANT, *self.panels(5)), 2), ((*SHARP, "--cull=exact"), 3),
                               ((*SMALL, "-detpixels_y", "1", "-default_F", "10"), 2)):
            with self.subTest(words):
                wanted, gpu = self.driver(*words)
                one = self.image(*words, "--device=cuda", **gpu)
                (self.root / "log").unlink()
                gpu["NB_FAKE_CUDA"] = f"devices={devices} launch_ms=20"
                for device in ("all", "cuda:all"):
                    self.assertEqual(self.image(*words, f"--device={device}", **gpu), one)
                    found = self.timing()["device_name"]
                    rows = 1 if "-detpixels_y" in words else devices
                    self.assertEqual(found, ", ".join(f"Fake GPU (cuda:{i}, sm_90)" for i in range(rows)))
                self.assertEqual(set(self.log("on")), set(range(rows)))
                pixels = len(wanted) // 4
                self.assertEqual(sum(self.log("download")), 2 * 4 * pixels)

    def test_several_devices_have_the_sums_of_one(self):
        for words, grad in (((*CONSTANT, *self.panels(40), "-detpixels", "20"), "cell,misset"),
                            ((*SHARP, "--cull=1e-20"), "cell,misset,mosaic_spread"),
                            (CONSTANT, "cell")):
            with self.subTest(words):
                gpu = dict(self.twins(*words, grad=grad))
                one = self.gradient(*words, f"--grad={grad}", "--device=cuda", **gpu)
                (self.root / "log").unlink()
                for devices in (2, 3):
                    gpu["NB_FAKE_CUDA"] = f"devices={devices} launch_ms=5"
                    several = self.gradient(*words, f"--grad={grad}", "--device=all", **gpu)
                    self.assertEqual(set(one), set(several))
                    for name, values in one.items():
                        self.assertTrue(np.abs(values).max() > 0)
                        np.testing.assert_array_equal(several[name], values)
                self.assertEqual(set(self.log("on")), {0, 1, 2})

    def test_devices_that_are_not_alike(self):
        wanted, gpu = self.driver(*CONSTANT, devices=3, alike=2)
        self.assertEqual(self.image(*CONSTANT, "--device=all", **gpu), wanted)
        self.assertEqual(self.timing()["device_name"], "Fake GPU (cuda:0, sm_90), Fake GPU (cuda:1, sm_90)")
        self.assertIn("there is no CUDA driver", self.failure(*CONSTANT, "--device=all"))

    def test_one_of_several_devices_fails(self):
        words = (*SMALL, "-hkl", HKL)
        _, gpu = self.driver(*words)
        gpu["NB_FAKE_CUDA"] = "devices=2 launch_ms=5 fails=1"
        self.assertIn("the GPU could not launch the kernel: CUDA_ERROR_UNKNOWN",
                      self.failure(*words, "--device=all", **gpu))

    # --- several runs in one process ---

    def simulators(self, script, *words, **settings):
        """Runs simulators.py with a GPU; returns what it prints and the image that is wanted."""
        if b"__asan_init" in pathlib.Path(LIBRARY).read_bytes():
            self.skipTest("Python cannot load a library with AddressSanitizer")
        wanted, gpu = self.driver(*words, **settings)
        done = self.run_tool(sys.executable, "-B", HERE / "simulators.py", LIBRARY, script,
                             "--device=cuda", *words, **gpu)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), np.frombuffer(wanted, "<f4")

    def test_later_runs_upload_no_grid(self):
        printed, wanted = self.simulators("repeat", *SMALL, "-hkl", HKL)
        for sums in printed:
            self.assertAlmostEqual(sums / wanted.sum(dtype=float), 1, places=6)
        self.assertEqual(len(printed), 3)
        uploads = self.log("upload")
        self.assertEqual(uploads.count(max(uploads)), 1)
        self.assertEqual(len(uploads), 1 + 3)
        self.assertEqual(len(self.log("module")), 1)

    def test_changed_grid_is_uploaded(self):
        lines = [line.split() for line in pathlib.Path(HKL).read_text().splitlines()]
        doubled = "\n".join(f"{h} {k} {l} {2 * float(F)}" for h, k, l, F, *_ in lines)
        (self.root / "doubled.hkl").write_text(doubled + "\n")
        (before, after, again), _ = self.simulators("change", *SMALL, "-hkl", HKL)
        self.assertAlmostEqual(after / before, 4, places=5)
        self.assertEqual(before, again)
        uploads = self.log("upload")
        self.assertEqual(uploads.count(max(uploads)), 3)  # only one is kept

    def test_cancelled_simulator_runs_again(self):
        printed, _ = self.simulators("cancel", *CONSTANT, *self.panels(9))
        self.assertEqual(printed, [1, 0])  # NB_CANCELLED, NB_OK

    # --- kernels ---

    def test_cached_kernel_needs_no_compiler(self):
        wanted, gpu = self.driver(*CONSTANT)
        for loads in (0, 1):
            self.assertEqual(self.image(*CONSTANT, "--device=cuda", **gpu), wanted)
            self.assertEqual((self.timing()["kernel_loads"], self.timing()["kernel_compiles"]),
                             (loads, 1 - loads))
        gpu["NB_COMPILER_LIBRARY"] = "/nowhere/libnb-compiler.so"
        self.assertIn("cannot open the compiler library",
                      self.failure(*CONSTANT, "-gauss_xtal", "--device=cuda", **gpu))
        entry, = (self.root / "cache").glob("*.so")
        text = self.run_tool(NB_COMPILE, "--inspect", entry).stdout
        self.assertRegex(text, r"target +\S+ x86-64 sm_90\n")
        # Its PTX has the lines of the program beside it.
        program = entry.with_suffix(".mlir")
        self.assertIn("nb.lattice_factor", program.read_text())
        self.assertIn(f'.file\t1 "{program}"'.encode(), entry.read_bytes())

    def test_without_a_cache(self):
        wanted, gpu = self.driver(*CONSTANT)
        gpu["NB_CACHE"] = "off"
        self.assertEqual(self.image(*CONSTANT, "--device=cuda", **gpu), wanted)

    def test_ptx_where_there_is_no_assembler(self):
        wanted, gpu = self.driver(*CONSTANT)
        gpu["NB_PTXAS"] = "off"
        self.assertEqual(self.image(*CONSTANT, "--device=cuda", **gpu), wanted)
        self.assertEqual(self.log("module"), [["ptx"]])

    def kernel_file(self, target):
        done = self.run_tool(NB_COMPILE, *CONSTANT, f"--target={target}", "-o", "kernel.so",
                             NB_PTXAS="off")
        self.assertEqual(done.returncode, 0, done.stderr)
        return ("--kernel", "kernel.so")

    def test_kernel_file(self):
        wanted, gpu = self.driver(*CONSTANT)
        kernel = self.kernel_file("sm_80,sm_90")
        for words in ((), ("--device=cuda",)):
            self.assertEqual(self.image(*CONSTANT, *kernel, *words, **gpu), wanted)
        self.assertIn("is for a GPU",
                      self.failure(*CONSTANT, *kernel, "--device=cpu", **gpu))
        self.assertIn("there is no CUDA driver", self.failure(*CONSTANT, *kernel))
        gpu["NB_FAKE_CUDA"] = "capability=75"
        self.assertIn("has code for sm_90 (ptx), sm_80 (ptx) and the GPU is Fake GPU (cuda:0, sm_75); "
                      "make one with nb-compile --target=sm_75",
                      self.failure(*CONSTANT, *kernel, **gpu))
        kernel = self.kernel_file("native")
        self.assertIn("is for a processor",
                      self.failure(*CONSTANT, *kernel, "--device=cuda", **gpu))

    def test_later_chip_takes_ptx(self):
        wanted, gpu = self.driver(*CONSTANT, capability=121)
        kernel = self.kernel_file("sm_90")
        self.assertEqual(self.image(*CONSTANT, *kernel, **gpu), wanted)

    # --- which device ---

    def test_auto(self):
        wanted, gpu = self.driver(*LARGE)
        self.assertEqual(self.image(*LARGE, **gpu), wanted)
        self.assertIn("device_name", self.timing())
        self.image(*CONSTANT, **gpu)
        self.assertNotIn("device_name", self.timing())
        for none in ({}, gpu | {"NB_FAKE_CUDA": "devices=0"}):
            done = self.nb_sim(*CONSTANT, **none)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn("device_name", self.timing())

    def test_auto_says_why_a_gpu_is_left_alone(self):
        wanted, gpu = self.driver(*LARGE, version=11040)
        done = self.run_tool(NB_SIM, *LARGE, "-nonoise", "-nopgm", **gpu)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "WARNING: the GPU cannot be used .*supports CUDA 11.4")

    def test_kernel_that_cannot_be_compiled(self):
        _, gpu = self.driver(*CONSTANT)
        gpu |= {"NB_TEST_COMPILE_ERROR": "for a test", "NB_CACHE": "off"}
        done = self.run_tool(NB_SIM, *CONSTANT, "-nonoise", "-nopgm", "--device=cuda", **gpu)
        self.assertEqual((done.returncode, done.stderr.count("error:")), (1, 1), done.stderr)
        self.assertIn("for a test", done.stderr)

    def test_no_device(self):
        self.assertIn("there is no CUDA driver (libcuda.so.1",
                      self.failure(*CONSTANT, "--device=cuda"))
        _, gpu = self.driver(*CONSTANT, devices=0)
        self.assertIn("finds no GPU", self.failure(*CONSTANT, "--device=cuda", **gpu))
        gpu["NB_FAKE_CUDA"] = "devices=2"
        self.assertIn("there is no cuda:2 here, only cuda:0 Fake GPU, cuda:1 Fake GPU",
                      self.failure(*CONSTANT, "--device=cuda:2", **gpu))
        self.image(*CONSTANT, "--device=cuda:1", **gpu)
        self.assertEqual(self.timing()["device_name"], "Fake GPU (cuda:1, sm_90)")

    def test_driver_too_old(self):
        _, gpu = self.driver(*CONSTANT, version=11040)
        message = self.failure(*CONSTANT, "--device=cuda", **gpu, NB_PTXAS="off")
        self.assertIn("supports CUDA 11.4", message)
        self.assertIn("PTX 7.8, which needs CUDA 11.8", message)
        gpu["NB_FAKE_CUDA"] = "version=11040 capability=120"
        message = self.failure(*CONSTANT, "--device=cuda", **gpu, NB_PTXAS="off")
        self.assertIn("PTX 8.7, which needs CUDA 12.8", message)

    def test_memory(self):
        words = (*SMALL, "-hkl", HKL, "--device=cuda")
        wanted, gpu = self.driver(*SMALL, "-hkl", HKL)
        self.image(*words, **gpu)
        need = self.timing()["device_bytes"]
        gpu["NB_FAKE_CUDA"] = f"memory={need - 1}"
        message = self.failure(*words, **gpu)
        self.assertRegex(message, r"too little memory: \S+ kB are needed \(F \S+ kB, image 19.6 kB, "
                                  r"parameters and tables \S+ kB\) and \S+ kB of \S+ kB are free")
        gpu["NB_FAKE_CUDA"] = f"memory={need}"
        self.assertEqual(self.image(*words, **gpu), wanted)

    # --- the rest ---

    def test_interpreter_looks_for_no_device(self):
        self.image(*CONSTANT, "--device=cuda", NANOBRAGG_DISABLE_COMPILE="1")
        self.assertEqual(self.timing()["engine"], "interpreter")
        self.image(*CONSTANT, "--no-fuse")
        self.assertEqual(self.timing()["engine"], "interpreter")

    def test_interrupted(self):
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]}
                  for x in range(40)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        # One pixel of a long row: few samples, but the runtime has to expect that there are many.
        words = (*CONSTANT, "--panels", "panels.json", "-detpixels_x", "40000", "-detpixels_y", "1",
                 "-roi", "0", "0", "0", "0", "-mosaic_dom", "1000", "-mosaic_spread", "1",
                 "-oversample", "8", "--device=cuda")
        _, gpu = self.driver(*words[:-1])
        gpu["NB_FAKE_CUDA"] = "launch_ms=300"
        (self.root / "image.bin").unlink()
        process = subprocess.Popen([NB_SIM, *words, *QUIET, "-floatfile", "image.bin"],
                                   cwd=self.root, env=self.environment | gpu, text=True,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not (self.root / "log").exists() or not self.log("launch"):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, message = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual((process.returncode, message.count("interrupted")), (130, 1), message)
        self.assertFalse((self.root / "image.bin").exists())
        self.assertLess(len(self.log("launch")), 40)

    def test_nothing_links_cuda(self):
        for program in (NB_SIM, NB_COMPILE, LIBRARY):
            needs = self.run_tool("ldd", program).stdout
            self.assertIn("libc.so", needs)
            self.assertNotIn("cuda", needs)


if __name__ == "__main__":
    NB_SIM, NB_COMPILE, FAKE, LIBRARY = map(os.path.abspath, sys.argv[-4:])
    unittest.main(argv=sys.argv[:-4])
