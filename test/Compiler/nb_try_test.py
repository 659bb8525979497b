"""Nb-try judges pipelines by image, gradient and instructions, and survives those that crash.
nb_try_test.py BIN_DIR"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import wrong_pattern

BIN = pathlib.Path(sys.argv.pop(1))
SANITIZED = b'__asan_init' in (BIN / 'nb-try').read_bytes()
FLAGS = ('-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 '
         '-detpixels 32 -mosaic 0.5 -mosaic_domains 3 -oversample 1 --quiet').split()


class NbTry(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / 'cache'  # no test changes the schedules of whoever runs it
        self.cache.mkdir(mode=0o700)
        environment = mock.patch.dict(os.environ, NB_CACHE_DIR=str(self.cache))
        environment.start()
        self.addCleanup(environment.stop)

    def run_try(self, *words, status=0):
        done = subprocess.run([BIN / 'nb-try', *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def rows(self, *words, status=0):
        return {row['name']: row
                for row in map(json.loads, self.run_try('--json', '--repeat=1', *words, status=status).splitlines())}

    def test_what_each_pass_is_worth(self):
        rows = self.rows(*FLAGS, '--count', '--leave-out=nb-hoist-invariants', '--leave-out=nb-vectorize')
        default, hoist = rows['default'], rows['without nb-hoist-invariants']
        for row in rows.values():
            self.assertEqual(row['failure'], '')
            self.assertTrue(row['image']['same'])
            self.assertTrue(row['gradient']['same'])
            self.assertGreater(row['ns_per_sample'], 0)
            self.assertGreater(row['code_bytes'], 0)
        if 'instructions_per_sample' in default:  # x86-64
            self.assertGreater(hoist['instructions_per_sample'], 1.05 * default['instructions_per_sample'])
            self.assertGreater(rows['without nb-vectorize']['instructions_per_sample'],
                               1.5 * default['instructions_per_sample'])

    def test_kernels_that_leave_samples_out(self):
        """Are run as nb-sim runs them, and judged where there is light."""
        flags = [*FLAGS, '-gauss_xtal', '-N', '100', '-detpixels', '64', '-oversample', '2']
        rows = {cull: self.rows(*flags, f'--cull={cull}', '--leave-out=nb-cull', '--leave-out=nb-tabulate-invariants')
                for cull in ('off', 'exact', '1e-9')}
        for cull, of in rows.items():
            for row in of.values():
                self.assertTrue(row['image']['same'] and row['gradient']['same'], (cull, row))
                self.assertEqual('share_computed' in row, cull != 'off' and row['name'] == 'default', (cull, row))
        share = [rows[cull]['default']['share_computed'] for cull in ('exact', '1e-9')]
        self.assertLess(share[0], 0.5)
        self.assertLess(share[1], 0.5 * share[0])
        if SANITIZED:
            print('times are not compared: sanitizers slow down what leaves samples out, and not the kernels')
        else:
            self.assertLess(rows['exact']['default']['ns_per_sample'], rows['off']['default']['ns_per_sample'])
        # Some million samples of a pixel are too many to step through.
        self.assertNotIn('instructions_per_sample',
                         self.rows(*flags, '--count', '-oversample', '500', '--cull=off', '--grad=none')['default'])
        self.run_try(*flags, '-oversample', '500', '--cull=off', '--grad=none', '--is=slower:1', '--pipeline=builtin.module()',
                     status=1)

    def test_gradients_that_are_zero_by_symmetry(self):
        """Rounding is all there is of them."""
        cubic = '-default_F 100 -cell 80 80 80 90 90 90 -N 20 -gauss_xtal -lambda 1 -distance 100 -detpixels 64 -mosaic 0 --quiet'
        row = self.rows(*cubic.split(), '--grad=misset_x,misset_y,misset_z,cell_alpha')['default']
        self.assertTrue(row['gradient']['same'], row['gradient'])
        pattern = wrong_pattern.TEXT
        (self.folder / 'wrong.mlir').write_text(pattern)
        row = self.rows(*cubic.split(), '--grad=distance',
                        '--pipeline=builtin.module(nb-apply-patterns{files=wrong.mlir})', status=3)['given']
        self.assertFalse(row['gradient']['same'], row)

    def test_schedules(self):
        """Schedules of the transform dialect make the same image and gradient; another one is no stale kernel."""
        folder = pathlib.Path(__file__).parents[2] / 'docs/examples/schedules'
        ahead = f'nb-apply-patterns{{files={folder}/domains-outside.mlir}},nb-cpu-pipeline{{until-after=fuse}}'
        tiles = f'nb-cpu-pipeline{{until-after=peel}},nb-apply-patterns{{files={folder}/pixel-tiles.mlir}}'
        rows = self.rows(*FLAGS, *(f'--pipeline=builtin.module({text})' for text in (ahead, tiles)))
        self.assertEqual(len(rows), 3)
        for row in rows.values():
            self.assertTrue(row['image']['same'] and row['gradient']['same'], row)
        schedule = (folder / 'pixel-tiles.mlir').read_text()
        said = []
        for lanes in ('by 8', 'by 100'):  # the second one is refused, not answered with the kernel of the first
            (self.folder / 's.mlir').write_text(schedule.replace('by 8', lanes))
            text = 'builtin.module(nb-cpu-pipeline{until-after=peel},nb-apply-patterns{files=s.mlir})'
            done = subprocess.run([BIN / 'nb-sim', *FLAGS, '-floatfile', 'a.bin', '--device=cpu', f'--pipeline={text}'],
                                  capture_output=True, text=True, cwd=self.folder)
            said.append((done.returncode, done.stderr))
        self.assertEqual(said[0][0], 0, said[0])
        self.assertNotEqual(said[1][0], 0)
        self.assertIn('tiles have between 1 and 64 pixels, not 100', said[1][1])

    def test_lowered_programs(self):
        """They are held against the program of the experiment, which the interpreter can run."""
        program = subprocess.run([BIN / 'nb-sim', *FLAGS, '--emit=nb'], capture_output=True, text=True, check=True).stdout
        (self.folder / 'p.mlir').write_text(program)
        for stage in ('loops', 'arith', 'outline', 'llvm'):
            lowered = subprocess.run([BIN / 'nb-opt', self.folder / 'p.mlir', f'--nb-cpu-pipeline=until-after={stage}'],
                                     capture_output=True, text=True, check=True).stdout
            (self.folder / 'lowered.mlir').write_text(lowered)
            self.assertTrue(self.rows('lowered.mlir', *FLAGS)['default']['image']['same'], stage)
            self.run_try('lowered.mlir', *FLAGS, '--tune', status=2)
            wrong = lowered.replace(' arith.mulf', ' arith.addf').replace(' llvm.fmul', ' llvm.fadd')
            (self.folder / 'lowered.mlir').write_text(wrong)
            if stage != 'loops':  # where the formulas are
                self.assertFalse(self.rows('lowered.mlir', *FLAGS, status=3)['default']['image']['same'], stage)

    def test_a_wrong_image_is_named_with_the_first_guilty_pass(self):
        pattern = wrong_pattern.TEXT
        (self.folder / 'wrong.mlir').write_text(pattern)
        text = ('builtin.module(func.func(nb-erase-probes,nb-hoist-invariants),'
                'nb-apply-patterns{files=wrong.mlir},func.func(nb-fuse))')
        out = self.run_try(*FLAGS, f'--pipeline={text}', '--grad=none', status=3)
        self.assertRegex(out, r'given +yes +WRONG')
        self.assertIn('first guilty pass: nb-apply-patterns, number 3 of its pipeline', out)
        self.assertRegex(out, r'given: the image is wrong: worst at panel 0, slow \d+, fast \d+')

    def test_what_does_not_compile(self):
        out = self.run_try(*FLAGS, '--grad=none', '--pipeline=builtin.module(nb-fuze)',
                           '--pipeline=builtin.module(func.func(convert-nb-to-loops),nb-outline-kernel)', status=1)
        self.assertIn("there is no pass 'nb-fuze'; the closest is 'nb-fuse'", out)
        self.assertRegex(out, r'given 2: .*pass nb-outline-kernel: ')

    def test_a_wrong_flag(self):
        """The closest is looked for among nb-try's flags, too, and --help helps beside it."""
        for word, closest in (('--leave-ou=nb-fuse', '--leave-out'), ('--oversampel', '-oversample')):
            done = subprocess.run([BIN / 'nb-try', *FLAGS, word], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"unknown flag '{word}'; the closest is '{closest}'", done.stderr)
        self.run_try('--leave-ou=nb-fuse', '--help')

    def test_notes_are_about_the_program_that_is_tried(self):
        """Averages of nb-sim's program and its differences from C are not told of a program from a file."""
        flags = [*FLAGS[:-1], '-mosaic', '2', '-mosaic_domains', '2', '-oversample', '1']
        program = subprocess.run([BIN / 'nb-sim', *flags, '--emit=nb', '--quiet'], capture_output=True, text=True,
                                 check=True).stdout
        (self.folder / 'p.mlir').write_text(program)
        for words, said in (([], True), (['p.mlir'], False)):
            done = subprocess.run([BIN / 'nb-try', *words, *flags, '--repeat=0', '--grad=none'], cwd=self.folder,
                                  capture_output=True, text=True, check=True)
            self.assertEqual('default semantics differ' in done.stderr, said, done.stderr)

    def test_questions(self):
        self.run_try(*FLAGS, '--is=fails', '--pipeline=builtin.module(nb-fuze)', status=0)
        self.run_try(*FLAGS, '--is=fails', '--pipeline=builtin.module()', status=1)
        self.run_try(*FLAGS, '--is=differs', '--pipeline=builtin.module()', status=1)
        self.run_try(*FLAGS, '--is=slower:1.5', '--grad=none', '--pipeline=builtin.module()', status=0)
        self.run_try(*FLAGS, '--is=slower:1000', '--grad=none', '--pipeline=builtin.module()', status=1)
        self.run_try(*FLAGS, '--is=green', status=2)

    def test_a_gradient_that_does_not_compile_is_not_a_wrong_one(self):
        """Nor a wrong image: who reduces a program keeps the one fault or the other."""
        flags = [*FLAGS, '--pipeline=builtin.module(nb-differentiate{mode=vjp})']  # its sweep is not merged
        self.assertIn('given: no gradient: ', self.run_try(*flags, '--repeat=0', status=1))
        self.run_try(*flags, '--is=differs', status=1)
        self.run_try(*flags, '--is=fails', status=0)
        self.run_try(*flags, '--is=fails', '--grad=none', status=1)

    def test_averages_in_closed_form(self):
        """Are held against the closed form: of the draws that it stands for, such a program has but one."""
        flags = [*FLAGS, '-gauss_xtal', '-N', '20', '--average=closed']
        passes = '--pipeline=builtin.module(func.func(nb-fuse))'  # nb-close-averages goes ahead
        for cull in ('off', 'exact', '1e-4'):
            for words in (passes, '--leave-out=nb-cull'):
                for row in self.rows(*flags, f'--cull={cull}', words, '--timeout=60').values():
                    self.assertTrue(row['image']['same'] and row['gradient']['same'], (cull, row))
        (self.folder / 'wrong.mlir').write_text(wrong_pattern.TEXT)
        text = 'builtin.module(func.func(nb-close-averages),nb-apply-patterns{files=wrong.mlir},func.func(nb-fuse))'
        out = self.run_try(*flags, f'--pipeline={text}', '--grad=none', '--repeat=0', status=3)
        self.assertIn('first guilty pass: nb-apply-patterns, number 2 of its pipeline', out)

    def test_tuning(self):
        """The schedule that is found is right, and nb-sim runs it; for another program it is refused."""
        out = self.run_try(*FLAGS, '--tune', '--grad=none', '--repeat=3', '--least-gain=0.5', '-o', 'schedule.txt')
        self.assertRegex(out, r'nb-vectorize width=\d+ +[\d.]+ ns, best so far [\d.]+')
        self.assertRegex(out, r'without nb-vectorize ')
        self.assertRegex(out, r'without nb-fuse-response +the same code as the best so far')
        self.assertIn('no schedule is kept', out)
        self.assertEqual(list(self.cache.glob('*.schedule')), [])
        text = (self.folder / 'schedule.txt').read_text()
        self.assertRegex(text, r'# (nothing was faster|[\d.]+ ns per sample, [\d.]+ before, measured in turn: -?[\d.]+ % .*)\nbuiltin.module')
        sim = [BIN / 'nb-sim', *FLAGS, '-nopgm', '-nonoise', '--device=cpu']
        images = []
        for words in ([], ['--schedule=schedule.txt']):
            subprocess.run([*sim, *words, '-floatfile', 'a.bin'], check=True, cwd=self.folder)
            images.append((self.folder / 'a.bin').read_bytes())
        self.assertEqual(*images)  # nothing was twice as fast: these are the compiler's own passes
        for words, why in ((['-round_xtal'], 'is for another program'), (['--precision=mixed'], 'is for --precision=f64')):
            done = subprocess.run([*sim, *words, '--schedule=schedule.txt'], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_knobs_of_schedules(self):
        """Their values are searched, and what is found stands in the pipeline itself."""
        folder = pathlib.Path(__file__).parents[2] / 'docs/examples/schedules'
        begin = ('builtin.module(nb-cpu-pipeline{until-after=peel},'
                 f'nb-apply-patterns{{files={folder}/knobs.mlir}})')
        out = self.run_try(*FLAGS, '--tune', '--grad=none', '--repeat=3', f'--pipeline={begin}', '-o', 's.txt')
        for choice in ('lanes=4', 'lanes=16', 'lanes=32', 'merged=1'):
            self.assertIn(f'\n{choice} ', '\n' + out)
        tuned = (self.folder / 's.txt').read_text().splitlines()[-1]
        if 'no schedule is kept' not in out:
            self.assertIn('transform.tune.knob<"lanes"> = ', tuned)
            self.assertNotIn('files=', tuned)
            with_shape, = json.loads(subprocess.run([BIN / 'nb-cache', 'list', '--json'], capture_output=True,
                                                    text=True, check=True).stdout)['schedules']
            self.assertEqual(with_shape['pipeline'], tuned)
            self.assertIn('oversample=1', with_shape['shape'])
            self.assertRegex(out, r'with -oversample 3 +\S')
        wrong = self.folder / 'wrong.mlir'
        wrong.write_text((folder / 'knobs.mlir').read_text().replace('options = [4, 8', 'options = [100, 8'))
        out = self.run_try(*FLAGS, '--tune', '--grad=none', '--repeat=3', '--least-gain=0.9', '-o', 's.txt',
                           f'--pipeline={begin.replace(str(folder / "knobs.mlir"), "wrong.mlir")}')
        self.assertRegex(out, r'lanes=100 +not right: .*100')

    def test_schedules_travel(self):
        """A folder's schedules are exported and merged into another one."""
        cache = [BIN / 'nb-cache']

        def run(*words, folder='cache', status=0):
            done = subprocess.run([*cache, *words], capture_output=True, text=True, cwd=self.folder,
                                  env=os.environ | {'NB_CACHE_DIR': str(self.folder / folder)})
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stdout + done.stderr
        self.run_try(*FLAGS, '--tune', '--grad=none', '--repeat=3', '--least-gain=0.5', '-o', 's.txt')
        variant = re.search('# variant: (.*)', (self.folder / 's.txt').read_text())[1]
        run('export', 'none.json')
        record = {'variant': variant, 'precision': 'f64', 'processor': 'another\n', 'compiler': 'b',
                  'shape': 'oversample=1', 'every_shape': False, 'change': 0.9, 'pipeline': 'builtin.module(cse)'}
        file = json.loads((self.folder / 'none.json').read_text())
        file['schedules'] = [record]
        (self.folder / 'one.json').write_text(json.dumps(file))
        self.assertIn('1 added, 0 replaced by one that gains more, 0 left as they are; '
                      '1 are for another processor', run('import', 'one.json', folder='other'))
        self.assertIn('0 added, 0 replaced by one that gains more, 1 left', run('import', 'one.json', folder='other'))
        record['change'] = 0.8
        (self.folder / 'one.json').write_text(json.dumps(file))
        self.assertIn('1 replaced', run('import', 'one.json', folder='other'))
        self.assertIn('stale, f64', run('list', folder='other'))
        run('export', 'again.json', folder='other')
        self.assertEqual(json.loads((self.folder / 'again.json').read_text()), file)
        (self.folder / 'bad.json').write_text('{"format": "other"}')
        self.assertIn('bad.json: this is not a file of nb-cache export', run('import', 'bad.json', status=1))
        self.assertIn('import needs the name of a file', run('import', status=2))

    def test_a_kept_schedule_is_taken(self):
        """By nb-sim and nb-compile, for images of that variant and precision, unless --schedule=none."""
        cache = self.cache

        def run(tool, *words):
            return subprocess.run([BIN / tool, *map(str, words)], capture_output=True, text=True, check=True,
                                  cwd=self.folder, timeout=300)

        flags = [word for word in FLAGS if word != '--quiet']
        image = [*flags, '-nopgm', '-nonoise', '--device=cpu', '-floatfile', 'a.bin']
        self.assertNotIn('schedule', run('nb-sim', *image).stderr)

        tuned = run('nb-try', *FLAGS, '--tune', '--grad=none', '--repeat=3', '--least-gain=0.05', '-o', 's.txt')
        if 'kept: nb-sim' not in tuned.stdout:
            self.skipTest('nothing was faster than the passes as they are')
        self.assertEqual(len(list(cache.glob('*.schedule'))), 1)
        pipeline = (self.folder / 's.txt').read_text().splitlines()[-1]
        self.assertIn('nb-try --tune has kept', run('nb-sim', *image).stderr)
        self.assertIn(pipeline, run('nb-cache', 'list').stdout)
        self.assertEqual([s['pipeline'] for s in json.loads(run('nb-cache', 'list', '--json').stdout)['schedules']], [pipeline])
        kernels = [run('nb-cache', 'show', path.stem).stdout for path in cache.glob('*.so')]
        self.assertEqual(sum(pipeline in text for text in kernels), 1, 'the kernel is that of the schedule')
        self.assertIn('nb-try --tune has kept', run('nb-compile', *flags, '-o', 'k.so').stderr)
        for words in (['--schedule=none'], ['--quiet'], ['-round_xtal'], ['--precision=mixed'], ['--no-fuse'],
                      ['--grad=cell_a']):
            words = [*(image if words[0] != '--grad=cell_a' else flags), *words]
            self.assertNotIn('nb-try --tune', run('nb-sim', *words).stderr, words)
        self.assertNotIn('nb-try --tune', run('nb-compile', *flags, '--schedule=none', '-o', 'k.so').stderr)
        damaged = next(cache.glob('*.schedule'))
        damaged.write_bytes(damaged.read_bytes().replace(b'nb-fuse', b'nb-fuze'))
        self.assertNotIn('nb-try --tune', run('nb-sim', *image).stderr)
        self.assertFalse(damaged.exists())

    def test_a_program_from_a_file(self):
        program = subprocess.run([BIN / 'nb-sim', *FLAGS, '--emit=nb'], capture_output=True, text=True).stdout
        (self.folder / 'p.mlir').write_text(program)
        for words in (['p.mlir'], ['p.mlir', *FLAGS]):
            rows = self.rows(*words, '--pipeline=builtin.module(func.func(nb-remove-branches))', '--until-after=hoist')
            self.assertEqual(list(rows), ['default', 'given', 'until hoist'])
            self.assertTrue(all(row['image']['same'] for row in rows.values()))


if __name__ == '__main__':
    unittest.main(verbosity=2)
