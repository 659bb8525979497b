#!/usr/bin/env python3
"""parts_test.py shards|mpi NB_SIM COMPILER: a series that several processes make, shards or ranks of MPI, has the same
files, bit by bit, as that of one process; it outlives processes that are killed, and goes on with another number."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Spots"))
from msgpack_table import read_table

KIND = sys.argv[1]
NB_SIM, COMPILER = (os.path.abspath(path) for path in sys.argv[2:4])
MPIRUN = shutil.which("mpirun")
MODULE = os.path.join(os.path.dirname(COMPILER), "libnb-mpi.so")
CRYSTAL = ("-cell 40 50 60 90 90 90 -default_F 100 -N 12 -gauss_xtal -oversample 1 -lambda 1 -nopgm -xds -distance 100 "
           "-detpixels 300 -pixel 0.2 -fluence 1e25").split()
SLOW = "-mosaic 0.3 -mosaic_dom 200 --cull=off".split()
SHOTS = "draw 24 7\nmisset random\ndistance 90..120\nlattices 1:3\n"
LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "MV2_", "SLURM_")


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-parts-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
        self.environment.update(NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=os.path.join(self.folder, "cache"))
        with open(os.path.join(self.folder, "shots.txt"), "w") as file:
            file.write(SHOTS)
        self.series = [*CRYSTAL, "--shots=../shots.txt", "--nexus=a.nxs", "-noprogress"]

    def start(self, folder, words, ranks=0, **environment):
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        command = [NB_SIM, *words]
        if ranks:
            command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command]
        return subprocess.Popen(command, cwd=os.path.join(self.folder, folder), text=True,
                                env=dict(self.environment, **environment), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def simulate(self, folder, *words, **how):
        process = self.start(folder, words, **how)
        out, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out[-2000:] + said[-2000:])
        return out

    def refused(self, folder, *words, **how):
        process = self.start(folder, words, **how)
        _, said = process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        return said

    def path(self, folder, name):
        return os.path.join(self.folder, folder, name)

    def listing(self, folder):
        return sorted(os.listdir(os.path.join(self.folder, folder)))

    def bytes_of(self, folder, name):
        with open(self.path(folder, name), "rb") as file:
            return file.read()

    def images(self, folder):
        """The numbers that the journals of all parts list, with repetitions."""
        found = []
        for name in self.listing(folder):
            if name.endswith(".series"):
                found += [int(line.split()[1]) for line in self.bytes_of(folder, name).decode().splitlines()
                          if line.startswith("image") and line.endswith(" .")]
        return sorted(found)

    def same_frame(self, one, other):
        compare = os.path.join(os.path.dirname(NB_SIM), "nb-compare")
        ran = subprocess.run([compare, one, other], cwd=self.folder, text=True, capture_output=True,
                             env=self.environment)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def same_series(self, one, other, frames=24):
        for i in range(frames):
            self.same_frame(f"{one}/a.nxs:{i}", f"{other}/a.nxs:{i}")
        for name in self.listing(one):
            if name.endswith((".npy", ".img")):
                self.assertEqual(self.bytes_of(one, name), self.bytes_of(other, name), name)
        self.assertEqual(self.images(other), list(range(1, frames + 1)), "each image is made once")


@unittest.skipUnless(KIND == "shards", "")
class Shards(Parts):
    def test_three_shards_are_one_run(self):
        words = [*self.series, *"-seed 5 -floatfile f.npy -noisefile n.img".split(),
                 *"--write-expt=t.expt --write-shots=t.txt".split()]
        self.simulate("one", *words)
        for i in (2, 0):
            self.simulate("shards", *words, f"--shard={i}/3")
        # An image that is not there yet is none.
        self.assertIn("view of 16 of 24 frames", self.simulate("shards", *words, "--shard=0/3", "--resume"))
        self.simulate("shards", *words, "--shard=1/3")
        self.same_series("one", "shards")
        self.assertEqual(self.bytes_of("one", "t.txt"), self.bytes_of("shards", "t.txt"))
        self.assertEqual(self.bytes_of("one", "t.expt").replace(b"/one/", b"/shards/"),
                         self.bytes_of("shards", "t.expt"))

    def test_shards_at_the_same_time(self):
        words = [*self.series, "-seed", "5"]
        self.simulate("one", *words)
        running = [self.start("shards", [*words, f"--shard={i}/4"]) for i in range(4)]
        for process in running:
            _, said = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, said)
        self.same_series("one", "shards")

    def test_another_number_of_shards_goes_on(self):
        words = [*self.series, "-seed", "5"]
        self.simulate("one", *words)
        self.simulate("shards", *words, "--shard=1/4")
        for i in range(3):
            self.simulate("shards", *words, f"--shard={i}/3", "--resume")
        self.same_series("one", "shards")
        self.assertIn("24 were there", self.simulate("shards", *words, "--resume"))
        self.same_series("one", "shards")

    def test_shards_go_on_with_a_series_of_one_process(self):
        words = [*self.series, *SLOW, "-seed", "5"]
        self.simulate("one", *words)
        process = self.start("shards", words)
        until = time.monotonic() + 120
        while time.monotonic() < until and len(self.images("shards")) < 4:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        self.assertLess(len(self.images("shards")), 24, "it was to be killed before its end")
        for i in range(2):
            self.simulate("shards", *words, f"--shard={i}/2", "--resume")
        self.same_series("one", "shards")
        # One process that begins anew leaves nothing of that.
        self.simulate("shards", *words, "-seed", "6")
        self.assertEqual(self.listing("shards"), ["a.nxs", "a.series"])

    def test_a_killed_shard_goes_on(self):
        words = [*self.series, *SLOW, "-seed", "5"]
        self.simulate("one", *words)
        process = self.start("shards", [*words, "--shard=0/2"])
        until = time.monotonic() + 120
        while time.monotonic() < until and len(self.images("shards")) < 3:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        self.assertLess(len(self.images("shards")), 12, "it was to be killed before its end")
        for i in (1, 0):
            self.simulate("shards", *words, f"--shard={i}/2", "--resume")
        self.same_series("one", "shards")

    def test_shards_agree_on_seeds_that_were_not_given(self):
        words = [*self.series, "-misset", "random"]
        for i in range(2):
            self.simulate("shards", *words, f"--shard={i}/2")
        heads = {b"".join(line for line in self.bytes_of("shards", f"a.part{i}.series").splitlines() if b"seed" in line)
                 for i in range(2)}
        self.assertEqual(len(heads), 1)
        self.assertIn(b"misset_seed", heads.pop())
        self.assertEqual(self.images("shards"), list(range(1, 25)))

    def test_labels_of_shards_together_are_those_of_one(self):
        words = [*self.series, *"-seed 5 --write-refl=a.refl --write-stream=a.stream --write-expt=a.expt".split()]
        self.simulate("one", *words)
        for i in range(3):
            self.simulate("shards", *words, f"--shard={i}/3")
        one = read_table(self.path("one", "a.refl"))
        parts = [read_table(self.path("shards", f"a.part{i}.refl")) for i in range(3)]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in one}
        order = np.argsort(joined["id"], kind="stable")
        self.assertGreater(len(order), 100)
        for name, column in one.items():
            np.testing.assert_array_equal(joined[name][order], column, name)
        self.assertEqual(self.bytes_of("one", "a.expt").replace(b"/one/", b"/shards/"), self.bytes_of("shards", "a.expt"))

        def chunks(folder, name):
            head, *rest = self.bytes_of(folder, name).decode().replace(f"/{folder}/", "/").split("----- Begin chunk -----")
            return head, rest
        streams = [chunks("shards", f"a.part{i}.stream") for i in range(3)]
        head, all_chunks = chunks("one", "a.stream")
        self.assertEqual(sorted(chunk for _, some in streams for chunk in some), sorted(all_chunks))
        self.assertEqual(streams[0][0], head)

    def test_wrong_shards(self):
        for text, why in (("3/3", "count from 0"), ("-1/3", "count from 0"), ("1", "is not I/N"), ("1/", "is not I/N"),
                          ("a/b", "is not I/N"), ("1/2/3", "is not I/N"), ("0/0", "count from 0")):
            self.assertIn(why, self.refused("wrong", *self.series, f"--shard={text}"), text)
        rotation = [*CRYSTAL, *"--frames=4 --osc-per-frame=0.5 --nexus=a.nxs --shard=0/2 --write-refl=a.refl".split()]
        self.assertIn("may extend over images of several shards", self.refused("wrong", *rotation))
        self.assertEqual(self.listing("wrong"), [])
        out = self.start("wrong", [*CRYSTAL, "-noprogress", "--shard=0/2", "-nonoise", "-floatfile", "f.npy"])
        self.assertIn("--shard", out.communicate(timeout=300)[1])

    def test_shards_of_another_command_are_not_gone_on_with(self):
        self.simulate("shards", *self.series, "-seed", "5", "--shard=0/2")
        said = self.refused("shards", *self.series, "-seed", "6", "--shard=1/2", "--resume")
        self.assertIn("a.part0.series is of another command", said)

    def test_a_launcher_whose_mpi_is_another(self):
        # The environment of a launcher whose MPI the library does not know.
        said = self.refused("wrong", *self.series, PMI_SIZE="4", PMI_RANK="1") if os.path.exists(MODULE) else None
        if said is not None:
            self.assertIn("the launcher started 4 processes (PMI_SIZE)", said)
            self.assertIn("--shard=I/N", said)
        # Where no part with MPI is installed.
        bare = os.path.join(self.folder, "bare")
        os.makedirs(bare)
        shutil.copy(NB_SIM, bare)
        os.symlink(COMPILER, os.path.join(bare, os.path.basename(COMPILER)))
        ran = subprocess.run([os.path.join(bare, "nb-sim"), *CRYSTAL, "--shots=shots.txt", "-floatfile", "f.npy"],
                             cwd=self.folder, text=True, capture_output=True,
                             env=dict(self.environment, PMI_SIZE="4",
                                      NB_COMPILER_LIBRARY=os.path.join(bare, "libnb-compiler.so")))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("need libnb-mpi.so", ran.stderr)
        self.assertIn("--shard=I/N", ran.stderr)


@unittest.skipUnless(KIND == "mpi", "")
class Ranks(Parts):
    def test_any_number_of_ranks_is_one_run(self):
        words = [*self.series, *"-seed 5 -floatfile f.npy -noisefile n.img --write-expt=t.expt".split()]
        self.simulate("one", *words)
        for ranks in (1, 2, 4):
            out = self.simulate(f"ranks{ranks}", *words, ranks=ranks)
            self.assertIn("24 frames in", out)
            if ranks > 1:
                self.assertIn(f"by {ranks} ranks", out)
                self.assertIn("view of 24 of 24 frames", out)
            self.same_series("one", f"ranks{ranks}")
            self.assertEqual(self.bytes_of("one", "t.expt").replace(b"/one/", f"/ranks{ranks}/".encode()),
                             self.bytes_of(f"ranks{ranks}", "t.expt"))

    def test_a_rotation_series(self):
        words = [*CRYSTAL, *"--frames=10 --osc-per-frame=0.5 -phisteps 2 -seed 5 --nexus=a.nxs -noprogress".split()]
        self.simulate("one", *words)
        self.simulate("ranks", *words, ranks=3)
        self.same_series("one", "ranks", 10)

    def children(self, process):
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as file:
                    words = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[1]) == process.pid:
                found.append(int(name))
        return sorted(found)

    def kill_one_of(self, folder, words, ranks, which, images):
        process = self.start(folder, words, ranks)
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None and len(self.images(folder)) < images:
            time.sleep(0.002)
        os.kill(self.children(process)[which], signal.SIGKILL)
        process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)

    def test_a_killed_rank_loses_what_it_had_not_finished(self):
        # mpirun needs a second to end the others, which work on.
        words = [*self.series, *SLOW, "-mosaic_dom", "3000", "-seed", "5"]
        self.simulate("one", *words)
        # Another rank each time, and then another number of them.
        done = 0
        for which, more in ((2, 2), (0, 1)):
            self.kill_one_of("ranks", [*words, "--resume"], 3, which, done + more)
            done = len(self.images("ranks"))
            self.assertLess(done, 24, "it was to be killed before its end")
        out = self.simulate("ranks", *words, "--resume", ranks=2)
        self.assertIn(f"{done} were there", out)
        self.same_series("one", "ranks")
        # Shards, one process and four ranks find it complete.
        self.assertIn("24 were there", self.simulate("ranks", *words, "--resume"))
        self.assertIn("12 were there", self.simulate("ranks", *words, "--resume", "--shard=1/2"))
        self.assertIn("24 were there", self.simulate("ranks", *words, "--resume", ranks=4))
        self.same_series("one", "ranks")

    def test_seeds_that_were_drawn_are_those_of_all(self):
        words = [*self.series, "-misset", "random"]
        self.simulate("ranks", *words, ranks=3)
        lines = self.bytes_of("ranks", "a.part2.series").decode().splitlines()
        head = [line.split() for line in lines if "seed " in line]
        self.simulate("one", *words, *[word for key, value in head for word in ("-" + key, value)])
        self.same_series("one", "ranks")

    def test_labels_are_those_of_one(self):
        labels = "-seed 5 --write-refl=a.refl --write-stream=a.stream --write-expt=a.expt".split()
        rotation = [*CRYSTAL, *"--frames=7 --osc-per-frame=0.5 --nexus=a.nxs -noprogress".split()]
        for kind, words in (("stills", self.series), ("rotation", rotation)):
            self.simulate(f"{kind}-one", *words, *labels)
            self.simulate(f"{kind}-ranks", *words, *labels, ranks=3)
            for name in ("a.refl", "a.stream", "a.expt"):
                self.assertEqual(self.bytes_of(f"{kind}-one", name).replace(b"-one/", b"-ranks/"),
                                 self.bytes_of(f"{kind}-ranks", name), (kind, name))
            self.assertEqual([n for n in self.listing(f"{kind}-ranks") if "part" in n and not n.endswith((".nxs", ".series"))], [])
        # Another number goes on; labels are of all images, whoever made them.
        os.remove(self.path("stills-ranks", "a.refl"))
        self.simulate("stills-ranks", *self.series, *labels, "--resume", ranks=2)
        self.assertEqual(self.bytes_of("stills-ranks", "a.refl"), self.bytes_of("stills-one", "a.refl"))

    def test_more_ranks_than_images(self):
        words = [*CRYSTAL, *"--frames=2 --osc-per-frame=0.5 -seed 5 --nexus=a.nxs -noprogress".split()]
        self.simulate("one", *words)
        self.simulate("ranks", *words, ranks=4)
        self.same_series("one", "ranks", 2)

    def test_progress_is_that_of_all(self):
        words = [word for word in self.series if word != "-noprogress"]
        process = self.start("ranks", [*words, "-seed", "5"], 3)
        out, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(out.count("24 of 24 frames, "), 1, out)
        self.assertEqual(out.count("by 3 ranks"), 1, "rank 0 alone says it")

    def test_one_image_is_no_series(self):
        words = [*CRYSTAL, *"-noprogress -nonoise -floatfile f.npy --shard=0/1".split()]
        self.simulate("image", *words, ranks=2)

    def test_mistakes_end_all_ranks(self):
        self.simulate("ranks", *self.series, "-seed", "5", ranks=2)
        said = self.refused("ranks", *self.series, "-seed", "6", "--resume", ranks=2)
        self.assertIn("is of another command", said)
        self.assertIn("(rank 0)", said)
        os.remove(self.path("ranks", "a.part1.nxs"))
        os.makedirs(self.path("ranks", "a.part1.nxs/full"))
        self.assertIn("a.part1.nxs: cannot be opened", self.refused("ranks", *self.series, "-seed", "5", ranks=2))


if __name__ == "__main__":
    if KIND == "mpi" and not (MPIRUN and os.path.exists(MODULE)):
        print("skipped: there is no mpirun" if not MPIRUN else "skipped: libnb-mpi.so was not built, for want of MPI")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
