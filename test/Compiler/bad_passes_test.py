"""Passes that crash, hang, fail in silence or are wrong are named, by every tool, with a program that shows it.
bad_passes_test.py BIN_DIR PLUGIN"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import wrong_pattern

BIN, PLUGIN = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
FLAGS = ('-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 '
         '-detpixels 16 -mosaic 0.5 -mosaic_domains 3 --quiet').split()


def passes(name):
    return f'--pipeline=builtin.module(func.func(nb-hoist-invariants,{name},nb-fuse))'


class BadPasses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, tool, *words):
        done = subprocess.run([BIN / tool, *FLAGS, f'--plugin={PLUGIN}', *map(str, words)], capture_output=True,
                              text=True, cwd=self.folder, env=dict(os.environ, NB_CACHE='off'), timeout=120)
        return done.returncode, done.stdout + done.stderr

    def try_pass(self, *words):
        return self.run_tool('nb-try', '--grad=none', '--repeat=0', *words)

    def check_reproducer(self, name, text):
        self.assertIn(f"nb-opt reproducer-{name}.mlir --pass-pipeline='builtin.module(func.func({name}))'", text)
        program = self.folder / f'reproducer-{name}.mlir'
        self.assertIn('nb.image', program.read_text())
        subprocess.run([BIN / 'nb-opt', program, '-o', os.devnull], check=True)  # it can be read

    def test_crashes(self):
        for name in ('bad-crash', 'bad-overflow', 'bad-throw'):
            for tool, words in (('nb-sim', ['-nopgm', '-nonoise', '--device=cpu']), ('nb-compile', ['--emit=asm']), ('nb-try', ['--grad=none', '--repeat=0'])):
                with self.subTest(f'{tool} {name}'):
                    status, text = self.run_tool(tool, *words, passes(name))
                    self.assertNotEqual(status, 0)
                    self.assertIn(f'pass {name} ends the process', text)
                    self.check_reproducer(name, text)
                    (self.folder / f'reproducer-{name}.mlir').unlink()

    def test_what_ends_the_process(self):
        for tool, words in (('nb-sim', ['-nopgm', '-nonoise', '--device=cpu']), ('nb-compile', ['--emit=asm']), ('nb-try', ['--grad=none', '--repeat=0'])):
            status, text = self.run_tool(tool, *words, passes('bad-exit'))
            self.assertEqual(status, 1, tool)
            self.assertIn('pass bad-exit ends the process', text)

    def test_an_error_that_is_no_failure(self):
        """It is one, at its op, with the flags behind it."""
        status, text = self.run_tool('nb-compile', '--emit=asm', passes('bad-goes-on'))
        self.assertEqual(status, 1)
        self.assertRegex(text, r'pass bad-goes-on: reports an error and continues: at %\w+: this is wrong \(-polar')

    def test_a_wrong_gradient(self):
        status, text = self.run_tool('nb-try', '--grad=distance,cell_a', '--repeat=0', passes('bad-gradient'))
        self.assertEqual(status, 3)
        self.assertIn('the gradient is wrong: worst at distance', text)
        self.assertIn('first guilty pass: bad-gradient, number 2 of its pipeline', text)

    def test_text_that_mlir_itself_cannot_read(self):
        """Some ops of other dialects crash it."""
        (self.folder / 'foreach.mlir').write_text('''module attributes {transform.with_named_sequence} {
  transform.named_sequence @m(%a: !transform.any_op) {
    "transform.foreach"(%a) ({}) : (!transform.any_op) -> ()
    transform.yield
  }
}
''')
        (self.folder / 'bad.mlir').write_text('func.func @f( {')
        done = subprocess.run([BIN / 'nb-opt', 'bad.mlir'], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn('expected', done.stderr)
        self.assertNotIn('reader or verifier', done.stderr)
        for words in (['nb-opt', 'foreach.mlir'], ['nb-run', 'foreach.mlir'], ['nb-compile', 'foreach.mlir', '-o', 'k.so'], ['nb-try', 'foreach.mlir'],
                      ['nb-reduce', '--because=true', 'foreach.mlir'], ['nb-sim', *FLAGS, '--patterns=foreach.mlir']):
            with self.subTest(words[0]):
                done = subprocess.run([BIN / words[0], *words[1:]], cwd=self.folder, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 1)
                self.assertIn("makes MLIR's own reader or verifier", done.stderr)
        frames = [{'id': 0, 'method': 'initialize', 'params': {'processId': 1, 'rootPath': 'nb', 'capabilities': {}}}]
        for name in ('foreach.mlir', 'bad.mlir'):
            document = {'uri': f'test:///{name}', 'languageId': 'mlir', 'version': 1, 'text': (self.folder / name).read_text()}
            frames.append({'method': 'textDocument/didOpen', 'params': {'textDocument': document}})
        frames += [{'id': 1, 'method': 'shutdown'}, {'method': 'exit'}]
        session = ''.join(json.dumps({'jsonrpc': '2.0', **frame}) + '\n// -----\n' for frame in frames)
        done = subprocess.run([BIN / 'nb-lsp-server', '-lit-test'], input=session, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0)
        self.assertIn("the program makes MLIR's own reader or verifier", done.stdout)
        self.assertIn('expected', done.stdout)

    def test_nb_opt(self):
        program = self.folder / 'a.mlir'
        program.write_text(subprocess.run([BIN / 'nb-sim', *FLAGS, '--emit=nb'], capture_output=True, text=True, check=True).stdout)
        for name, said in (('bad-crash', 'did not end'), ('bad-exit', 'did not end'), ('bad-silent', 'failed')):
            done = subprocess.run([BIN / 'nb-opt', program, f'--load-pass-plugin={PLUGIN}', passes(name)], capture_output=True,
                                  text=True, timeout=120)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f'this pass {said}: {name} on func.func @image', done.stderr)

    def test_a_hang(self):
        status, text = self.try_pass('--timeout=2', passes('bad-hang'))
        self.assertEqual(status, 1)
        self.assertRegex(text, 'given: takes more than 2 s: pass bad-hang ends the process')
        self.check_reproducer('bad-hang', text)

    def test_silence(self):
        for tool, words in (('nb-sim', ['-nopgm', '-nonoise', '--device=cpu']), ('nb-try', ['--grad=none', '--repeat=0'])):
            status, text = self.run_tool(tool, *words, passes('bad-silent'))
            self.assertNotEqual(status, 0)
            self.assertIn('pass bad-silent: fails on func.func @image without a message', text)
            self.check_reproducer('bad-silent', text)

    def test_wrong_passes(self):
        status, text = self.try_pass(passes('bad-sum'))
        self.assertEqual(status, 3)
        self.assertIn('first guilty pass: bad-sum, number 2 of its pipeline', text)
        status, text = self.try_pass('--pipeline=builtin.module(func.func(bad-turn))')
        self.assertEqual(status, 3)
        self.assertIn('first guilty pass: bad-turn, number 1 of its pipeline', text)
        self.assertRegex(text, r"first value that differs: 'misset\w*' \(nb.euler_rotation\)")

    def test_bisection_of_what_crashes(self):
        status, text = self.try_pass('--bisect', passes('bad-crash'))
        self.assertEqual(status, 1)
        self.assertNotRegex(text, 'given: the image is right after each')

    def test_wrong_patterns(self):
        """They act on the default, too, which is not to blame."""
        (self.folder / 'wrong.mlir').write_text(wrong_pattern.TEXT)
        status, text = self.try_pass('--patterns=wrong.mlir')
        self.assertEqual(status, 3)
        self.assertIn('default: first guilty pass: nb-apply-patterns{files=wrong.mlir}, of --patterns', text)
        self.assertNotIn("compiler's own", text)


if __name__ == '__main__':
    unittest.main(verbosity=2)
