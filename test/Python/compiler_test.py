"""The compiler in Python: programs as text, passes, pipelines, kernels of one's own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb
from common import flags, reference, simulator
from nanobragg import compiler

WRONG = """module {
  pdl.pattern : benefit(1) {
    %direction = pdl.operand
    %wave = pdl.operand
    %axis = pdl.operand
    %fraction = pdl.operand
    %type = pdl.type
    %polarization = pdl.operation "nb.polarization"(%direction, %wave, %axis, %fraction : !pdl.value, !pdl.value, !pdl.value, !pdl.value)
      -> (%type : !pdl.type)
    pdl.rewrite %polarization {
      %one = pdl.attribute = 1.0 : f64
      %constant = pdl.operation "arith.constant" {"value" = %one} -> (%type : !pdl.type)
      pdl.replace %polarization with %constant
    }
  }
}
"""
IMAGE_PIPELINE = "builtin.module(nb-erase-probes,nb-hoist-invariants,nb-remove-branches,nb-fuse)"


class Compiler(unittest.TestCase):
    def test_emit(self):
        text = compiler.emit(flags())
        self.assertIn("nb.image", text)
        self.assertIn("nb.miller_index", text)
        self.assertNotIn("nb.image", compiler.emit(flags(), "llvm"))
        self.assertRegex(compiler.assembly(flags()), r"ret")

    def test_other_targets(self):
        here, ptx, amd = (json.loads(compiler.emit(flags(), "stats-json", **how)) for how in ({}, {"target": "sm_90"}, {
            "target": "gfx942", "precision": "mixed", "pipeline": IMAGE_PIPELINE}))
        self.assertNotIn("chip", here)
        self.assertEqual((ptx["chip"]["card"], amd["chip"]["card"]), ("H200", "MI300X"))
        self.assertIn("image_run_tile", compiler.emit(flags(), "asm", "x86-64-v3"))
        with self.assertRaisesRegex(compiler.CompilerError, "unknown target 'sm_9'"):
            compiler.emit(flags(), "asm", "sm_9")
        with self.assertRaisesRegex(ValueError, "no option 'threads'"):
            compiler.emit(flags(), "asm", "sm_90", threads="2")

    def test_schedules(self):
        """The schedule that nb-try --tune -o writes."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "s.txt")

            def schedule(pipeline, precision="f64"):
                with open(file, "w") as f:
                    f.write(f"# precision: {precision}\n{pipeline}\n")
                return flags(f"--schedule={file}")

            want = nb.Simulator.from_flags(flags("--schedule=none"))
            sim = nb.Simulator.from_flags(schedule("builtin.module(nb-hoist-invariants,nb-fuse)"))
            np.testing.assert_allclose(sim.image(), want.image(), rtol=1e-12, atol=1e-12 * want.image().max())
            np.testing.assert_allclose(sim.gradient("cell_a")["cell_a"], want.gradient("cell_a")["cell_a"], rtol=1e-9)
            with self.assertRaisesRegex(RuntimeError, "nb-fuze"):
                nb.Simulator.from_flags(schedule("builtin.module(nb-fuze)")).image()
            for of, precision in (("mixed", "f64"), ("f64", "mixed")):
                with self.assertRaisesRegex(ValueError, f"is for --precision={of}, and --precision={precision} is asked for"):
                    nb.Simulator.from_flags(schedule("builtin.module()", of), precision=precision).image()
            with self.assertRaisesRegex(nb.FileError, "none.txt"):
                nb.Simulator.from_flags(flags(f"--schedule={folder}/none.txt"))

    def test_judge(self):
        """Right, wrong with the place, failing and the same code; with an interval of time."""
        small = flags("-detpixels", "24", "-default_F", "100")
        same, slower, fails = compiler.judge(small, "builtin.module(func.func(nb-erase-probes))",
                                             "builtin.module(func.func(nb-vectorize{width=1}))",
                                             "builtin.module(nb-fuze)")
        self.assertTrue(same.right and slower.right)
        self.assertEqual(same.failure, "")
        self.assertGreater(slower.ns, 0)
        self.assertLessEqual(slower.change[1], slower.change[0])
        self.assertLessEqual(slower.change[0], slower.change[2])
        self.assertFalse(fails.right)
        self.assertIn("nb-fuze", fails.failure)
        with self.assertRaisesRegex(nb.FlagError, "-nothing"):
            compiler.judge(flags("-nothing"), "builtin.module()")
        with self.assertRaisesRegex(ValueError, "the pipeline is .*; it has to be text"):
            compiler.judge(small, "")
        with self.assertRaisesRegex(ValueError, "repeat=-1"):
            compiler.judge(small, "builtin.module()", repeat=-1)
        with self.assertRaisesRegex(nb.UnknownName, "cell_q"):
            compiler.judge(small, "builtin.module()", gradient="cell_q")

    def test_blame(self):
        """The pass, the value and the gradient that are wrong; none where all is right."""
        small = flags("-detpixels", "24", "-default_F", "100")
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "wrong.mlir")
            with open(wrong, "w") as file:
                file.write(WRONG)
            passes = f"nb-hoist-invariants,nb-apply-patterns{{files={wrong}}},nb-fuse"
            verdict, right = compiler.judge(small, f"builtin.module({passes})", "builtin.module(nb-fuse)", repeat=0, blame=True)
        self.assertFalse(verdict.right)
        self.assertEqual((verdict.blame.fault, verdict.blame.pass_name, verdict.blame.number), ("image", "nb-apply-patterns", 2))
        difference = verdict.blame.difference  # the product with the factor, whose name is gone
        self.assertEqual(difference.op, "arith.mulf")
        self.assertLess(difference.before[0][1], difference.after[0][1])
        self.assertIn(f"'{difference.name}' (arith.mulf)", difference.text)
        self.assertTrue(right.right)
        self.assertIsNone(right.blame)

    def test_judge_of_a_program(self):
        """Its numbers are those of the flags; what its own pipeline says is the same code."""
        small = flags("-detpixels", "24", "-default_F", "100", "-oversample", "1")
        program = compiler.emit(small)
        other = compiler.emit(f"{small} -round_xtal")
        self.assertIn("nb.lattice_factor round", other)
        whole = compiler.emit(small, "pipeline")
        self.assertIn("nb-vectorize{", whole)
        (same, lanes), (of_other, _) = (compiler.judge(small, whole, "builtin.module(func.func(nb-vectorize{width=4}))",
                                                       program=text, repeat=0) for text in (program, other))
        self.assertTrue(same.right and lanes.right and of_other.right)
        self.assertNotEqual(same.instructions, of_other.instructions)

    def test_judge_of_installed_packages(self):
        """Nanobragg and nanobragg_compiler, as wheels install them, need no program of the build."""
        package = pathlib.Path(compiler.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            shutil.copytree(package, site / "nanobragg", ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
            (site / "nanobragg_compiler").mkdir()
            library = package.parent / "nanobragg_compiler/libnb-compiler.so"
            shutil.copy(library, site / "nanobragg_compiler")
            (site / "nanobragg_compiler/__init__.py").touch()
            code = ("from nanobragg import compiler\n"
                    f"right, wrong = compiler.judge({flags('-detpixels', '24')!r}, 'builtin.module(nb-fuse)', 'builtin.module(nb-fuze)')\n"
                    "print(compiler.__file__, right.right, right.ns > 0, wrong.failure)")
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={"PYTHONPATH": folder, "PATH": "", "HOME": folder}, cwd=folder,
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, f"^{folder}/nanobragg/compiler.py True True .*nb-fuze")

    def test_passes(self):
        passes = compiler.passes()
        self.assertGreater(len(passes), 20)
        self.assertIn("nb-hoist-invariants", passes)
        text = compiler.emit(flags())
        for name in ("nb-erase-probes", "nb-hoist-invariants", "nb-fuse"):
            compiler.run(text, f"builtin.module({name})")

    def test_run(self):
        text = compiler.emit(flags())
        after = compiler.run(text, "builtin.module(nb-hoist-invariants,cse)")
        self.assertNotEqual(str(after), text)
        self.assertEqual([p.name for p in after.passes], ["nb-hoist-invariants", "cse"])
        self.assertEqual([p.changed for p in after.passes], [True, False])
        self.assertTrue(all(p.seconds > 0 for p in after.passes))
        self.assertGreater(after.seconds, sum(p.seconds for p in after.passes))
        for p in after.passes:
            self.assertIn(p.name, repr(after))

    def test_remarks(self):
        """Each stands with the pass that said it, and one about a value says where that is in the text."""
        text = compiler.emit(flags())
        after = compiler.run(text, "builtin.module(nb-hoist-invariants)")
        (said,) = after.remarks
        self.assertEqual((said.kind, said.pass_name), ("Passed", "nb-hoist-invariants"))
        self.assertRegex(said.message, r"moved \d+ op\(s\) to the function")
        self.assertEqual(after.passes[0].remarks, (said,))
        self.assertEqual(compiler.run(after, "builtin.module(cse)").remarks, [])
        # Without a pipeline the compiler's own passes.
        own = compiler.run(text)
        self.assertEqual(own.passes[-1].name, "nb-fuse")
        self.assertTrue(own.remarks)
        located = [r for r in own.remarks if r.location]
        self.assertTrue(located)
        for remark in located:
            line, column = remark.location
            self.assertTrue(1 <= line <= len(text.splitlines()) and column >= 1, remark)

    def test_patterns(self):
        """Options of nb-opt; and what is not an option, or no text."""
        text = compiler.emit(flags())
        with self.assertRaises(compiler.CompilerError):
            compiler.run(text, "builtin.module(cse)", patterns="/nowhere.pdll")
        with self.assertRaisesRegex(ValueError, "there is no option 'pattern'"):
            compiler.run(text, "builtin.module(cse)", pattern="/nowhere.pdll")
        for program, pipeline in ((b"", ""), (text, None), (None, "")):
            with self.assertRaises(TypeError):
                compiler.run(program, pipeline)

    def test_stages(self):
        stages = compiler.stages(flags())
        self.assertEqual(tuple(stages), ("nb", *compiler.stage_names()))
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
        # In the program, and not in the pipeline's text or a value's.
        with self.assertRaises(compiler.CompilerError) as caught:
            compiler.run(text, "builtin.module(convert-nb-to-arith)")
        line, column = caught.exception.location
        self.assertTrue(text.splitlines()[line - 1][column - 1:].startswith("nb.image"))
        with self.assertRaises(TypeError):
            compiler.kernel(flags(), pipelin="x")
        with self.assertRaisesRegex(TypeError, r"kernel\(flags, program=text\)"):
            compiler.kernel(text)
        with self.assertRaisesRegex(ValueError, "empty"):
            compiler.run(" ")
        self.assertIsInstance(reference(), nb.Simulator)


if __name__ == "__main__":
    unittest.main()
