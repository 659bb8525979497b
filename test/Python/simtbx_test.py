"""The names of simtbx, and pictures."""

import os
import struct
import tempfile
import unittest
import zlib

import numpy as np

import nanobragg as nb
from common import reference
from nanobragg.compat.simtbx import nanoBragg, shapetype


class Panel:
    """As dxtbx has them."""

    def get_image_size(self): return 30, 20
    def get_pixel_size(self): return 1.0, 1.0
    def get_fast_axis(self): return 1, 0, 0
    def get_slow_axis(self): return 0, -1, 0
    def get_origin(self): return -15.0, 10.0, -100.0


class Beam:
    def get_s0(self): return 0, 0, -1.0
    def get_wavelength(self): return 1.1
    def get_polarization_normal(self): return 0, 1, 0
    def get_polarization_fraction(self): return 0.95


def small(**more):
    return nanoBragg(detpixels_slowfast=(20, 30), pixel_size_mm=1.0, Ncells_abc=(5, 5, 5), unit_cell_Adeg=(70, 80, 90, 90, 90, 90),
                     missets_deg=(10, 20, 30), wavelength_A=1.0, default_F=100, oversample=1, **more)


class Simtbx(unittest.TestCase):
    def test_image(self):
        sim = small(xtal_shape=shapetype.Gauss)
        sim.add_nanoBragg_spots()
        want = nb.Simulator.from_flags("-detpixels_f 30 -detpixels_s 20 -pixel 1 -N 5 -cell 70 80 90 90 90 90 -misset 10 20 30 "
                                       "-lambda 1 -default_F 100 -oversample 1 -gauss_xtal").image()
        np.testing.assert_array_equal(sim.raw_pixels, want)
        sim.add_nanoBragg_spots()
        np.testing.assert_array_equal(sim.raw_pixels, 2 * want)
        self.assertEqual(sim.detpixels_slowfast, (20, 30))

    def test_factors_and_matrix(self):
        sim = small()
        sim.Fhkl_tuple = [(h, k, l) for h in range(-8, 9) for k in range(-8, 9) for l in range(-8, 9)], np.full(17**3, 100.0)
        sim.add_nanoBragg_spots()
        other = small()
        other.add_nanoBragg_spots()
        np.testing.assert_allclose(sim.raw_pixels, other.raw_pixels, rtol=1e-12)
        sim.Amatrix = np.diag([1 / 70, 1 / 80, 1 / 90])
        self.assertGreater(sim.simulator.image().sum(), 0)

    def test_sources_do_not_add_up(self):
        one, two = small(), small()
        two.xray_source_XYZ = [(-1, 0, 0), (-1, 0, 0)]
        np.testing.assert_allclose(two.simulator.image(), one.simulator.image(), rtol=1e-9)

    def test_dxtbx(self):
        sim = nanoBragg([Panel()], Beam(), default_F=100, Ncells_abc=(5, 5, 5), oversample=1)
        simulator = sim.simulator
        self.assertEqual(simulator.shape, (20, 30))
        self.assertAlmostEqual(simulator["kahn_factor"], 0.9)
        np.testing.assert_allclose(simulator["beam_direction"], [0, 0, -1])
        values = simulator.trace(0, 0)
        position = next(v for n, v in values.items() if np.shape(v) == (3,) and "pos" in n)
        np.testing.assert_allclose(np.array(position), [-0.0145, 0.0095, -0.1], rtol=1e-9)

    def test_names(self):
        sim = small()
        for call, kind, words in ((lambda: sim.wavelength, AttributeError, "closest is 'wavelength_A'"),
                                  (lambda: setattr(sim, "Ncell_abc", 3), AttributeError, "closest is 'Ncells_abc'"),
                                  (lambda: nanoBragg(pixel_size=1), AttributeError, "closest is 'pixel_size_mm'"),
                                  (lambda: sim.add_noise(), NotImplementedError, "noise"),
                                  (lambda: nanoBragg().add_nanoBragg_spots(), ValueError, "structure factors")):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    def test_smv(self):
        sim = small()
        sim.add_nanoBragg_spots()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.img")
            sim.to_smv_format(file)
            with open(file, "rb") as f:
                data = f.read()
            self.assertEqual(len(data), 512 + 2 * 600)
            self.assertIn(b"SIZE1=30;", data[:512])
            pixels = np.frombuffer(data[512:], "<u2")
            self.assertEqual((pixels.max(), pixels.argmax()), (55040, sim.raw_pixels.argmax()))


class Pictures(unittest.TestCase):
    def test_png(self):
        data = reference()._repr_png_()
        self.assertTrue(data.startswith(b"\x89PNG"))
        self.assertEqual(struct.unpack(">II", data[16:24]), (24, 24))
        size = struct.unpack(">I", data[33:37])[0]
        rows = zlib.decompress(data[41:41 + size])
        pixels = np.frombuffer(rows, np.uint8).reshape(24, 25)[:, 1:]
        image = reference().image()
        self.assertEqual(pixels[np.unravel_index(image.argmax(), image.shape)], 0)
        self.assertIn("data:image/png", reference()._repr_html_())

    def test_plot(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        from nanobragg import plot
        sim = reference()
        ax = plot.image(sim.image(), sim)
        self.assertRegex(ax.format_coord(3.2, 4.1), r"slow 4, fast 3: .*hkl ")
        resolution = sim["wavelength"] / (2 * np.sin(plot.two_theta(sim, sim.shape) / 2))
        values = sim.trace(4, 3)
        stol2 = np.linalg.norm(values["scattering_vec_A_inv"])
        self.assertAlmostEqual(resolution[4, 3] * 1e10 * stol2, 1, places=6)
        plot.image(np.ones((2, 5, 6)))


if __name__ == "__main__":
    unittest.main()
