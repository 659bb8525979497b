"""A series by the ranks of an mpi4py communicator has the files of one process, bit by bit."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FLAGS = ("-cell 40 50 60 90 90 90 -default_F 100 -N 12 -gauss_xtal -oversample 1 -lambda 1 -nopgm -xds -distance 100 "
         "-detpixels 200 -pixel 0.2 -fluence 1e25 --shots=../shots.txt -noprogress -floatfile f.npy -noisefile n.img "
         "--write-expt=t.expt -seed 5").split()
SHOTS = "draw 20 7\nmisset random\ndistance 90..120\nlattices 1:3\n"
MPIRUN = shutil.which("mpirun")


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-simulate-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "shots.txt"), "w") as file:
            file.write(SHOTS)

    def run_python(self, folder, words, ranks=0, status=0):
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        command = [sys.executable, *words]
        if ranks:
            command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command]
        ran = subprocess.run(command, cwd=os.path.join(self.folder, folder), text=True, capture_output=True,
                             timeout=300, env=dict(os.environ, NB_CACHE_DIR=os.path.join(self.folder, "cache")))
        self.assertEqual(ran.returncode == 0, status == 0, ran.stdout[-2000:] + ran.stderr[-2000:])
        return ran.stdout + ran.stderr

    def contents(self, folder):
        found = {}
        for name in sorted(os.listdir(os.path.join(self.folder, folder))):
            if name.endswith((".npy", ".img", ".expt")):
                with open(os.path.join(self.folder, folder, name), "rb") as file:
                    found[name] = file.read().replace(f"/{folder}/".encode(), b"/")
        return found

    def journal(self, folder):
        images = []
        for name in os.listdir(os.path.join(self.folder, folder)):
            if name.endswith(".series"):
                with open(os.path.join(self.folder, folder, name)) as file:
                    images += [int(line.split()[1]) for line in file if line.startswith("image")]
        return sorted(images)

    def test_ranks_are_one_run(self):
        self.run_python("one", ["-m", "nanobragg.simulate", *FLAGS])
        one = self.contents("one")
        self.assertEqual(len(one), 41)
        for ranks in (1, 2, 4):
            self.run_python(f"ranks{ranks}", ["-m", "nanobragg.simulate", *FLAGS], ranks)
            self.assertEqual(self.contents(f"ranks{ranks}"), one)
            self.assertEqual(self.journal(f"ranks{ranks}"), list(range(1, 21)), "each image is made once")

    def test_a_communicator_that_is_handed_in(self):
        """Two halves of the ranks make two series."""
        script = ("import os\nfrom mpi4py import MPI\nimport nanobragg.simulate\n"
                  "half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)\n"
                  "folder = f'half{MPI.COMM_WORLD.rank % 2}'\nos.makedirs(folder, exist_ok=True)\nos.chdir(folder)\n"
                  f"flags = {FLAGS!r}\nflags += [] if MPI.COMM_WORLD.rank % 2 else ['-fluence', '1e24']\n"
                  "nanobragg.simulate.series(flags, half)\n")
        shutil.copy(os.path.join(self.folder, "shots.txt"), os.path.join(self.folder, "halves.txt"))
        os.makedirs(os.path.join(self.folder, "halves"))
        shutil.copy(os.path.join(self.folder, "shots.txt"), os.path.join(self.folder, "halves"))
        self.run_python("halves", ["-c", script], 4)
        self.run_python("one", ["-m", "nanobragg.simulate", *FLAGS])
        self.run_python("weak", ["-m", "nanobragg.simulate", *FLAGS, "-fluence", "1e24"])
        for half, alone in (("halves/half1", "one"), ("halves/half0", "weak")):
            self.assertEqual(self.contents(half), self.contents(alone))

    def test_a_killed_program_loses_its_images(self):
        """nb-sim of rank 1 dies; the other rank makes what is left, all hear of it, the next run makes the rest."""
        script = ("import os, signal, subprocess\nfrom mpi4py import MPI\nimport nanobragg.simulate as simulate\n"
                  "class Popen(subprocess.Popen):\n    def __init__(self, *args, **kwargs):\n"
                  "        super().__init__(*args, **kwargs)\n"
                  "        if MPI.COMM_WORLD.rank == 1: self.kill()\n"
                  "subprocess.Popen = Popen\n"
                  f"try:\n    simulate.series({FLAGS!r})\nexcept subprocess.CalledProcessError as error:\n"
                  # In one call: mpirun mixes what ranks write.
                  "    os.write(1, f'heard {MPI.COMM_WORLD.rank} {error.returncode}\\n'.encode())\n")
        said = self.run_python("killed", ["-c", script], 2)
        self.assertIn("heard 0 -9", said)
        self.assertIn("heard 1 -9", said)
        # Lost are the image that it rendered and those that its threads wrote: on a busy machine it dies late.
        self.assertGreaterEqual(len(self.journal("killed")), 16)
        self.run_python("killed", ["-m", "nanobragg.simulate", *FLAGS, "--resume"], 3)
        self.run_python("one", ["-m", "nanobragg.simulate", *FLAGS])
        self.assertEqual(self.contents("killed"), self.contents("one"))

    def test_mistakes_end_all_ranks(self):
        said = self.run_python("wrong", ["-m", "nanobragg.simulate", *FLAGS, "-cel"], 2, status=1)
        self.assertIn("closest is '-cell'", said)
        for flags, why in (("--shots=a --shard=0/1", "are the shards"), ("-cell 1 2 3", "is not a series")):
            script = (f"import nanobragg.simulate\ntry:\n    nanobragg.simulate.series({flags!r})\n"
                      "except ValueError as error:\n    print(error)\n")
            self.assertEqual(self.run_python("wrong", ["-c", script], 2).count(why), 2)


if __name__ == "__main__":
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        print("skipped: there is no mpi4py")
        sys.exit()
    if not MPIRUN:
        print("skipped: there is no mpirun")
        sys.exit()
    unittest.main()
