"""Runs nb-sim in a folder of its own; the tests here are called as TEST NB_SIM FAKE_COMPILER."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

NB_SIM, FAKE_COMPILER = (os.path.abspath(path) for path in sys.argv[1:3])

# Files that every run may write, with contents that no run produces.
EARLIER = {name: b"an earlier result of " + name.encode()
           for name in ("floatimage.bin", "intimage.img", "image.pgm", "noiseimage.img")}


class NbSimTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def add(self, name, content):
        data = content if isinstance(content, bytes) else content.encode()
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def snapshot(self):
        found = {}
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = file.read()
            else:
                found[name] = None
        return found

    def run_nb_sim(self, words, **variables):
        environment = dict(os.environ, NB_COMPILER_LIBRARY=FAKE_COMPILER, NB_CACHE="off",
                           NB_CHECK_IMAGES="0", **variables)  # the stand-in knows no masks
        return subprocess.run([NB_SIM, *words], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
