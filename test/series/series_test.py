#!/usr/bin/env python3
"""series_test.py NB_SIM COMPILER: a series that was killed goes on to the same files, bit by bit, as one that was not;
frames are those of runs of their own; lattices on one image are the sum of their images."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

NB_SIM, COMPILER = (os.path.abspath(path) for path in sys.argv[1:3])
CRYSTAL = "-cell 40 50 60 90 90 90 -default_F 100 -N 12 -gauss_xtal -oversample 1 -lambda 1 -nopgm -noprogress".split()
CAMERA = "-xds -distance 100 -detpixels 300 -pixel 0.2 -fluence 1e25".split()


class Series(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-series-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = tempfile.mkdtemp(prefix="nb-series-cache-")
        self.addCleanup(shutil.rmtree, self.cache)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=self.cache)

    def start(self, folder, words):
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        return subprocess.Popen([NB_SIM, *CRYSTAL, *words], cwd=os.path.join(self.folder, folder), text=True,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL)

    def simulate(self, folder, *words):
        process = self.start(folder, words)
        out, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, out[-2000:] + said[-2000:])
        return out

    def refused(self, folder, *words):
        process = self.start(folder, words)
        _, said = process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        return said

    def path(self, folder, name):
        return os.path.join(self.folder, folder, name)

    def contents(self, folder):
        found = {}
        for name in sorted(os.listdir(os.path.join(self.folder, folder))):
            if not name.startswith(".nb-"):
                with open(self.path(folder, name), "rb") as file:
                    found[name] = file.read()
        return found

    def kill_after(self, folder, words, frames):
        """Ends a series with kill -9 when so many of its images are finished."""
        process = self.start(folder, words)
        journal = self.path(folder, "a.series")
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            if os.path.exists(journal):
                with open(journal) as file:
                    if sum(line.startswith("image") for line in file) >= frames:
                        break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL, "it was to be killed before its end")

    def same_frame(self, one, other):
        compare = os.path.join(os.path.dirname(NB_SIM), "nb-compare")
        ran = subprocess.run([compare, one, other], cwd=self.folder, text=True, capture_output=True, env=self.environment)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def killed_and_resumed(self, words):
        self.simulate("whole", *words)
        self.kill_after("killed", words, 4)
        with open(self.path("killed", "a.series")) as file:
            done = sum(line.startswith("image") for line in file)
        out = self.simulate("killed", *words, "--resume")
        self.assertIn(f"{done} were there", out)
        whole, killed = self.contents("whole"), self.contents("killed")
        self.assertEqual(set(whole), set(killed))
        for name in whole:
            if not name.endswith((".series", ".expt", ".stream", ".nxs")):
                self.assertEqual(whole[name], killed[name], name)
        return whole, killed

    def test_a_killed_series_goes_on(self):
        self.killed_and_resumed([*CAMERA, *"--frames=40 --osc-per-frame=0.5 -phisteps 4 -seed 5 --cbf=a.cbf".split(),
                                 *"-floatfile f.npy -noisefile n.img --write-expt=t.expt".split()])

    def test_a_killed_nexus_is_readable_and_goes_on(self):
        words = [*CAMERA, *"--frames=30 --osc-per-frame=0.5 -phisteps 4 -seed 5 --nexus=a.nxs".split()]
        self.simulate("whole", *words)
        self.kill_after("killed", words, 4)
        with open(self.path("killed", "a.series")) as file:
            done = [int(line.split()[1]) for line in file if line.startswith("image")]
        for image in done:
            self.same_frame(f"whole/a.nxs:{image - 1}", f"killed/a.nxs:{image - 1}")
        self.simulate("killed", *words, "--resume")
        for frame in range(30):
            self.same_frame(f"whole/a.nxs:{frame}", f"killed/a.nxs:{frame}")

    def test_bitshuffle_where_there_is_a_plugin(self):
        words = [*CAMERA, *"--frames=2 --osc-per-frame=0.5 -seed 5".split()]
        self.simulate("a", *words, "--nexus=deflated.nxs")
        self.simulate("a", *words, "--nexus=shuffled.nxs", "--nexus-bitshuffle")
        self.environment["HDF5_PLUGIN_PATH"] = self.folder
        process = self.start("a", [*words, "--nexus=without.nxs", "--nexus-bitshuffle"])
        _, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("HDF5 finds no plugin for bitshuffle", said)
        self.same_frame("a/deflated.nxs:1", "a/without.nxs:1")
        del self.environment["HDF5_PLUGIN_PATH"]
        self.same_frame("a/deflated.nxs:1", "a/shuffled.nxs:1")

    def test_structure_factors_are_dumped_as_of_one_image(self):
        list_of_two = os.path.join(self.folder, "two.hkl")
        with open(list_of_two, "w") as file:
            file.write("1 0 0 100\n0 1 0 50\n")
        flags = ["-hkl", list_of_two, "-detpixels", "8", "-nonoise", "-dump", "grid.bin"]
        self.simulate("one", *flags)
        self.simulate("series", *flags, "--frames=2", "-osc", "1", "-floatfile", "frame.bin")
        self.assertEqual(self.contents("series")["grid.bin"], self.contents("one")["grid.bin"])

    def test_seeds_that_were_drawn_are_kept(self):
        words = [*CAMERA, *"-misset random --frames=30 --osc-per-frame=0.5 -phisteps 4 --cbf=a.cbf -floatfile f.npy".split()]
        self.kill_after("killed", words, 4)
        before = self.contents("killed")
        self.simulate("killed", *words, "--resume")
        with open(self.path("killed", "a.series")) as file:
            seeds = dict(line.split() for line in file if line.startswith(("seed", "misset_seed")))
        self.simulate("whole", *words, "-seed", seeds["seed"], "-misset_seed", seeds["misset_seed"])
        killed, whole = self.contents("killed"), self.contents("whole")
        for name in whole:
            if not name.endswith(".series"):
                self.assertEqual(whole[name], killed[name], name)
        for name in before:
            if name.startswith("a_") and name in whole:
                self.assertEqual(before[name], killed[name], name)

    def test_labels_of_a_resumed_series_are_of_all_frames(self):
        words = [*CAMERA, *"--frames=30 --osc-per-frame=0.5 -phisteps 4 -seed 5 --cbf=a.cbf".split(),
                 *"--write-refl=t.refl --write-stream=t.stream".split()]
        whole, killed = self.killed_and_resumed(words)
        self.assertEqual(whole["t.stream"].replace(b"/whole/", b"/killed/"), killed["t.stream"])

    def test_files_of_another_command_are_not_gone_on_with(self):
        words = [*CAMERA, *"--frames=2 --osc-per-frame=0.5 -seed 5 --cbf=a.cbf".split()]
        self.simulate("a", *words)
        before = self.contents("a")
        said = self.refused("a", *words, "-mosaic", "0.1", "--resume")
        self.assertIn("a.series is of another command: it was begun without '-mosaic 0.1'; give the same flags", said)
        said = self.refused("a", *[word.replace("step", "other").replace("=0.5", "=0.6") for word in words], "--resume")
        self.assertIn("it was begun with '--osc-per-frame 0.5', and this is '--osc-per-frame 0.6'", said)
        self.assertIn("it was begun with '-seed 5', which is left out now", self.refused("a", *words[:-3], words[-1], "--resume"))
        self.assertEqual(before, self.contents("a"))
        # More frames of the same, and another number of threads, are no other command.
        out = self.simulate("a", *words, "--frames=3", "--resume", "--threads", "1")
        self.assertIn("2 were there", out)
        # A file that is gone is made again.
        os.remove(self.path("a", "a_0002.cbf"))
        self.assertIn("2 were there", self.simulate("a", *words, "--frames=3", "--resume"))
        self.assertEqual(self.contents("a")["a_0002.cbf"], before["a_0002.cbf"])

    def test_contents_of_input_files_count(self):
        os.makedirs(os.path.join(self.folder, "a"))
        for angle in (10, 20):
            with open(self.path("a", "shots.txt"), "w") as file:
                file.write(f"misset seed\n{angle} 0 0 1\n0 {angle} 0 2\n")
            words = [*CAMERA, "--shots=shots.txt", "--cbf=a.cbf"]
            if angle == 10:
                self.simulate("a", *words)
        self.assertIn("of another command", self.refused("a", *words, "--resume"))

    def test_a_frame_is_that_of_a_run_of_its_own(self):
        words = [*CAMERA, *"-osc 0.5 -phisteps 4".split()]
        self.simulate("series", *words, *"--frames=3 -seed 7 -phi 10 --cbf=a.cbf -floatfile f.npy -noisefile n.img".split())
        for i in range(3):
            self.simulate("one", *words, "-seed", "7", f"--noise-shot={i}", "-phi", str(10 + 0.5 * i), "--cbf=a.cbf", "-floatfile", "f.npy",
                          "-noisefile", "n.img")
            for name in ("a.cbf", "f.npy", "n.img"):
                stem, end = name.split(".")
                self.assertEqual(self.contents("one")[name], self.contents("series")[f"{stem}_{i + 1:04}.{end}"], name)

    def test_no_frame_has_the_noise_of_another_seed(self):
        words = [*CAMERA, *"--frames=2 -osc 0 -phisteps 1 -noisefile n.img".split()]
        def noise(*more):
            self.simulate("noise", *words, *more)
            return [self.contents("noise")[f"n_{i:04}.img"] for i in (1, 2)]
        seven, eight = noise("-seed", "7"), noise("-seed", "8")
        self.assertNotEqual(seven[1], eight[0])
        self.assertEqual(len({*seven, *eight}), 4)
        # A series may go on where another one ended.
        self.assertEqual(noise("-seed", "7", "--noise-shot=1")[0], seven[1])
        # The C program's generator has seeds alone.
        serial = [noise("-seed", seed, "--noise=serial") for seed in ("7", "8")]
        self.assertEqual(serial[0][1], serial[1][0])
        # Shots that name their seed are runs of their own with it.
        shots = os.path.join(self.folder, "seeds.txt")
        with open(shots, "w") as file:
            file.write("seed\n8\n7\n")
        self.simulate("shots", *CAMERA, *"-osc 0 -phisteps 1 -noisefile n.img".split(), "--shots=" + shots)
        self.assertEqual([self.contents("shots")[f"n_{i:04}.img"] for i in (1, 2)], [eight[0], seven[0]])

    def test_random_orientations(self):
        shots = os.path.join(self.folder, "shots.txt")
        with open(shots, "w") as file:
            file.write("seed\n1\n2\n3\n")
        words = [*CAMERA, *"-misset random -nonoise -floatfile f.npy".split()]
        self.simulate("stills", *words, "--shots=" + shots)
        stills = [np.load(self.path("stills", f"f_{i}.npy")) for i in ("0001", "0002", "0003")]
        self.assertFalse(np.array_equal(stills[0], stills[1]), "each still has its own")
        self.simulate("scan", *words, *"--frames=2 --osc-per-frame=0.001 -phisteps 1".split())
        a, b = (np.load(self.path("scan", f"f_{i}.npy")) for i in ("0001", "0002"))
        self.assertGreater(np.corrcoef(a.ravel(), b.ravel())[0, 1], 0.9, "a scan has one")

    def stills(self, table, *words, flags="-nonoise -floatfile f.npy"):
        """The images of a table of shots."""
        shots = os.path.join(self.folder, "shots.txt")
        with open(shots, "w") as file:
            file.write(table)
        shutil.rmtree(os.path.join(self.folder, "stills"), ignore_errors=True)
        self.simulate("stills", *CAMERA, *flags.split(), "--shots=" + shots, *words)
        names = sorted(name for name in self.contents("stills") if name.endswith(".npy"))
        return [np.load(self.path("stills", name)).astype(float) for name in names]

    def test_lattices_with_weights(self):
        alone = self.stills("misset N\n10 20 30 12\n40 2 11 9\n-70 5 12 7\n")
        self.assertEqual(len(alone), 3)
        together = self.stills("misset N weight\n10 20 30 12 1\n+ 40 2 11 9 0.3\n+ -70 5 12 7 2\n1 2 3 5 0.5\n")
        self.assertEqual(len(together), 2)
        want = alone[0] + 0.3 * alone[1] + 2 * alone[2]
        np.testing.assert_allclose(together[0], want, rtol=1e-5, atol=1e-6 * want.max())

    def test_lattices_share_one_background(self):
        water = ["-stol", "water", "-thickness", "1e-10"]
        crystal = self.stills("misset\n10 20 30\n+ 40 2 11\n")[0]
        both = self.stills("misset\n10 20 30\n+ 40 2 11\n", *water)[0]
        background = self.stills("misset\n10 20 30\n", *water)[0] - self.stills("misset\n10 20 30\n")[0]
        self.assertGreater(background.max(), 1e-3 * crystal.max())
        np.testing.assert_allclose(both, crystal + background, rtol=1e-4, atol=1e-5 * crystal.max())
        # A weight is that of the crystal.
        for water_too in ([], ["-water", "1e-3"]):
            weak = self.stills("misset weight\n10 20 30 0.01\n", *water, *water_too)[0]
            want = (0.01 * self.stills("misset\n10 20 30\n")[0]
                    + self.stills("misset\n10 20 30\n", *water, *water_too, "-default_F", "1e-6")[0])
            np.testing.assert_allclose(weak, want, rtol=1e-4, atol=1e-5 * want.max())

    def test_thickness_of_each_shot(self):
        thin, thick = self.stills("misset thickness\n10 20 30 1e-10\n10 20 30 3e-10\n", "-stol", "water",
                                  "-default_F", "1e-3")
        np.testing.assert_allclose(thick, 3 * thin, rtol=1e-4)

    DRAW = ("draw 40 7 # shots\nmisset random\ncell 79+-0.5 = 38~60 90 90 90\ndistance 150..300\nN 5:9\n"
            "lattices 1:3\nweight 0.2..1\n")

    def drawn(self, text, name="drawn.txt"):
        """The file of --write-shots: shots of lattices, each of numbers."""
        self.stills(text, "--write-shots=" + name, "-detpixels", "8")
        with open(self.path("stills", name)) as file:
            head, *lines = file.read().splitlines()
        self.assertEqual(head, "misset cell distance N weight")
        shots = []
        for line in lines:
            words = line.split()
            if words[0] != "+":
                shots.append([])
            shots[-1].append([float(w) for w in words if w != "+"])
        return shots

    def test_drawn_shots(self):
        shots = self.drawn(self.DRAW)
        self.assertEqual(len(shots), 40)
        self.assertEqual({len(shot) for shot in shots}, {1, 2, 3})
        rows = np.array([lattice for shot in shots for lattice in shot])
        a, b, c, distance, n, weight = rows[:, 3], rows[:, 4], rows[:, 5], rows[:, 9], rows[:, 10], rows[:, 11]
        np.testing.assert_array_equal(a, b)
        self.assertAlmostEqual(a.mean(), 79, delta=0.3)
        self.assertAlmostEqual(a.std(), 0.5, delta=0.2)
        self.assertTrue(((38 <= c) & (c <= 60)).all() and ((150 <= distance) & (distance <= 300)).all())
        self.assertEqual(set(n), {5, 6, 7, 8, 9})
        self.assertTrue(((0.2 <= weight) & (weight <= 1)).all() and weight.std() > 0.1)
        for shot in shots:
            self.assertEqual(len({lattice[9] for lattice in shot}), 1, "an image has one distance")
            self.assertEqual(len({tuple(lattice[:3]) for lattice in shot}), len(shot), "each lattice has its orientation")
        # Fewer are the first of more, and another seed draws others.
        self.assertEqual(self.drawn(self.DRAW.replace("40 7", "5 7")), shots[:5])
        self.assertNotEqual(self.drawn(self.DRAW.replace("40 7", "5 8")), shots[:5])

    def test_drawn_orientations_are_uniform(self):
        """The trace of a uniform rotation has the mean 0 and the variance 1; so have its elements 0 and 1/3."""
        self.stills("draw 400\nmisset random\n", "--write-shots=drawn.txt", "-detpixels", "2")
        with open(self.path("stills", "drawn.txt")) as file:
            angles = np.radians([[float(w) for w in line.split()[:3]] for line in file.read().splitlines()[1:]])
        matrices = []
        for x, y, z in angles:
            cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
            matrices.append(np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
                            @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
                            @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]))
        matrices = np.array(matrices)
        np.testing.assert_allclose(matrices.mean(axis=0), np.zeros((3, 3)), atol=0.1)
        np.testing.assert_allclose((matrices**2).mean(axis=0), np.full((3, 3), 1 / 3), atol=0.07)
        traces = np.trace(matrices, axis1=1, axis2=2)
        self.assertAlmostEqual((traces**2).mean(), 1, delta=0.2)

    def test_a_drawn_table_draws_the_same_images(self):
        images = self.stills(self.DRAW.replace("40 7", "3 7"), "--write-shots=drawn.txt")
        with open(self.path("stills", "drawn.txt")) as file:
            table = file.read()
        again = self.stills(table)
        self.assertEqual(len(again), 3)
        for one, other in zip(images, again):
            np.testing.assert_array_equal(one, other)

    def test_bad_distributions(self):
        for text, message in (("draw\n", "how many shots"), ("draw 0\nN 5\n", "draws no shot"),
                              ("draw 3\n", "all the same"), ("draw 3\nN 9:5\n", "ends before it begins"),
                              ("draw 3\nN 1.5:3\n", "whole numbers"), ("draw 3\nfluence 0~3\n", "above 0"),
                              ("draw 3\ncell = 5 5 90 90 90\n", "the first has none"), ("draw 3\nN 5\nN 6\n", "twice"),
                              ("draw 3\nmisset 1 2\n", "takes 3 numbers"), ("draw 3\nfoo 1\n", "not a column"),
                              ("draw 3\nN 5\nlattices 0:2\n", "from 1 to"), ("draw 3\nN 5..6\n", "-N"),
                              ("+ 1 2 3\n", "not a column"), ("misset\n+ 1 2 3\n", "is the first"),
                              ("misset weight\n1 2 3 0\n", "the weight"), ("draw 3\nN 5\nweight 0..1\n", "above 0")):
            shots = os.path.join(self.folder, "bad.txt")
            with open(shots, "w") as file:
                file.write(text)
            said = self.refused("bad", *CAMERA, "--shots=" + shots)
            self.assertIn(message, said, text)
            self.assertEqual(said.count("error"), 1, said)

    def lattices(self, matrices):
        """An .expt whose experiments share one image."""
        return {"__id__": "ExperimentList",
                "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0, "crystal": i,
                                "imageset": 0} for i in range(len(matrices))],
                "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0,
                          "polarization_normal": [0, 1, 0], "polarization_fraction": 0.999}],
                "detector": [{"panels": [{"name": "p", "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
                                          "origin": [-30, 30, -100], "image_size": [300, 300], "pixel_size": [0.2, 0.2],
                                          "trusted_range": [0, 1e6], "gain": 1.0, "thickness": 0.0, "material": "",
                                          "mu": 0.0, "mask": [], "px_mm_strategy": {"type": "SimplePxMmStrategy"}}]}],
                "crystal": [{"__id__": "crystal", "real_space_a": list(m[0]), "real_space_b": list(m[1]),
                             "real_space_c": list(m[2]), "space_group_hall_symbol": " P 1"} for m in matrices],
                "imageset": [{"__id__": "ImageSet", "images": ["none"]}], "goniometer": [], "scan": [], "profile": [],
                "scaling_model": []}

    def test_lattices_on_one_image(self):
        cell = np.diag([40.0, 50.0, 60.0])
        turn = np.linalg.qr(np.array([[1, 0.3, -0.2], [0.5, 1, 0.7], [-0.4, 0.1, 1]]))[0]
        with open(os.path.join(self.folder, "two.expt"), "w") as file:
            json.dump(self.lattices([cell @ turn, cell]), file)
        words = "-default_F 100 -N 12 -gauss_xtal -fluence 1e25 -oversample 1 -nonoise -nopgm -noprogress".split()

        def image(folder, *more):
            process = subprocess.run([NB_SIM, *words, *more, "-floatfile", "f.npy"], text=True, capture_output=True,
                                     cwd=os.path.join(self.folder, folder), env=self.environment)
            self.assertEqual(process.returncode, 0, process.stderr)
            return np.load(self.path(folder, "f.npy")).astype(float)
        for folder in ("both", "first", "second"):
            os.makedirs(os.path.join(self.folder, folder))
        both = image("both", "--expt=../two.expt", "--write-refl=t.refl", "--write-expt=t.expt")
        first, second = image("first", "--expt=../two.expt:0"), image("second", "--expt=../two.expt:1")
        self.assertFalse(np.array_equal(first, second))
        np.testing.assert_allclose(both, first + second, rtol=1e-6)
        with open(self.path("both", "t.expt")) as file:
            written = json.load(file)
        self.assertEqual(len(written["experiment"]), 2)
        np.testing.assert_allclose(written["crystal"][1]["real_space_a"], cell[0])
        # Water is there once.
        wet = image("both", "--expt=../two.expt", "-water", "20")
        dry_water = image("first", "--expt=../two.expt:0", "-water", "20") - first
        np.testing.assert_allclose(wet - both, dry_water, atol=1e-4 * dry_water.max() + 1e-6 * both.max())


    def test_a_crystal_that_varies_over_the_scan(self):
        cell = np.diag([40.0, 50.0, 60.0])
        points = []
        for angle in (0.0, 0.3, 1.1, 2.0):
            c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
            points.append(np.linalg.inv(cell @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])))  # columns a*, b*, c*
        model = self.lattices([cell])
        model["goniometer"] = [{"rotation_axis": [1, 0, 0], "fixed_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1],
                                "setting_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1]}]
        model["scan"] = [{"image_range": [1, 3], "batch_offset": 0, "oscillation": [10, 0.5], "exposure_time": [1] * 3,
                          "epochs": [0, 1, 2]}]
        model["experiment"][0].update(goniometer=0, scan=0)
        model["crystal"][0]["A_at_scan_points"] = [list(p.ravel()) for p in points]
        words = "-default_F 100 -N 12 -gauss_xtal -fluence 1e25 -oversample 1 -phisteps 2 -nonoise -nopgm -noprogress".split()

        def images(folder, content, *more):
            os.makedirs(os.path.join(self.folder, folder))
            with open(self.path(folder, "a.expt"), "w") as file:
                json.dump(content, file)
            process = subprocess.run([NB_SIM, *words, "--expt=a.expt", *more, "-floatfile", "f.npy"], text=True,
                                     capture_output=True, cwd=os.path.join(self.folder, folder), env=self.environment)
            self.assertEqual(process.returncode, 0, process.stderr)
        images("varying", model, "--frames=scan", "--write-expt=t.expt")
        with open(self.path("varying", "t.expt")) as file:
            self.assertEqual(json.load(file)["crystal"], model["crystal"])
        for i in range(3):
            still = json.loads(json.dumps(model))
            real = np.linalg.inv((points[i] + points[i + 1]) / 2)  # rows a, b, c
            still["crystal"] = [{"__id__": "crystal", "real_space_a": list(real[0]), "real_space_b": list(real[1]),
                                 "real_space_c": list(real[2]), "space_group_hall_symbol": " P 1"}]
            images(f"frame{i}", still, "-phi", str(10 + 0.5 * i))
            one = np.load(self.path(f"frame{i}", "f.npy"))
            self.assertGreater(one.max(), 0)
            np.testing.assert_allclose(np.load(self.path("varying", f"f_{i + 1:04}.npy")), one, rtol=1e-5, atol=1e-6 * one.max())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
