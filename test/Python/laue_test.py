"""White-beam stills: crystals, strain, camera and flux from simulated images, and one that was measured."""

import contextlib
import csv
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb
from common import load_tests  # noqa: F401

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

from nanobragg.refine import _files
from nanobragg.refine.__main__ import main
from nanobragg.refine._camera import Camera, read_camera
from nanobragg.refine._crystal import rotation
from nanobragg.refine._indexing import real_basis
from nanobragg.refine._laue_search import orientations
from nanobragg.refine._panels import BEAM
from nanobragg.refine.laue import laue
from nanobragg.refine._model import Model

HC = 12.398419843
REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "shared", "real", "laue", "ge.jp2")
# Lattice parameter (A), space group, atoms of metals.
METALS = {"Ge": (5.6575, "F d -3 m:2", "0.125 0.125 0.125"), "Cu": (3.6149, "F m -3 m", "0 0 0"), "W": (3.1652, "I m -3 m", "0 0 0")}
PIXELS, PIXEL = 1000, 0.148
TRUE = (77.6, 506.0, 556.0, 0.37, 0.35)  # LaueTools' camera above the sample
NOMINAL = (76.6, 508.5, 559.0, 0.2, 0.5)
ENERGIES = np.linspace(5.0, 27.0, 45)
FLUX = np.exp(-0.5 * ((ENERGIES - 15) / 6)**2)


def write_metal(folder, name):
    a, group, place = METALS[name]
    path = os.path.join(folder, f"{name}.cif")
    with open(path, "w") as file:
        file.write(f"data_{name}\n" + "".join(f"_cell_length_{axis} {a}\n" for axis in "abc")
                   + "".join(f"_cell_angle_{angle} 90\n" for angle in ("alpha", "beta", "gamma"))
                   + f"_symmetry_space_group_name_H-M '{group}'\nloop_\n"
                   + "\n".join(f"_atom_site_{word}" for word in ("label", "type_symbol", "fract_x", "fract_y", "fract_z", "U_iso_or_equiv"))
                   + f"\n{name}1 {name} {place} 0.007\n")
    return path


def simulated(camera, matrices, factors, flux, shape=(PIXELS, PIXELS), fluence=5e24, ncells=400, mosaic=0.03, background=20.0, seed=1, **crystal):
    """Counts of a still of crystals (columns a*, b*, c*, 1/A). flux: wavelengths (A) and densities over them."""
    total = np.zeros(shape)
    for matrix, part in matrices:
        sim = nb.Simulator(nb.Crystal(real_space=1e-10 * np.linalg.inv(matrix), shape="gauss", average="closed", average_tolerance=5e-3, ncells=ncells,
                                      mosaic_spread=np.radians(mosaic), **factors, **crystal),
                           nb.Beam(spectrum=np.column_stack([1e-10 * flux[0], flux[1]]), spectrum_between="linear", fluence=part * fluence,
                                   polarization=0.98),
                           nb.Detector.plane(1e-3 * camera.corner, camera.fast, camera.slow, shape, 1e-3 * camera.pixel, beam_direction=BEAM),
                           nb.Goniometer(axis=(0, 0, 1)), threads=2)
        total += sim.image()
    return np.random.default_rng(seed).poisson(total + background).astype(np.float32)


def upright(cell, turn, strain=0.0):
    """Columns a*, b*, c* of a cell that is strained in its own frame and turned."""
    return np.linalg.inv(rotation(np.array(turn)) @ (np.eye(3) + strain) @ real_basis(np.array(cell))).T


