"""nb-sim with a cache of the test's own."""

import os
import shutil
import subprocess
import tempfile
import unittest

CRYSTAL = "-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 1 -distance 100".split()
SMALL = CRYSTAL + ["-detpixels", "16", "-oversample", "1", "-nonoise", "-nopgm", "-noprogress"]


class CacheCase(unittest.TestCase):
    """Subclasses set `nb_sim`, `nb_cache` and `compiler`."""

    nb_sim = nb_cache = compiler = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-cache-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = os.path.join(self.folder, "kernels")
        self.log = os.path.join(self.folder, "builds.log")
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=self.compiler,
                                NB_CACHE_DIR=self.cache, NB_TEST_BUILD_LOG=self.log)
        for name in "NB_CACHE", "NB_CACHE_SIZE", "NB_TEST_BUILD_SECONDS":
            self.environment.pop(name, None)
        self.runs = 0

    def start(self, *words, prefix=(), **environment):
        self.runs += 1
        folder = os.path.join(self.folder, f"run{self.runs}")
        os.mkdir(folder)
        process = subprocess.Popen([*prefix, self.nb_sim, *words], cwd=folder, text=True,
                                   env={**self.environment, **environment},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.folder = folder
        return process

    def finish(self, process):
        """Its image, after it ended well; its messages are in process.out and process.err."""
        process.out, process.err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, process.err)
        with open(os.path.join(process.folder, "floatimage.bin"), "rb") as file:
            return file.read()

    def image(self, *words, **options):
        process = self.start(*words, **options)
        image = self.finish(process)
        self.warnings = [line for line in process.err.splitlines() if "cache" in line]
        return image

    def builds(self):
        if not os.path.exists(self.log):
            return 0
        with open(self.log) as file:
            return len(file.readlines())

    def entries(self):
        return sorted(os.path.join(self.cache, name) for name in os.listdir(self.cache)
                      if name.endswith(".so"))

    def temporaries(self):
        return [name for name in os.listdir(self.cache) if name.startswith(".new-")]

    def run_nb_cache(self, *words, **environment):
        return subprocess.run([self.nb_cache, *words], env={**self.environment, **environment},
                              text=True, capture_output=True, timeout=60)
