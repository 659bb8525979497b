#!/usr/bin/env python3
"""opencl_test.py FOLDER FAULTS [--long] NB_GRADCHECK NB_RANDOM_TEST NB_SIM NB_COMPILE: what test/gpu asks of a GPU's program, of OpenCL's
on the runtime that ./bootstrap opencl put into FOLDER; and what is said of devices that cannot do it, with the layer FAULTS. The runtime
compiles each program for seconds, so that tests of SEVERAL run their first case. --long: these with all cases, and the tests of LONG."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PARITY = HERE.parent / "parity"
sys.path.insert(0, str(HERE.parent / "gpu"))
import device_test  # noqa: E402

SMALL = (*device_test.SMALL, "-detpixels", "40")
LONG = ("test_parity_corpus", "test_gradchecks", "test_random_experiments")
SEVERAL = ("test_samples_without_light", "test_gradients", "test_gradients_of_what_is_lit", "test_gradients_by_structure_factors")


class Program(device_test.Device):
    device = "opencl"
    rounding = 1e-12

    def device_of(self, timing):
        return "opencl" if timing.get("device_name", "").endswith("(opencl:0)") else "cpu"

    def some(self, cases):
        return cases if "--long" in sys.argv else cases[:1]

    def test_parity_corpus(self):
        compared = 0
        for case in json.loads((PARITY / "cases.json").read_text())["cases"]:
            if case.get("before"):
                continue  # a second run reads what a first has written
            words = [word.replace("@IN@", str(PARITY / "inputs")) for word in case["args"]]
            chaotic = "chaotic" in case["tags"]
            with self.subTest(case["name"]):
                self.compare("-compat", "c", *words, rtol=1e-4 if chaotic else 1e-6,
                             atol=1e-7 if chaotic else 1e-9)
                compared += 1
        self.assertGreater(compared, 150)

    test_warps_of_64 = test_devices_that_there_are_not = None


class Runtime(unittest.TestCase):
    setUp = device_test.Device.setUp

    def run_tool(self, tool, *words, **environment):
        return subprocess.run([tool, *words], cwd=self.root, text=True, capture_output=True,
                              env=os.environ | environment)

    def nb_sim(self, *words, **environment):
        return self.run_tool(device_test.NB_SIM, *SMALL, "--quiet", "-nonoise", "-nopgm", "-floatfile",
                             "image.bin", *words, **environment)

    def image(self, *words, **environment):
        done = self.nb_sim(*words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "image.bin").read_bytes()

    def refused(self, *words, **environment):
        done = self.nb_sim(*words, **environment)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertFalse((self.root / "image.bin").exists())
        return done.stderr

    def test_devices_that_there_are_not(self):
        said = self.refused("--device=opencl:7")
        self.assertIn("there is no opencl:7 here, only opencl:0 ", said)
        said = self.refused("--device=opencl", OCL_ICD_VENDORS=str(self.root))
        self.assertIn("OpenCL finds no device", said)
        self.assertIn("--device=cpu", said)

    def test_trace(self):
        """Each command of the queue has its span, in the device's lane."""
        self.image("--device=opencl", "--trace-events=t.json")
        events = json.loads((self.root / "t.json").read_text())["traceEvents"]
        lane, = [e["tid"] for e in events if e["name"] == "thread_name" and "(opencl:0)" in e["args"]["name"]]
        commands = [e["name"] for e in events if e.get("cat") == "gpu" and e["tid"] == lane]
        self.assertEqual(commands[0], "copy to the device")
        self.assertIn("launch: render", commands)
        self.assertEqual(commands[-1], "copy to the host")

    def test_it_is_not_taken_unasked(self):
        self.image("--timing", "t.json")
        self.assertNotIn("device_name", json.loads((self.root / "t.json").read_text()))

    def test_kernel_files(self):
        """One file for NVIDIA's chips and OpenCL's devices; one of processors is refused."""
        wanted = self.image("--device=opencl")
        for target, name in (("spirv64", "one.so"), ("sm_90,spirv64", "both.so")):
            done = self.run_tool(NB_COMPILE, *SMALL, f"--target={target}", "-o", name, NB_PTXAS="off")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("spirv64 spirv, version 1.4", self.run_tool(NB_COMPILE, "--inspect", name).stdout)
            self.assertEqual(self.image("--kernel", name, "--device=opencl"), wanted)
        self.assertEqual(self.run_tool(NB_COMPILE, *SMALL, "--target=sm_90", "-o", "sm.so",
                                       NB_PTXAS="off").returncode, 0)
        os.remove(self.root / "image.bin")
        self.assertIn("the kernel has code for sm_90 and the device is",
                      self.refused("--kernel", "sm.so", "--device=opencl", "--no-fallback"))

    def test_spirv_alone(self):
        done = self.run_tool(NB_COMPILE, *SMALL, "--target=spirv64", "--emit=spirv", "-o", "k.spv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.root / "k.spv").read_bytes()[:4], bytes.fromhex("03022307"))
        for emit, target in (("cubin", "spirv64"), ("ptx", "spirv64"), ("spirv", "sm_90")):
            done = self.run_tool(NB_COMPILE, *SMALL, f"--target={target}", f"--emit={emit}", "-o", "x")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
            self.assertFalse((self.root / "x").exists())

    def test_faults(self):
        for fault, said in (("memory", "of memory in one piece"), ("build", "refuses the kernel (SPIR-V 1.4"),
                            ("lost", "the device could not"), ("f64", "computes no f64"),
                            ("spirv", "takes no SPIR-V"), ("shared", "has no shared virtual memory")):
            with self.subTest(fault):
                self.assertIn(said, self.refused("--device=opencl", "--no-fallback",
                                                 OPENCL_LAYERS=FAULTS, NB_OPENCL_FAULT=fault))
        self.image("--device=opencl", "--no-fallback", OPENCL_LAYERS=FAULTS)

    # --- several devices ---

    def test_several_devices(self):
        """The one device, twice: images, lists of what is lit and sums have the bits of one."""
        twice = {"OPENCL_LAYERS": FAULTS, "NB_OPENCL_FAULT": "twice"}
        hkl = ("-hkl", str(device_test.DATA / "1hpv_3.0A.hkl"))
        panels = [{"offset_mm": [x, 0, 50], "fast": [1, 0, 0], "slow": [0, 1, 0]} for x in range(20)]
        (self.root / "panels.json").write_text(json.dumps(panels))
        for words in (hkl, ("--panels", "panels.json"), (*device_test.SHARP, "--cull=exact")):
            with self.subTest(words):
                wanted = self.image(*words, "--device=opencl")
                found = self.image(*words, "--device=opencl:all", "--timing", "t.json", **twice)
                self.assertEqual(found, wanted)
                self.assertTrue(any(wanted))
                names = json.loads((self.root / "t.json").read_text())["device_name"]
                self.assertRegex(names, r"\(opencl:0\), .*\(opencl:1\)$")
        for words in (("--panels", "panels.json"), (*device_test.SHARP, "--cull=1e-24")):
            one, two = (self.run_tool(device_test.NB_SIM, *SMALL, *words, "--grad=cell,misset", "--quiet", "--json",
                                      "--no-fallback", f"--device={device}", **more)
                        for device, more in (("opencl", {}), ("opencl:all", twice)))
            self.assertEqual((one.returncode, two.returncode), (0, 0), one.stderr + two.stderr)
            self.assertEqual(json.loads(one.stdout)["gradient"], json.loads(two.stdout)["gradient"])

    # --- derivatives against differences, and random experiments ---

    def test_gradchecks(self):
        crystal = ("-cell 70 80 90 85 100 95 -misset 10 20 30 -N 5 -lambda 1 -distance 60 -pixel 2 -detpixels 16 "
                   "-oversample 1 -default_F 100 -mosaic 0.8 -mosaic_domains 3").split()
        hkl = ("-hkl", str(device_test.DATA / "1hpv_3.0A.hkl"))
        cases = (("cell,misset,mosaic_spread,detector,wavelength", ()), ("cell,misset,wavelength", ("-round_xtal",)),
                 ("cell,misset,wavelength", ("-gauss_xtal",)), ("ncells,cell", ("-gauss_xtal", "-Ncells_def", "1", "-0.5", "0.3")),
                 ("phi0,osc,cell", ("-osc", "1", "-phisteps", "3")), ("cell,detector", ("-oversample", "2")),
                 ("fluence,polarization", ()), ("cell,misset", ("--precision=mixed",)), ("cell,misset", hkl),
                 ("cell", (*hkl, "-interpolate")), ("source_weight,beam_direction", ("-dispersion", "1", "-dispsteps", "3")),
                 ("cell,detector", ("-detector_thick", "500", "-detector_abs", "200", "-detector_thicksteps", "3")),
                 ("cell,distance", ("-curved_det",)), ("cell,misset", ("-gauss_xtal", "--cull=1e-24")),
                 ("cell", ("--order=2",)), ("cell,misset", ("-gauss_xtal", "--order=2")))
        self.assertEqual(len(cases), 16)
        for wrt, words in cases:
            with self.subTest(wrt=wrt, words=words):
                done = self.run_tool(NB_GRADCHECK, *crystal, *words, f"--wrt={wrt}", "--loss=random:3", "--engine=fused",
                                     "--device=opencl", "--json")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertTrue(all(e["loss"] for e in json.loads(done.stdout)["engines"]))

    def test_random_experiments(self):
        done = self.run_tool(NB_RANDOM_TEST, "--seed=1", "--trials=4", "--device=opencl")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\n4 experiments, ", done.stdout)

    def test_series(self):
        for device in ("cpu", "opencl"):
            done = self.nb_sim(f"--device={device}", "--frames", "3", "-osc", "1", "-phisteps", "1",
                               "-floatfile", f"{device}.bin")
            self.assertEqual(done.returncode, 0, done.stderr)
        import numpy as np
        for frame in range(1, 4):
            want, got = (np.fromfile(self.root / f"{device}_{frame:04}.bin", "<f4")
                         for device in ("cpu", "opencl"))
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9 * want.max())


def load_tests(loader, suites, pattern):
    wanted = lambda name: name in LONG + SEVERAL if "--long" in sys.argv else name not in LONG
    return unittest.TestSuite(test for suite in suites for test in suite if wanted(test._testMethodName))


del device_test.Device
if __name__ == "__main__":
    folder, FAULTS = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    NB_GRADCHECK, NB_RANDOM_TEST, device_test.NB_SIM, NB_COMPILE = map(os.path.abspath, sys.argv[-4:])
    if not (folder / "env").exists():
        print("skipped: there is no OpenCL runtime here; ./bootstrap opencl fetches one where pip is")
        sys.exit()
    os.environ["OCL_ICD_VENDORS"] = str(folder / "vendors")
    os.environ["LD_LIBRARY_PATH"] = str(folder / "venv/lib")
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[3:-4] if word != "--long")])