def listed(camera, pixels):
    """An experiment list with this camera."""
    panel = {"name": "Panel", "type": "SENSOR_PAD", "fast_axis": camera.fast.tolist(), "slow_axis": camera.slow.tolist(),
             "origin": camera.corner.tolist(), "image_size": [pixels, pixels], "pixel_size": [camera.pixel] * 2,
             "trusted_range": [-1, 1e7], "thickness": 0, "material": "", "mu": 0}
    return {"__id__": "ExperimentList", "experiment": [{"__id__": "Experiment", "beam": 0, "detector": 0}], "crystal": [], "imageset": [],
            "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.0}], "goniometer": [], "scan": [],
            "detector": [{"panels": [panel]}]}


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(["laue", *map(str, words)])
        except SystemExit as stopped:
            code = stopped.code
    return code, out.getvalue(), err.getvalue()


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Metals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.flux = HC / ENERGIES, FLUX * ENERGIES**2

    def image(self, name, matrices, **how):
        path = os.path.join(self.folder, "still.npy")
        model = write_metal(self.folder, name)
        factors = Model.read(model, HC / 27 / 2, HC / np.sqrt(5 * 27))
        np.save(path, simulated(Camera.of_lauetools(*TRUE, PIXEL), matrices,
                                {"structure_factors": (factors.grid, factors.lowest), "default_F": 0}, self.flux, **how))
        return path, model

    def index(self, name, path, model, **how):
        still, = laue([path], model, (5, 27), geometry=" ".join(map(str, (*NOMINAL, PIXEL))), workers=1, **how)
        self.assertEqual(still.status, "indexed", still.why)
        return still

    def check(self, still, crystal, cell, turn, strain):
        """In the laboratory's frame, in which it does not matter which equivalent axes were chosen."""
        found, sigma = crystal.strain(np.array(cell))
        own = np.linalg.inv(crystal.matrix).T @ np.linalg.inv(real_basis(np.array(cell)))
        own = own / np.cbrt(np.linalg.det(own)) @ np.linalg.inv(np.eye(3) + found)
        there = rotation(np.array(turn))
        off = own @ found @ own.T - there @ strain @ there.T
        self.assertLess(np.abs(off).max(), 4 * sigma.max())
        self.assertLess(sigma.max(), 5e-4)

    def check_camera(self, fit):
        true, sigma = Camera.of_lauetools(*TRUE, PIXEL), np.sqrt(np.diag(fit.covariance))
        off = [fit.camera.distance - true.distance, *(PIXEL * (fit.camera.foot - true.foot))]
        self.assertLess(np.abs(off / sigma[:3]).max(), 4)
        self.assertLess(sigma[0], 0.1)

    def test_strained(self):
        strain = 1e-3 * np.array([[0.8, 0.3, -0.5], [0.3, -1.1, 0.6], [-0.5, 0.6, 0.3]])
        for name, turn in (("Ge", (0.3, 0.5, 0.7)), ("W", (1.0, -0.4, 0.2))):
            with self.subTest(name):
                cell = [METALS[name][0]] * 3 + [90.0] * 3
                path, model = self.image(name, [(upright(cell, turn, strain), 1.0)])
                still = self.index(name, path, model, lattices=1)
                crystal, = still.crystals
                self.check(still, crystal, cell, turn, strain)
                self.check_camera(still.fit)
                flux = still.fit.flux / np.interp(HC / still.fit.nodes, ENERGIES, FLUX)
                bright = (HC / still.fit.nodes > 8) & (HC / still.fit.nodes < 23)
                np.testing.assert_allclose(flux[bright] / np.median(flux[bright]), 1, atol=0.12)

    def test_two_grains(self):
        cell = [METALS["Cu"][0]] * 3 + [90.0] * 3
        turns = (0.3, 0.5, 0.7), (-0.8, 0.1, 0.3)
        path, model = self.image("Cu", [(upright(cell, turn), part) for turn, part in zip(turns, (1.0, 0.4))])
        still = self.index("Cu", path, model)
        self.assertEqual(len(still.crystals), 2)
        for crystal, turn in zip(still.crystals, turns):
            self.check(still, crystal, cell, turn, np.zeros((3, 3)))
        self.assertAlmostEqual(still.crystals[1].scale, 0.4, delta=0.03)
        self.assertGreater(still.indexed, 0.95 * len(still.at))

    def test_command(self):
        cell = [METALS["W"][0]] * 3 + [90.0] * 3
        path, model = self.image("W", [(upright(cell, (1.0, -0.4, 0.2)), 1.0)])
        out, camera = os.path.join(self.folder, "out"), os.path.join(self.folder, "camera.det")
        with open(camera, "w") as file:
            file.write(", ".join(map(str, (*NOMINAL, PIXEL, 1000.0, 1000.0))) + "\n# kf_direction : Z>0\n")
        code, said, err = run(path, f"--model={model}", "--energies=5,27", f"--geometry={camera}", "--lattices=1", "--workers=1", "--fix=strain",
                              f"--out={out}")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(said, r"\d+ of \d+ spots indexed, 0\.\d+ pixels from their reflections, distance 77\.\d+ mm")
        (shot,), (lattice,), spots, flux = (table(os.path.join(out, name)) for name in ("shots.csv", "lattices.csv", "spots.csv", "flux.csv"))
        self.assertLess(abs(float(shot["distance_mm"]) - 77.6), 4 * float(shot["distance_sigma"]) + 0.01)
        self.assertEqual((abs(float(lattice["strain_xx"])), float(lattice["sigma_xy"])), (0, 0))
        self.assertEqual(len(spots), int(shot["indexed"]))
        for row in spots:
            h = np.array([int(row[name]) for name in "hkl"])
            matrix = np.array([float(lattice[f"{axis}*_{i}"]) for axis in "abc" for i in "xyz"]).reshape(3, 3).T
            q = matrix @ h
            energy = HC * (q @ q) / (-2 * BEAM @ q)
            self.assertAlmostEqual(float(row["energy_keV"]), energy, delta=2e-3 * energy)
            self.assertEqual(sum(h) % 2, 0)
            self.assertEqual(int(row["orders"].split()[0]), np.gcd.reduce(h))
        self.assertGreater(sum(" " in row["orders"] for row in spots), 3, "rays of several orders")
        self.assertTrue(all(float(row["flux_per_keV"]) > 0 for row in flux))
        # DIALS' files, of which the list is a geometry for the next images.
        columns = _files.read_reflections(os.path.join(out, "indexed.refl"))
        self.assertEqual(columns["harmonics"].tolist(), [" " in row["orders"] for row in spots])
        np.testing.assert_allclose(columns["wavelength"], [float(row["wavelength_A"]) for row in spots], atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(columns["s1"], axis=1), 1 / columns["wavelength"])
        again = read_camera(os.path.join(out, "indexed.expt"))
        self.assertAlmostEqual(again.distance, float(shot["distance_mm"]), delta=1e-3)
        with open(os.path.join(out, "report.html")) as file:
            page = file.read()
        self.assertEqual(page.count("<title>"), 1 + len(spots))
        self.assertIn("photons per keV", page)

    def test_no_crystal(self):
        path = os.path.join(self.folder, "noise.npy")
        rng = np.random.default_rng(2)
        image = rng.poisson(20, (PIXELS, PIXELS)).astype(np.float32)
        for x, y in rng.integers(20, PIXELS - 20, (60, 2)):
            image[y - 1:y + 2, x - 1:x + 2] += rng.poisson(300, (3, 3))
        np.save(path, image)
        still, = laue([path], write_metal(self.folder, "Cu"), (5, 20), geometry=" ".join(map(str, (*NOMINAL, PIXEL))), lattices=1, workers=1,
                      held=("distance",))
        self.assertEqual(still.status, "rejected")
        self.assertRegex(still.why, "no orientation of the cell explains enough of its")

    def test_an_unknown_file_is_rejected_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "x.txt"), "w") as file:
                file.write("no image")
            for command, more in (("laue", "--energies=5,27"), ("index", "--positions-only")):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    code = main([command, os.path.join(folder, "x.txt"), "--model=3.165 3.165 3.165 90 90 90 I m -3 m", f"--out={folder}/out", more])
                self.assertEqual(code, 1)
                self.assertRegex(out.getvalue(), "(?m)^no image is indexed, because .*x.txt: ")

    def test_refusals(self):
        path, model = os.path.join(self.folder, "dark.npy"), write_metal(self.folder, "Ge")
        np.save(path, np.zeros((100, 100), np.float32))
        geometry = "--geometry=77 50 50 0 0 0.1"
        for words, sentence in (((geometry, "--energies=27,5"), "energies is 27,5; give the lower"), ((geometry, "--energies=5"), "write 5,27"),
                                ((geometry, "--energies=5,27", "--fix=cell"), "cell is not a parameter of this fit; there are orientation, strain"),
                                ((geometry, "--energies=5,27", "--fix=orientation,strain,distance,centre,tilt"), "leave one of them out"),
                                (("--geometry=77 50", "--energies=5,27"), "neither a file nor six numbers of LaueTools"),
                                (("--geometry=-7 50 50 0 0 0.1", "--energies=5,27"), "greater than 0"),
                                ((geometry, "--energies=5,27", "--sets=3"), "--sets"),
                                ((geometry, "--energies=5000,27000"), "energies is 5000,27000; give the lower"),
                                ((geometry, "--energies=5,27", "--offset=inf"), "--offset is inf; it has to be finite"),
                                ((geometry, "--energies=5,27", "--model=0 35 34 90 90 90 P 1"), "the cell 0 35 34 90 90 90 has no volume"),
                                ((geometry, "--energies=5,27", "--model=26 35 34 90 90 200 P 1"), "has no volume"),
                                ((geometry, "--energies=5,27", "--", "-N", "5"), "have no effect on nb-refine laue")):
            with self.subTest(words):
                code, _, err = run(path, f"--model={model}", f"--out={os.path.join(self.folder, 'none')}", *words)
                self.assertNotEqual(code, 0)
                self.assertIn(sentence, err)
        code, said, _ = run(path, f"--model={model}", geometry, "--energies=5,27", f"--out={os.path.join(self.folder, 'dark')}")
        self.assertEqual(code, 1)
        self.assertIn("rejected: it has 0 spots", said)


