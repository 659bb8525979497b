"""Refinement of stills: what went in comes out, whatever is wrong with one of the shots."""

import contextlib
import importlib.util
import io
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

import nanobragg as nb

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

from nanobragg import _core, refine
from nanobragg.refine import OrientedCell, _files
from nanobragg.refine._claim import Claim
from nanobragg.refine._crystal import cell_of
from nanobragg.refine._likelihood import GaussianLikelihood
from nanobragg.refine._positions import Panels, fit_positions, predict
from nanobragg.refine._shoeboxes import Planes, Shoeboxes
from nanobragg.refine._shot import _Problem

SHOTS, PIXELS, DISTANCE = 3, 400, 120
FLAGS = ["-default_F", "100", "-mosaic", "0.1", "-mosaic_dom", "12", "-N", "30", "-gauss_xtal", "-oversample", "1",
         "-fluence", "2e26"]
MISSETS = np.radians([[12, 31, -44], [101, -25, 8], [-63, 47, 160]])


def experiments(matrices, pixels=PIXELS):
    """An experiment list: a panel of 0.2 mm pixels behind the crystal."""
    half = pixels * 0.2 / 2
    panel = {"name": "Panel", "type": "SENSOR_PAD", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
             "origin": [-half, half, -DISTANCE], "raw_image_offset": [0, 0], "image_size": [pixels, pixels],
             "pixel_size": [0.2, 0.2], "trusted_range": [0, 1e9], "thickness": 0, "material": "", "mu": 0,
             "identifier": "", "mask": [], "gain": 1, "pedestal": 0, "px_mm_strategy": {"type": "SimplePxMmStrategy"}}
    crystals = [{"__id__": "crystal", "space_group_hall_symbol": " P 1",
                 **{f"real_space_{n}": list(v) for n, v in zip("abc", np.linalg.inv(m))}} for m in matrices]
    return {"__id__": "ExperimentList",
            "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0, "crystal": i,
                            "imageset": i} for i in range(len(matrices))],
            "imageset": [{"__id__": "ImageSet", "images": [f"shot{i}.npy"], "mask": "", "gain": "", "pedestal": "",
                          "dx": "", "dy": "", "params": {}} for i in range(len(matrices))],
            "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.3, "divergence": 0,
                      "sigma_divergence": 0, "polarization_normal": [0, 1, 0], "polarization_fraction": 0.5, "flux": 0,
                      "transmission": 1}],
            "detector": [{"panels": [panel]}], "goniometer": [], "scan": [], "profile": [], "scaling_model": [],
            "crystal": crystals}


def angle(a, b):
    """Degrees between the orientations of two bases."""
    turn = OrientedCell(a).frame.T @ OrientedCell(b).frame
    return np.degrees(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1)))


class Data:
    """Three stills with noise, of crystals that are then forgotten: turned by 0.3 degrees and strained by 1 %."""

    def __init__(self, folder, flags=FLAGS, missets=MISSETS):
        rng = np.random.default_rng(4)
        cell = OrientedCell(np.diag([1 / 50, 1 / 50, 1 / 70]), "tetragonal")
        self.truth = [cell.matrix(np.r_[m, rng.normal(0, 0.003, 2)]) for m in missets]
        self.expt, self.refl = os.path.join(folder, "start.expt"), os.path.join(folder, "start.refl")
        with open(os.path.join(folder, "truth.expt"), "w") as file:
            json.dump(experiments(self.truth), file)
        columns = {name: [] for name in ("id", "panel", "bbox", "miller_index", "xyzobs.px.value")}
        self.images = []
        for i, matrix in enumerate(self.truth):
            sim = nb.Simulator.from_flags([*flags, "--expt", f"{folder}/truth.expt:{i}", "--cull=1e-9"],
                                           average_by_default=True)
            clean = sim.image()
            image = rng.poisson(clean + 5).astype(float)
            np.save(os.path.join(folder, f"shot{i}.npy"), image)
            self.images.append(image)
            hkl, at = self.reflections(sim, matrix)
            corner = np.floor(at).astype(int) - 5
            light = np.array([clean[s:s + 11, f:f + 11].sum() for f, s in corner])
            hkl, corner = hkl[light > 100], corner[light > 100]
            columns["id"].append(np.full(len(hkl), i, "i4"))
            columns["panel"].append(np.zeros(len(hkl), "u8"))
            columns["bbox"].append(np.column_stack([corner[:, 0], corner[:, 0] + 11, corner[:, 1], corner[:, 1] + 11,
                                                    np.full(len(hkl), 0), np.full(len(hkl), 1)]).astype("i4"))
            columns["miller_index"].append(hkl.astype("i4"))
        columns.pop("xyzobs.px.value")
        self.columns = {name: np.concatenate(parts) for name, parts in columns.items()}
        _files.write_reflections(self.refl, self.columns)
        self.start = []
        for matrix in self.truth:
            turn = rng.normal(size=3)
            turn *= np.radians(0.3) / np.linalg.norm(turn)
            self.start.append(OrientedCell(matrix, "tetragonal").matrix(np.r_[turn, 0.01, -0.01]))
        with open(self.expt, "w") as file:
            json.dump(experiments(self.start), file)

    @staticmethod
    def reflections(sim, matrix):
        """Indices and pixels of those that are near the sphere and on the detector."""
        hkl = np.stack(np.meshgrid(*[np.arange(-40, 41)] * 3, indexing="ij"), -1).reshape(-1, 3)
        length = np.linalg.norm(hkl @ matrix.T, axis=1)
        hkl = hkl[(length > 0.05) & (length < 0.6)]
        at, missing = predict(matrix, hkl, np.zeros(len(hkl), int), Panels(sim), sim["beam_direction"], 1.3)
        on = (abs(missing) < 0.002) & (at > 7).all(axis=1) & (at < PIXELS - 7).all(axis=1)
        return hkl[on], at[on]


