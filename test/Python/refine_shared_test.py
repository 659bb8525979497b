"""Refinement of what stills share: it comes out as it went in, on any number of ranks, and goes on after a kill."""

import contextlib
import importlib.util
import io
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np

import nanobragg as nb

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

from nanobragg import refine
from nanobragg.refine import _files
from nanobragg.refine._amplitudes import AmplitudeRestraints, Amplitudes
from nanobragg.refine._common import PanelGroups, groups_of
from nanobragg.refine._crystal import cell_of
from nanobragg.refine._descent import Descent
from nanobragg.refine._ranks import Ranks
from nanobragg.refine._shot import ShotFit
from refine_test import FLAGS, MISSETS, Data, angle, experiments

SHOTS = 5
BEAM = ["-default_F", "0", *FLAGS[2:], "-nointerpolate"]


class Stills(Data):
    """Five stills of structure factors that differ, four of them of nearly the same orientation; the start's are wrong
    by 30 %.
    """

    def __init__(self, folder):
        rng = np.random.default_rng(11)
        hkl = np.stack(np.meshgrid(*[np.arange(-14, 15)] * 2, np.arange(-19, 20), indexing="ij"), -1).reshape(-1, 3)
        hkl = hkl[(hkl != 0).any(axis=1) & (np.linalg.norm(hkl / [50, 50, 70], axis=1) < 0.27)]
        friedel = np.where((hkl @ [10000, 100, 1] < 0)[:, None], -hkl, hkl)
        _, of = np.unique(friedel, axis=0, return_inverse=True)
        F = 40 + 100 * np.sqrt(rng.exponential(size=of.max() + 1))
        for name, values in (("truth", F), ("start", F * np.exp(rng.normal(0, 0.3, len(F))))):
            np.savetxt(f"{folder}/{name}.hkl", np.column_stack([hkl, values[of.reshape(-1)]]), fmt="%d %d %d %.9g")
        self.F = {tuple(h): f for h, f in zip(hkl, F[of.reshape(-1)])}
        missets = np.concatenate([MISSETS[:1], MISSETS[2] + rng.normal(0, 0.001, (SHOTS - 1, 3))])
        super().__init__(folder, [*BEAM, "-hkl", f"{folder}/truth.hkl"], missets)
        self.flags = [*BEAM, "-hkl", f"{folder}/start.hkl"]
        self.expt = f"{folder}/truth.expt"


class ThreadRank:
    """The part of a communicator of mpi4py that Ranks uses, between threads."""

    def __init__(self, rank, boxes, barrier):
        self.rank, self.boxes, self.barrier = rank, boxes, barrier

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return len(self.boxes)

    def send(self, item, dest, tag=0):
        self.boxes[dest].setdefault((self.rank, tag), queue.Queue()).put(item)

    def recv(self, source, tag=0):
        return self.boxes[self.rank].setdefault((source, tag), queue.Queue()).get(timeout=60)

    def Send(self, array, dest, tag):
        self.send(array.copy(), dest, tag)

    def Recv(self, array, source, tag):
        array[:] = self.recv(source, tag)

    def bcast(self, item):
        if self.rank == 0:
            for other in range(1, self.Get_size()):
                self.send(item, other, "all")
            return item
        return self.recv(0, "all")

    def Bcast(self, array):
        array[:] = self.bcast(array.copy() if self.rank == 0 else None)

    def gather(self, item):
        if self.rank:
            return self.send(item, 0, "gather")
        return [item, *(self.recv(other, "gather") for other in range(1, self.Get_size()))]


def on_ranks(count, work):
    """work(communicator) in as many threads; what the first returns."""
    boxes, barrier, results = [{} for _ in range(count)], threading.Barrier(count), [None] * count

    def run(rank):
        try:
            results[rank] = work(ThreadRank(rank, boxes, barrier))
        except BaseException as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results[0]


