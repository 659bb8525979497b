#!/usr/bin/env python3
"""cache_test.py NB_SIM NB_CACHE FILE_COMPILER: whole runs of nb-sim around one kernel cache.

The compiler is a stand-in whose kernels are files; the image tells which variant it was given."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from simulator import SMALL, CacheCase

CacheCase.nb_sim, CacheCase.nb_cache, CacheCase.compiler = map(os.path.abspath, sys.argv[1:4])


def can_mount():
    command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


CANNOT_MOUNT = "needs root that may mount a small file system"


class Cache(CacheCase):
    def test_second_run_builds_nothing(self):
        first = self.image(*SMALL)
        self.assertEqual(self.image(*SMALL), first)
        self.assertEqual((self.builds(), len(self.entries()), self.warnings), (1, 1, []))

    def test_numbers_are_not_in_the_key(self):
        self.image(*SMALL)
        for words in (["-lambda", "2"], ["-detpixels", "24"], ["-cell", "50", "60", "70", "80",
                      "90", "100"], ["-N", "7"], ["-mosaic", "1", "-mosaic_domains", "5"],
                      ["-phi", "3", "-osc", "1", "-phisteps", "2"], ["-distance", "50"]):
            self.image(*SMALL, *words)
        self.assertEqual(self.builds(), 1)

    def test_variants_have_kernels_of_their_own(self):
        square = self.image(*SMALL)
        tophat = self.image(*SMALL, "-tophat_spots")
        self.assertNotEqual(square, tophat)
        self.assertEqual(self.image(*SMALL), square)
        self.assertEqual(self.image(*SMALL, "-tophat_spots"), tophat)
        self.assertEqual((self.builds(), len(self.entries())), (2, 2))

    def test_timing_counts(self):
        for loads in 0, 1:
            process = self.start(*SMALL, "--timing=t.json")
            self.finish(process)
            with open(os.path.join(process.folder, "t.json")) as file:
                timing = json.load(file)
            self.assertEqual((timing["kernel_loads"], timing["kernel_compiles"]),
                             (loads, 1 - loads))
            self.assertGreater(timing["cache_seconds"], 0)
            self.assertEqual(timing["compiler_load_seconds"] > 0, loads == 0)

    def test_no_home_means_no_cache(self):
        for name in "NB_CACHE_DIR", "XDG_CACHE_HOME", "HOME":
            self.environment.pop(name, None)
        process = self.start(*SMALL)
        process.communicate(timeout=60)
        # The stand-in makes files only, and only a cache asks for a file.
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(self.builds(), 0)

    def test_default_places(self):
        del self.environment["NB_CACHE_DIR"]
        home, xdg = os.path.join(self.folder, "home"), os.path.join(self.folder, "xdg")
        self.image(*SMALL, HOME=home, XDG_CACHE_HOME=xdg)
        self.assertEqual(len(os.listdir(os.path.join(xdg, "nanobragg"))), 2)
        self.environment.pop("XDG_CACHE_HOME", None)
        self.image(*SMALL, HOME=home)
        self.assertEqual(len(os.listdir(os.path.join(home, ".cache", "nanobragg"))), 2)

    def test_size_bound(self):
        self.image(*SMALL)
        bound = str(os.path.getsize(self.entries()[0]) + 1000)
        for words in ["-tophat_spots"], ["-round_xtal"]:
            self.image(*SMALL, *words, NB_CACHE_SIZE=bound)
            self.assertEqual(len(self.entries()), 1)
        self.image(*SMALL, NB_CACHE_SIZE="many")
        self.assertIn("NB_CACHE_SIZE", self.warnings_of("NB_CACHE_SIZE", "many"))

    def warnings_of(self, name, value):
        process = self.start(*SMALL, **{name: value})
        self.finish(process)
        return process.err

    def test_damage_between_runs(self):
        good = self.image(*SMALL)
        entry, = self.entries()
        chance = random.Random(7)
        with open(entry, "rb") as file:
            content = file.read()
        for builds in range(2, 22):
            damaged = bytearray(content)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            if chance.random() < 0.3:
                damaged = damaged[:chance.randrange(len(damaged))]
            with open(entry, "wb") as file:
                file.write(damaged)
            self.assertEqual(self.image(*SMALL), good)
            self.assertEqual((self.builds(), self.warnings), (builds, []))

    def test_processes_that_start_together_build_once(self):
        self.environment["NB_TEST_BUILD_SECONDS"] = "0.5"
        processes = [self.start(*SMALL) for _ in range(6)]
        images = {self.finish(process) for process in processes}
        self.assertEqual((len(images), self.builds()), (1, 1))

    def wait_for_lock_holder(self):
        deadline = time.monotonic() + 20
        while not os.path.exists(os.path.join(self.cache, "lock")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        time.sleep(0.2)

    def test_process_killed_while_it_builds_holds_no_other_up(self):
        killed = self.start(*SMALL, NB_TEST_BUILD_SECONDS="60")
        self.wait_for_lock_holder()
        waiting = self.start(*SMALL)
        time.sleep(0.3)
        self.assertIsNone(waiting.poll(), "it does not wait for the other one's kernel")
        killed.kill()
        killed.communicate()
        begin = time.monotonic()
        self.finish(waiting)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(len(self.entries()), 1)

    def test_processes_killed_at_any_moment_leave_no_damage(self):
        good = self.image(*SMALL)
        chance = random.Random(11)
        for _ in range(30):
            for entry in self.entries():
                os.remove(entry)
            process = self.start(*SMALL)
            time.sleep(chance.uniform(0, 0.02))
            process.kill()
            process.communicate()
            self.assertEqual(self.run_nb_cache("verify").returncode, 0)
        self.assertEqual(self.image(*SMALL), good)
        self.image(*SMALL, "-tophat_spots")  # publishes, and so sweeps
        self.assertEqual(self.temporaries(), [])

    def test_clock_put_back(self):
        good = self.image(*SMALL)
        year = time.time() + 365 * 86400
        os.utime(self.entries()[0], (year, year))
        self.assertEqual(self.image(*SMALL), good)
        self.assertEqual(self.builds(), 1)

    def assert_one_warning(self, *words):
        self.assertEqual(len(self.warnings), 1, self.warnings)
        for word in words:
            self.assertIn(word, self.warnings[0])

    def test_directory_open_to_others_is_refused(self):
        good = self.image(*SMALL)
        os.chmod(self.cache, 0o777)
        self.assertEqual(self.image(*SMALL), good)
        self.assert_one_warning(self.cache, "chmod 700")
        self.assertEqual(self.builds(), 2)
        process = self.start(*SMALL, "--quiet")
        self.finish(process)
        self.assertEqual(process.err, "")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a directory away")
    def test_foreign_directory_is_refused(self):
        good = self.image(*SMALL)
        os.chown(self.cache, 12345, -1)
        self.assertEqual(self.image(*SMALL), good)
        self.assert_one_warning(self.cache, "belongs to another user")

    @unittest.skipUnless(can_mount(), CANNOT_MOUNT)
    def test_full_disk(self):
        good = self.image(*SMALL)
        shutil.rmtree(self.cache)
        os.mkdir(self.cache)
        script = ('mount -t tmpfs -o size=8k,mode=700 none "$NB_CACHE_DIR" && "$@" && '
                  'test -z "$(ls -A "$NB_CACHE_DIR" | grep -v lock)"')
        self.assertEqual(self.image(*SMALL, prefix=["unshare", "-m", "sh", "-c", script, "sh"]),
                         good)
        self.assert_one_warning(self.cache, "No space left")

    @unittest.skipUnless(can_mount(), CANNOT_MOUNT)
    def test_read_only_file_system(self):
        good = self.image(*SMALL)
        script = ('mount --bind "$NB_CACHE_DIR" "$NB_CACHE_DIR" && '
                  'mount -o remount,ro,bind "$NB_CACHE_DIR" && "$@"')
        read_only = ["unshare", "-m", "sh", "-c", script, "sh"]
        self.assertEqual(self.image(*SMALL, prefix=read_only), good)
        self.assertEqual((self.builds(), self.warnings), (1, []))
        self.image(*SMALL, "-tophat_spots", prefix=read_only)
        self.assert_one_warning(self.cache, "Read-only file system")
        self.assertEqual(len(self.entries()), 1)

    def test_unreadable_entry_is_not_deleted(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        self.image(*SMALL)
        entry, = self.entries()
        os.chmod(entry, 0)
        self.image(*SMALL)
        self.assert_one_warning("cannot read")

    def test_warning_names_a_place_that_cannot_be_made(self):
        self.image(*SMALL, NB_CACHE_DIR="/proc/kernels")
        self.assert_one_warning("/proc/kernels")


class NbCache(CacheCase):
    def test_list_show_verify_clear(self):
        self.assertIn("0 kernels", self.run_nb_cache("list").stdout)
        self.image(*SMALL, "-tophat_spots")
        text = self.run_nb_cache("list").stdout
        key = text.splitlines()[1].split()[0]
        self.assertIn("ready", text)
        self.assertIn("shape=tophat", text)
        shown = self.run_nb_cache("show", key[:6]).stdout
        for line in "kernel abi: ", "compiler: ", "target: native", "host cpu: ", "variant: shape=":
            self.assertIn("\n" + line, shown)
        self.assertEqual(self.run_nb_cache("verify").returncode, 0)
        self.assertEqual(self.run_nb_cache("clear").stdout, "1 file deleted\n")
        self.assertEqual(self.entries(), [])

    def test_json(self):
        self.image(*SMALL)
        listed = json.loads(self.run_nb_cache("list", "--json").stdout)
        kernel, = listed["kernels"]
        self.assertEqual(listed["directory"], self.cache)
        self.assertEqual(kernel["state"], "ready")
        self.assertEqual(kernel["specification"]["precision"], "f64")
        shown = json.loads(self.run_nb_cache("show", kernel["key"], "--json").stdout)
        self.assertEqual(shown, kernel)
        self.assertEqual(json.loads(self.run_nb_cache("clear", "--json").stdout), {"deleted": 1})

    def test_damage_is_found_and_named(self):
        self.image(*SMALL)
        with open(self.entries()[0], "r+b") as file:
            file.seek(500)
            file.write(b"XXXX")
        verified = self.run_nb_cache("verify")
        self.assertEqual(verified.returncode, 3)
        self.assertIn("checksum", verified.stdout)
        self.assertIn("damaged", self.run_nb_cache("list").stdout)
        self.assertEqual(len(self.entries()), 1)

    def test_kernels_of_another_compiler_are_stale(self):
        self.image(*SMALL)
        listed = self.run_nb_cache("list", NB_COMPILER_LIBRARY=sys.executable)
        self.assertIn("stale", listed.stdout)

    def test_mistakes(self):
        for words, status in ([], 2), (["lsit"], 2), (["show"], 2), (["show", "zz"], 1):
            done = self.run_nb_cache(*words)
            self.assertEqual(done.returncode, status, words)
            self.assertTrue(done.stderr, words)
        os.mkdir(self.cache, 0o777)
        os.chmod(self.cache, 0o777)
        done = self.run_nb_cache("list")
        self.assertEqual(done.returncode, 1)
        self.assertIn("chmod 700", done.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
