"""The simulator in NumPy: numbers, images, derivatives, errors."""

import ctypes
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import nanobragg as nb
from common import central, flags, grid, reference, simulator


def image_of(sim):
    """The image that other processes are asked for."""
    return sim.image()


class Numbers(unittest.TestCase):
    def test_image(self):
        image = reference().image()
        self.assertEqual((image.shape, image.dtype), ((24, 24), np.float64))
        self.assertGreater(image.max(), 0)
        single = reference().image(dtype=np.float32)
        np.testing.assert_allclose(single, image, rtol=1e-6)
        out = np.empty((24, 24))
        self.assertIs(reference().image(out=out), out)
        np.testing.assert_array_equal(out, image)

    def test_panels(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('[{"offset_mm": [100, 0, 0], "fast": [0, 0, 1], "slow": [0, -1, 0]},'
                       ' {"offset_mm": [100, 0, 30], "fast": [0, 0, 1], "slow": [0, -1, 0]}]')
            file.flush()
            sim = nb.Simulator.from_flags(flags("--panels", file.name))
        self.assertEqual(sim.image().shape, (2, 24, 24))
        self.assertEqual(sim.trace(1, 2, 3).keys(), sim.trace(0, 2, 3).keys())

    def test_list_of_pixels(self):
        image = reference().image()
        pixels = np.array([[3, 5], [20, 1], [3, 5], [0, 23]])
        listed = simulator(pixels=pixels)
        self.assertEqual(listed.shape, (4,))
        wanted = image[pixels[:, 0], pixels[:, 1]]
        np.testing.assert_allclose(listed.image(), wanted, rtol=1e-9)
        np.testing.assert_allclose(listed.copy().image(), wanted, rtol=1e-9)
        whole, some = reference().jacobian("cell_a")["cell_a"], listed.jacobian("cell_a")["cell_a"]
        np.testing.assert_allclose(some, whole[pixels[:, 0], pixels[:, 1]], rtol=1e-9, atol=1e-9 * abs(whole).max())
        f = listed.function("cell_a")
        np.testing.assert_allclose(f.image(f.theta), wanted, rtol=1e-9)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(f"0 {fast} {slow}\n" for slow, fast in pixels))
            file.flush()
            by_file = simulator("--pixels", file.name)
        np.testing.assert_array_equal(by_file.image(), listed.image())
        with self.assertRaisesRegex(ValueError, "fast 24|24"):
            simulator(pixels=[[0, 24]])
        with self.assertRaisesRegex(TypeError, "whole numbers"):
            simulator(pixels=[[0.5, 2]])
        with self.assertRaisesRegex(ValueError, "pixels, 3"):
            simulator(pixels=[1, 2])

    def test_copies_of_a_list_of_pixels(self):
        whole = simulator("-roi", "2", "23", "0", "21")
        for pixels in ([[3, 5], [20, 1], [3, 5], [0, 23]], [[20, 1], [23, 1]],  # these two are not rendered
                       np.stack(np.mgrid[:24, :24], -1).reshape(-1, 2)):
            listed = whole.at_pixels(np.array(pixels))
            listed.set(cell_a=71 * nb.angstrom)
            listed["F"] = 2 * listed["F"]
            other = pickle.loads(pickle.dumps(listed))
            again = pickle.loads(pickle.dumps(other.copy()))
            for one in (other, again):
                self.assertEqual(one.shape, listed.shape)
                np.testing.assert_array_equal(one.image(), listed.image())
                np.testing.assert_array_equal(one.rendered, listed.rendered)
                np.testing.assert_array_equal(one.gradient("cell_a")["cell_a"], listed.gradient("cell_a")["cell_a"])
                with self.assertRaisesRegex(ValueError, "no others"):
                    one.at_pixels([[0, 0]])
            other["cell_a"] = 72 * nb.angstrom
            self.assertEqual((listed["cell_a"], again["cell_a"]), (71 * nb.angstrom,) * 2)

    def test_other_processes(self):
        whole = simulator()
        whole.set(cell_a=71 * nb.angstrom)
        whole.image()  # its kernel and threads are there when the process forks
        sims = [whole, whole.at_pixels([[3, 5], [20, 1]]), whole.copy()]
        for method in ("spawn", "fork", "forkserver"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                for image, sim in zip(pool.map_async(image_of, sims).get(60), sims):
                    np.testing.assert_array_equal(image, sim.image())

    def test_several_directions(self):
        f = reference().function("cell", "misset")
        directions = np.random.default_rng(3).normal(size=(4, f.length)) * f.theta
        together = f.jvp(f.theta, directions)
        self.assertEqual(together.shape, (4, 24, 24))
        for image, v in zip(together, directions):
            np.testing.assert_allclose(image, f.jvp(f.theta, v), rtol=1e-9, atol=1e-12 * abs(together).max())
        np.testing.assert_array_equal(f.jvp(f.theta, directions[:1])[0], f.jvp(f.theta, directions[0]))
        many = f.jvp(f.theta, np.resize(directions, (37, directions.shape[1])))  # more than a kernel takes at once
        for i, image in enumerate(many):
            np.testing.assert_allclose(image, together[i % len(directions)], rtol=1e-9, atol=1e-12 * abs(together).max())
        self.assertEqual(f.jvp(f.theta, directions[:0]).shape, (0, 24, 24))
        turns = np.zeros((3, f.length))  # the cell stays, and with the last one all
        turns[:2, 6:] = [[0.01, 0, 0.02], [0, 0.03, 0]]
        images = f.jvp(f.theta, turns)
        for image, v in zip(images, turns):
            np.testing.assert_allclose(image, f.jvp(f.theta, v), rtol=1e-9, atol=1e-12 * abs(images).max())
        self.assertGreater(abs(images[1]).max(), 0)
        self.assertFalse(f.jvp(f.theta, turns[2:]).any())

    def test_read_image(self):
        image = reference().image()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image.npy")
            np.save(path, np.stack([image, 2 * image]))
            np.testing.assert_array_equal(nb.read_image(path), np.stack([image, 2 * image]))
            np.save(path, image)
            np.testing.assert_array_equal(nb.read_image(path), image)
            with self.assertRaisesRegex(nb.FileError, "nothing.cbf"):
                nb.read_image(os.path.join(folder, "nothing.cbf"))

    def test_set_and_get(self):
        sim = simulator()
        sim["cell_a"] = 71 * nb.angstrom
        self.assertEqual(sim["cell_a"], 71 * nb.angstrom)
        sim.set(cell_b=8.1e-9, misset=(0.1, 0.2, 0.3))
        np.testing.assert_array_equal(sim["misset"], [0.1, 0.2, 0.3])
        self.assertEqual(sim["misset_y"], 0.2)
        self.assertEqual(sim["fast_pixels"], 24)
        again = simulator()
        again.set(cell_a=71 * nb.angstrom, cell_b=8.1e-9, misset_x=0.1, misset_y=0.2, misset_z=0.3)
        np.testing.assert_array_equal(sim.image(), again.image())

    def test_set_is_all_or_nothing(self):
        sim = simulator()
        before = sim["cell_a"], sim["cell_alpha"]
        with self.assertRaisesRegex(ValueError, "'cell_b'"):
            sim.set(cell_a=7.1e-9, cell_b=-1)
        with self.assertRaisesRegex(ValueError, "volume"):
            sim.set(cell_a=7.1e-9, cell_alpha=0.01)
        self.assertEqual((sim["cell_a"], sim["cell_alpha"]), before)

    def test_parameters(self):
        table = reference().parameters
        self.assertEqual(table["cell_a"].unit, "m")
        self.assertTrue(table["cell_a"].differentiable)
        self.assertFalse(table["phi_steps"].differentiable)
        self.assertEqual(table["F"].shape, (13, 13, 13))
        self.assertIn("misset", table["misset_x"].groups)
        self.assertIn("unit cell edge a", repr(table))
        self.assertEqual(len(table), len(list(table)))

    def test_structure_factors(self):
        sim = simulator(with_grid=False)
        self.assertIsNone(sim.structure_factors)
        values, lowest = grid()
        sim.structure_factors = values, lowest
        got, low = sim.structure_factors
        np.testing.assert_array_equal(got, values)
        self.assertEqual(low, lowest)
        sim["F"] = 2 * values
        sim["default_F"] = 2 * sim["default_F"]  # for reflections outside of the box
        self.assertAlmostEqual(sim.image().sum() / reference().image().sum(), 4, places=9)
        for bad in ((values[0], lowest), (values, (0, 0)), values[:0], (np.full((2, 2, 2), np.nan), lowest)):
            with self.assertRaises((ValueError, TypeError)):
                sim.structure_factors = bad

    def test_copies(self):
        sim = simulator()
        other, third = sim.copy(), pickle.loads(pickle.dumps(sim))
        other["cell_a"] = 7.2e-9
        other["F"] = 2 * other.structure_factors[0]
        np.testing.assert_array_equal(third.image(), reference().image())
        np.testing.assert_array_equal(sim.image(), reference().image())
        before = other.image()
        self.assertGreater(abs(before - sim.image()).max(), 0)
        sim["F"] = 3 * sim.structure_factors[0]
        fourth, brighter = sim.copy(), sim.image()
        sim["F"] = 5 * sim.structure_factors[0]  # not those of a copy either
        np.testing.assert_array_equal(other.image(), before)
        np.testing.assert_array_equal(fourth.image(), brighter)
        self.assertGreater(sim.image().sum(), brighter.sum())
        kind, state = sim.__reduce__()[1]
        for damaged in (b"", state["experiment"][:100], state["experiment"] + b"x"):
            with self.assertRaises(ValueError):
                nb.simulator._restore(kind, dict(state, experiment=damaged))

    def test_units_are_those_of_flags(self):
        by_flags = nb.Simulator.from_flags(
            "-cell 70 80 90 85 95 100 -misset 10 20 30 -N 5 -default_F 100 -mosaic 0.3 -mosaic_domains 4 -lambda 1.1 "
            "-dispersion 0.7 -dispsteps 3 -hdivrange 0.4 -hdivsteps 2 -vdivsteps 1 -vdivrange 0 -polar 0.9 -distance 123 "
            "-pixel 0.17 -detpixels_f 30 -detpixels_s 20 --beam-center 2.3 1.9 -phi 3 -osc 0.7 -phisteps 3 "
            "-detector_rotx 0.3 -detector_roty 0.1 -detector_rotz 0.7 -detector_thick 320 -detector_abs 234 "
            "-detector_thicksteps 2 -oversample 2 -gain 1.7")
        by_objects = nb.Simulator(
            nb.Goniometer(phi=3 * nb.degree, osc=0.7 * nb.degree, phi_steps=3),
            nb.Detector(distance=123 * nb.millimeter, pixel_size=0.17 * nb.millimeter, shape=(20, 30),
                        beam_center=(2.3 * nb.millimeter, 1.9 * nb.millimeter), oversample=2, gain=1.7,
                        rotation=(0.3 * nb.degree, 0.1 * nb.degree, 0.7 * nb.degree),
                        thickness=320 * nb.micrometer, attenuation_depth=234 * nb.micrometer, thickness_steps=2),
            nb.Beam(wavelength=1.1 * nb.angstrom, dispersion=0.7 * nb.percent, dispersion_steps=3,
                    hdivergence=0.4 * nb.milliradian, vdivergence=0, divergence_steps=(2, 1), polarization=0.9),
            nb.Crystal(cell=(70 * nb.angstrom, 80 * nb.angstrom, 90 * nb.angstrom, 85 * nb.degree, 95 * nb.degree,
                             100 * nb.degree), misset=(10 * nb.degree, 20 * nb.degree, 30 * nb.degree), ncells=5,
                       default_F=100, mosaic_spread=0.3 * nb.degree, mosaic_domains=4))
        for name, row in by_flags.parameters.items():
            np.testing.assert_allclose(by_objects[name], row.value, rtol=1e-15, atol=0, err_msg=name)
        np.testing.assert_allclose(by_objects.image(), by_flags.image(), rtol=1e-9)
        self.assertEqual(by_objects["phi0"], 3 * nb.degree)  # the number itself, in no other unit meanwhile
        self.assertEqual(by_objects["distance"], 123 * nb.millimeter)

    def test_quantities_of_disorder_response_and_background(self):
        by_flags = nb.Simulator.from_flags(
            "-cell 70 80 90 90 90 90 -N 6 -default_F 100 -lambda 1 -distance 100 -pixel 1 -detpixels 16 -oversample 1 "
            "-mosaic_abc 0.3 0.4 0.5 -mosaic_domains 6 -diffuse_gamma 50 -diffuse_sigma 0.4 0.5 0.6 -laue_group 2 "
            "-psf gauss -psf_fwhm 900 -stol water -water 10 -gauss_xtal -fudge 0.9")
        by_objects = nb.Simulator(
            nb.Crystal(cell=(70e-10, 80e-10, 90e-10, *[90 * nb.degree] * 3), ncells=6, default_F=100, shape="gauss", fudge=0.9,
                       mosaic_abc=(0.3 * nb.degree, 0.4 * nb.degree, 0.5 * nb.degree), mosaic_domains=6,
                       diffuse_gamma=50 * nb.angstrom, diffuse_sigma=(0.4e-10, 0.5e-10, 0.6e-10), laue_group=2),
            nb.Beam(wavelength=1e-10, background="water", water=10 * nb.micrometer),
            nb.Detector(distance=0.1, pixel_size=1e-3, shape=(16, 16), oversample=1, psf="gauss", psf_fwhm=900e-6))
        np.testing.assert_allclose(by_objects.image(), by_flags.image(), rtol=1e-7)
        self.assertIn("root mean square displacement", nb.Crystal.__doc__)

    def test_normal_divergence(self):
        """The image is the mean of those of its sources, and its derivative with respect to sigma that of finite differences."""
        base = ("-cell 70 80 90 90 90 90 -N 5 -default_F 100 -lambda 1 -distance 100 -pixel 2 -detpixels 12 -oversample 1 "
                "-mosaic 0 -misset 10 20 30 ")
        sim = nb.Simulator.from_flags(base + "-divergence_sigma 3 2 -hdivsteps 3 -vdivsteps 2")
        self.assertEqual((sim["sources"], sim["hdiv_sigma"], sim["vdiv_sigma"]), (6, 3e-3, 2e-3))
        root = np.sqrt(1.5)
        np.testing.assert_allclose(np.unique(sim["unit_hdiv"]), [-root, 0, root], atol=1e-12)
        np.testing.assert_allclose(np.unique(sim["unit_vdiv"]), [-1, 1], atol=1e-12)
        # Three sources across a range of 2 sqrt(3/2) sigma are the same beam.
        ranges = nb.Simulator.from_flags(base + f"-hdivrange {float(6 * root)!r} -vdivrange 4 -hdivsteps 3 -vdivsteps 2 -square_div")
        np.testing.assert_allclose(sim.image(), ranges.image(), rtol=1e-9)
        gradient = sim.gradient("divergence")
        self.assertEqual(set(gradient), {"hdiv_sigma", "vdiv_sigma"})
        for name, value in gradient.items():
            h, at = 1e-7, sim[name]
            sums = []
            for step in (h, -h):
                sim[name] = at + step
                sums.append(sim.image().sum())
            sim[name] = at
            np.testing.assert_allclose(value, (sums[0] - sums[1]) / (2 * h), rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "replaces a range"):
            nb.Simulator.from_flags(base + "-divergence_sigma 3 -divergence 2")

    def test_objects_with_arrays(self):
        values, lowest = grid()
        mask = np.ones((20, 20))
        mask[3:5] = 0
        matrix = np.array([[1.1e8, 0, 0], [1e6, 1.2e8, 0], [0, 2e6, 1.3e8]])
        sim = nb.Simulator(nb.Crystal(matrix=matrix, ncells=(4, 5, 6), structure_factors=(values, lowest), interpolate=False),
                           nb.Beam(sources=[(-1, 0, 0, 1, 1e-10), (-1, 1e-3, 0, 2, 1.01e-10)]),
                           nb.Detector(shape=(20, 20), pixel_size=1e-3, mask=mask, gain_map=np.full((20, 20), 2.0)))
        np.testing.assert_allclose(sim["reciprocal_matrix"], matrix, rtol=1e-12)
        self.assertEqual(sim["sources"], 2)
        image = sim.image()
        self.assertEqual(image[3:5].sum(), 0)
        self.assertGreater(image.sum(), 0)
        self.assertFalse(sim.rendered[3:5].any())

    def test_no_compilation(self):
        sim = simulator()
        wrt = "cell,misset,F"
        sim.gradient(wrt)
        before = nb.counters()["compiles"]
        for a in np.linspace(69e-10, 71e-10, 300):
            sim["cell_a"] = a
            sim.gradient(wrt)
        self.assertEqual(nb.counters()["compiles"], before)

    def test_images_of_many_experiments(self):
        sim = reference()
        cells = np.linspace(69e-10, 71e-10, 7)
        misset = np.random.default_rng(1).uniform(-1, 1, (7, 3))
        images = sim.images({"cell_a": cells, "misset": misset})
        self.assertEqual(images.shape, (7, 24, 24))
        one = sim.copy()
        for i in range(7):
            one.set(cell_a=cells[i], misset=misset[i])
            np.testing.assert_array_equal(images[i], one.image())
        with self.assertRaisesRegex(ValueError, "misset"):
            sim.images({"cell_a": cells, "misset": misset[:, :2]})
        with self.assertRaisesRegex(ValueError, "shots"):
            sim.images({"cell_a": cells, "misset": misset[:2]})
        with self.assertRaisesRegex(ValueError, "cell_a"):
            sim.images({"cell_a": [7e-9, float("nan")]})
        with self.assertRaisesRegex(ValueError, "'misset_x' is given twice"):
            sim.images({"misset": misset, "misset_x": cells})
        with self.assertRaisesRegex(ValueError, "at least one parameter"):
            sim.images({})

    def test_gradients_of_many_experiments(self):
        sim = reference()
        cells = np.linspace(69e-10, 71e-10, 5)
        data = sim.image() + 1
        weights = np.random.default_rng(2).normal(size=(5, *sim.shape))
        by_weights = sim.gradients("misset,distance", {"cell_a": cells}, cotangent=weights)
        by_one = sim.gradients("cell_a", {"cell_a": cells}, cotangent=weights[0])
        by_loss = sim.gradients("cell_a,misset_x", {"cell_a": cells}, loss=nb.Loss.chi_square(data))
        self.assertEqual(set(by_weights), {"misset_x", "misset_y", "misset_z", "distance"})
        one = sim.copy()
        for i, cell in enumerate(cells):
            one["cell_a"] = cell
            for got, want in ((by_weights, one.gradient("misset,distance", cotangent=weights[i])),
                              (by_one, one.gradient("cell_a", cotangent=weights[0]))):
                for name in got:
                    np.testing.assert_allclose(got[name][i], want[name], rtol=1e-12)
            want = one.gradient("cell_a,misset_x", loss=nb.Loss.chi_square(data))
            np.testing.assert_allclose(by_loss.loss[i], want.loss, rtol=1e-12)
            np.testing.assert_allclose(by_loss["misset_x"][i], want["misset_x"], rtol=1e-12)

    def test_functions_of_several_vectors(self):
        sim = reference()
        f = nb.Function(sim, ["cell_a", "misset_x"])
        rng = np.random.default_rng(3)
        thetas = f.theta * (1 + 1e-3 * rng.normal(size=(2, 3, 2)))
        images = f.image(thetas)
        self.assertEqual(images.shape, (2, 3, *sim.shape))
        np.testing.assert_array_equal(images[1, 2], f.image(thetas[1, 2]))
        cotangents, v = rng.normal(size=(3, *sim.shape)), rng.normal(size=2) * f.theta
        slopes, changes, curves = f.vjp(thetas, cotangents), f.jvp(thetas, v), f.hvp(thetas, v, cotangents)
        for i, j in ((0, 1), (1, 2)):
            np.testing.assert_array_equal(slopes[i, j], f.vjp(thetas[i, j], cotangents[j]))
            np.testing.assert_array_equal(changes[i, j], f.jvp(thetas[i, j], v))
            np.testing.assert_array_equal(curves[i, j], f.hvp(thetas[i, j], v, cotangents[j]))
        with self.assertRaisesRegex(ValueError, r"do not broadcast: theta \(2, 3\), the cotangent \(2,\)"):
            f.vjp(thetas, cotangents[:2])

    def test_more_cotangents_than_numbers(self):
        """The derivatives come from those of the image."""
        f = nb.Function(reference(), ["cell_a", "misset_x", "misset_y"])
        cotangents = np.random.default_rng(4).normal(size=(5, *f.shape))
        for slope, cotangent in zip(f.vjp(f.theta, cotangents), cotangents):
            np.testing.assert_allclose(slope, f.vjp(f.theta, cotangent), rtol=1e-9)

    def test_cotangents_of_few_pixels(self):
        """Only their pixels are computed, and the image is whole afterwards."""
        for region, panels in (((), 1), (("-roi", "3 18 5 20"), 1), ((), 2)):
            with self.subTest(region=region, panels=panels), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(str([{"offset_mm": [100, 0, 30 * i], "fast": [0, 0, 1], "slow": [0, -1, 0]} for i in range(panels)]).replace("'", '"'))
                file.flush()
                sim = simulator(*region, *(("--panels", file.name) if panels > 1 else ()))
                before, f = sim.image(), nb.Function(sim, ["cell_a", "misset_x"])
                slopes = np.stack([f.jvp(f.theta, v) for v in np.eye(2)]).reshape(2, panels, 24, 24)
                for slow, fast in ((slice(0), slice(0)), (slice(0, 1), slice(23, 24)), (slice(9, 13), slice(2, 7)), (slice(21, 24), slice(0, 24))):
                    cotangent = np.zeros((panels, 24, 24))
                    cotangent[-1, slow, fast] = 1.5
                    np.testing.assert_allclose(f.vjp(f.theta, cotangent.reshape(f.shape)), (slopes * cotangent).sum(axis=(1, 2, 3)), rtol=1e-9, atol=1e-300)
                np.testing.assert_array_equal(f.image(f.theta), before)


class Deprecation(unittest.TestCase):
    def test_batches_by_their_old_names(self):
        sim = reference()
        cells = np.linspace(69e-10, 71e-10, 2)
        f = nb.Function(sim, ["cell_a"])
        for old, name, instead in ((lambda: nb.render_batch(sim, {"cell_a": cells}), "render_batch", "Simulator.images"),
                                   (lambda: f.images(cells[:, None]), "Function.images", "Function.image")):
            with self.assertWarnsRegex(DeprecationWarning, f"{name} is deprecated.*use {instead}"):
                np.testing.assert_array_equal(old(), sim.images({"cell_a": cells}))
        with self.assertWarnsRegex(DeprecationWarning, "Function.jvps is deprecated.*use Function.jvp"):
            self.assertEqual(f.jvps(f.theta, np.ones((2, 1))).shape, (2, *sim.shape))

    def test_the_name_that_is_on_its_way_out(self):
        import nanobragg.compat.nanobrag_torch as port
        with self.assertWarnsRegex(DeprecationWarning, "__version__ is deprecated.*use nanobragg.__version__"):
            self.assertEqual(port.__version__, nb.__version__)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'other'"):
            _ = port.other

    def test_the_version_has_one_place(self):
        text = (pathlib.Path(__file__).parents[2] / "CMakeLists.txt").read_text()
        self.assertIn(f"project(NanoBragg VERSION {nb.__version__} ", text)


class Derivatives(unittest.TestCase):
    def test_likelihoods_and_what_they_are_functions_of(self):
        sim = simulator()
        image = sim.image()
        data = np.round(image)
        model = image + 0.25
        got = sim.gradient("cell_a", loss=nb.Loss.gaussian(data, 3.0, 0.25))
        variance = model + 9
        expected = 0.5 * (np.log(2 * np.pi * variance) + (data - model) ** 2 / variance).sum()
        self.assertAlmostEqual(got.loss / expected, 1, places=12)
        step = 1e-4
        for name, change in (("background", (3.0, 0.25 + step)), ("readout_noise", (3.0 + step, 0.25))):
            more = sim.loss(nb.Loss.gaussian(data, *change))
            self.assertAlmostEqual((more - got.loss) / step / got.of_loss[name], 1, places=3)
        self.assertEqual(set(sim.gradient("cell_a", loss=nb.Loss.poisson(data, 0.25)).of_loss), {"background"})
        self.assertEqual(sim.gradient("cell_a").of_loss, {})
        with self.assertRaises(ValueError):
            sim.gradient("cell_a", loss=nb.Loss.poisson(data, np.ones(3)))

    def test_against_differences(self):
        sim = simulator()
        weights = np.random.default_rng(2).standard_normal(sim.shape)
        wrt = ["cell_a", "cell_beta", "misset_x", "mosaic_spread", "distance", "fluence"]
        gradient = sim.gradient(wrt, cotangent=weights)
        jacobian = sim.jacobian(wrt)
        for name in wrt:
            at = sim[name]

            def image(x):
                sim[name] = x
                return sim.image()

            difference = central(image, at, 1e-5 * at)
            sim[name] = at
            scale = abs(difference).max()
            np.testing.assert_allclose(jacobian[name], difference, atol=1e-6 * scale, err_msg=name)
            np.testing.assert_allclose(gradient[name], (weights * jacobian[name]).sum(), rtol=1e-9)
            np.testing.assert_allclose(sim.jvp({name: 2.0}), 2 * jacobian[name], atol=1e-12 * scale)

    def test_second_order(self):
        sim = simulator()
        rng = np.random.default_rng(3)
        loss = nb.Loss.chi_square(sim.image() * rng.uniform(0.8, 1.2, sim.shape), 3.0)
        at = sim["misset"]
        v = np.array([0.3, -0.2, 0.5])
        product = sim.hvp({"misset": v}, loss=loss)

        def gradient(t):
            sim["misset"] = at + t * v
            g = sim.gradient("misset", loss=loss)
            return np.array([g["misset_x"], g["misset_y"], g["misset_z"]])

        difference = central(gradient, 0.0, 1e-5)
        got = np.array([product["misset_x"], product["misset_y"], product["misset_z"]])
        np.testing.assert_allclose(got, difference, rtol=1e-6)

    def test_loss(self):
        sim = simulator()
        image = sim.image()
        self.assertAlmostEqual(sim.gradient("cell").loss / image.sum(), 1, places=12)
        self.assertIsNone(sim.gradient("cell", cotangent=np.ones(sim.shape)).loss)
        mask = np.zeros(sim.shape, bool)
        mask[4:9] = True
        sigma = np.full(sim.shape, 2.0)
        loss = nb.Loss.chi_square(image + 1, sigma, mask)
        self.assertAlmostEqual(sim.loss(loss), mask.sum() / 4)
        self.assertAlmostEqual(sim.loss(nb.Loss.linear(image)) / (image**2).sum(), 1, places=12)
        transposed = np.asfortranarray(np.random.default_rng(1).random(sim.shape))
        self.assertEqual(sim.gradient("cell_a", cotangent=transposed),
                         sim.gradient("cell_a", cotangent=np.ascontiguousarray(transposed)))

    def test_grid(self):
        sim = simulator()
        gradient = sim.gradient("F,default_F")
        self.assertEqual(gradient["F"].shape, (13, 13, 13))
        f = sim.structure_factors[0]
        # The sum of photons is quadratic in all structure factors together.
        total = (gradient["F"] * f).sum() + gradient["default_F"] * sim["default_F"]
        self.assertAlmostEqual(total / (2 * sim.image().sum()), 1, places=9)

    def test_dead(self):
        sim = simulator("-tophat_spots")
        self.assertIn("misset_x", sim.dead_gradients("misset"))
        self.assertEqual(reference().dead_gradients("misset"), {})

    def test_function(self):
        sim = simulator()
        f = sim.function("misset", "cell_a")
        self.assertEqual(f.names, ("misset_x", "misset_y", "misset_z", "cell_a"))
        np.testing.assert_array_equal(f(f.theta), sim.image())
        sim["cell_b"] = 9e-9  # not the function's
        np.testing.assert_array_equal(f(f.theta), reference().image())
        ct, v = np.random.default_rng(4).random((24, 24)), np.array([1, 2, 3, 1e-8])
        self.assertAlmostEqual((f.jvp(f.theta, v) * ct).sum() / (f.vjp(f.theta, ct) * v).sum(), 1, places=9)
        theta = f.pack(cell_a=7.1e-9)
        self.assertEqual(f.unpack(theta)["cell_a"], 7.1e-9)
        h = f.hvp(theta, v, ct)
        step = 1e-6
        difference = (f.vjp(theta + step * v, ct) - f.vjp(theta - step * v, ct)) / (2 * step)
        np.testing.assert_allclose(h, difference, rtol=1e-4, atol=1e-4 * abs(h).max())


class Refusals(unittest.TestCase):
    def test_sentences(self):
        sim = reference().copy()
        ones = np.ones(sim.shape)
        for call, kind, words in (
                (lambda: sim["cell_aa"], nb.UnknownName, "closest is 'cell_a'"),
                (lambda: sim["reciprocal_matrix"], nb.UnknownName, "does not use"),
                (lambda: sim.set(celll=1), nb.UnknownName, "celll"),
                (lambda: sim.set(cell_a=float("nan")), ValueError, "'cell_a' is not a number"),
                (lambda: sim.set(cell_a=[1, 2]), ValueError, r"'cell_a' has shape \(\)"),
                (lambda: sim.set(cell_a="seven"), TypeError, "'cell_a'"),
                (lambda: sim.set(cell_a=1j), TypeError, "'cell_a'"),
                (lambda: sim.set(cell_a=None), TypeError, "'cell_a'"),
                (lambda: sim.set(cell_alpha=np.radians(20), cell_beta=np.radians(120), cell_gamma=np.radians(100)), ValueError, "a volume"),
                (lambda: sim.set(cell_alpha=2.2, cell_beta=2.2, cell_gamma=2.2), ValueError, "less than 2 pi"),
                (lambda: sim.set(phi_steps=3), ValueError, "phi_steps"),
                (lambda: sim.__setitem__(3, 4), TypeError, "string"),
                (lambda: sim.gradient("cell_aa"), nb.UnknownName, "closest is 'cell_a'"),
                (lambda: sim.gradient("phi_steps"), ValueError, "no derivative"),
                (lambda: sim.gradient([]), ValueError, "no parameter"),
                (lambda: sim.gradient([3]), TypeError, "names"),
                (lambda: sim.gradient("cell", cotangent=ones[:3]), ValueError, "shape"),
                (lambda: sim.gradient("cell", cotangent=ones, loss=nb.Loss.sum()), TypeError, "not both"),
                (lambda: sim.gradient("cell", loss=sum), TypeError, "Loss"),
                (lambda: sim.gradient("cell", loss=nb.Loss.linear(ones[:3])), ValueError, "weights"),
                (lambda: sim.gradient("cell", loss=nb.Loss.chi_square(ones.T[:4])), ValueError, "data"),
                (lambda: nb.Loss.chi_square(ones, -1.0), ValueError, "sigma"),
                (lambda: sim.jacobian("F"), ValueError, "not one number"),
                (lambda: sim.jvp(3), TypeError, "dict"),
                (lambda: sim.jvp({"cell_a": 1.0}, wrt="cell_b"), ValueError, "cell_a"),
                (lambda: sim.image(out=ones[:3]), ValueError, "shape"),
                (lambda: sim.image(out=np.ones((24, 24), np.float32)), ValueError, "float64"),
                (lambda: sim.image(out=np.ones((24, 48))[:, ::2]), ValueError, "one element after another"),
                (lambda: sim.image(dtype="int32"), ValueError, "int32"),
                (lambda: sim.trace(0, 24, 0), ValueError, "no pixel"),
                (lambda: sim.trace(1.5, 0), TypeError, "integer"),
                (lambda: setattr(sim, "structure_factors", (np.ones((3, 3, 3)), (0.5, 0, 0))), TypeError, "integers"),
                (lambda: sim.set(cell_a=7e-9, cell=sim["cell"]), ValueError, "'cell_a' is given twice"),
                (lambda: sim.gradient("cell", cotangent=np.ma.masked_all(sim.shape)), ValueError, "masked array"),
                (lambda: sim.image(progress=lambda f: sim["cell_a"]), RuntimeError, "progress function"),
                (lambda: setattr(sim, "structure_factors", np.ones(3)), TypeError, "a pair"),
                (lambda: sim.loss(3), TypeError, "not int"),
                (lambda: nb.Simulator.from_flags("-cell 1", threads="2"), TypeError, "threads='2'"),
                (lambda: nb.Simulator.from_flags("-cell 1", threads=2**70), ValueError, "too many"),
                (lambda: list(sim), TypeError, "not iterable"),
                (lambda: nb.Simulator.from_flags("-cell 1", device=0), TypeError, "device=0"),
                (lambda: nb.Simulator.from_flags('-hkl "a'), ValueError, "split into words"),
                (lambda: nb.Simulator.from_flags(3), TypeError, "string or a list"),
                (lambda: sim.function("cell_a").image([1, 2]), ValueError, "shape"),
                (lambda: nb.Simulator.from_flags("-cel 3"), nb.FlagError, "closest is '-cell'"),
                (lambda: nb.Simulator.from_flags(flags("--grad=cell")), nb.FlagError, "--grad"),
                (lambda: nb.Simulator.from_flags(flags("-hkl", "none.hkl")), nb.FileError, "none.hkl"),
                (lambda: nb.Simulator.from_flags(flags(), precision="f16"), ValueError, "f16"),
                (lambda: nb.Simulator.from_flags(flags(), engine="steam"), ValueError, "steam"),
                (lambda: nb.Simulator.from_flags(flags(), device="tpu"), ValueError, "tpu"),
                (lambda: nb.Simulator.from_flags(flags(), threads=-1), ValueError, "threads"),
                (lambda: nb.Crystal(celll=3), TypeError, "closest is 'cell'"),
                (lambda: setattr(nb.Beam(), "wavelenght", 1), AttributeError, "closest is 'wavelength'"),
                (lambda: nb.Simulator(nb.Crystal(shape="rond")), ValueError, "closest is 'round'"),
                (lambda: nb.Simulator(3), TypeError, "int"),
                (lambda: nb.Simulator(nb.Crystal(ncells=0)), ValueError, "ncells needs a whole number of at least 1, not 0"),
                (lambda: nb.Simulator(nb.Crystal(ncells=float("nan"))), ValueError, "ncells needs"),
                (lambda: nb.Simulator(nb.Crystal(cell="70 80 90 90 90 90")), TypeError, "cell is the string '70"),
                (lambda: nb.Simulator(nb.Crystal(structure_factors={(1, 2, 3): 4.0})), TypeError, "a pair"),
                (lambda: nb.Simulator(nb.Detector(shape=(0, 8))), ValueError, "shape needs a whole number of at least 1, not 0"),
                (lambda: nb.Simulator(nb.Detector(shape=(6.5, 8))), ValueError, "not 6.5"),
                (lambda: nb.Simulator(nb.Detector(shape=6)), ValueError, "shape needs 2 whole numbers, not 6"),
                (lambda: nb.Simulator(nb.Goniometer(phi_steps=0)), ValueError, "phi_steps needs"),
                (lambda: nb.Loss.poisson(ones, gain=0), ValueError, "gain of the loss is 0.0"),
                (lambda: setattr(sim, "cell_a", 7e-9), AttributeError, r"sim\['cell_a'\] = "),
                (lambda: nb.Simulator(nb.Beam(), nb.Beam()), TypeError, "two of Beam")):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()
        np.testing.assert_array_equal(sim.image(), reference().image())

    def test_warning(self):
        with self.assertWarnsRegex(nb.Warning, "mosaic_domains"):
            nb.Simulator.from_flags("-cell 70 70 70 90 90 90 -default_F 1 -mosaic 1 -detpixels 4")
        for more, words in (("-floatfile x.bin", "-floatfile has no effect: in Python"), ("-mosaic_domains 3 -mosaic 0", "has no effect")):
            with self.subTest(more), self.assertWarnsRegex(nb.Warning, words):
                nb.Simulator.from_flags("-cell 70 70 70 90 90 90 -default_F 1 -detpixels 4 " + more)

    def test_words(self):
        """Numbers of NumPy among the flags; a batch of no shots."""
        sim = nb.Simulator.from_flags(["-cell", *np.array([70, 80, 90, 90., 90, 90]), "-default_F", np.float32(1), "-detpixels", np.int64(8)])
        self.assertEqual((sim.shape, sim["cell_a"]), ((8, 8), 70 * nb.angstrom))
        self.assertEqual(sim.images({"cell_a": np.ones(0)}).shape, (0, 8, 8))


class Background(unittest.TestCase):
    def test_table_from_an_image(self):
        sim = nb.Simulator.from_flags("-stol water -thickness 1e-10 -lambda 1 -distance 100 -detpixels 64 -pixel 1.5".split())
        self.assertEqual(sim["background_F"].shape, (1, 1, 14))
        sim["background_F"] = np.full((1, 1, 14), 3.0)
        image = sim.image()
        table = nb.extract_background(sim, image, bins=20)
        self.assertEqual(table.shape, (20, 4))
        np.testing.assert_allclose(table[:, 1], 3, rtol=1e-9)
        self.assertTrue((np.diff(table[:, 0]) > 0).all())
        # The values in the simulator's table do not matter, nor do pixels that are not a number.
        sim["background_F"] = np.full((1, 1, 14), 7.0)
        image[5, 6] = np.nan
        np.testing.assert_allclose(nb.extract_background(sim, image, bins=20)[:, 1], 3, rtol=1e-9)
        np.testing.assert_array_equal(sim["background_F"], 7)
        with self.assertRaisesRegex(ValueError, "shape"):
            nb.extract_background(sim, image[1:])
        with self.assertRaisesRegex(ValueError, "no background table"):
            nb.extract_background(reference(), reference().image())

    def test_new_numbers_survive_a_pickle(self):
        sim = nb.Simulator.from_flags(flags("-stol", "air", "-diffuse_gamma", "30", "-diffuse_sigma", "0.5", "-mosaic_abc",
                                            "0.1", "0.2", "0.3", "-mosaic_domains", "6"))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(sim)).image(), sim.image())

    def test_structure_factors_by_energy_survive_a_pickle(self):
        with tempfile.TemporaryDirectory() as folder:
            place = lambda name: os.path.join(folder, name)
            for number, name in enumerate(("one.hkl", "two.hkl"), 1):
                with open(place(name), "w") as file:
                    file.writelines(f"{h} {k} {l} {10 * number + h + k}\n" for h in range(-4, 5) for k in range(-4, 5)
                                    for l in range(-4, 5))
            with open(place("channels.txt"), "w") as file:
                file.write(f"12000 {place('one.hkl')}\n12800 {place('two.hkl')}\n")
            with open(place("pulse.txt"), "w") as file:
                file.write("12000 1\n12800 2\n")
            sim = nb.Simulator.from_flags(flags("--hkl-channels", place("channels.txt"), "--spectrum", place("pulse.txt"),
                                                "-nointerpolate"))
        image = sim.image()
        self.assertGreater(image.max(), 0)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(sim)).image(), image)