class Sums(unittest.TestCase):
    def test_they_are_the_same_for_any_number_of_ranks(self):
        rng = np.random.default_rng(3)
        for shots in (1, 2, 3, 7, 8, 21):
            terms = [None if i % 5 == 4 else np.exp(20 * rng.normal(size=6)) for i in range(shots)]
            cost = rng.uniform(0.1, 3, shots)

            def work(comm):
                ranks = Ranks(comm, cost)
                return ranks.sum(iter(terms[ranks.begin:ranks.end]))

            alone = work(None)
            np.testing.assert_allclose(alone, sum(t for t in terms if t is not None))
            for count in (2, 3, 4, 9):
                np.testing.assert_array_equal(on_ranks(count, work), alone)

    def test_shots_are_dealt_by_cost(self):
        cost = np.array([1, 1, 1, 1, 4, 1, 1, 1, 1.0])
        parts = [(r.begin, r.end) for r in on_ranks(3, lambda comm: comm.gather(Ranks(comm, cost)))]
        self.assertEqual((parts[0][0], parts[-1][1]), (0, 9))
        self.assertEqual([b for b, _ in parts[1:]], [e for _, e in parts[:-1]])
        self.assertLessEqual(max(cost[b:e].sum() for b, e in parts), 5)


class Valley:
    """Rosenbrock's function for each shot, tied to shared numbers."""

    def each(self, shared, own):
        for i, (x, y) in enumerate(own):
            j, bend = i % len(shared), y - x**2
            tie = shared[j] - y
            by_shared = np.zeros_like(shared)
            by_shared[j] = 2 * tie
            by_own = np.array([-40 * x * bend - 2 * (1 - x), 20 * bend - 2 * tie])
            yield 10 * bend**2 + (1 - x)**2 + tie**2, by_shared, by_own

    def rest(self, shared):
        return 0.05 * float(shared @ shared), 0.1 * shared


class Descents(unittest.TestCase):
    def test_it_ends_where_scipy_does_and_its_dot_products_are_right(self):
        from scipy import optimize
        descent = Descent(Ranks(None, np.ones(7)), Valley(), np.zeros(3), np.full((7, 2), -0.5), memory=4)
        for _ in range(60):
            if not descent.step():
                break
            vectors = np.array([np.r_[a, np.ravel(b)] for a, b in zip(
                descent._basis(descent.history, descent.gradient),
                descent._basis(descent.own_history, descent.own_gradient))])
            products = vectors @ vectors.T
            np.testing.assert_allclose(descent.gram, products[:-1, :-1], rtol=1e-6, atol=1e-12)
            np.testing.assert_allclose(descent.along, products[-1, :-1], rtol=1e-6, atol=1e-9)

        def value(x):
            terms = list(Valley().each(x[:3], x[3:].reshape(7, 2)))
            rest, by_rest = Valley().rest(x[:3])
            by_shared, by_own = by_rest + sum(t[1] for t in terms), np.ravel([t[2] for t in terms])
            return rest + sum(t[0] for t in terms), np.r_[by_shared, by_own]

        best = optimize.minimize(value, np.r_[np.zeros(3), np.full(14, -0.5)], jac=True, method="BFGS", tol=1e-10)
        self.assertAlmostEqual(descent.value, best.fun, places=6)


