"""Tables of reflections: against images, lines of a spectrum, differences, other engines; their files."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import nanobragg as nb

SIZE = 500
FLAGS = (f"-lambda 1 -distance 100 -detpixels {SIZE} -pixel 0.07 -gauss_xtal -N 10 -cell 70 80 90 85 95 100 -misset 17 29 41 "
         "-default_F 100 -fluence 1e24 --average=closed")
BLOCKS = "-mosaic 0.2 --bandwidth-sigma=0.2 -divergence_sigma 0.4"
COLUMNS = ("photons", "partiality", "fast", "slow", "angle", "covariance", "wavelength", "wavelength_sigma")


def simulator(*more, **settings):
    return nb.Simulator.from_flags(" ".join([FLAGS, *more]), threads=1, **settings)


def spots_of(image, table):
    """(row, photons, centre, covariance) of spots in the image that stand alone."""
    every = np.stack([table.fast, table.slow], -1)
    reach = 5.5 * np.sqrt(np.linalg.eigvalsh(table.covariance)[:, 1]) + 2
    for i in np.argsort(-table.photons)[:200]:
        if table.partiality[i] < 0.05 or not (reach[i] < every[i]).all() or not (every[i] < SIZE - reach[i]).all():
            continue
        near = np.hypot(*(every - every[i]).T) < 1.5 * (reach + reach[i])
        if (near & (table.photons > 1e-5 * table.photons[i])).sum() > 1:
            continue
        first, last = np.floor(every[i] - reach[i]).astype(int), np.ceil(every[i] + reach[i]).astype(int)
        box = image[first[1]:last[1], first[0]:last[0]]
        slow, fast = np.mgrid[first[1]:last[1], first[0]:last[0]] + 0.5
        total = box.sum()
        centre = np.array([(box * fast).sum(), (box * slow).sum()]) / total
        away = np.stack([fast - centre[0], slow - centre[1]])
        # The pixels' own extent is not a part of the spot.
        yield i, total, centre, np.einsum("iyx,jyx,yx->ij", away, away, box) / total - np.eye(2) / 12


class Reflections(unittest.TestCase):
    def check(self, *flags, photons=3e-3, place=0.01, variance=0.01):
        image = simulator(*flags, "--average-tolerance=1e-5 --cull=1e-9").image()
        table = simulator(*flags).reflections(1e-9)
        spots = list(spots_of(image, table))
        self.assertGreater(len(spots), 10)
        rows = [spot[0] for spot in spots]
        _, light, centre, covariance = (np.array(column) for column in zip(*spots))
        np.testing.assert_allclose(light, table.photons[rows], rtol=photons)
        np.testing.assert_allclose(np.median(light / table.photons[rows]), 1, rtol=5e-4)
        np.testing.assert_allclose(centre, np.stack([table.fast, table.slow], -1)[rows], atol=place, rtol=0)
        scale = np.trace(table.covariance[rows], axis1=1, axis2=2)[:, None, None]
        np.testing.assert_allclose(covariance / scale, table.covariance[rows] / scale, atol=variance)

    def test_a_still(self):
        self.check(BLOCKS)

    def test_a_rotation(self):
        self.check(BLOCKS, "-phi 10 -osc 0.5")

    def test_lines_of_a_spectrum(self):
        self.check("-mosaic 0.2 -dispersion 0.4 -dispsteps 3 --bandwidth-sigma=0.1")

    def test_blocks_that_turn_about_axes_of_the_crystal(self):
        self.check("-mosaic_abc 0.1 0.2 0.3 -Ncells_def 2 1 -1", photons=3e-3)

    def test_layers_of_a_thick_sensor(self):
        self.check(BLOCKS, "-detector_thick 450 -detector_abs 300 -detector_thicksteps 5")

    def test_a_turned_detector(self):
        self.check(BLOCKS, "-twotheta 20 -detector_rotx 5 -detector_rotz 3")

    def test_a_curved_detector(self):
        self.check(BLOCKS, "-curved_det")

    def test_panels(self):
        pixel, half = 0.07e-3, 0.5 * SIZE * 0.07e-3
        panel = lambda z: nb.Panel((0.1, half, z - half), (0, 0, 1), (0, -1, 0), (SIZE, SIZE // 2))
        parts = (nb.Crystal(cell=(70e-10, 80e-10, 90e-10, 1.5, 1.65, 1.75), misset=(0.3, 0.5, 0.7), shape="gauss", ncells=(10, 10, 10), default_F=100,
                            mosaic_spread=3e-3),
                 nb.Beam(wavelength=1e-10, fluence=1e24))
        one = nb.Simulator(*parts, nb.Detector(panels=[panel(0)], pixel_size=pixel)).reflections()
        both = nb.Simulator(*parts, nb.Detector(panels=[panel(0), panel(half)], pixel_size=pixel))
        two = both.reflections()
        first = two.panel == 0
        self.assertEqual(len(one.photons), first.sum())
        self.assertGreater((~first).sum(), 20)
        for name in COLUMNS:
            np.testing.assert_allclose(two[name][first], one[name], rtol=1e-9, atol=1e-12)
        image = both.image()
        for panel, fast, slow, photons in zip(two.panel, two.fast.astype(int), two.slow.astype(int), two.photons):
            if 12 < fast < SIZE // 2 - 12 and 12 < slow < SIZE - 12:
                self.assertGreater(image[panel, slow - 8:slow + 9, fast - 8:fast + 9].sum(), 0.8 * photons)

    def test_wavelengths_are_those_of_many_lines(self):
        """Mean and width of the light in a spot, of a normal spectrum and of a pink one."""
        for sigma, lines in ((0.2, 61), (1.5, 241)):
            table = simulator(f"-mosaic 0.1 --bandwidth-sigma={sigma}").reflections(1e-2)
            at = np.linspace(-5, 5, lines)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "lines.txt")
                energy = 12398.419843320026 / (1 + at * sigma / 100)
                np.savetxt(path, np.stack([energy, np.exp(-at**2 / 2)], -1))
                summed = simulator(f"-mosaic 0.1 --spectrum={path}").reflections(1e-6)
            found = {tuple(index): i for i, index in enumerate(summed.miller_index.tolist())}
            rows = [found[tuple(index)] for index in table.miller_index.tolist()]
            for name in ("photons", "wavelength", "wavelength_sigma"):
                np.testing.assert_allclose(table[name], summed[name][rows], rtol=1e-3 if name != "photons" else 5e-3, err_msg=name)

    def test_engines_agree(self):
        for flags in (BLOCKS, BLOCKS + " -osc 0.3"):
            table = simulator(flags).reflections()
            for other in (dict(engine="interpreter"), dict(device="gpu-on-cpu")):
                again = simulator(flags, **other).reflections()
                for name, column in table.items():
                    np.testing.assert_allclose(again[name], column, rtol=1e-9, atol=1e-12 * abs(column).max(), err_msg=name)

    def test_derivatives(self):
        sim = simulator(BLOCKS, "-osc 0.3")
        wrt = {"cell_a": 1e-14, "mosaic_spread": 1e-7, "osc": 1e-7}
        table = sim.reflections(1e-2)
        directions = [{name: 1.0} for name in wrt]
        slopes = table.jvps(directions)
        rng = np.random.default_rng(3)
        weights = {name: rng.normal(size=table[name].shape) / abs(table[name]).max() for name in COLUMNS}
        gradient = table.vjp(list(wrt), **weights)
        for (name, step), slope in zip(wrt.items(), slopes):
            total = sum((weights[column] * slope[column]).sum() for column in COLUMNS)
            np.testing.assert_allclose(gradient[name], total, rtol=1e-9, err_msg=name)
            now, moved = sim[name], []
            for sign in (1, -1):
                sim[name] = now + sign * step
                moved.append(sim.reflections(1e-4))
            sim[name] = now
            places = [{tuple(index): i for i, index in enumerate(m.miller_index.tolist())} for m in moved]
            rows = [[place[tuple(index)] for index in table.miller_index.tolist()] for place in places]
            for column in COLUMNS:
                difference = (moved[0][column][rows[0]] - moved[1][column][rows[1]]) / (2 * step)
                # Rounding of the differences is the limit for numbers that hardly change.
                tolerance = 2e-5 * abs(difference).max() + 1e-12 * abs(table[column]).max() / step
                np.testing.assert_allclose(slope[column], difference, rtol=0, atol=tolerance, err_msg=f"{column} by {name}")

    def test_columns_of_a_still_that_stay_along_several_directions(self):
        table = simulator(BLOCKS).reflections(0.1)
        one, two = table.jvps([{"distance": 1.0}, {"distance": 2.0}])
        np.testing.assert_array_equal(one["angle"], 0)
        np.testing.assert_array_equal(two["angle"], 0)
        np.testing.assert_allclose(two["fast"], 2 * one["fast"])
        self.assertGreater(np.abs(one["fast"]).max(), 100)

    def test_rows_that_are_asked_for(self):
        for flags in (BLOCKS, BLOCKS + " -osc 0.3"):
            sim = simulator(flags)
            table = sim.reflections()
            some = np.random.default_rng(5).permutation(len(table.photons))[:50]
            rows = sim.reflections(miller_index=table.miller_index[some], panel=table.panel[some], angle=table.angle[some])
            for name, column in table.items():
                np.testing.assert_array_equal(rows[name], column[some], err_msg=name)
            gradient = rows.vjp("cell_a", photons=np.ones(50))
            weights = np.bincount(some, minlength=len(table.photons)).astype(float)
            np.testing.assert_allclose(gradient["cell_a"], sim.reflections().vjp("cell_a", photons=weights)["cell_a"], rtol=1e-10)

    def test_rows_that_have_no_spot(self):
        sim = simulator(BLOCKS)
        table = sim.reflections()
        seen = table.miller_index[:2]
        rows = sim.reflections(miller_index=[[200, 0, 0], *seen, [90, 0, 0]])
        np.testing.assert_array_equal(rows.panel, [-1, 0, 0, -1])
        np.testing.assert_array_equal(rows.photons[[0, 3]], 0)
        self.assertTrue(np.isnan(rows.fast[[0, 3]]).all())
        np.testing.assert_array_equal(rows.fast[1:3], table.fast[:2])
        self.assertEqual(rows.vjp("distance", fast=np.ones(4)), sim.reflections(miller_index=seen).vjp("distance", fast=np.ones(2)))
        slope = sim.reflections(miller_index=rows.miller_index).jvp({"distance": 1.0})["fast"]
        np.testing.assert_array_equal(slope[[0, 3]], 0)
        none = sim.reflections(miller_index=[[200, 0, 0]])
        self.assertEqual(none.vjp("distance", fast=np.ones(1)), {"distance": 0.0})
        self.assertEqual(len(sim.reflections(miller_index=np.zeros((0, 3), int)).photons), 0)

    def test_rows_that_are_refused(self):
        sim = simulator(BLOCKS)
        for words, keywords in (("miller_index is an array \\(3,\\)", dict(miller_index=[1, 2, 3])), ("whole numbers", dict(miller_index=[[1.5, 2, 3]])),
                                ("panel has shape \\(2,\\)", dict(miller_index=[[1, 2, 3]], panel=[0, 0])),
                                ("give that, too", dict(angle=[0.0]))):
            with self.assertRaisesRegex(ValueError, words):
                sim.reflections(**keywords)

    def test_tables_of_many_experiments(self):
        sim = simulator(BLOCKS)
        distances = [0.1, 0.11, 0.12]
        tables = sim.reflection_tables({"distance": distances}, 0.05)
        one = sim.copy()
        for distance, table in zip(distances, tables):
            one["distance"] = distance
            for name, column in one.reflections(0.05).items():
                np.testing.assert_array_equal(table[name], column, err_msg=name)
        with self.assertRaisesRegex(ValueError, "many experiments have no derivatives"):
            tables[0].jvp({"distance": 1.0})

    def test_reflections_without_a_structure_factor_have_places(self):
        sim = simulator(BLOCKS)
        table = sim.reflections()
        sim["default_F"] = 0.0
        dark = sim.reflections()
        np.testing.assert_array_equal(dark.photons, 0)
        for name in set(table) - {"photons"}:
            # Without light its slope does not move the mean.
            atol = 5e-3 if name in ("fast", "slow") else 1e-12
            np.testing.assert_allclose(dark[name], table[name], rtol=1e-9, atol=atol)

    def test_least_partiality_and_resolution(self):
        sim = simulator(BLOCKS)
        self.assertGreaterEqual(sim.reflections(0.5).partiality.min(), 0.5)
        self.assertLess(len(sim.reflections(0.5).photons), len(sim.reflections(0.01).photons))
        near = simulator(BLOCKS, "-dmin 8").reflections()
        self.assertLess(len(near.photons), 0.7 * len(sim.reflections().photons))
        for least in (0, -1, 2, np.nan):
            with self.assertRaisesRegex(ValueError, "least partiality"):
                sim.reflections(least)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "Gaussian crystals"):
            nb.Simulator.from_flags("-cell 70 80 90 90 90 90 -default_F 10 -N 5 -detpixels 50").reflections()
        with self.assertRaisesRegex(ValueError, "set its averaging to closed"):
            nb.Simulator.from_flags("-cell 70 80 90 90 90 90 -default_F 10 -N 5 -detpixels 50 -gauss_xtal -oversample 1").reflections()
        sim = simulator(BLOCKS)
        table = sim.reflections()
        with self.assertRaisesRegex(ValueError, "not a differentiable column"):
            table.vjp("cell_a", phot=table.photons)
        with self.assertRaisesRegex(ValueError, "shape"):
            table.vjp("cell_a", photons=[1.0])
        sim.reflections()
        with self.assertRaisesRegex(ValueError, "another table"):
            table.jvp({"cell_a": 1.0})
        with self.assertRaises(AttributeError):
            table.intensity()

    def test_files(self):
        table = simulator(BLOCKS, "-osc 0.3").reflections()
        with tempfile.TemporaryDirectory() as folder:
            run = lambda name: subprocess.run([sys.executable, "-m", "nanobragg.simulate", *FLAGS.split(), *BLOCKS.split(), "-osc", "0.3", "-nonoise",
                                               "-nopgm", f"--reflections={name}"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(run("t.npz").returncode, 0)
            kept = np.load(os.path.join(folder, "t.npz"))
            self.assertEqual(set(kept), set(table))
            for name in table:
                np.testing.assert_array_equal(kept[name], table[name])
            self.assertEqual(run("t.csv").returncode, 0)
            with open(os.path.join(folder, "t.csv"), newline="") as file:
                rows = list(csv.DictReader(file))
            np.testing.assert_array_equal([float(row["photons"]) for row in rows], table.photons)
            np.testing.assert_array_equal([[int(row[i]) for i in "hkl"] for row in rows], table.miller_index)
            np.testing.assert_array_equal([float(row["covariance_fs"]) for row in rows], table.covariance[:, 0, 1])
            refused = run("t.txt")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--reflections=t.txt: a table of reflections ends in .refl (DIALS), .npz (NumPy) or .csv", refused.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "t.txt")))


class PixelsOfPanels(unittest.TestCase):
    def test_lists_over_panels_are_the_image(self):
        """A short list is averaged pixel by pixel, a long one by a table of the reflections that reach its pixels."""
        panels = [nb.Panel((-0.02 + 0.011 * i, 0.01, 0.05 + 0.001 * i), (1, 0, 0.02 * i), (0, -1, 0), (100, 100)) for i in range(4)]
        sim = nb.Simulator(nb.Crystal(cell=[40e-10, 50e-10, 60e-10, *[np.pi / 2] * 3], ncells=20, shape="gauss", average="closed",
                                      average_tolerance=1e-3, mosaic_abc=[2e-3] * 3, default_F=100),
                           nb.Beam(wavelength=1e-10, divergence_sigma=2e-4), nb.Detector(panels=panels, pixel_size=1e-4), threads=1)
        whole = sim.image()
        random = np.random.default_rng(0)
        for count in (300, 9000):
            with self.subTest(count):
                rows = np.column_stack([random.integers(0, 4, count), random.integers(20, 60, count), random.integers(0, 100, count)])
                listed = sim.at_pixels(rows)
                got = listed.image()
                self.assertIn("table" if count > 8192 else "the image is small", listed.averages)
                np.testing.assert_allclose(got, whole[tuple(rows.T)], atol=2e-3 * whole.max())
                if count < 8192:
                    continue
                function = listed.function("wavelength")
                v = function.theta * 1e-5
                slope, step = function.jvp(function.theta, v), function.image(function.theta + v) - function.image(function.theta - v)
                np.testing.assert_allclose(slope, step / 2, atol=2e-3 * abs(slope).max())
                np.testing.assert_array_equal(function.image(function.theta), got)

if __name__ == "__main__":
    unittest.main()
