#!/usr/bin/env python3
"""opencl_test.py FOLDER FAULTS NB_SIM NB_COMPILE: what test/gpu asks of a GPU's program, of OpenCL's on the
runtime that ./bootstrap opencl put into FOLDER; and what is said of devices that cannot do it, with the layer FAULTS."""

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


class Program(device_test.Device):
    device = "opencl"
    rounding = 1e-12

    def device_of(self, timing):
        return "opencl" if timing.get("device_name", "").endswith("(opencl:0)") else "cpu"

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


del device_test.Device
if __name__ == "__main__":
    folder, FAULTS = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    device_test.NB_SIM, NB_COMPILE = map(os.path.abspath, sys.argv[-2:])
    if not (folder / "env").exists():
        print("skipped: there is no OpenCL runtime here; ./bootstrap opencl fetches one where pip is")
        sys.exit()
    os.environ["OCL_ICD_VENDORS"] = str(folder / "vendors")
    os.environ["LD_LIBRARY_PATH"] = str(folder / "venv/lib")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:-2]])
