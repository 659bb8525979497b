"""Experiments that are built from numbers: no flag, no file, no number that stands for another."""

import json
import pathlib
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import nanobragg as nb

A, mm, deg = nb.angstrom, nb.millimeter, nb.degree
CELL = dict(cell=(70 * A, 80 * A, 90 * A, 90 * deg, 90 * deg, 90 * deg), default_F=100, ncells=8)


def plate(**more):
    return nb.Detector(**dict(convention="xds", distance=100 * mm, pixel_size=0.5 * mm, shape=(60, 64), oversample=1) | more)


def image(*parts, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nb.Warning)
        return nb.Simulator(*parts, **more).image()


class Orientation(unittest.TestCase):
    def test_each_way_gives_the_same_crystal(self):
        angles = np.array([20, -35, 70]) * deg
        x, y, z = np.eye(3)
        about = lambda axis, angle: np.eye(3) + np.sin(angle) * np.cross(np.eye(3), axis) + (1 - np.cos(angle)) * (np.outer(axis, axis) - np.eye(3))
        turn = about(z, angles[2]) @ about(y, angles[1]) @ about(x, angles[0])
        w = np.sqrt(1 + np.trace(turn)) / 2
        quaternion = [w, *(np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (4 * w))]
        vectors = (turn @ np.diag([70, 80, 90])).T * A
        expected = image(nb.Crystal(**CELL, misset=angles), plate())
        self.assertGreater(expected.max(), 1e3)
        size = {name: value for name, value in CELL.items() if name != "cell"}
        for how in (dict(CELL, rotation=turn), dict(CELL, rotation=quaternion), dict(size, real_space=vectors),
                    dict(size, matrix=np.linalg.inv(vectors))):
            with self.subTest(sorted(how)):
                np.testing.assert_allclose(image(nb.Crystal(**how), plate()), expected, rtol=1e-7, atol=1e-9 * expected.max())

    def test_what_is_printed_are_the_fields_that_are_set(self):
        self.assertEqual(repr(nb.Beam(wavelength=1e-10, fluence=1e24)), "Beam(wavelength=1e-10, fluence=1e+24)")

    def test_a_random_one_is_one_call(self):
        one, same, other = nb.random_rotation(3), nb.random_rotation(3), nb.random_rotation(4)
        np.testing.assert_allclose(one @ one.T, np.eye(3), atol=1e-12)
        np.testing.assert_array_equal(one, same)
        self.assertGreater(abs(one - other).max(), 0.1)
        corners = np.array([nb.random_rotation(seed)[:, 2] for seed in range(1, 2001)])
        np.testing.assert_allclose(corners.mean(axis=0), 0, atol=0.06)
        np.testing.assert_allclose((corners**2).mean(axis=0), 1 / 3, atol=0.03)
        sims = [nb.Simulator(nb.Crystal(**CELL, misset="random", misset_seed=seed), plate()) for seed in (5, 5, 6)]
        np.testing.assert_array_equal(sims[0]["misset"], sims[1]["misset"])
        self.assertGreater(abs(sims[0]["misset"] - sims[2]["misset"]).max(), 1e-3)

    def test_one_way_alone(self):
        for how in (dict(misset=(0, 0, 1), rotation=np.eye(3)), dict(matrix=np.eye(3), real_space=np.eye(3))):
            with self.assertRaisesRegex(ValueError, "give one of them"):
                nb.Simulator(nb.Crystal(**CELL, **how), plate())
        with self.assertRaisesRegex(ValueError, "not a rotation"):
            nb.Simulator(nb.Crystal(**CELL, rotation=2 * np.eye(3)), plate())