class Processes(unittest.TestCase):
    def test_threads(self):
        sim = simulator()
        want = reference().image()
        wrong = []

        def work():
            for _ in range(20):
                if not np.array_equal(sim.image(), want) or not np.isfinite(sim.gradient("cell")["cell_a"]):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(wrong)

    def test_grids_in_threads(self):
        """Boxes of other sizes come while others compute: what is returned belongs together, or says that it cannot."""
        sim, wrong = simulator(), []

        def change():
            for i in range(60):
                sim.structure_factors = np.ones((5 + i % 3, 5, 5)), (-2, -2, -2)

        def read():
            for _ in range(60):
                try:
                    sim.image()
                    values, _ = sim.structure_factors
                    wrong.extend([values] if not (values == 1).all() and values.shape != (13, 13, 13) else [])
                    sim.gradient("F")
                except RuntimeError as error:
                    wrong.extend([] if "another thread" in str(error) else [error])

        threads = [threading.Thread(target=f) for f in (change, read, read)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(wrong)

    def test_fork(self):
        sim = simulator(threads=2)
        want = sim.image()
        sim.gradient("cell")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            same = np.array_equal(sim.image(), want) and np.isfinite(sim.gradient("cell")["cell_a"])
            os.write(write, b"y" if same else b"n")
            os._exit(0)
        os.close(write)
        end = time.time() + 60
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.time() > end:
                os.kill(child, signal.SIGKILL)
                self.fail("the child does not end")
            time.sleep(0.01)
        self.assertEqual(os.read(read, 1), b"y")

    def test_fork_while_another_thread_renders(self):
        """The child is told at once what it may not do, and may use what no thread had."""
        busy, free = simulator(threads=1), simulator(threads=1)
        want = free.image()
        busy["mosaic_spread"] = 0.01
        stop = threading.Event()

        def render():
            while not stop.is_set():
                busy.image()

        thread = threading.Thread(target=render)
        thread.start()
        try:
            told = 0
            for _ in range(12):
                read, write = os.pipe()
                child = os.fork()
                if child == 0:
                    said = b"?"
                    try:
                        busy.image()
                        said = b"y"
                    except RuntimeError as error:
                        said = b"t" if "was forked while another thread" in str(error) else b"n"
                    if not np.array_equal(free.image(), want):
                        said = b"n"
                    os.write(write, said)
                    os._exit(0)
                os.close(write)
                end = time.time() + 60
                while os.waitpid(child, os.WNOHANG) == (0, 0):
                    if time.time() > end:
                        os.kill(child, signal.SIGKILL)
                        os.waitpid(child, 0)
                        self.fail("the child hangs")
                    time.sleep(0.005)
                said = os.read(read, 1)
                os.close(read)
                self.assertIn(said, b"ty")
                told += said == b"t"
            self.assertGreater(told, 0)
        finally:
            stop.set()
            thread.join()

    def test_more_threads_than_there_can_be(self):
        for threads in (10**6, 4097, -1):
            with self.assertRaisesRegex(ValueError, "not between 0 and 4096"):
                simulator(threads=threads)
        sim = simulator(threads=4096)
        f = sim.function("cell_a")
        np.testing.assert_array_equal(f.image(np.full((3, 1), f.theta[0]))[2], sim.image())

    def test_interrupt(self):
        program = ("import nanobragg as nb, sys, common\n"
                   "sim = common.simulator('-detpixels', '4000', '-oversample', '9', '-mosaic_domains', '100', threads=2)\n"
                   "sim.prepare(); print('running', flush=True)\n"
                   "try:\n    sim.image()\nexcept KeyboardInterrupt:\n    print('stopped', common.simulator().image().shape)\n")
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                                 cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(child.stdout.readline(), "running\n")
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(out, "stopped (24, 24)\n")

    def test_command(self):
        """nb-sim of the package."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "nanobragg.simulate", *flags("-floatfile x.bin -nopgm -nonoise").split()],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            written = np.fromfile(os.path.join(folder, "x.bin"), np.float32).reshape(24, 24)
        np.testing.assert_allclose(written, simulator(with_grid=False).image(), rtol=1e-6)
        refused = subprocess.run([sys.executable, "-m", "nanobragg.simulate", "-cel"], capture_output=True, text=True)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("closest is '-cell'", refused.stderr)

    def test_without_proc(self):
        """As in a bare chroot: kernels come from the cache, and nb-sim finds what is beside it."""
        hidden = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        try:
            tried = subprocess.run([*hidden, "true"], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        if tried.returncode != 0:
            self.skipTest(f"/proc cannot be hidden here: {tried.stderr.strip()}")
        program = ("import sys, os, nanobragg as nb; assert not os.path.exists('/proc/self'); sim = nb.Simulator.from_flags(sys.argv[1]); "
                   "print(sim.image().sum()); print(nb.counters()['compiles'], nb.counters()['loads'])")
        with tempfile.TemporaryDirectory() as folder:
            how = {"cwd": folder, "capture_output": True, "text": True, "env": {**os.environ, "NB_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}}
            runs = [subprocess.run([*hidden, sys.executable, "-c", program, flags()], **how) for _ in range(2)]
            for run, want in zip(runs, ("1 0", "0 1")):
                self.assertEqual(run.stdout.split("\n")[1:2], [want], run.stderr)
            done = subprocess.run([*hidden, sys.executable, "-m", "nanobragg.simulate", *flags("--nexus=x.nxs -nopgm -nonoise").split()], **how)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_cache_that_takes_nothing_is_told(self):
        program = ("import sys, warnings, nanobragg as nb; sim = nb.Simulator.from_flags(sys.argv[1])\n"
                   "warnings.simplefilter('error', nb.Warning)\n"
                   "try: sim.image()\n"
                   "except nb.Warning as said: print(said)")
        for place, says in (("/proc/none", "cannot create the kernel cache /proc/none"), ("", "")):
            env = {**os.environ, "NB_CACHE_DIR": place} if place else {**os.environ, "NB_CACHE": "off"}
            done = subprocess.run([sys.executable, "-c", program, flags()], capture_output=True, text=True, env=env)
            self.assertTrue(done.stdout.startswith(says) if says else not done.stdout, done.stdout + done.stderr)

    def test_progress(self):
        seen = []
        reference().image(progress=seen.append)
        self.assertEqual(seen[-1], 1)

        def fail(fraction):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            reference().image(progress=fail)

    def test_array_protocols(self):
        image = reference().image()
        self.assertEqual(np.from_dlpack(image).ctypes.data, image.ctypes.data)
        self.assertEqual(memoryview(image).nbytes, image.nbytes)

        class OnlyDLPack:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **how):
                return self.array.__dlpack__(**how)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        given = reference().gradient("cell", cotangent=OnlyDLPack(image))
        self.assertEqual(given, reference().gradient("cell", cotangent=image))
        out = np.zeros_like(image)
        reference().image(out=OnlyDLPack(out))
        np.testing.assert_array_equal(out, image)

    def test_a_tensor_without_a_shape_is_refused(self):
        tensor = (ctypes.c_int64 * 8)(0, 1, 2 + (2 << 32) + (64 << 40))  # data, device, dimensions, type; no shape
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        class Shapeless:
            def __dlpack__(self, **how):
                return make(ctypes.addressof(tensor), b"dltensor", None)

            def __dlpack_device__(self):
                return 1, 0

        for taken in (lambda: reference().gradient("cell", cotangent=Shapeless()), lambda: reference().image(out=Shapeless())):
            with self.assertRaisesRegex((TypeError, ValueError), "2 dimensions without a shape|out= needs an array"):
                taken()

    def test_in(self):
        self.assertTrue("cell_a" in reference() and "misset" in reference())
        self.assertFalse("cell_aa" in reference() or "reciprocal_matrix" in reference())


if __name__ == "__main__":
    unittest.main()
