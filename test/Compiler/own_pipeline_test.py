"""Passes of the user's own: --pipeline reaches a kernel in every tool, IR goes on from any stage, and
what a pipeline lacks is said at the op. own_pipeline_test.py BIN_DIR"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import wrong_pattern

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
                # A lowered program is not hoisted once more.
                lowered = STAGES.index(stage) >= STAGES.index('lanes')
                self.assertEqual('nb-hoist-invariants' not in told, lowered, told)
                self.assertIn('NOTE: passes: ', told)

    def test_the_pipeline_that_is_printed_makes_the_same_code(self):
        """With all options and counts, in every tool."""
        object_of = lambda tool, *words: (self.run_tool(tool, *words, '--emit=obj', '-o', 'k.o'),
                                          (self.folder / 'k.o').read_bytes())[1]
        for words in (('-oversample', '1'), ('--precision=mixed',), ('-round_xtal', '-oversample', '1'), ('--grad=cell_a,misset_x',),
                      ('--device=gpu-on-cpu',)):
            with self.subTest(words):
                flags = [*FLAGS, *words, '--quiet']
                text = self.run_tool('nb-sim', *flags, '--print-pipeline').stdout.strip()
                self.assertEqual('nb-fix-counts{counts={oversample=1}}' in text, '-oversample' in words)
                self.assertRegex(text, r'nb-set-precision\{precision=' + ('mixed' if 'mixed' in str(words) else 'f64'))
                self.assertEqual(self.run_tool('nb-sim', *flags, '--emit=asm').stdout,
                                 self.run_tool('nb-sim', *flags, '--emit=asm', f'--pipeline={text}').stdout)
        text = self.run_tool('nb-sim', *FLAGS, '-oversample', '1', '--quiet', '--print-pipeline').stdout.strip()
        self.assertIn('nb-vectorize{', text)
        # As nb-opt leaves it, and as nb-compile does: the numbers of cells are not said by the experiment there.
        file = self.program('--emit=nb')
        lowered = self.folder / 'lowered.mlir'
        lowered.write_text(self.run_tool('nb-opt', file, f'--pipeline={text}').stdout)
        self.assertEqual(object_of('nb-compile', file, f'--pipeline={text}'), object_of('nb-compile', lowered))
        rows = self.run_tool('nb-try', *FLAGS, '-oversample', '1', '--quiet', '--json', '--repeat=0', '--grad=none', f'--pipeline={text}').stdout
        default, given = map(json.loads, rows.splitlines())
        self.assertEqual(default['code'], given['code'])
        # Counts that a text compiles in are in the kernel's description: others are refused.
        fixed = text.replace('counts={', 'counts={ncells_a=5,')
        self.run_tool('nb-compile', *FLAGS, '-oversample', '1', '--quiet', f'--pipeline={fixed}', '-o', 'five.so')
        self.image('-oversample', '1', '--kernel=five.so')
        refused = self.run_tool('nb-sim', *FLAGS, '-oversample', '1', '-N', '6', '--kernel=five.so', '-floatfile', 'a.bin', status=1)
        self.assertIn('compiled for ncells_a=5 and ncells_a=6 is needed', refused.stderr)

    def test_interpreted_and_compared_after_passes(self):
        want = np.frombuffer(self.image('--no-fuse'), np.float32)
        for text in (NO_HOISTING, 'builtin.module(nb-cpu-pipeline{until-after=fuse})'):
            got = np.frombuffer(self.image('--no-fuse', f'--pipeline={text}'), np.float32)
            np.testing.assert_allclose(got, want, rtol=1e-6)
            out = self.run_tool('nb-sim', *FLAGS, '--quiet', '--compare-engines', f'--pipeline={text}').stdout
            self.assertIn('the engines agree', out)
        refused = self.run_tool('nb-sim', *FLAGS, '--quiet', '--no-fuse', '-floatfile', 'a.bin',
                                '--pipeline=builtin.module(nb-cpu-pipeline{until-after=loops})', status=1)
        self.assertIn('the interpreter cannot run what the passes leave', refused.stderr)
        (self.folder / 'wrong.mlir').write_text(wrong_pattern.TEXT)
        wrong = f'builtin.module(func.func(nb-erase-probes),nb-apply-patterns{{files={self.folder}/wrong.mlir}},cse)'
        out = self.run_tool('nb-sim', *FLAGS, '--quiet', '--compare-engines', f'--pipeline={wrong}', status=3).stdout
        self.assertIn('first stage that differs: nb-apply-patterns', out)
        self.assertIn('first value that differs: ', out)
        lowers = 'builtin.module(nb-cpu-pipeline{until-after=llvm})'
        out = self.run_tool('nb-sim', *FLAGS, '--quiet', '--compare-stages', f'--pipeline={lowers}').stdout
        self.assertIn('after nb-vectorize: ', out)
        self.assertIn('the engines agree', out)

    def test_named_pipelines_stand_in_a_module(self):
        file = self.program('--emit=nb')
        refused = self.run_tool('nb-opt', file, '--pipeline=builtin.module(func.func(nb-cpu-pipeline))', status=1)
        self.assertIn("nb-cpu-pipeline is of a module, 'builtin.module(nb-cpu-pipeline)'", refused.stderr)

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
        # An op without a lowering.
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
                          ('func.func(nb-fuse)', "must be for a module"),
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