class Detectors(unittest.TestCase):
    crystal = nb.Crystal(**CELL, misset=(0.3, 0.2, 0.1))

    def test_panels_are_placed_as_a_plane_is(self):
        whole = image(self.crystal, nb.Detector.plane((-15 * mm, -14 * mm, 90 * mm), (1, 0, 0), (0, 1, 0), (56, 60), 0.5 * mm, oversample=1))
        self.assertGreater(whole.max(), 1e3)
        panels = [nb.Panel((-15 * mm + 30 * i * 0.5 * mm, -14 * mm, 90 * mm), (1, 0, 0), (0, 1, 0), (56, 30)) for i in (0, 1)]
        parts = image(self.crystal, nb.Detector(panels=panels, pixel_size=0.5 * mm, oversample=1))
        self.assertEqual(parts.shape, (2, 56, 30))
        np.testing.assert_allclose(np.hstack(parts), whole, rtol=1e-7, atol=1e-9 * whole.max())

    def test_a_tilted_plane_stands_where_it_is_put(self):
        fast, slow = np.array([np.cos(0.4), 0, -np.sin(0.4)]), np.array([0, -1.0, 0])
        origin = np.array([-12, 15, 80]) * mm
        sim = nb.Simulator(self.crystal, nb.Detector.plane(origin, fast, slow, (50, 40), 0.4 * mm, oversample=1))
        np.testing.assert_allclose(sim.trace(7, 9)["pixel_pos_meters"], origin + (9.5 * fast + 7.5 * slow) * 0.4 * mm, atol=1e-9)

    def test_one_place_alone(self):
        panel = nb.Panel((0, 0, 0.1), (1, 0, 0), (0, 1, 0), (8, 8))
        with self.assertRaisesRegex(ValueError, "Detector.distance and Detector.panels both describe the detector"):
            nb.Simulator(self.crystal, nb.Detector(panels=[panel], distance=0.1, pixel_size=1e-3))
        with self.assertRaisesRegex(ValueError, "give Detector.pixel_size"):
            nb.Simulator(self.crystal, nb.Detector(panels=[panel]))
        with self.assertRaisesRegex(ValueError, "plane goes through the sample"):
            nb.Simulator(self.crystal, nb.Detector(panels=[nb.Panel((0, 0, 0), (1, 0, 0), (0, 1, 0), (8, 8))], pixel_size=1e-3))


class Parts(unittest.TestCase):
    def test_the_same_as_by_flags(self):
        flags = ("-cell 70 80 90 90 90 90 -default_F 100 -N 8 -misset 10 20 30 -xds -distance 100 -pixel 0.5 -detpixels_s 60 -detpixels_f 64 "
                 "-oversample 1 -lambda 1.2 -polar 0.9 -mosaic 0.3 -mosaic_dom 4 -osc 0.5 -phisteps 3 -detector_thick 300 -detector_abs 400 "
                 "-water 5 -divergence 1 -hdivsteps 2 -vdivsteps 2 -dispersion 1 -dispsteps 2 -dmin 1.5 -gain 3")
        parts = (nb.Crystal(**CELL, misset=(10 * deg, 20 * deg, 30 * deg), mosaic_spread=0.3 * deg, mosaic_domains=4, dmin=1.5 * A),
                 nb.Beam(wavelength=1.2 * A, polarization=0.9, water=5 * nb.micrometer, hdivergence=1e-3, vdivergence=1e-3, divergence_steps=(2, 2),
                         dispersion=0.01, dispersion_steps=2),
                 plate(thickness=300 * nb.micrometer, attenuation_depth=400 * nb.micrometer, gain=3),
                 nb.Goniometer(osc=0.5 * deg, phi_steps=3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nb.Warning)
            by_flags = nb.Simulator.from_flags(flags).image()
        np.testing.assert_allclose(image(*parts), by_flags, rtol=1e-12, atol=1e-12 * by_flags.max())

    def test_a_background_from_numbers(self):
        water = dict(thickness=1e-4, density=1e3, molar_mass=18e-3)
        stol, factor = np.array([0, 0.2, 0.5]) / A, [2.6, 6.8, 3.2]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "table.stol")
            file.write_text("0 2.6\n0.2 6.8\n0.5 3.2\n")
            by_file = image(nb.Beam(background=str(file)), plate())
        by_numbers = image(nb.Beam(background=nb.Background(stol=stol, factor=factor, **water)), plate())
        self.assertGreater(by_file.min(), 0)
        np.testing.assert_allclose(by_numbers, by_file, rtol=1e-12)
        with self.assertRaisesRegex(ValueError, "ascending"):
            nb.Simulator(nb.Beam(background=nb.Background(stol=[2, 1], factor=[1, 1])), plate())

    def test_a_list_of_dials_under_other_parts(self):
        listed = {"__id__": "ExperimentList", "experiment": [{"beam": 0, "detector": 0, "crystal": 0}],
                  "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.1, "polarization_normal": [0, 1, 0],
                            "polarization_fraction": 0.99}],
                  "crystal": [{"__id__": "crystal", "real_space_a": [70, 0, 0], "real_space_b": [0, 80, 0], "real_space_c": [0, 0, 90],
                               "space_group_hall_symbol": " P 1"}],
                  "detector": [{"panels": [{"fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "origin": [-15, 14, -90], "image_size": [60, 56],
                                            "pixel_size": [0.5, 0.5], "gain": 1, "trusted_range": [0, 1e6], "name": "", "type": "",
                                            "thickness": 0, "mu": 0, "material": "", "px_mm_strategy": {"type": "SimplePxMmStrategy"}}]}]}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.expt")
            file.write_text(json.dumps(listed))
            size = dict(default_F=100, ncells=8)
            sim = nb.Simulator(nb.Expt(file=file), nb.Crystal(**size))
            with self.assertRaisesRegex(TypeError, "Expt takes its fields by name: Expt.file="):
                nb.Expt(file)
            self.assertEqual((sim.shape, round(sim["wavelength"] / A, 9)), ((56, 60), 1.1))
            other = nb.Simulator(nb.Expt(file=file), nb.Crystal(**size), nb.Beam(wavelength=1.3 * A))
            self.assertAlmostEqual(other["wavelength"] / A, 1.3)
            plane = nb.Detector.plane((-10 * mm, 10 * mm, -80 * mm), (1, 0, 0), (0, -1, 0), (30, 40), 0.5 * mm)
            plane.beam_direction = plane.polarization_axis = None
            moved = nb.Simulator(nb.Expt(file=file), nb.Crystal(**size), plane)
            self.assertEqual(moved.shape, (30, 40))
            self.assertAlmostEqual(moved["close_distance"], 80 * mm)
            np.testing.assert_array_equal(moved["beam_direction"], sim["beam_direction"])

    def test_settings(self):
        sim = nb.Simulator(nb.Crystal(**CELL), plate(), precision="mixed", cull=1e-7, threads=1)
        self.assertEqual(sim._core.options()["settings"]["cull"], "1e-7")
        copy = pickle.loads(pickle.dumps(sim))
        self.assertEqual(copy._core.options()["settings"]["cull"], "1e-7")
        np.testing.assert_array_equal(copy.image(), sim.image())
        state = sim._core.state()
        self.assertEqual(sorted(state), ["experiment", "settings", "version"])
        with self.assertRaisesRegex(ValueError, "pickled by version 0.0.0 of nanobragg"):
            nb._core.restore(dict(state, version="0.0.0"))
        for how, kind, words in ((dict(cull="some"), ValueError, "cull=some is not off, exact or"), (dict(culls=1), TypeError, "closest is 'cull'"),
                                 (dict(compat="d"), ValueError, "compat='d' is not right, c, noisify or simtbx")):
            with self.assertRaisesRegex(kind, words):
                nb.Simulator(nb.Crystal(**CELL), plate(), **how)


