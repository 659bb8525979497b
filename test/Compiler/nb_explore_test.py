"""Nb-explore's page: one file, opened in a headless Chromium, where searching, following a value and collapsing
work. nb_explore_test.py BIN_DIR"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1))
FLAGS = ('-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -lambda 1 -distance 100 '
         '-detpixels 32 -mosaic 0.5 -mosaic_domains 3 --quiet').split()
CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')


class NbExplore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = pathlib.Path(cls.folder.name) / 'report.html'
        subprocess.run([BIN / 'nb-explore', *FLAGS, '--grad=cell_a', '-o', cls.page], check=True,
                       capture_output=True, timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_one_file_that_needs_no_other(self):
        text = self.page.read_text()
        self.assertLess(len(text), 3e6)
        self.assertNotRegex(text, r'(src|href)="|https?://|@import')

    def body_in_a_browser(self, address, *flags):
        if not CHROMIUM:
            self.skipTest('there is no chromium: install the Debian package of this name')
        home = pathlib.Path(self.folder.name) / 'home'
        done = subprocess.run(
            [CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
             f'--user-data-dir={home}', '--enable-logging=stderr', *flags, '--dump-dom', address], capture_output=True,
            text=True, timeout=280)
        body = re.search(r'<body[^>]*>', done.stdout)
        self.assertTrue(body, done.stderr[-2000:])
        self.assertNotIn('data-error', body.group(0))
        return body.group(0), done

    def test_what_is_loaded_can_be_seen(self):
        body, _ = self.body_in_a_browser(f'file://{self.page}')
        self.assertIn('data-ready="1"', body)

    def test_in_a_browser(self):
        body, done = self.body_in_a_browser(f'file://{self.page}#selftest', '--virtual-time-budget=60000')
        self.assertIn('data-selftest="passed"', body)
        self.assertEqual([line for line in done.stderr.splitlines() if 'CONSOLE' in line], [])

    def test_text(self):
        done = subprocess.run([BIN / 'nb-explore', *FLAGS, '--text', '--no-judge'], check=True,
                              capture_output=True, text=True, timeout=300)
        self.assertRegex(done.stdout, r'\d+ nb-hoist-invariants\n +Passed: moved \d+ op')
        self.assertRegex(done.stdout, r'ops in the innermost loops: ')
        self.assertRegex(done.stdout, r'vfmadd\S* .* hkl')
        self.assertRegex(done.stdout, r'image +right')


if __name__ == '__main__':
    unittest.main(verbosity=2)