class Parts(unittest.TestCase):
    def test_restraints_of_structure_factors(self):
        rng = np.random.default_rng(5)
        grid = rng.uniform(1, 9, (7, 7, 7))
        units = Amplitudes(grid, (-3, -3, -3), "P 2 2 2", anomalous=True)
        self.assertGreater(len(units.mates()), 10)
        np.testing.assert_array_equal(units.hkl[units.mates()[:, 0]], units.hkl[units.mates()[:, 1]])
        x = np.array([-30, -1, -0.9, 0, 0.5, 40])
        logarithms = units.logarithms(x)
        np.testing.assert_allclose(units.numbers(logarithms), x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(units.slopes(x), (units.logarithms(x + 1e-5) - units.logarithms(x - 1e-5)) / 2e-5,
                                   rtol=1e-6)
        self.assertEqual(logarithms[3], 0)
        self.assertAlmostEqual((np.diff(np.exp(2 * logarithms[-2:])) / np.diff(x[-2:])).item(), 1, delta=0.03)
        restraints = AmplitudeRestraints(units, 0.4, 0.1, 0.7, units.lengths(np.eye(3)), count=4)
        x, step = 0.1 * rng.normal(size=units.size), 1e-5 * rng.normal(size=units.size)
        change = (restraints.at(x + step)[0] - restraints.at(x - step)[0]) / 2
        self.assertAlmostEqual(restraints.at(x)[1] @ step / change, 1, places=6)
        bend = (restraints.at(x + step)[1] - restraints.at(x - step)[1]) / 2
        self.assertLessEqual(bend @ step, step @ (restraints.curvature() * step))
        values = units.values(np.zeros(units.size))
        self.assertEqual(values[4, 3, 3], values[2, 3, 3], "h00 and -h00 are equivalents")
        self.assertEqual(values[3, 3, 3], grid[3, 3, 3])

    def test_panels_move_as_rigid_bodies(self):
        with tempfile.TemporaryDirectory() as folder:
            listed = experiments([np.diag([1 / 50, 1 / 50, 1 / 70])], 100)
            first, = listed["detector"][0]["panels"]
            origins = [first["origin"], [20, 10, -118], [-40, 10, -120]]
            listed["detector"][0]["panels"] = [{**first, "origin": origin} for origin in origins]
            with open(f"{folder}/three.expt", "w") as file:
                json.dump(listed, file)
            sim = nb.Simulator.from_flags([*FLAGS, "--expt", f"{folder}/three.expt"])
            groups = PanelGroups(sim, [[0, 1], [2]])
            rng = np.random.default_rng(6)
            p = 0.01 * rng.normal(size=12)
            places, moved = groups.placed(np.zeros(12)), groups.placed(p)
            apart = lambda at: np.linalg.norm(at[0][0] - at[0][1])
            self.assertAlmostEqual(apart(places), apart(moved), places=14)
            across = lambda at: np.linalg.norm(at[0][0] - at[0][2])
            self.assertGreater(abs(across(places) - across(moved)), 1e-4)
            step = 1e-5 * rng.normal(size=12)
            for name in groups.members:
                change = (groups.values(p + step)[name] - groups.values(p - step)[name]) / 2
                np.testing.assert_allclose(sum(s * d[name] for s, d in zip(step, groups.directions(p))), change, atol=1e-11)
            self.assertEqual([d is None for d in groups.directions(p, {2})], 6 * [True] + 6 * [False])
            sim.set(**groups.values(p))
            np.testing.assert_allclose(sim.trace(2, 0, 0)["pixel_pos_meters"],
                                       moved[0][2] + 1e-4 * (moved[1][2, 0] + moved[1][2, 1]), atol=1e-12)
            with self.assertRaisesRegex(ValueError, "no panel 3"):
                PanelGroups(sim, [[3]])
            with open(f"{folder}/groups", "w") as file:
                file.write("0 a\n2 b # alone\n1 a\n")
            self.assertEqual(groups_of(f"{folder}/groups", listed["detector"][0]), [[0, 1], [2]])
            children = [{"children": [{"panel": 0}, {"panel": 2}]}, {"panel": 1}]
            tree = {**listed["detector"][0], "hierarchy": {"children": children}}
            self.assertEqual(groups_of("hierarchy", tree), [[0, 2], [1]])
            for text, sentence in (("nowhere", "nowhere: No such file"), ("hierarchy", "has no hierarchy")):
                with self.assertRaisesRegex(ValueError, sentence):
                    groups_of(text, listed["detector"][0])


class Refined(unittest.TestCase):
    how = dict(system="tetragonal", space_group="P 1", rounds=2, steps=12)

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.data = Stills(cls.folder)
        cls.out = f"{cls.folder}/alone"
        cls.result = cls.refined(out=cls.out)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def refined(cls, expt=None, refl=None, flags=None, **how):
        return refine.shared(flags or cls.data.flags, expt or cls.data.expt, refl or cls.data.refl, **{**cls.how, **how})

    def test_structure_factors(self):
        result = self.result
        truth = np.array([self.data.F[tuple(h)] for h in result.hkl])
        often = result.seen >= 2
        self.assertGreater(often.sum(), 30)
        before, after = (np.corrcoef(truth[often], F[often])[0, 1] for F in (result.start, result.F))
        self.assertGreater(after, 0.98)
        self.assertLess(before, 0.95)
        np.testing.assert_array_equal(result.F[result.seen == 0] > 0, True)
        self.assertLess(np.median(result.sigma[often] / result.F[often]), 0.1)
        self.assertLess(result.shots[0].chi2, 1.2)
        for r, matrix in zip(result.shots, self.data.truth):
            self.assertLess(angle(r.matrix, matrix), 0.02)
            self.assertLess(abs(r.cell - cell_of(matrix))[[0, 2]].max() / r.cell_sigma[[0, 2]].max(), 6, "as sigmas say")
        values = [s["value"] for s in result.steps if s["round"] == 0]
        self.assertTrue(all(b < a for a, b in zip(values, values[1:])))

    def test_gradients(self):
        """Derivatives of a shot's value, with respect to all that it depends on, against differences."""
        module = sys.modules["nanobragg.refine.shared"]
        stills = module.ListedStills([*self.data.flags, "-dispersion", "0.5", "-dispsteps", "5"], self.data.expt, self.data.refl)
        names = ["structure_factors", "panels", "spectrum", "mosaic_spread"]
        model, restraints = module._shared_numbers(stills, names, {}, "P 1", False, "each")
        run = module._Run(stills, model, restraints, Ranks(None, [1.0]), ShotFit(system="tetragonal", restrain={}))
        run.load()
        joint = run.joint
        joint.turn()
        rng = np.random.default_rng(2)
        shared, own = 0.3 * rng.normal(size=model.size), 0.3 * rng.normal(size=joint.own.shape)
        step, own_step = 1e-3 * rng.normal(size=model.size), 1e-3 * rng.normal(size=joint.own.shape)
        (value, by_shared, by_own), = joint.each(shared, own)
        up, down = (next(joint.each(shared + s * step, own + s * own_step))[0] for s in (1, -1))
        self.assertAlmostEqual((by_shared @ step + by_own @ own_step[0]) / ((up - down) / 2), 1, places=4)

    def test_ranks_agree_to_the_last_bit(self):
        for count in (2, 4, 7):
            other = on_ranks(count, lambda comm: self.refined(comm=comm))
            np.testing.assert_array_equal(other.F, self.result.F)
            np.testing.assert_array_equal(other.sigma, self.result.sigma)
            for a, b in zip(other.shots, self.result.shots):
                np.testing.assert_array_equal(a.matrix, b.matrix)

    def test_a_killed_run_goes_on(self):
        script = (f"import os, signal, sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                  "from nanobragg import refine\n"
                  f"how = dict({self.how!r}, out='{self.folder}/killed')\n"
                  "def show(step):\n"
                  "    print(step['step'], flush=True)\n"
                  "    if step['step'] == 16: os.kill(os.getpid(), signal.SIGKILL)\n"
                  f"refine.shared({self.data.flags!r}, {self.data.expt!r}, {self.data.refl!r}, progress=show, **how)\n")
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual(ended.returncode, -signal.SIGKILL, ended.stderr)
        seen = []
        result = on_ranks(2, lambda comm: self.refined(comm=comm, out=f"{self.folder}/killed", resume=True,
                                                       progress=lambda s: seen.append(s["step"])))
        self.assertEqual(seen[0], 16, "the step that was not finished is done again")
        np.testing.assert_array_equal(result.F, self.result.F)
        self.assertEqual([s["value"] for s in result.steps], [s["value"] for s in self.result.steps])
        state, = os.listdir(f"{self.folder}/killed/finished")
        with open(f"{self.folder}/killed/finished/{state}", "wb") as file:
            file.write(b"half of it")
        with self.assertWarnsRegex(nb.Warning, "is damaged"):
            self.refined(out=f"{self.folder}/killed", resume=True, rounds=1, steps=1)

    def test_what_is_written(self):
        self.assertEqual(sorted(os.listdir(self.out)),
                         [".lock", "finished", "refined.expt", "refined.refl", "report.html", "shots.csv", "steps.csv",
                          "structure_factors.csv", "structure_factors.mtz"])
        sim = nb.Simulator.from_flags([*BEAM, "-hkl", f"{self.out}/structure_factors.mtz",
                                       "--expt", f"{self.out}/refined.expt:2"])
        grid, lowest = sim.structure_factors
        np.testing.assert_allclose(grid[tuple((self.result.hkl - lowest).T)], self.result.F, rtol=1e-6)
        with open(f"{self.out}/report.html") as file:
            page = file.read()
        self.assertIn("5 of 5 shots refined together", page)
        self.assertNotIn("http", page)

    def test_friedel_mates_apart(self):
        result = self.refined(anomalous=True, restrain={"friedel": 1e-4}, steps=4, rounds=1, out=f"{self.folder}/anomalous")
        self.assertGreater(len(result.F), 1.9 * len(self.result.F))
        plus = {tuple(h): F for h, F, m in zip(result.hkl, result.F, result.mate) if m == 0}
        minus = {tuple(h): F for h, F, m in zip(result.hkl, result.F, result.mate) if m == 1}
        for h, F in minus.items():
            self.assertAlmostEqual(plus[h] / F, 1, delta=2e-3)
        self.assertTrue(os.path.exists(f"{self.folder}/anomalous/structure_factors.mtz"))

    def test_a_panel_and_the_mosaicity(self):
        expt = f"{self.folder}/moved.expt"
        listed = experiments(self.data.truth)
        listed["detector"][0]["panels"][0]["origin"][0] += 0.05
        with open(expt, "w") as file:
            json.dump(listed, file)
        flags = [*("0.12" if w == "0.1" else w for w in BEAM), "-hkl", f"{self.folder}/truth.hkl"]
        out = f"{self.folder}/panels"
        result = self.refined(expt, flags=flags, parameters="panels,mosaic_spread", out=out, steps=25)
        self.assertAlmostEqual(result.values["mosaic_spread"][0] * 0.12, 0.1, delta=0.003)
        origin = _files.read_experiments(f"{out}/refined.expt")["detector"][0]["panels"][0]["origin"]
        turned, moved = result.values["panels 0 rz"][0], result.values["panels 0 x"]
        self.assertLess(abs(moved[0] + 5e-5), 1e-6)
        self.assertLess(moved[1], 1e-6)
        # The corner turns with the panel, about the beam, which the orientations of all crystals may do as well.
        self.assertAlmostEqual(origin[0], -40 - 40 * turned, delta=2e-3)
        self.assertIsNone(result.F)

    def test_panels_of_a_detector_of_four(self):
        """The detector cut in four, of which one has moved: it is found where it went, by compiled kernels."""
        listed, half = experiments(self.data.truth), 200
        whole, = listed["detector"][0]["panels"]
        corners = [(fast, slow) for slow in (0, half) for fast in (0, half)]
        x, y, z = whole["origin"]
        listed["detector"][0]["panels"] = [{**whole, "origin": [x + 0.2 * fast, y - 0.2 * slow, z], "image_size": [half, half]}
                                           for fast, slow in corners]
        listed["detector"][0]["panels"][3]["origin"][0] += 0.05
        columns, box = self.data.columns, self.data.columns["bbox"]
        at = box[:, [0, 2]] // half
        inside = (at == (box[:, [1, 3]] - 1) // half).all(axis=1)
        columns = {name: column[inside] for name, column in columns.items()} | {"panel": (at @ [1, 2])[inside].astype("u8")}
        columns["bbox"] = (box - np.repeat(np.column_stack([at, 0 * at[:, :1]]), 2, axis=1) * half)[inside].astype("i4")
        expt, refl, out = (f"{self.folder}/four{end}" for end in (".expt", ".refl", ""))
        with open(expt, "w") as file:
            json.dump(listed, file)
        _files.write_reflections(refl, columns)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # one says where a kernel could not be compiled
            result = self.refined(expt, refl, [*BEAM, "-hkl", f"{self.folder}/truth.hkl"], parameters="panels", out=out, steps=25,
                                  images=lambda i: np.array([self.data.images[i][s:s + half, f:f + half] for f, s in corners]))
        self.assertEqual([r.status for r in result.shots], 5 * ["refined"])
        moved = np.array([[result.values[f"panels {i} {n}"][0] for n in "xy"] for i in range(4)])
        expected = np.array([[0, 0], [0, 0], [0, 0], [-5e-5, 0]])
        # Modes that crystals and cells may follow as well as all panels: shifts, turns and a larger pattern.
        place = np.array([[-1, 1], [1, 1], [-1, -1], [1, -1.0]])
        modes = np.array([[[1, 0]] * 4, [[0, 1]] * 4, place, place[:, ::-1] * [1, -1]]).reshape(4, 8).T
        left = (moved - expected).ravel()
        left -= modes @ np.linalg.lstsq(modes, left)[0]
        self.assertLess(abs(left).max(), 2e-6)
        panels = _files.read_experiments(f"{out}/refined.expt")["detector"][0]["panels"]
        self.assertEqual(len(panels), 4)
        sim = nb.Simulator.from_flags([*FLAGS, "--expt", f"{out}/refined.expt"])
        rows = np.column_stack([np.arange(40) % 4, np.arange(40), np.arange(40)]).astype("i4")
        some = sim.at_pixels(rows)
        np.testing.assert_allclose(some.image(), sim.image()[tuple(rows.T)], rtol=1e-6, atol=1e-6)
        self.assertEqual(some.engine, "fused")
        self.assertEqual(some.parameters["pixel_panel"].value.shape, some.parameters["pixel_fast"].value.shape)

    def test_wrong_inputs(self):
        def image(index):
            pixels = self.data.images[index].copy()
            if index == 0:
                pixels[:] = np.nan
            return pixels[:-1] if index == 1 else pixels
        some = f"{self.folder}/some.refl"
        _files.write_reflections(some, {n: c[self.data.columns["id"] != 2] for n, c in self.data.columns.items()})
        result = self.refined(refl=some, images=image, steps=2, rounds=1)
        self.assertEqual([r.status for r in result.shots], 3 * ["rejected"] + 2 * ["refined"])
        for shot, sentence in zip(result.shots, ("0 pixels that can be used", "shape (399, 400)", "no reflections")):
            self.assertIn(sentence, shot.why)
        for how, sentence in ((dict(flags=FLAGS), "give none: add -hkl FILE"),
                              (dict(parameters="panels", panel_groups="nowhere"), "nowhere: No such file"),
                              (dict(parameters="mosaic_spred"), "mosaic_spred"),
                              (dict(parameters="panels", restrain={"panels": 1}), "two sigmas"),
                              (dict(rounds=0), "rounds is 0"), (dict(resume=True), "give it as out="),
                              (dict(restrain={"sale": 1}), "not of sale"),
                              (dict(space_group="Q 1"), "no space group 'Q 1'"),
                              (dict(system="cubic"), "the system is cubic, where a = b = c, alpha = 90.* and the cell of experiment"),
                              (dict(images=lambda i: np.full((400, 400), np.nan)), "none of the 5 shots can be refined")):
            with self.assertRaisesRegex((ValueError, OSError), sentence):
                self.refined(**how)

    def test_command(self):
        from nanobragg.refine.__main__ import main
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            rc = main(["shared", self.data.expt, self.data.refl, "--system=tetragonal", "--space-group=P 1",
                       "--parameters=structure_factors", "--rounds=1", "--steps=2", f"--out={self.folder}/by-command", "--", *self.data.flags])
        self.assertEqual(rc, 0)
        self.assertIn("5 of 5 shots refined together", said.getvalue())
        for words, sentence in ((["stills", "--anomalous"], "'--anomalous' is an option of nb-refine shared, not of nb-refine stills"),
                                (["shared", "--workers=2"], "not of nb-refine shared")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
                main([words[0], self.data.expt, self.data.refl, *words[1:]])
            self.assertIn(sentence, said.getvalue())

    @unittest.skipUnless(importlib.util.find_spec("mpi4py") and shutil.which("mpirun"), "no MPI")
    def test_ranks_of_mpi(self):
        words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-m", "nanobragg.refine", "shared",
                 self.data.expt, self.data.refl, "--system=tetragonal", "--space-group=P 1", "--parameters=structure_factors",
                 "--rounds=2", "--steps=12", f"--out={self.folder}/mpi"]
        ended = subprocess.run([*words, "--", *self.data.flags], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for name in ("structure_factors.csv", "refined.expt"):
            with open(f"{self.folder}/mpi/{name}") as one, open(f"{self.out}/{name}") as other:
                self.assertEqual(one.read(), other.read())
        ended = subprocess.run([*words, "--", "-hkl", "nowhere.hkl"], capture_output=True, text=True)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("nowhere.hkl", ended.stderr)


if __name__ == "__main__":
    unittest.main()
