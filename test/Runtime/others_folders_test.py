#!/usr/bin/env python3
"""others_folders_test.py NB_SIM NB_COMPILE COMPILER LIBRARY INTRUDER: no code is loaded from folders
that another user could have written."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FLAGS = ("-cell 70 80 90 90 100 90 -N 4 -default_F 10 -lambda 1 -distance 50 -detpixels 8 -pixel 1"
         " -nonoise -nopgm -floatfile image.bin").split()
NOBODY = 65534
NB_SIM = NB_COMPILE = COMPILER = LIBRARY = INTRUDER = ""


class FoldersOfOthers(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="nb-others-")))
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        (self.root / "bin").mkdir(mode=0o755)
        shutil.copy(NB_SIM, self.root / "bin" / "nb-sim")

    def run_nb_sim(self, *words, **environment):
        base = {name: value for name, value in os.environ.items() if not name.startswith("NB_")}
        with tempfile.TemporaryDirectory() as work:
            return subprocess.run([self.root / "bin" / "nb-sim", *FLAGS, *words], cwd=work, text=True,
                                  capture_output=True, env=base | {"NB_CACHE": "off"} | environment)

    def plant(self, name, user=None):
        """The intruder's file, from the folder lib on put there by that user."""
        file = self.root / name

        def write():
            os.umask(0o022)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(INTRUDER, file)
        if user is None:
            return write()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                write()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0, "the other user could not write")

    def kernel_name(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([NB_COMPILE, *FLAGS, "-o", folder + "/k/"], check=True,
                           env=os.environ | {"NB_COMPILER_LIBRARY": COMPILER, "NB_CACHE": "off"})
            (file,) = os.listdir(folder + "/k")
            return file

    def assert_refused(self, done, *words):
        self.assertNotIn("INTRUDER", done.stderr)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_own_neighbour_is_opened(self):
        # Shows that the intruder would be heard of.
        self.plant("lib/libnb-compiler.so")
        self.assertIn("INTRUDER", self.run_nb_sim().stderr)

    def test_compiler_in_a_folder_that_everybody_can_write(self):
        self.plant("lib/libnb-compiler.so")
        for folder in (self.root, self.root / "lib"):
            folder.chmod(0o777)
            self.assert_refused(self.run_nb_sim(), "libnb-compiler.so is not used",
                                f"other users can write to {folder}", "NB_COMPILER_LIBRARY")
            folder.chmod(0o755)

    def test_program_outside_of_a_bin_folder(self):
        self.plant("lib/libnb-compiler.so")
        (self.root / "tools").mkdir()
        shutil.copy(NB_SIM, self.root / "tools" / "nb-sim")
        done = subprocess.run([self.root / "tools" / "nb-sim", *FLAGS], cwd=self.root, text=True,
                              capture_output=True, env={"NB_CACHE": "off"})
        self.assert_refused(done, "cannot open the compiler library")

    @unittest.skipIf(os.geteuid() != 0, "only root can act as a second user")
    def test_compiler_of_another_user(self):
        for mode in (0o777, 0o1777):
            self.root.chmod(mode)
            self.plant("lib/libnb-compiler.so", NOBODY)
            self.assert_refused(self.run_nb_sim(), "libnb-compiler.so is not used")
            shutil.rmtree(self.root / "lib")

    @unittest.skipIf(os.geteuid() != 0, "only root can act as a second user")
    def test_kernel_of_another_user(self):
        name = "lib/nanobragg/kernels/" + self.kernel_name()
        for mode in (0o777, 0o1777):
            self.root.chmod(mode)
            self.plant(name, NOBODY)
            done = self.run_nb_sim("--no-fallback", NB_COMPILER_LIBRARY=COMPILER)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("INTRUDER", done.stderr)
            shutil.rmtree(self.root / "lib")
        # It was looked for under that name, or the test shows nothing.
        self.root.chmod(0o755)
        self.plant(name)
        self.assert_refused(self.run_nb_sim(NB_COMPILER_LIBRARY=COMPILER), "cannot use the kernel file")

    @unittest.skipIf(os.geteuid() != 0, "only root can act as a second user")
    def test_program_with_more_rights_than_its_caller(self):
        """It must not load what the caller's environment names."""
        if os.statvfs(self.root).f_flag & os.ST_NOSUID:
            self.skipTest("set-user-id programs do nothing on this file system")
        if "NoNewPrivs:\t1" in pathlib.Path("/proc/self/status").read_text():
            self.skipTest("set-user-id programs do nothing in this container")
        shutil.copy(INTRUDER, self.root / "intruder.so")

        def become_nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        for mode, heard in ((0o755, True), (0o4755, False)):
            (self.root / "bin" / "nb-sim").chmod(mode)
            done = subprocess.run(
                [self.root / "bin" / "nb-sim", *FLAGS], cwd="/", text=True, capture_output=True,
                preexec_fn=become_nobody,
                env={"NB_COMPILER_LIBRARY": str(self.root / "intruder.so"), "NB_CACHE": "off"})
            self.assertEqual("INTRUDER" in done.stderr, heard, done.stderr)

    def test_beside_the_library_of_another_program(self):
        """Python uses libnanobragg.so here; what stands beside that library is opened."""
        if b"__asan_init" in pathlib.Path(LIBRARY).read_bytes():
            self.skipTest("Python has no AddressSanitizer")
        self.plant("lib/libnb-compiler.so")
        shutil.copy(LIBRARY, self.root / "lib" / "libnanobragg.so.0")
        script = f"""
import ctypes
library = ctypes.CDLL({str(self.root / "lib" / "libnanobragg.so.0")!r})
library.nb_last_error.restype = ctypes.c_char_p
words = [word.encode() for word in {FLAGS!r}]
made = ctypes.c_void_p()
status = library.nb_simulator_from_flags(
    len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(made))
print(status, library.nb_last_error().decode())
"""
        for mode, heard, words in ((0o755, True, "nb_compiler_get_api"), (0o777, False, "is not used")):
            (self.root / "lib").chmod(mode)
            done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True,
                                  env={"NB_CACHE": "off"})
            self.assertEqual("INTRUDER" in done.stderr, heard, done.stderr + done.stdout)
            self.assertIn(words, done.stdout)

    def test_relative_names(self):
        for variable, value in (("NB_COMPILER_LIBRARY", "lib/libnb-compiler.so"),
                                ("NB_COMPILER_LIBRARY", "libnb-compiler.so"),
                                ("NB_KERNEL_PATH", "/nonexistent:kernels"),
                                ("NB_CACHE_DIR", "cache")):
            done = self.run_nb_sim(**{"NB_COMPILER_LIBRARY": COMPILER, "NB_CACHE": "", variable: value})
            self.assert_refused(done, variable, "absolute path")


if __name__ == "__main__":
    NB_SIM, NB_COMPILE, COMPILER, LIBRARY, INTRUDER = map(os.path.abspath, sys.argv[-5:])
    unittest.main(argv=sys.argv[:-5])
