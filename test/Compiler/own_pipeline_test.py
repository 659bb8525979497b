"""Passes of the user's own: --pipeline reaches a kernel in every tool, IR goes on from any stage, and
what a pipeline lacks is said at the op. own_pipeline_test.py BIN_DIR"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1))
FLAGS = ('-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 '
         '-detpixels 24 -mosaic 0.5 -mosaic_domains 3 --device=cpu').split()
NO_HOISTING = 'builtin.module(func.func(nb-erase-probes,nb-remove-branches))'
# Stages of the processor's pipeline, in their order.
STAGES = ['response', 'hoist', 'branches', 'fuse', 'precision', 'peel', 'lanes', 'loops', 'arith', 'outline',
          'llvm']


class OwnPipeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, tool, *words, status=0):
        environment = dict(os.environ, NB_CACHE='off')
        done = subprocess.run([BIN / tool, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=environment, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def image(self, *words):
        self.run_tool('nb-sim', *FLAGS, '--quiet', '-nonoise', '-nopgm', '-floatfile', 'image.bin', *words)
        return (self.folder / 'image.bin').read_bytes()

    def program(self, *words):
        file = self.folder / 'program.mlir'
        file.write_text(self.run_tool('nb-sim', *FLAGS, '--quiet', *words).stdout)
        return file

    def test_ir_after_any_stage_makes_the_same_kernel(self):
        expected = self.image()
        for stage in STAGES:
            with self.subTest(stage):
                file = self.program('--emit=mlir', f'--until-after={stage}')
                told = self.run_tool('nb-compile', file, '-o', 'kernel.so').stderr
                self.assertEqual(self.image('--kernel=kernel.so'), expected)
                # What has been lowered is not hoisted once more.
                lowered = STAGES.index(stage) >= STAGES.index('lanes')
                self.assertEqual('nb-hoist-invariants' not in told, lowered, told)
                self.assertIn('NOTE: passes: ', told)

    def test_a_program_without_hoisting_stays_without(self):
        file = self.program('--emit=nb')
        naive = self.run_tool('nb-compile', file, '--emit=stats', f'--pipeline={NO_HOISTING}')
        fused = self.run_tool('nb-compile', file, '--emit=stats')
        count = lambda run: int(re.search(r'instructions +(\d+)', run.stdout).group(1))
        self.assertGreater(count(naive), 1.5 * count(fused))
        self.assertNotIn('nb-hoist', naive.stderr)
        self.assertIn('nb-vectorize', naive.stderr)

    def test_nb_sim_renders_with_it(self):
        import array
        expected = array.array('f', self.image())
        got = array.array('f', self.image(f'--pipeline={NO_HOISTING}'))
        largest = max(expected)
        self.assertGreater(largest, 0)
        self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-6 * largest)

    def test_a_pipeline_that_goes_all_the_way(self):
        whole = 'builtin.module(nb-cpu-pipeline{width=4})'
        told = self.run_tool('nb-sim', *FLAGS, f'--pipeline={whole}').stderr
        ran = re.search(r'NOTE: passes: (.*)', told).group(1)
        self.assertTrue(ran.endswith('reconcile-unrealized-casts'), ran)
        self.assertEqual(ran.count('nb-vectorize'), 1, ran)

    def test_gradients_and_their_check(self):
        done = self.run_tool('nb-gradcheck', *FLAGS, '--wrt=cell_a,distance', '--engine=fused',
                             f'--pipeline={NO_HOISTING}')
        self.assertIn('NOTE: passes of vjp', done.stderr)
        # nb-differentiate marks the place, and its options are those of what is asked for.
        marked = 'builtin.module(nb-differentiate,func.func(nb-remove-branches))'
        file = self.program('--emit=mlir', '--grad=cell_a', f'--pipeline={marked}').read_text()
        self.assertIn('@image_vjp', file)
        file = self.program('--emit=mlir', f'--pipeline={marked}').read_text()
        self.assertNotIn('@image_vjp', file)

    def test_emit_of_a_derivative(self):
        for form in ('nb', 'mlir'):
            text = self.program(f'--emit={form}', '--grad=cell_a').read_text()
            self.assertIn('gradient.cell_a', text)
            text = self.program(f'--emit={form}', '--jacobian=cell_a').read_text()
            self.assertIn('derivative.cell_a', text)
        text = self.run_tool('nb-compile', *FLAGS, '--grad=cell_a', '--emit=nb').stdout
        self.assertIn('gradient.cell_a', text)

    def test_what_is_missing_is_said_at_the_op(self):
        file = self.program('--emit=nb')
        loops = ('builtin.module(func.func(convert-nb-to-loops),nb-outline-kernel)')
        wrong = self.run_tool('nb-compile', file, '--emit=asm', f'--pipeline={loops}', status=1).stderr
        self.assertRegex(wrong, r'pass nb-outline-kernel: .*program.mlir:\d+:\d+: ')
        # A function that makes no image any more.
        text = 'func.func @f(%x: f64) -> f64 {\n  return %x : f64\n}\n'
        (self.folder / 'f.mlir').write_text(text)
        wrong = self.run_tool('nb-compile', 'f.mlir', '--emit=asm', status=1).stderr
        self.assertIn('no function of the program returns one image', wrong)
        # An op that no pass knows.
        lowered = self.program('--emit=mlir', '--until-after=llvm')
        text = lowered.read_text().replace(
            'llvm.func @image_prepare', 'func.func @left(%v: !nb.vec3<f64>) -> !nb.vec3<f64> {\n'
            'return %v : !nb.vec3<f64> }\n  llvm.func @image_prepare', 1)
        lowered.write_text(text)
        wrong = self.run_tool('nb-compile', lowered, '--emit=asm', '--pipeline=builtin.module()', status=1).stderr
        self.assertRegex(wrong, r"program.mlir:\d+:\d+: 'func.return' is left, of which there is no code")

    def test_a_cast_that_is_left_is_not_the_culprit(self):
        lowered = self.program('--emit=mlir', '--until-after=llvm')
        text = lowered.read_text().replace(
            'llvm.func @image_prepare', 'llvm.func @left(%v: i64) -> i64 {\n'
            '%i = builtin.unrealized_conversion_cast %v : i64 to index\n'
            '%j = affine.min affine_map<(d0) -> (d0, 8)>(%i)\n'
            '%w = builtin.unrealized_conversion_cast %j : index to i64\n'
            'llvm.return %w : i64 }\n  llvm.func @image_prepare', 1)
        lowered.write_text(text)
        wrong = self.run_tool('nb-compile', lowered, '--emit=asm', '--pipeline=builtin.module()', status=1).stderr
        self.assertRegex(wrong, r"program.mlir:\d+:\d+: 'affine.min' is left, of which there is no code: lower-affine")

    def test_transform_ops_of_upstream(self):
        schedule = pathlib.Path(__file__).parents[2] / 'docs/examples/schedules/unroll-pixels.mlir'
        unrolled = f'builtin.module(nb-cpu-pipeline{{until-after=arith}},nb-apply-patterns{{files={schedule}}})'
        loops = lambda *words: self.run_tool('nb-sim', *FLAGS, '--quiet', '--emit=mlir', *words).stdout.count('scf.for')
        self.assertGreater(loops(f'--pipeline={unrolled}'), loops('--pipeline=builtin.module(nb-cpu-pipeline{until-after=arith})'))
        self.assertEqual(self.image(f'--pipeline={unrolled}'), self.image())

    def test_loops_over_pixels_that_are_gone(self):
        gone = 'builtin.module(nb-cpu-pipeline{until-after=arith},convert-scf-to-cf)'
        wrong = self.run_tool('nb-compile', *FLAGS, '--emit=asm', f'--pipeline={gone}', status=1).stderr
        self.assertIn("the loops over pixels of 'image' are no scf.for with 'nb.loop' any more", wrong)

    def test_a_text_that_is_no_pipeline(self):
        for text, why in [('builtin.module(nb-fuze)', 'nb-fuze'), ('nb-fuse', 'builtin.module'),
                          ('func.func(nb-fuse)', "has to be for a module"),
                          ('builtin.module(nb-vectorize{width=x})', 'width'),
                          ('builtin.module(' + 'any(' * 20000 + 'cse' + ')' * 20001, 'nested more than 500 times')]:
            with self.subTest(text[:80]):
                wrong = self.run_tool('nb-sim', *FLAGS, f'--pipeline={text}', status=1).stderr
                self.assertIn('error: ', wrong)
                self.assertIn(why, wrong)

    def test_programs_of_a_gpu(self):
        text = self.run_tool('nb-compile', *FLAGS, '--target=sm_90', '--emit=ptx', f'--pipeline={NO_HOISTING}')
        self.assertIn('.entry', text.stdout)
        lanes = 'builtin.module(func.func(nb-remove-branches,nb-vectorize))'
        wrong = self.run_tool('nb-compile', *FLAGS, '--target=sm_90', '--emit=ptx', f'--pipeline={lanes}', status=1)
        self.assertIn('nb-vectorize', wrong.stderr)

    def test_patterns(self):
        (self.folder / 'p.pdll').write_text('''Pattern {
  let root = op<nb.normalize>(v: Value) -> (t: Type);
  rewrite root with { replace root with v; };
}
''')
        changed = self.run_tool('nb-sim', *FLAGS, '--quiet', '--emit=mlir', '--until-after=response',
                                '--patterns=p.pdll').stdout
        plain = self.run_tool('nb-sim', *FLAGS, '--quiet', '--emit=mlir', '--until-after=response').stdout
        self.assertIn('nb.normalize', plain)
        self.assertNotIn('nb.normalize', changed)


if __name__ == '__main__':
    unittest.main(verbosity=2)