class Words(unittest.TestCase):
    def test_errors_name_fields_and_si(self):
        for parts, words in (
                ((nb.Crystal(default_F=1),), "no unit cell; set Crystal.cell, Crystal.matrix or Crystal.real_space"),
                ((nb.Crystal(cell=CELL["cell"]),), "no structure factors; set Crystal.structure_factors, Crystal.hkl or"),
                ((nb.Crystal(**CELL), plate(distance=-0.1)), "Detector.distance: -0.1 m is out of range; it must be greater than 0"),
                ((nb.Crystal(**dict(CELL, cell=(-7e-9, 8e-9, 9e-9, 1.5, 1.5, 1.5))),), "Crystal.cell: -7e-09 m is out of range"),
                ((nb.Crystal(**CELL), nb.Beam(dispersion=-0.5)), "Beam.dispersion: -0.5 is out of range; it must be at least 0 and less than 2"),
                ((nb.Crystal(**CELL, average="closed"), plate()), "Crystal.average: only Gaussian crystals .* Crystal.shape='gauss'"),
                ((nb.Crystal(**CELL), nb.Beam(bandwidth_sigma=1e-3), plate()), "Beam.bandwidth_sigma is averaged .* Crystal.average='closed'"),
                ((nb.Crystal(**CELL), plate(dead_time=1e-6)), "Detector.dead_time needs .* Beam.exposure")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words) as caught:
                nb.Simulator(*parts)
            self.assertNotRegex(str(caught.exception), r"(?<![\w.])--?[a-zA-Z]")

    def test_fields_without_effect(self):
        with self.assertWarnsRegex(nb.Warning, r"Beam.exposure has no effect: it applies only with Beam.flux or Detector.dead_time"):
            nb.Simulator(nb.Crystal(**CELL), nb.Beam(exposure=2.0), plate())


if __name__ == "__main__":
    unittest.main()
