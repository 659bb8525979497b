#!/usr/bin/env python3
"""hip_test.py NB_SIM NB_COMPILE FAKE_HIP LIBNANOBRAGG: how the runtime drives an AMD GPU, on a HIP that
runs the kernel's twin for gpu-on-cpu (FakeHip.cpp). driver_test.py has the tests that CUDA shares."""

import os
import pathlib
import sys
import unittest

import numpy as np

import driver_test
from driver_test import CONSTANT, HKL, SHARP, SMALL, Driver

CHIPS = {942: ("gfx942", 64), 1100: ("gfx1100", 32)}


def load_tests(loader, tests, pattern):
    del tests, pattern
    return loader.loadTestsFromTestCase(Hip)


class Hip(Driver):
    """The names of Driver's own tests are hidden: loadTestsFromTestCase looks for them."""

    def gpu(self, chip, *words, grad=None, **settings):
        """The image or the gradient that a GPU should make for these flags, and the environment in
        which there is one."""
        _, wave = CHIPS[chip]
        twins = "gpu-on-cpu" + ("" if wave == 32 else f":{wave}")
        settings = {"chip": chip, "warp": wave} | settings
        environment = {"LD_LIBRARY_PATH": str(pathlib.Path(driver_test.FAKE).parent),
                       "NB_FAKE_CUDA_LOG": str(self.root / "log"),
                       "NB_FAKE_CUDA": " ".join(f"{k}={v}" for k, v in settings.items())}
        (self.root / "log").unlink(missing_ok=True)
        for variable, more in (("NB_FAKE_CUDA_TWIN", ["--grad=none"] if grad else []),
                               ("NB_FAKE_CUDA_TWIN_SUMS", [f"--grad={grad}"] if grad else [])):
            file = self.root / f"{variable}-{chip}.so"
            if variable.endswith("TWIN") or grad:
                done = self.run_tool(driver_test.NB_COMPILE, *words, *more, f"--target={twins}", "-o", file)
                self.assertEqual(done.returncode, 0, done.stderr)
                environment[variable] = str(file)
        return environment

    def test_image_is_the_twins(self):
        for chip, (name, wave) in CHIPS.items():
            for words in (CONSTANT, (*CONSTANT, "--precision=mixed"), (*SMALL, "-hkl", HKL),
                          (*SHARP, "--cull=exact")):
                with self.subTest(chip=name, words=words):
                    environment = self.gpu(chip, *words)
                    twins = "gpu-on-cpu" + ("" if wave == 32 else f":{wave}")
                    wanted = self.image(*words, f"--device={twins}")
                    self.assertTrue(any(wanted))
                    self.assertTrue(self.image(*words, "--device=hip", **environment) == wanted)
                    self.assertEqual(self.timing()["device_name"],
                                     f"Fake GPU (hip:0, {name})")

    def test_gradients(self):
        for chip in CHIPS:
            grad = "cell,misset,mosaic_spread"
            words = (*CONSTANT, "-mosaic_dom", "3", "-mosaic_spread", "1")
            environment = self.gpu(chip, *words, grad=grad)
            wanted = self.gradient(*words, f"--grad={grad}", "--device=cpu")
            found = self.gradient(*words, f"--grad={grad}", "--device=hip", **environment)
            for name, values in wanted.items():
                np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-9 * np.abs(values).max())
            self.assertEqual(len(self.log("reduce")), 1)

    def test_auto_takes_it(self):
        words = (*CONSTANT, "-oversample", "1", "-mosaic", "0.5", "-mosaic_domains", "10500", "--threads=1")
        self.image(*words, **self.gpu(942, *words))
        self.assertEqual(self.timing()["device_name"], "Fake GPU (hip:0, gfx942)")

    def test_what_is_not_there(self):
        self.assertIn("there is no HIP driver (libamdhip64.so", self.failure(*CONSTANT, "--device=hip"))
        for settings, said in (({"devices": 0}, "the HIP driver finds no GPU"),
                               ({"devices": 2}, "there is no hip:2 here, only hip:0 Fake GPU, hip:1 Fake GPU")):
            environment = self.gpu(942, *CONSTANT, **settings)
            self.assertIn(said, self.failure(*CONSTANT, "--device=hip:2", **environment))

    def test_memory(self):
        environment = self.gpu(942, *CONSTANT, memory=1000)
        self.assertIn("too little memory", self.failure(*CONSTANT, "--device=hip", **environment))

    def test_kernel_files(self):
        """A code object is for one chip; chips with other waves are in other files."""
        environment = self.gpu(942, *CONSTANT)
        done = self.run_tool(driver_test.NB_COMPILE, *CONSTANT, "--target=gfx942,gfx90a", "-o", "k.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = self.run_tool(driver_test.NB_COMPILE, "--inspect", "k.so").stdout
        self.assertRegex(said, r"gfx942 hsaco, made by LLVM 22\.")
        self.image(*CONSTANT, "--device=hip", "--kernel", "k.so", **environment)
        self.assertEqual(self.log("module"), [["cubin"]])
        environment["NB_FAKE_CUDA"] = "chip=1100"
        message = self.failure(*CONSTANT, "--device=hip", "--kernel", "k.so", **environment)
        self.assertIn("gfx942 (hsaco), gfx90a (hsaco)", message)
        self.assertIn("nb-compile --target=gfx1100", message)
        done = self.run_tool(driver_test.NB_COMPILE, *CONSTANT, "--target=gfx942,gfx1100", "-o", "no.so")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("of gfx1100 32 threads run in step, of gfx942 64", done.stderr)
        self.assertFalse((self.root / "no.so").exists())


for inherited in [name for name in dir(Driver) if name.startswith("test_")]:
    if inherited not in vars(Hip):
        setattr(Hip, inherited, None)

if __name__ == "__main__":
    words = [os.path.abspath(word) for word in sys.argv[-4:]]
    driver_test.NB_SIM, driver_test.NB_COMPILE, driver_test.FAKE, driver_test.LIBRARY = words
    unittest.main(argv=sys.argv[:-4])
