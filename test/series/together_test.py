#!/usr/bin/env python3
"""together_test.py NB_SIM COMPILER [--rounds N] [--seed S]: runs that share a folder do no harm to each other. A second
start of a series that is being made is refused and changes no byte; a run that loses its file fails; many runs that
start together all succeed; a run that is killed in its first tenth of a second can be gone on with."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

CRYSTAL = ("-cell 40 50 60 90 90 90 -default_F 100 -N 12 -gauss_xtal -oversample 1 -lambda 1 -nopgm -distance 100 "
           "-detpixels 64 -pixel 0.8 -fluence 1e25 --quiet --threads=1").split()
SLOW = "-mosaic 0.3 -mosaic_dom 2000 --cull=off".split()
SERIES = [*CRYSTAL, "-phi 0", "-osc", "0.5", "--frames=6"]
SERIES = [word for words in SERIES for word in words.split()]


class Together(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-together-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=WORDS.compiler,
                                NB_CACHE_DIR=os.path.join(WORDS.kernels, "cache"))
        self.random = random.Random(WORDS.seed)

    def start(self, *words):
        process = subprocess.Popen([WORDS.nb_sim, *words], cwd=self.work, env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def ended(self, process):
        out, said = process.communicate(timeout=120)
        return process.returncode, said

    def succeed(self, process):
        status, said = self.ended(process)
        self.assertEqual(status, 0, said)

    def wait_for(self, condition, process):
        end = time.time() + 60
        while not condition():
            self.assertIsNone(process.poll(), "the run has ended before it was met")
            self.assertLess(time.time(), end)
            time.sleep(0.002)

    def path(self, name):
        return os.path.join(self.work, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def bytes(self, names):
        return {name: self.read(name) for name in names}

    def stopped(self, names, *words):
        """A series that stands still after its first image."""
        process = self.start(*words)
        journal = names[0]
        self.wait_for(lambda: os.path.exists(self.path(journal)) and
                      b"\nimage " in self.read(journal), process)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        return process

    def clear(self):
        for name in os.listdir(self.work):
            os.remove(self.path(name))

    def second_start(self, names, first, *others):
        self.clear()
        running = self.stopped(names, *first)
        before, there = self.bytes(names), sorted(os.listdir(self.work))
        for words in others:
            status, said = self.ended(self.start(*words))
            self.assertNotEqual(status, 0, words)
            self.assertIn("being written by another run", said)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertEqual(self.bytes(names), before, words)
            self.assertEqual(sorted(os.listdir(self.work)), there, words)
        running.send_signal(signal.SIGCONT)
        self.succeed(running)

    def test_a_second_start_is_refused(self):
        for outputs in (["--nexus=a.nxs"], ["--cbf=a.cbf", "--write-expt=a.expt", "--write-stream=a.stream"]):
            series = [*SERIES, *SLOW, *outputs]
            names = ["a.series"] + (["a.nxs"] if "nexus" in outputs[0] else ["a_0001.cbf"])
            self.second_start(names, series, series, [*series, "--resume"], [*series, "--shard=0/2"],
                              [*series, "--shard=1/2", "--resume"])

    def test_a_second_start_of_a_shard_is_refused(self):
        series = [*SERIES, *SLOW, "--nexus=a.nxs"]
        self.second_start(["a.part1.series", "a.part1.nxs"], [*series, "--shard=1/2"], [*series, "--shard=1/2"],
                          [*series, "--shard=1/2", "--resume"], series, [*series, "--resume"])

    def test_series_that_share_a_further_output(self):
        with open(self.path("../shots.txt"), "w") as file:
            file.write("N\n" + "5\n" * 6)
        shots = [*CRYSTAL, *SLOW, "--shots=../shots.txt"]
        for series, shared in ((SERIES + SLOW, ["--write-expt=m.expt"]), (SERIES + SLOW, ["--cbf=m.cbf"]),
                               (shots, ["--write-shots=m.shots"])):
            self.clear()
            self.succeed(self.start(*SERIES, "--nexus=b.nxs"))
            running = self.stopped(["a.series"], *series, "--nexus=a.nxs", *shared)
            there = sorted(os.listdir(self.work))
            before = self.bytes([name for name in there if not name.startswith(".nb-")])
            status, said = self.ended(self.start(*series, "--nexus=b.nxs", *shared))
            self.assertEqual((status, said.count("\n")), (1, 1), said)
            self.assertIn(shared[0].split("=")[1] + ": is being written by another run", said)
            self.assertEqual(sorted(os.listdir(self.work)), there)
            self.assertEqual(self.bytes(before), before, shared)
            running.send_signal(signal.SIGCONT)
            self.succeed(running)
            self.succeed(self.start(*series, "--nexus=b.nxs", *shared))
            self.assertEqual([name for name in os.listdir(self.work) if name.startswith(".nb-")], [])

    def test_a_second_start_through_a_link_is_refused(self):
        for first, second in (("a", "link"), ("link", "a")):
            self.clear()
            os.symlink("a.nxs", self.path("link.nxs"))
            self.succeed(self.start(*SERIES, f"--nexus={second}.nxs"))
            running = self.stopped([first + ".series"], *SERIES, *SLOW, f"--nexus={first}.nxs")
            before, there = self.bytes(["a.series", "link.series", "a.nxs"]), sorted(os.listdir(self.work))
            status, said = self.ended(self.start(*SERIES, f"--nexus={second}.nxs"))
            self.assertEqual((status, said.count("\n")), (1, 1), said)
            self.assertIn(second + ".nxs: is being written by another run", said)
            self.assertEqual(sorted(os.listdir(self.work)), there)
            self.assertEqual(self.bytes(before), before)
            running.send_signal(signal.SIGCONT)
            self.succeed(running)

    def test_a_single_image_spares_a_series(self):
        running = self.stopped(["a.series"], *SERIES, *SLOW, "--nexus=a.nxs")
        before = self.bytes(["a.series", "a.nxs"])
        status, said = self.ended(self.start(*CRYSTAL, "--nexus=a.nxs"))
        self.assertNotEqual(status, 0)
        self.assertIn("being written by another run", said)
        self.assertEqual(self.bytes(["a.series", "a.nxs"]), before)
        running.send_signal(signal.SIGCONT)
        self.succeed(running)

    def test_a_single_image_spares_the_frames_of_a_series(self):
        for shard in ([], ["--shard=0/2"]):
            self.clear()
            running = self.stopped(["a.part0.series" if shard else "a.series"], *SERIES, *SLOW, *shard, "--cbf=a.cbf",
                                   "-intfile", "b.img")
            for words, name in ((["--cbf=a_0001.cbf"], "a_0001.cbf"), (["-intfile", "b_0003.img"], "b_0003.img")):
                there = sorted(os.listdir(self.work))
                status, said = self.ended(self.start(*CRYSTAL, *words))
                self.assertEqual((status, said.count("\n")), (1, 1), said)
                self.assertIn(name + ": is being written by another run", said)
                self.assertEqual(sorted(os.listdir(self.work)), there)
            self.succeed(self.start(*CRYSTAL, "--cbf=c_0001.cbf", "-intfile", "b_c.img"))
            running.send_signal(signal.SIGCONT)
            self.succeed(running)
            self.succeed(self.start(*CRYSTAL, "--cbf=a_0001.cbf"))

    def test_a_run_that_lost_its_file_fails(self):
        for name in ("a.nxs", "a.series"):
            self.clear()
            running = self.stopped(["a.series"], *SERIES, *SLOW, "--nexus=a.nxs")
            os.remove(self.path(name))
            running.send_signal(signal.SIGCONT)
            status, said = self.ended(running)
            self.assertNotEqual(status, 0, name)
            self.assertIn(name + ": was removed or replaced", said)

    def test_a_file_of_something_else_is_spared(self):
        with open(self.path("a.series"), "w") as file:
            file.write("notes on my series\n")
        status, said = self.ended(self.start(*SERIES, "--nexus=a.nxs"))
        self.assertNotEqual(status, 0)
        self.assertIn("not a list of the finished images", said)
        self.assertEqual(self.bytes(["a.series"]), {"a.series": b"notes on my series\n"})

    def test_runs_that_start_together_all_succeed(self):
        for _ in range(WORDS.rounds):
            runs = [self.start(*CRYSTAL, "-noisefile", f"n{i}.img", "-intfile", f"i{i}.img",
                               "-floatfile", f"f{i}.bin", f"--nexus=n{i}.nxs") for i in range(12)]
            for run in runs:
                self.succeed(run)
            self.assertEqual([name for name in os.listdir(self.work) if name.startswith(".nb-")], [])

    def test_shards_that_start_together_all_succeed(self):
        for _ in range(WORDS.rounds):
            for run in [self.start(*SERIES, "--nexus=a.nxs", f"--shard={i}/6") for i in range(6)]:
                self.succeed(run)
            self.succeed(self.start(*SERIES, "--nexus=a.nxs", "--resume"))

    def test_one_of_the_same_starts_wins(self):
        for _ in range(WORDS.rounds):
            ends = [self.ended(run) for run in
                    [self.start(*SERIES, "--nexus=a.nxs") for _ in range(6)]]
            self.assertTrue(any(status == 0 for status, _ in ends), ends)
            for status, said in ends:
                self.assertTrue(status == 0 or "being written by another run" in said, said)
            self.succeed(self.start(*SERIES, "--nexus=a.nxs", "--resume"))

    def test_goes_on_after_an_early_kill(self):
        self.succeed(self.start(*SERIES, "--nexus=a.nxs"))  # the series that it replaces
        for _ in range(10 * WORDS.rounds):
            run = self.start(*SERIES, "--nexus=a.nxs")
            time.sleep(self.random.uniform(0, 0.1))
            run.kill()
            run.wait()
            status, said = self.ended(self.start(*SERIES, "--nexus=a.nxs", "--resume"))
            self.assertEqual((status, said), (0, ""))
            self.assertEqual([name for name in os.listdir(self.work) if name.startswith(".nb-")], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("nb_sim", type=os.path.abspath)
    parser.add_argument("compiler", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-k", action="append")
    WORDS = parser.parse_args()
    WORDS.kernels = tempfile.mkdtemp(prefix="nb-together-")
    try:
        unittest.main(argv=["together_test.py", *(["-k", WORDS.k[0]] if WORDS.k else [])])
    finally:
        shutil.rmtree(WORDS.kernels)