class Proteins(unittest.TestCase):
    def test_orientation_in_a_white_beam(self):
        """The lattice is found among 4,000 rays though the camera is off by two pixels along each edge, and 1 mm in distance."""
        cell, turn = [78.0, 80.0, 83.0, 90.0, 90.0, 90.0], (0.3, 0.5, 0.7)
        wavelengths = np.linspace(0.8, 1.6, 81)
        sim = nb.Simulator(nb.Crystal(real_space=1e-10 * np.linalg.inv(upright(cell, turn)), shape="gauss", average="closed", ncells=60, dmin=2.4e-10,
                                      structure_factors=(np.random.default_rng(3).rayleigh(100, (81,) * 3), (-40,) * 3)),
                           nb.Beam(spectrum=np.column_stack([1e-10 * wavelengths, np.ones(81)]), spectrum_between="linear", fluence=1e24),
                           nb.Detector.plane((-0.06, 0.058, -0.15), (1, 0, 0), (0, -1, 0), (PIXELS, PIXELS), 1.2e-4, beam_direction=BEAM))
        table = sim.reflections()
        bright = np.argsort(-table.photons)[:400]
        camera = Camera(np.array([-59.75, 57.8, -149.0]), np.array([1.0, 0, 0]), np.array([0.0, -1, 0]), 0.12)
        q, sines = camera.directions(np.column_stack([table.fast, table.slow])[bright])
        model = Model.read(" ".join(map(str, cell)) + " P 21 21 21", 1.0, 1.1)
        found = orientations(q, sines, table.photons[bright], model, (0.8, 1.6), np.radians(0.12))
        matrix, true = found[0][1] @ np.linalg.inv(real_basis(np.array(cell))).T, upright(cell, turn)
        turns = [matrix @ np.diag(d) @ np.linalg.inv(true) for d in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]
        self.assertLess(min(np.linalg.norm(one - np.eye(3)) for one in turns), np.radians(0.5))

    def test_white_with_two_choices_of_axes(self):
        """Light tells which of two axes is a, where spots stand at the same places."""
        cell, turn, count = [46.0, 46.0, 60.0, 90.0, 90.0, 90.0], (0.3, 0.5, 0.7), 24
        camera = Camera(np.array([-45.0, 44.0, -150.0]), np.array([1.0, 0, 0]), np.array([0.0, -1, 0]), 0.15)
        hkl = np.stack(np.meshgrid(*[np.arange(-count, count + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        grid = np.random.default_rng(3).rayleigh(100, [2 * count + 1] * 3)
        orbit = [hkl @ m for m in ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])]
        orbit = np.array([sign * one @ np.diag(d) for one in orbit for d in ((1, 1, 1), (-1, -1, 1)) for sign in (1, -1)])
        first = np.lexsort(orbit.transpose(2, 0, 1), axis=0)[0]
        F = grid[tuple((orbit[first, np.arange(len(hkl))] + count).T)]
        F = np.where(hkl.sum(axis=1) % 2, 0, F).reshape(grid.shape)
        wavelengths = np.linspace(0.75, 1.5, 81)
        with tempfile.TemporaryDirectory() as folder:
            model, path = os.path.join(folder, "model.mtz"), os.path.join(folder, "still.npy")
            use = (F.ravel() > 0) & (np.linalg.norm(hkl / cell[:3], axis=1) < 0.35)
            with open(model, "wb") as file:
                file.write(nb._core.mtz("I 4", cell, 1.0, [("F", "F"), ("SIGF", "Q")],
                                        np.column_stack([hkl, F.ravel(), F.ravel() / 100])[use]))
            for swap in (np.eye(3), np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])):
                true = upright(cell, turn) @ swap
                np.save(path, simulated(camera, [(true, 1.0)], {"structure_factors": (F, (-count,) * 3), "default_F": 0, "dmin": 2.9e-10},
                                        (wavelengths, np.ones(81)), shape=(600, 600), fluence=2e25, ncells=60, mosaic=0.05, background=1.0))
                geometry = os.path.join(folder, "camera.expt")
                with open(geometry, "w") as file:
                    json.dump(listed(camera, 600), file)
                still, = laue([path], model, (HC / 1.5, HC / 0.75), geometry=geometry, lattices=1, workers=1, noise=(1.0, 0.0))
                self.assertEqual((still.status, still.verdict[0]), ("indexed", "good"), still.verdict)
                turns = [np.linalg.matrix_power(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), n) for n in range(4)]
                off = [still.crystals[0].matrix @ one @ np.linalg.inv(true) - np.eye(3) for one in turns]
                self.assertLess(min(map(np.linalg.norm, off)), 0.01)

    def test_pink(self):
        """The slope of a narrow spectrum moves spots by pixels; camera and flux come out."""
        cell, group = [78.0, 80.0, 83.0, 90.0, 90.0, 90.0], "P 21 21 21"
        camera = Camera(np.array([-60.0, 58.0, -150.0]), np.array([1.0, 0, 0]), np.array([0.0, -1, 0]), 0.12)
        rng = np.random.default_rng(3)
        grid = rng.rayleigh(100, (61, 61, 61))
        wavelengths = np.linspace(0.94, 1.06, 61)
        flux = wavelengths, np.exp(-0.5 * ((wavelengths - 1) / 0.0127)**2)
        turn = (0.3, 0.5, 0.7)
        image = simulated(camera, [(upright(cell, turn), 1.0)], {"structure_factors": (grid, (-30, -30, -30)), "default_F": 0}, flux,
                          fluence=3e27, ncells=30, mosaic=0.05)
        with tempfile.TemporaryDirectory() as folder:
            path, geometry = os.path.join(folder, "still.npy"), os.path.join(folder, "camera.expt")
            np.save(path, image)
            with open(geometry, "w") as file:
                json.dump(listed(Camera(np.array([-60.3, 58.2, -151.0]), camera.fast, camera.slow, 0.12), PIXELS), file)
            still, = laue([path], " ".join(map(str, cell)) + " " + group, (HC / 1.035, HC / 0.965), geometry=geometry, lattices=1, workers=1,
                          noise=(1.0, 0.0))
        self.assertEqual(still.status, "indexed", still.why)
        self.assertGreater(still.indexed, 0.7 * len(still.at))
        self.assertLess(np.abs(still.fit.camera.corner - camera.corner)[:2].max(), 0.05)
        self.assertLess(abs(still.fit.camera.distance - 150), 0.3)
        matrix, true = still.crystals[0].matrix, upright(cell, turn)
        # Two-fold axes about a, b and c leave the lattice as it is.
        turns = [matrix @ np.diag(d) @ np.linalg.inv(true) for d in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]
        self.assertLess(min(np.linalg.norm(one - np.eye(3)) for one in turns), 5e-3)
        wavelength, density = still.fit.nodes, still.fit.flux / still.fit.nodes**2
        mean = np.average(wavelength, weights=density)
        self.assertAlmostEqual(mean, 1, delta=7e-3)  # as far as the distance is off
        self.assertAlmostEqual(np.sqrt(np.average((wavelength - mean)**2, weights=density)), 0.0127, delta=3e-3)