class Averages(unittest.TestCase):
    def test_from_the_truth_chi_square_is_one_and_errors_are_as_large_as_said(self):
        rng = np.random.default_rng(8)
        flags = ["-default_F", "100", "-mosaic", "0.1", "-N", "30", "-gauss_xtal", "-fluence", "2e26",
                 "--bandwidth-sigma=0.05"]
        said, pulls = [], []
        with tempfile.TemporaryDirectory() as folder:
            data = Data(folder, flags, rng.uniform(-3, 3, (12, 3)))
            results = refine.shots(flags, data.expt, data.refl, system="tetragonal", workers=1, say=said.append)
        self.assertIn("averages in closed form", said[0])
        self.assertEqual(len(said), 1)
        for result, truth in zip(results, data.truth):
            self.assertEqual(result.status, "refined")
            pulls.append((result.cell - cell_of(truth))[[0, 2]] / result.cell_sigma[[0, 2]])
            turn = OrientedCell(result.matrix).frame @ OrientedCell(truth).frame.T
            about = np.degrees([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
            pulls.append(about / result.orientation_sigma)
        # Planes below spots take 3 parameters for 121 pixels: 0.975. In 100 shots pulls had 0.93 to 1.16.
        self.assertAlmostEqual(np.mean([result.chi2 for result in results]), 0.98, delta=0.02)
        self.assertAlmostEqual(np.concatenate(pulls).std(), 1, delta=0.25)


class Places(unittest.TestCase):
    def test_of_panels_are_those_of_the_middles_of_their_pixels(self):
        flags = ["-N", "3", "-cell", "50", "60", "70", "90", "90", "90", "-default_F", "1", "-lambda", "1", "-detpixels", "40",
                 "-distance", "100", "-misset", "1", "2", "3"]
        for turn in ([], ["-detector_rotx", "3", "-detector_rotz", "-5"]):
            whole, fine = (nb.Simulator.from_flags([*flags, *turn, "-oversample", o]) for o in ("1", "3"))
            for sim in (whole, fine):  # a pixel that is sampled finely has its middle in the same place
                panels = Panels(sim)
                place = panels.corner[0] + 5.5 * panels.slow[0] + 7.5 * panels.fast[0]
                np.testing.assert_allclose(place, whole.trace(5, 7)["pixel_pos_meters"], rtol=0, atol=1e-12)


class Jacobians(unittest.TestCase):
    def test_turned_into_few_rows_have_the_same_products(self):
        rng = np.random.default_rng(8)

        class Model:
            rows = rng.normal(size=(4, 300))

            def image(self, x):
                return x @ self.rows + 10

            def jacobian(self, x):
                return self.rows

        boxes = Shoeboxes(rng.poisson(12, (40, 40)).astype(float), [[2, 22, 3, 18]], np.zeros(1, int))
        x, history = rng.normal(size=4), []
        problem = _Problem(Model(), boxes, 0.0, np.full(4, 2.0), history)
        left, jacobian = problem.residuals(x), problem.jacobian(x)
        length, turned = problem._length(x), problem._turned(x)
        np.testing.assert_allclose(length @ length, left @ left, rtol=1e-12)
        np.testing.assert_allclose(turned.T @ length, jacobian @ left, rtol=1e-9)
        np.testing.assert_allclose(turned.T @ turned, jacobian @ jacobian.T, rtol=1e-9, atol=1e-9)


class Likelihood(unittest.TestCase):
    def test_its_derivative_and_its_planes(self):
        rng = np.random.default_rng(7)
        image = rng.poisson(6, (40, 40)).astype(float)
        boxes = Shoeboxes(image, [[2, 12, 3, 13], [8, 20, 3, 13], [25, 26, 5, 9]], np.zeros(3, int))
        likelihood = GaussianLikelihood(boxes, 2.0, np.full(len(boxes.data), 5.0))
        crystal = rng.uniform(0, 4, len(boxes.data))
        value, by_photons, _ = likelihood.at(crystal, steps=40)
        step = 1e-4 * rng.normal(size=len(crystal))
        change = (likelihood.at(crystal + step, steps=40)[0] - likelihood.at(crystal - step, steps=40)[0]) / 2
        self.assertAlmostEqual(by_photons @ step / change, 1, places=4)
        others = [likelihood.planes + d for d in (0.1, -0.1)]
        for planes in others:  # no other planes are better
            v = np.maximum(crystal + planes, 1) + 4
            self.assertGreater(0.5 * np.sum(np.log(2 * np.pi * v) + (boxes.data - crystal - planes)**2 / v), value)

    def test_planes_are_those_of_least_squares(self):
        rng = np.random.default_rng(8)
        boxes = Shoeboxes(rng.poisson(6, (40, 40)).astype(float), [[2, 12, 3, 13], [8, 20, 3, 13], [25, 26, 5, 15]],
                          np.zeros(3, int))
        weights = rng.uniform(0.5, 2, len(boxes.data))
        values = rng.normal(size=(2, len(boxes.data)))
        left = Planes(boxes, weights).without(values)
        for i, span in enumerate(boxes.spans):
            _, slow, fast = boxes.rows[span].T
            columns = np.column_stack([np.ones(len(fast)), fast, slow])[:, :1 if i == 2 else 3] * weights[span, None]
            fit = columns @ np.linalg.lstsq(columns, values[:, span].T, rcond=None)[0]
            np.testing.assert_allclose(left[:, span].T, values[:, span].T - fit, atol=1e-12)


class AsymmetricUnit(unittest.TestCase):
    hkl = np.stack(np.meshgrid(*[np.arange(-4, 5)] * 3, indexing="ij"), -1).reshape(-1, 3).astype(np.int64)

    def test_indices(self):
        name, unit, mate, centric, absent = _core.to_asymmetric_unit(" P 4nw 2abw", self.hkl)
        self.assertEqual(name, "P 43 21 2")
        at = {tuple(h): i for i, h in enumerate(self.hkl)}
        np.testing.assert_array_equal(unit[at[1, 2, 3]], unit[at[-2, 1, 3]])
        self.assertFalse(mate[at[1, 2, 3]] == mate[at[-1, -2, -3]])
        self.assertTrue(centric[at[1, 2, 0]] and not centric[at[1, 2, 3]])
        self.assertTrue(absent[at[0, 0, 2]] and absent[at[1, 0, 0]] and not absent[at[0, 0, 4]])
        with self.assertRaisesRegex(nb.FileError, "no space group 'Q 1'"):
            _core.to_asymmetric_unit("Q 1", self.hkl)

    def test_mtz_is_read_again(self):
        unit, absent = _core.to_asymmetric_unit("P 43 21 2", self.hkl)[1::3]
        unit = np.unique(unit[absent == 0], axis=0)
        amplitudes = np.arange(len(unit)) + 1.0
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/f.mtz", "wb") as file:
                file.write(_core.mtz("P 43 21 2", [50, 50, 70, 90, 90, 90], 1.3, [("F", "F"), ("SIGF", "Q")],
                                     np.column_stack([unit, amplitudes, np.ones(len(unit))])))
            sim = nb.Simulator.from_flags(["-hkl", f"{folder}/f.mtz", "-N", "5", "-distance", "100", "-detpixels", "64"])
        grid, lowest = sim.structure_factors
        np.testing.assert_array_equal(grid[tuple((unit - lowest).T)], amplitudes)
        self.assertAlmostEqual(sim["cell_c"], 70e-10, places=16)


class Crystals(unittest.TestCase):
    def test_systems_keep_their_cells(self):
        rng = np.random.default_rng(1)
        hexagonal = np.linalg.inv(np.array([[60, 0, 0], [-30, 30 * 3**0.5, 0], [0, 0, 80]])).astype(float)
        cell = OrientedCell(hexagonal, "hexagonal")
        a, b, c, *angles = cell.cell(np.r_[rng.normal(size=3), 0.02, -0.03])
        self.assertAlmostEqual(a, b, places=9)
        np.testing.assert_allclose(angles, [90, 90, 120], atol=1e-9)
        cell = OrientedCell(np.linalg.inv(np.array([[50, 0, 0], [0, 60, 0], [-12, 0, 70.0]])), "monoclinic")
        *_, alpha, beta, gamma = cell.cell(rng.normal(size=cell.size) / 50)
        np.testing.assert_allclose([alpha, gamma], 90, atol=1e-9)
        self.assertNotAlmostEqual(beta, cell.cell(np.zeros(cell.size))[4], places=3)
        self.assertEqual(OrientedCell(hexagonal).size, 9)
        with self.assertRaisesRegex(ValueError, "no crystal system 'orthogonal'"):
            OrientedCell(hexagonal, "orthogonal")

    def test_start_is_where_it_was(self):
        matrix = np.random.default_rng(2).normal(size=(3, 3)) / 50
        for system in refine.CELL_SYSTEMS:
            cell = OrientedCell(matrix, system)
            np.testing.assert_allclose(cell.matrix(np.zeros(cell.size)), matrix, atol=1e-15)


class Shots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.data = Data(cls.folder.name)
        cls.out = os.path.join(cls.folder.name, "refined")
        cls.results = refine.shots(FLAGS, cls.data.expt, cls.data.refl, system="tetragonal", workers=1, out=cls.out)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, result, truth, times=1.0):
        self.assertEqual(result.status, "refined", result.why)
        self.assertLess(angle(result.matrix, truth), 0.02 * times)
        np.testing.assert_allclose(result.cell[:3], cell_of(truth)[:3], rtol=1e-3 * times)

    def test_what_went_in_comes_out(self):
        self.assertEqual([r.index for r in self.results], list(range(SHOTS)))
        for result, truth in zip(self.results, self.data.truth):
            self.check(result, truth)
            self.assertAlmostEqual(result.scale, 1, delta=0.1)
            self.assertAlmostEqual(result.chi2, 1, delta=0.15)
            off = (result.cell - cell_of(truth))[[0, 2]] / result.cell_sigma[[0, 2]]
            self.assertLess(abs(off).max(), 6, "errors are what the sigmas say")
            self.assertLess(result.chi2, result.chi2_start)
            self.assertLess(np.linalg.norm(result.spots["predicted"] - result.spots["observed"], axis=1).mean(), 1)

    def test_what_is_written(self):
        self.assertEqual(sorted(os.listdir(self.out)), [".lock", "finished", "refined.expt", "refined.refl", "report.html",
                                                         "shots.csv"])
        written = _files.read_experiments(f"{self.out}/refined.expt")
        for i, result in enumerate(self.results):
            crystal = written["crystal"][written["experiment"][i]["crystal"]]
            direct = np.array([crystal[f"real_space_{n}"] for n in "abc"])
            np.testing.assert_allclose(np.linalg.inv(direct), result.matrix, rtol=1e-9, atol=1e-12)
        # From its own folder the list still names the images.
        np.testing.assert_array_equal(np.load(_files.image_of(written, 1, f"{self.out}/refined.expt")), self.data.images[1])
        table = _files.read_reflections(f"{self.out}/refined.refl")
        self.assertEqual(len(table["id"]), sum(len(r.spots["hkl"]) for r in self.results))
        pulls = (table["intensity.sum.value"] - table["intensity.model"]) / np.sqrt(table["intensity.sum.variance"])
        self.assertAlmostEqual(float(np.sqrt(np.mean(pulls**2))), 1, delta=0.35)
        with open(f"{self.out}/shots.csv") as file:
            self.assertEqual(len(file.readlines()), 1 + SHOTS)
        with open(f"{self.out}/report.html") as file:
            page = file.read()
        self.assertIn("3 of 3 shots refined", page)
        self.assertIn("Convergence", page)
        worst = max((chi2, tuple(hkl)) for r in self.results for chi2, hkl in zip(r.spots["chi2"], r.spots["hkl"].tolist()))
        first = page[page.index("Outliers"):].split("<tr>")[2]
        self.assertIn("".join(f"<td>{h}</td>" for h in worst[1]), first)
        self.assertIn(f"<td>{worst[0]:.4g}</td>", first)
        self.assertNotIn("http", page)

    def test_processes_and_shards_change_nothing(self):
        parts = [r for i in range(2) for r in refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal",
                                                            workers=2, shard=(i, 2))]
        for result in parts:
            np.testing.assert_array_equal(result.matrix, self.results[result.index].matrix)
        self.assertEqual(sorted(r.index for r in parts), list(range(SHOTS)))

    @unittest.skipUnless(importlib.util.find_spec("mpi4py") and shutil.which("mpirun"), "no MPI")
    def test_ranks_of_mpi_change_nothing(self):
        for ranks, more in ((2, []), (4, []), (3, ["--resume"])):
            out = f"{self.folder.name}/ranks{ranks}"
            if more:  # one shot of those is there
                refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal", workers=1, out=out)
                os.remove(f"{out}/finished/{os.listdir(out + '/finished')[0]}")
                os.remove(f"{out}/refined.expt")
            words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, "-m", "nanobragg.refine", "stills",
                     self.data.expt, self.data.refl, "--system=tetragonal", f"--out={out}", *more]
            ended = subprocess.run([*words, "--", *FLAGS], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(ended.stdout.count("3 of 3 shots refined"), 1, ended.stdout)
            self.assertEqual(ended.stdout.count("rotated by"), 1 if more else 3)
            with open(f"{out}/refined.expt") as one, open(f"{self.out}/refined.expt") as other:
                self.assertEqual(one.read(), other.read())
            with open(f"{out}/refined.refl", "rb") as one, open(f"{self.out}/refined.refl", "rb") as other:
                self.assertEqual(one.read(), other.read())
        for word in ("--workers=2", "--shard=0/2"):
            ended = subprocess.run([*words, word, "--", *FLAGS], capture_output=True, text=True)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("--workers and --shard have no effect under mpirun", ended.stderr)
        claim = Claim(out)
        ended = subprocess.run([*words, "--", *FLAGS], capture_output=True, text=True)  # the first rank refuses
        claim.release()
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("another nb-refine is writing its results there", ended.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mpi4py"), "no mpi4py")
    def test_a_launcher_of_another_mpi_is_refused(self):
        """Its processes would all refine all shots, into the same files."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OMPI_", "PMI_", "PMIX_", "MV2_", "SLURM_"))}
        words = [sys.executable, "-m", "nanobragg.refine", "stills", self.data.expt, self.data.refl, "--system=tetragonal",
                 f"--out={self.folder.name}/other-mpi"]
        ended = subprocess.run([*words, "--", *FLAGS], capture_output=True, text=True, env={**environment, "PMI_SIZE": "2"})
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"the launcher started 2 processes \(PMI_SIZE\), but mpi4py, with .*, sees 1")
        self.assertFalse(os.path.exists(f"{self.folder.name}/other-mpi"))
        ended = subprocess.run([*words, "--shard=0/3", "--", *FLAGS], capture_output=True, text=True,
                               env={**environment, "PMI_SIZE": "2"})
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_shards_in_one_folder_are_gathered(self):
        out = os.path.join(self.folder.name, "gathered")
        words = [sys.executable, "-m", "nanobragg.refine", "stills", self.data.expt, self.data.refl, "--system=tetragonal", "--resume",
                 "--workers=1", f"--out={out}"]
        shards = [subprocess.Popen([*words, f"--shard={i}/2", "--", *FLAGS], stdout=subprocess.DEVNULL) for i in range(2)]
        self.assertEqual([shard.wait() for shard in shards], [0, 0])
        ended = subprocess.run([*words, "--", *FLAGS], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout.count("\n")), (0, 1), ended.stdout + ended.stderr)
        for name in ("refined.expt", "refined.refl"):
            with open(f"{out}/{name}", "rb") as one, open(f"{self.out}/{name}", "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_bad_shots_are_rejected_and_the_rest_refined(self):
        def image(index):
            pixels = self.data.images[index].copy()
            if index == 0:
                pixels[:] = np.nan
            if index == 1:
                return pixels[:-1]
            pixels[100:110, 100:120] = np.nan
            return pixels
        results = refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal", images=image, workers=1)
        self.assertEqual([r.status for r in results], ["rejected", "rejected", "refined"])
        self.assertIn("0 pixels that can be used", results[0].why)
        self.assertIn(f"shape ({PIXELS - 1}, {PIXELS})", results[1].why)
        self.check(results[2], self.data.truth[2])

    def test_a_shot_without_reflections(self):
        refl = os.path.join(self.folder.name, "some.refl")
        _files.write_reflections(refl, {n: c[self.data.columns["id"] != 1] for n, c in self.data.columns.items()})
        results = refine.shots(FLAGS, self.data.expt, refl, system="tetragonal", workers=1)
        self.assertIn("no reflections", results[1].why)
        self.check(results[0], self.data.truth[0])

    def test_a_killed_worker_costs_its_shot(self):
        def image(index):
            if index == 1:
                while not any(name.endswith(".kept") for name in os.listdir(os.path.join(out, "finished"))):
                    time.sleep(0.1)  # until another shot is finished
                os.kill(os.getpid(), signal.SIGKILL)
            return self.data.images[index]
        out = os.path.join(self.folder.name, "killed")
        os.makedirs(os.path.join(out, "finished"))
        results = refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal", images=image, workers=2, out=out)
        self.assertEqual([r.status for r in results], ["refined", "rejected", "refined"])
        self.assertIn("its process was killed", results[1].why)

    def test_workers_end_with_what_started_them(self):
        script = f"""if True:
            import os, time
            from nanobragg import refine
            def image(index):
                os.write(1, b"%d\\n" % os.getpid())
                time.sleep(100)
            refine.shots({FLAGS!r}, {self.data.expt!r}, {self.data.refl!r}, images=image, workers=2)"""
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
            workers = [int(run.stdout.readline()) for _ in range(2)]
            run.kill()
        end = time.monotonic() + 20
        while any(os.path.exists(f"/proc/{pid}/fd/0") for pid in workers) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse([pid for pid in workers if os.path.exists(f"/proc/{pid}/fd/0")])

    def test_files_with_flaws(self):
        expt, refl = (os.path.join(self.folder.name, name) for name in ("flawed.expt", "flawed.refl"))
        listed, columns = experiments(self.data.start), {n: c.copy() for n, c in self.data.columns.items()}
        listed["experiment"][0]["crystal"] = None
        columns["panel"][np.flatnonzero(columns["id"] == 1)[3]] = 1
        columns["miller_index"][np.flatnonzero(columns["id"] == 2)[:5]] = 0  # not indexed
        with open(expt, "w") as file:
            json.dump(listed, file)
        _files.write_reflections(refl, columns)
        out = os.path.join(self.folder.name, "flawed")
        results = refine.shots(FLAGS, expt, refl, system="tetragonal", workers=1, out=out)
        self.assertIn("experiment 0 has no crystal", results[0].why)
        self.assertIn("experiment 1 is on panel 1, and its detector has 1", results[1].why)
        self.check(results[2], self.data.truth[2])
        written = _files.read_reflections(os.path.join(out, "refined.refl"))
        np.testing.assert_array_equal(written["miller_index"], columns["miller_index"][columns["id"] == 2][5:])
        columns["id"][0] = 3
        _files.write_reflections(refl, columns)
        with self.assertRaisesRegex(nb.FileError, "reflections of experiment 3, and .* has experiments 0 to 2"):
            refine.shots(FLAGS, self.data.expt, refl)

    def test_one_spot_determines_nothing(self):
        refl = os.path.join(self.folder.name, "one.refl")
        brightest = max(np.flatnonzero(self.data.columns["id"] == 0),
                        key=lambda i: self.data.images[0][slice(*self.data.columns["bbox"][i][2:4]),
                                                          slice(*self.data.columns["bbox"][i][:2])].sum())
        _files.write_reflections(refl, {n: c[[brightest]] for n, c in self.data.columns.items()})
        result = refine.shots(FLAGS, self.data.expt, refl, system="tetragonal", workers=1, shard=(0, 3))[0]
        self.assertEqual(result.status, "rejected")
        self.assertIn("shoeboxes (1) do not determine the 6 numbers", result.why)

    def test_what_no_shot_can_be_refined_with_is_an_error(self):
        files = (self.data.expt, self.data.refl)
        for kind, sentence, flags, how in (
                (ValueError, "no.hkl: cannot be read", [*FLAGS, "-hkl", "no.hkl"], {}),
                (ValueError, "readout is nan", FLAGS, {"readout": np.nan}),
                (ValueError, "offset is inf", FLAGS, {"offset": np.inf}),
                (ValueError, "margin is -1", FLAGS, {"margin": -1}),
                (ValueError, "restraint of cell is 0", FLAGS, {"restrain": {"cell": 0}}),
                (ValueError, "restraints are of .* not of size", FLAGS, {"restrain": {"size": 1}}),
                (nb.UnknownName, "no parameter 'size'", FLAGS, {"parameters": "orientation,cell,scale,size"})):
            with self.assertRaisesRegex(kind, sentence):
                refine.shots(flags, *files, **how)

    def test_masked_pixels_do_not_count(self):
        expt = os.path.join(self.folder.name, "masked.expt")
        listed = experiments(self.data.start)
        listed["detector"][0]["panels"][0]["mask"] = [[0, 0, PIXELS // 2, PIXELS]]
        with open(expt, "w") as file:
            json.dump(listed, file)

        def image(index):
            pixels = self.data.images[index].copy()
            pixels[:, :PIXELS // 2] = 77
            return pixels
        result = refine.shots(FLAGS, expt, self.data.refl, system="tetragonal", images=image, workers=1, shard=(0, 3))[0]
        self.check(result, self.data.truth[0])
        self.assertTrue((result.spots["observed"][:, 0] > PIXELS // 2).all())

    def test_a_missing_image(self):
        expt = os.path.join(self.folder.name, "missing.expt")
        listed = experiments(self.data.start)
        listed["imageset"][2]["images"] = ["nowhere.npy"]
        with open(expt, "w") as file:
            json.dump(listed, file)
        results = refine.shots(FLAGS, expt, self.data.refl, system="tetragonal", shard=(2, 3), workers=1)
        self.assertEqual((len(results), results[0].index), (1, 2))
        self.assertIn("nowhere.npy", results[0].why)

    def test_the_system_has_to_be_the_crystals(self):
        """A system of none of the crystals ends the run; a crystal of another one costs its still."""
        for system, sentence in (("cubic", "the system is cubic, where a = b = c, .* the cell of experiment . is"),
                                 ("cubical", "no crystal system 'cubical'")):
            with self.assertRaisesRegex(ValueError, sentence):
                refine.shots(FLAGS, self.data.expt, self.data.refl, system=system, workers=1)
        listed = experiments(self.data.start)
        listed["crystal"][2]["real_space_c"] = listed["crystal"][1]["real_space_c"]
        with open(expt := os.path.join(self.folder.name, "others.expt"), "w") as file:
            json.dump(listed, file)
        result, = refine.shots(FLAGS, expt, self.data.refl, system="tetragonal", shard=(2, 3), workers=1)
        self.assertRegex(result.why, "the system is tetragonal, .* the cell of experiment 2 is")

    def test_further_parameters(self):
        flags = [w if w != "0.1" else "0.13" for w in FLAGS]
        result = refine.shots(flags, self.data.expt, self.data.refl, system="tetragonal", workers=1, shard=(0, 3),
                              parameters="orientation,cell,scale,mosaic_spread")[0]
        self.check(result, self.data.truth[0])
        spread, sigma = result.values["mosaic_spread"]
        self.assertAlmostEqual(np.degrees(spread), 0.1, delta=0.005)
        self.assertGreater(sigma, 0)

    def test_restraints_hold(self):
        result = refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal", workers=1, shard=(0, 3),
                              restrain={"cell": 1e-9})[0]
        if result.matrix is not None:
            np.testing.assert_allclose(result.cell, cell_of(self.data.start[0]), rtol=1e-4)
        with self.assertRaisesRegex(ValueError, "not of sale"):
            refine.shots(FLAGS, self.data.expt, self.data.refl, workers=1, restrain={"sale": 1})

    def test_resume_keeps_what_is_finished(self):
        out = os.path.join(self.folder.name, "interrupted")
        asked = []

        def image(index):
            asked.append(index)
            if index == 2 and asked.count(2) == 1:
                raise KeyboardInterrupt
            return self.data.images[index]

        how = dict(system="tetragonal", images=image, workers=1, out=out)
        with self.assertRaises(KeyboardInterrupt):
            refine.shots(FLAGS, self.data.expt, self.data.refl, **how)
        results = refine.shots(FLAGS, self.data.expt, self.data.refl, resume=True, **how)
        self.assertEqual(asked, [0, 1, 2, 2])
        for result, other in zip(results, self.results):
            np.testing.assert_array_equal(result.matrix, other.matrix)
            np.testing.assert_array_equal(result.spots["chi2"], other.spots["chi2"])
            self.assertEqual((result.chi2, result.scale, result.values, len(result.pictures)),
                             (other.chi2, other.scale, other.values, len(other.pictures)))
        with open(f"{out}/shots.csv") as one, open(f"{self.out}/shots.csv") as other:
            without_seconds = [[[v for i, v in enumerate(row.split(",")) if i != 20] for row in file] for file in (one, other)]
            self.assertEqual(*without_seconds)
        with open(f"{out}/finished/{os.listdir(out + '/finished')[0]}", "wb") as file:
            file.write(b"half of it")
        with self.assertWarnsRegex(nb.Warning, "is damaged"):
            refine.shots(FLAGS, self.data.expt, self.data.refl, resume=True, **how)
        self.assertEqual(len(asked), 5)
        refine.shots(FLAGS, self.data.expt, self.data.refl, resume=True, gain=2, **how)
        self.assertEqual(len(asked), 5 + SHOTS)  # others than these are asked for

    def test_greatest_likelihood(self):
        result = refine.shots(FLAGS, self.data.expt, self.data.refl, system="tetragonal", workers=1, shard=(0, 3),
                              method="L-BFGS-B")[0]
        self.check(result, self.data.truth[0])
        self.assertGreater(result.log_likelihood, self.results[0].log_likelihood)
        with self.assertRaisesRegex(ValueError, "no method 'newton'"):
            refine.shots(FLAGS, self.data.expt, self.data.refl, method="newton")

    def test_positions_survive_wrong_indices(self):
        sim = nb.Simulator.from_flags([*FLAGS, "--expt", f"{self.folder.name}/truth.expt:0"])
        truth, start = self.data.truth[0], self.data.start[0]
        hkl, at = Data.reflections(sim, truth)
        wrong = hkl.copy()
        wrong[::5] += [1, 0, 0]
        panel, beam = np.zeros(len(hkl), int), sim["beam_direction"]
        cell = OrientedCell(start, "tetragonal")
        found = cell.matrix(fit_positions(cell, wrong, panel, at, Panels(sim), beam, 1.3,
                                          np.full(cell.size, np.inf)))
        self.assertLess(angle(found, truth), 0.1)

    def test_command(self):
        from nanobragg.refine.__main__ import main
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            rc = main(["stills", self.data.expt, self.data.refl, "--system=tetragonal", "--shard=1/3", "--workers=1",
                       f"--out={self.folder.name}/by-command", "--", *FLAGS])
        self.assertEqual(rc, 0, said.getvalue())
        self.assertIn("1 of 1 shots refined", said.getvalue())
        for words, sentence in ((["no.expt", self.data.refl], "no.expt: No such file"),
                                ([self.data.refl, self.data.refl], "is not an experiment list"),
                                ([self.data.expt, self.data.expt], "is not a reflection table")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(main(["stills", *words]), 1)
            self.assertIn(sentence, said.getvalue())

    def test_flags_are_not_shortened(self):
        from nanobragg.refine.__main__ import main
        for word, closest in (("--param=cell", "--parameters"), ("--syst", "--system"), ("--shart", "--shard")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as refused:
                main(["stills", "a.expt", "a.refl", word])
            self.assertEqual(refused.exception.code, 2)
            self.assertIn(f"unknown flag '{word.partition('=')[0]}'; the closest is '{closest}'", said.getvalue())


FOUR = [{"offset_mm": [x, y, z], "fast": fast, "slow": [0, 1, 0], "pixels": size}
        for x, y, z, fast, size in ((0, 0, 0, [1, 0, 0], [180, 190]), (34.5, 0, 0, [1, 0, 0], [190, 190]),
                                    (0, 34.4, 0.2, [1, 0, 0.01], [190, 180]), (34.4, 34.6, 0, [1, 0, 0], [190, 190]))]
OF_FOUR = ["-cell", "50", "50", "70", "90", "90", "90", "-misset", "12", "-37", "61", "-lambda", "1.3", "-xds", "-distance", "120",
           "-detpixels", "400", "-pixel", "0.172", "--panels=four.json", *FLAGS]


class SeveralPanels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.folder.name, "four.json"), "w") as file:
            json.dump(FOUR, file)
        subprocess.run([sys.executable, "-m", "nanobragg.simulate", *OF_FOUR, "-water", "0.3", "-seed", "3", "-nopgm",
                        "-noprogress", "--nexus=still.h5", "--write-expt=truth.expt", "--write-refl=still.refl"],
                       cwd=cls.folder.name, check=True, capture_output=True)
        cls.listed = _files.read_experiments(os.path.join(cls.folder.name, "truth.expt"))
        cls.panels = cls.listed["detector"][0]["panels"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def test_a_still_of_four_comes_back(self):
        """Its crystal is turned; the panels differ in size, height and tilt, and lie below one another in an NXmx file."""
        crystal, = self.listed["crystal"]
        truth = np.linalg.inv([crystal[f"real_space_{n}"] for n in "abc"])
        start = json.loads(json.dumps(self.listed))
        beside = OrientedCell(truth).matrix(np.r_[np.radians([0.1, -0.15, 0.1]), np.zeros(6)])
        start["crystal"][0] |= {f"real_space_{n}": v.tolist() for n, v in zip("abc", np.linalg.inv(beside))}
        with open(self.at("start.expt"), "w") as file:
            json.dump(start, file)
        table = _files.read_reflections(self.at("still.refl"))
        _files.write_reflections(self.at("bright.refl"), {name: column[table["intensity.sum.value"] > 100]
                                                          for name, column in table.items()})
        result, = refine.shots(FLAGS, self.at("start.expt"), self.at("bright.refl"), system="tetragonal", workers=1)
        self.assertEqual(result.status, "refined", result.why)
        self.assertEqual(set(result.spots["panel"]), {0, 1, 2, 3})
        self.assertLess(angle(result.matrix, truth), 0.01)
        self.assertLess(abs(result.chi2 - 1), 0.1)

    def test_where_panels_lie_in_one_image(self):
        image = nb.read_image(self.at("still.h5"))
        parts = _files.in_panels(image, self.panels, self.at("still.h5"))
        self.assertEqual(parts.shape, (4, 190, 190))
        self.assertTrue(np.isnan(parts[0, :, 180:]).all() and np.isnan(parts[2, 180:]).all())
        sizes = [panel["image_size"] for panel in self.panels]
        cut = [part[:slow, :fast] for part, (fast, slow) in zip(parts, sizes)]
        self.assertTrue(all((part >= 0).all() for part in cut))
        # One below another; at offsets that the list says; in frames.
        stack = np.vstack([np.pad(part, ((0, 0), (0, 190 - part.shape[1]))) for part in cut])
        np.testing.assert_array_equal(_files.in_panels(stack, self.panels, "a.npy"), parts)
        slab, said = np.zeros((400, 420)), []
        for part, (slow, fast) in zip(cut, ((5, 7), (5, 220), (200, 7), (203, 220))):
            slab[slow:slow + part.shape[0], fast:fast + part.shape[1]] = part
            said.append({"image_size": list(part.shape[::-1]), "raw_image_offset": [fast, slow]})
        np.testing.assert_array_equal(_files.in_panels(slab, said, "a.cbf"), parts)
        np.testing.assert_array_equal(_files.in_panels(parts, self.panels, "a.npy"), parts)
        for wrong in (slab, slab[:, :300], parts[:3]):
            with self.assertRaisesRegex(nb.FileError, "a.npy: is not an image of the 4 panels"):
                _files.in_panels(wrong, said if wrong.shape[-1] == 300 else self.panels, "a.npy")


if __name__ == "__main__":
    unittest.main()
