"""Other libraries that have LLVM or MLIR in themselves, before and after ours in one process."""

import importlib.util
import subprocess
import sys
import unittest

OTHERS = {"torch": "torch.ones(3).sum()", "jax": "jax.numpy.ones(3).sum().block_until_ready()",
          "triton": "triton.__version__", "llvmlite": "__import__('llvmlite.binding').binding.parse_assembly('')"}
OURS = ("import nanobragg as nb\n"
        "sim = nb.Simulator.from_flags('-cell 70 80 90 90 90 90 -default_F 1 -detpixels 8')\n"
        "assert sim.image().sum() > 0\n"
        "sim.gradient('cell')\n"
        "assert nb.counters()['compiles'] == 2, nb.counters()\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libnb-compiler' in maps\n")


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**__import__("os").environ, "NB_CACHE": "off"})
    return done.returncode, done.stderr[-2000:]


class Loading(unittest.TestCase):
    def test_alone(self):
        """And nothing else that has MLIR is in the process."""
        self.assertEqual(run(OURS + "assert 'libMLIR' not in maps and 'libLLVM' not in maps"), (0, ""))

    def test_start(self):
        # In processor time of numpy's import: how fast the machine is does not matter.
        program = ("import time\nt = time.process_time()\nimport numpy\nn = time.process_time()\nimport nanobragg\n"
                   "print((time.process_time() - n) / (n - t))\nimport sys\n"
                   "assert not {'torch', 'jax', 'matplotlib', 'scipy'} & set(sys.modules)\n")
        ratios = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
                  for _ in range(5)]
        self.assertLess(min(ratios), 1)


    def test_modules_are_imported_when_they_are_used(self):
        program = ("import sys, nanobragg as nb\nassert 'nanobragg.plot' not in sys.modules and 'plot' in dir(nb)\n"
                   "nb.plot.png, nb.frames.Frames, nb.compiler.emit\nnb.plots\n")
        code, error = run(program)
        self.assertIn("AttributeError: module 'nanobragg' has no attribute 'plots'. Did you mean: 'plot'?", error)
        self.assertNotEqual(code, 0)


def add(name, use):
    def test(self):
        if not importlib.util.find_spec(name):
            self.skipTest(f"{name} is not installed")
        theirs = f"import {name}\n{use}\n"
        for program in (theirs + OURS + use, OURS + theirs + OURS.splitlines()[2]):
            code, error = run(program)
            self.assertEqual(code, 0, f"{program}\n{error}")
    setattr(Loading, f"test_{name}", test)


for name, use in OTHERS.items():
    add(name, use)

if __name__ == "__main__":
    unittest.main()