@unittest.skipUnless(os.path.exists(REAL), "there are no images of ../shared/real")
@unittest.skipUnless(importlib.util.find_spec("fabio"), "there is no fabio, which reads JPEG 2000")
class Measured(unittest.TestCase):
    """Germanium in a white beam (ESRF BM32)."""

    def test_germanium(self):
        with tempfile.TemporaryDirectory() as folder:
            still, = laue([REAL], write_metal(folder, "Ge"), (5, 27), geometry="76.305 1026.66 1128.34 0.346 0.361 0.0734", workers=1)
        self.assertEqual(still.status, "indexed", still.why)
        crystal, = still.crystals
        away = np.full(len(still.at), np.inf)
        away[crystal.spot] = np.linalg.norm(crystal.off, axis=1)
        self.assertGreaterEqual((away[:176] < 0.5).sum(), 174)
        self.assertLess(abs(still.fit.camera.distance - 77.60), 0.1)
        energy, flux = HC / still.fit.nodes, still.fit.flux
        self.assertTrue((flux > 0).all())
        self.assertLess(np.abs(np.diff(np.log(flux), 2)).max(), 2.5, "smooth")
        self.assertTrue(20 < energy[np.argmax(flux)] < 24)
        self.assertLess(flux[-1], 0.1 * flux.max(), "the spectrum reaches 26.4 keV")


if __name__ == "__main__":
    unittest.main()
