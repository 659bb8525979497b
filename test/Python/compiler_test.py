"""The compiler in Python: programs as text, passes, pipelines, kernels of one's own."""

import unittest

import numpy as np

import nanobragg as nb
from common import flags, reference, simulator
from nanobragg import compiler

IMAGE_PIPELINE = "builtin.module(nb-erase-probes,nb-hoist-invariants,nb-remove-branches,nb-fuse)"


class Compiler(unittest.TestCase):
    def test_emit(self):
        text = compiler.emit(flags())
        self.assertIn("nb.image", text)
        self.assertIn("nb.miller_index", text)
        self.assertNotIn("nb.image", compiler.emit(flags(), "llvm"))
        self.assertRegex(compiler.assembly(flags()), r"ret")

    def test_passes(self):
        passes = compiler.passes()
        self.assertGreater(len(passes), 20)
        self.assertIn("nb-hoist-invariants", passes)
        text = compiler.emit(flags())
        for name in ("nb-erase-probes", "nb-hoist-invariants", "nb-fuse"):
            compiler.run(text, f"builtin.module({name})")

    def test_run(self):
        text = compiler.emit(flags())
        after = compiler.run(text, "builtin.module(nb-tabulate-invariants,nb-hoist-invariants)")
        self.assertNotEqual(str(after), text)
        self.assertGreater(after.seconds, 0)

    def test_stages(self):
        stages = compiler.stages(flags())
        self.assertEqual(tuple(stages), ("nb", *compiler.STAGES))
        self.assertIn("nb.image", stages["fuse"])
        self.assertNotIn("nb.image", stages["arith"])
        self.assertIn("llvm.func", stages["llvm"])

    def test_kernel(self):
        for how in ({}, {"pipeline": IMAGE_PIPELINE}, {"program": compiler.emit(flags())}):
            with self.subTest(how.keys()):
                sim = compiler.kernel(flags(), **how)
                want = simulator(with_grid=False).image()
                np.testing.assert_allclose(sim.image(), want, rtol=1e-9, atol=1e-12 * want.max())

    def test_errors(self):
        text = compiler.emit(flags())
        for call, words in ((lambda: compiler.run(text, "builtin.module(nb-hoist)"), "nb-hoist"),
                            (lambda: compiler.run("func.func @f(", "builtin.module()"), "cannot be read"),
                            (lambda: compiler.run(text, "builtin.module(nb-fuse,"), "pipeline"),
                            (lambda: compiler.kernel(flags(), pipeline="nb"), "pipeline|nb")):
            with self.subTest(words), self.assertRaisesRegex(compiler.CompilerError, words):
                call()
        with self.assertRaises(compiler.CompilerError) as caught:
            compiler.run("\nfunc.func @f( {", "builtin.module()")
        self.assertEqual(caught.exception.location[0], 2)
        with self.assertRaises(TypeError):
            compiler.kernel(flags(), pipelin="x")
        self.assertIsInstance(reference(), nb.Simulator)


if __name__ == "__main__":
    unittest.main()
