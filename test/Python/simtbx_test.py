"""The names of simtbx, and pictures."""

import os
import struct
import subprocess
import sys
import tempfile
import math
import unittest
import zlib

import numpy as np

import nanobragg as nb
from common import reference
from nanobragg.compat.simtbx import convention, nanoBragg, shapetype


class Panel:
    """As dxtbx has them."""

    def get_image_size(self): return 30, 20
    def get_pixel_size(self): return 1.0, 1.0
    def get_fast_axis(self): return 1, 0, 0
    def get_slow_axis(self): return 0, -1, 0
    def get_origin(self): return -15.0, 10.0, -100.0
    def get_beam_centre(self, s0): return 15.0, 10.0
    def get_thickness(self): return 0.0
    def get_gain(self): return 1.5
    def get_mu(self): return 0.0


class Miller:
    """As cctbx has it: the half of a list."""

    def __init__(self, mates=False): self.mates = mates
    def unit_cell(self): return 71, 81, 91, 90, 90, 90
    def expand_to_p1(self): return self
    def generate_bijvoet_mates(self): return Miller(True)
    def indices(self): return [(1, 2, 3), (-1, -2, -3)][:1 + self.mates]
    def data(self): return [5.0, 5.0][:1 + self.mates]


class Beam:
    def __init__(self, wavelength=1.1, flux=3.0): self.wavelength, self.flux = wavelength, flux
    def get_flux(self): return self.flux
    def get_divergence(self): return 0.0
    def get_sample_to_source_direction(self): return 0, 0, 1.0
    def get_s0(self): return 0, 0, -1.0
    def get_wavelength(self): return self.wavelength
    def get_polarization_normal(self): return 0, 1, 0
    def get_polarization_fraction(self): return 0.95


def small(**more):
    return nanoBragg(detpixels_slowfast=(20, 30), pixel_size_mm=1.0, Ncells_abc=(5, 5, 5), unit_cell_Adeg=(70, 80, 90, 90, 90, 90),
                     missets_deg=(10, 20, 30), wavelength_A=1.0, default_F=100, F000=100, oversample=1, **more)


class Simtbx(unittest.TestCase):
    def test_image(self):
        sim = small(xtal_shape=shapetype.Gauss)
        sim.add_nanoBragg_spots()
        want = nb.Simulator.from_flags("-detpixels_f 30 -detpixels_s 20 -pixel 1 -N 5 -cell 70 80 90 90 90 90 -misset 10 20 30 -lambda 1 "
                                       "-default_F 100 -oversample 1 -gauss_xtal").image()
        np.testing.assert_allclose(sim.raw_pixels, want, rtol=1e-9)
        sim.add_nanoBragg_spots()
        np.testing.assert_allclose(sim.raw_pixels, 2 * want, rtol=1e-9)
        self.assertEqual(sim.detpixels_slowfast, (20, 30))
        part = small(xtal_shape="gauss", region_of_interest=((4, 9), (3, 40)), mask=np.arange(600).reshape(20, 30) % 7 > 0)
        part.add_nanoBragg_spots()
        np.testing.assert_allclose(part.raw_pixels[3:, 4:10], (want * part.mask)[3:, 4:10], rtol=1e-9)
        np.testing.assert_allclose(part.raw_pixels[3:, 4:10].sum(), part.raw_pixels.sum(), rtol=1e-14)

    def test_positions(self):
        """Words by their places, and both kinds of them."""
        with self.assertWarnsRegex(nb.Warning, "in radians"):
            by_place = nanoBragg((20, 30), (5, 5, 5), (70, 80, 90, 90, 90, 90), (1, 2, 3), (9, 14), 120, 1.0, 1.1)
        self.assertAlmostEqual(by_place.missets_deg[0], np.degrees(1))
        with self.assertWarnsRegex(nb.Warning, "in radians"):
            by_name = nanoBragg(unit_cell_Adeg=(70, 80, 90, 90, 90, 90), misset_deg=(1, 2, 3), beam_center_mm=(9, 14), distance_mm=120,
                                wavelength_A=1.1, detpixels_slowfast=(20, 30), Ncells_abc=(5, 5, 5), pixel_size_mm=1)
        for sim in by_place, by_name:
            self.assertEqual((sim.detpixels_fastslow, sim.distance_mm, sim.beam_center_mm), ((30, 20), 120, (9, 14)))
            sim.default_F = 100
        np.testing.assert_array_equal(by_place.simulator.image(), by_name.simulator.image())
        self.assertEqual(nanoBragg([Panel()], Beam(), 3, 0).verbose, 3)
        with self.assertRaisesRegex(TypeError, "twice"):
            nanoBragg((20, 30), detpixels_slowfast=(20, 30))

    def test_reads_what_was_not_set(self):
        """Set to what they read, attributes change nothing; and they are those of the image."""
        turned = dict(detector_rotation_deg=(1.0, 2.0, 3.0))
        plain = small().simulator.image()
        for name in ("beam_center_mm", "Amatrix", "energy_eV", "phisteps", "mosaic_domains", "distance_mm"):
            with self.subTest(name):
                sim = small()
                value = getattr(sim, name)
                if name.startswith("Amatrix"):
                    sim.missets_deg = 0, 0, 0
                setattr(sim, name, value)
                np.testing.assert_allclose(sim.simulator.image(), plain, rtol=1e-5)
        sim = small(beamcenter_convention="adxv", **turned)
        self.assertEqual(sim.beamcenter_convention, convention.ADXV)
        sim.beam_center_mm = 11.0, 7.0
        np.testing.assert_allclose(sim.adxv_beam_center_mm, (11.0, 7.0))
        np.testing.assert_allclose(sim.mosflm_beam_center_mm, (20 - 7 - 0.5, 11 - 0.5))
        np.testing.assert_allclose(sim.denzo_beam_center_mm, (20 - 7, 11))
        fast, slow, normal = map(np.array, (sim.fdet_vector, sim.sdet_vector, sim.odet_vector))
        np.testing.assert_allclose(abs(np.cross(fast, slow) @ normal), 1)
        origin = np.array(sim.pix0_vector_mm)
        np.testing.assert_allclose(sim.dials_origin_mm, origin * (1, -1, -1))  # spindle along x, beam along z
        np.testing.assert_allclose(normal @ origin, sim.close_distance_mm)
        # From there along the axes to where the beam meets the detector.
        hit = origin + 11 * fast + (20 - 7) * slow
        np.testing.assert_allclose(np.cross(hit, sim.beam_vector), 0, atol=1e-9)
        np.testing.assert_allclose(sim.XDS_ORGXY, (-origin @ fast + 0.5, -origin @ slow + 0.5))
        sim = small()
        sim.polar_Bvector = sim.polar_Bvector
        np.testing.assert_allclose(sim.polar_vector, small().polar_vector)
        for name in ("pix0_vector_mm", "mosflm_beam_center_mm"):
            with self.assertRaisesRegex(AttributeError, "no setter"):
                setattr(sim, name, (1, 2))

    def test_factors_and_matrix(self):
        sim = small()
        sim.Fhkl_tuple = [(h, k, l) for h in range(-8, 9) for k in range(-8, 9) for l in range(-8, 9)], np.full(17**3, 100.0)
        sim.add_nanoBragg_spots()
        other = small()
        other.add_nanoBragg_spots()
        np.testing.assert_allclose(sim.raw_pixels, other.raw_pixels, rtol=1e-12, atol=1e-12 * sim.raw_pixels.max())
        sim.Amatrix = np.diag([1 / 70, 1 / 80, 1 / 90])
        self.assertGreater(sim.simulator.image().sum(), 0)

    def test_sources(self):
        """Weights count as they are; those of beams have the mean 1, so that N beams make an image N times as bright."""
        one, two = small(), small()
        two.xray_source_XYZ = [(-1, 0, 0), (-1, 0, 0)]
        np.testing.assert_allclose(two.simulator.image(), one.simulator.image(), rtol=1e-9)
        two.xray_source_intensity_fraction = [3, 4]
        np.testing.assert_allclose(two.simulator.image(), 7 * one.simulator.image(), rtol=1e-9)
        one.xray_beams = [Beam(1.1e-10, 4.0)]
        two = small(xray_beams=[Beam(1.1e-10, 1.0), Beam(1.1e-10, 3.0)])
        self.assertEqual((one.flux, two.flux, one.polarization), (4, 4, 0.95))
        self.assertAlmostEqual(two.wavelength_A, 1.1)
        np.testing.assert_allclose(two.simulator.image(), 2 * one.simulator.image(), rtol=1e-9)
        with self.assertRaisesRegex(ValueError, "wavelengths in m"):
            one.xray_beams = [Beam()]

    def test_enumerations_print_as_those_of_boost(self):
        self.assertEqual((str(shapetype.Gauss), f"{shapetype.Gauss}", f"{shapetype.Gauss:02d}"), ("Gauss", "Gauss", "03"))
        self.assertIs(shapetype.names["Gauss"], shapetype.Gauss)
        self.assertIs(shapetype.values[int(shapetype.Tophat)], shapetype.Tophat)

    def test_wavelengths_of_sources_are_in_metres_or_angstroms(self):
        for unit in (1, 1e-10):
            sim = small()
            sim.xray_source_wavelengths_A = [1.1 * unit, 1.2 * unit]
            np.testing.assert_allclose(sim.xray_source_wavelengths_A, [1.1, 1.2])

    def test_background(self):
        """The background of a constant F: the solid angle times known numbers."""
        sim = small(nopolar=True, default_Fbg=2.5, amorphous_sample_size_mm=(2.0, 0, 0.05), flux=1e11, beamsize_mm=0.1, amorphous_density_gcm3=1.2)
        sim.amorphous_molecular_weight_Da = 20
        sim.add_background()
        beam = -np.array(sim.pix0_vector_mm)[2] * 1e-3, np.array(sim.pix0_vector_mm)[1] * 1e-3
        fast, slow = np.meshgrid((np.arange(30) + 0.5) * 1e-3 - beam[0], (np.arange(20) + 0.5) * 1e-3 - beam[1])
        molecules = 2e-3 * 1e-4 * 0.5e-4 * 1.2e6 * 6.02214179e23 / 20
        want = 7.94079248018965e-30 * 1e11 / 1e-8 * molecules * 2.5**2 * 1e-6 * 0.1 / (0.1**2 + fast**2 + slow**2)**1.5
        np.testing.assert_allclose(sim.raw_pixels, want, rtol=1e-9)
        once = sim.raw_pixels.copy()
        sim.add_background()
        np.testing.assert_array_equal(sim.raw_pixels, 2 * once)
        sim.raw_pixels, sim.adc_offset_adu = once, 0
        self.assertGreater(len(sim.extract_background()), 3)
        np.testing.assert_allclose([f for _, f in sim.Fbg_vs_stol], 2.5, rtol=1e-9)
        images = []
        for table in ([(0, 2), (0.2, 6), (0.1, 7), (0.5, 3)], [(0, 2), (0.1, 7), (0.2, 6), (0.5, 3)]):
            sim.raw_pixels, sim.Fbg_vs_stol = np.zeros_like(once), table
            sim.add_background()
            images.append(sim.raw_pixels.copy())
        np.testing.assert_array_equal(*images)

    def test_point_spread_and_noise(self):
        sim = small(seed=5, detector_psf_fwhm_mm=0, detector_calibration_noise_pct=0, readout_noise_adu=2, adc_offset_adu=30, quantum_gain=1.5)
        sim.raw_pixels = np.full((20, 30), 400.0)
        sim.add_noise()
        first = sim.raw_pixels.copy()
        self.assertAlmostEqual(first.mean(), 629.5, delta=5 * np.sqrt((1.5**2 * 400 + 4) / 600))
        self.assertAlmostEqual(first.std() / np.sqrt(1.5**2 * 400 + 4), 1, delta=0.15)
        self.assertNotEqual(sim.seed, 5)
        sim.raw_pixels, sim.seed = np.full((20, 30), 400.0), 5
        sim.region_of_interest = (0, 29), (0, 9)
        sim.add_noise()
        # Counting draws the same; read-out begins after fewer draws.
        self.assertAlmostEqual((sim.raw_pixels[:10] - first[:10]).std() / np.sqrt(8), 1, delta=0.15)
        np.testing.assert_array_equal(sim.raw_pixels[10:], 400)
        sim.raw_pixels = np.pad([[100.0]], ((9, 10), (14, 15)))
        sim.apply_psf()  # a width of 0
        self.assertEqual(sim.raw_pixels[9, 14], 100)
        sim.apply_psf(shapetype.Gauss, 1.5)
        self.assertAlmostEqual(sim.raw_pixels.sum(), 100, delta=0.02)  # the light beyond a circle is not quite that beyond its radius
        self.assertAlmostEqual(sim.raw_pixels[9, 15] / sim.raw_pixels[9, 13], 1)
        self.assertLess(sim.raw_pixels[9, 14], 50)
        # 100 photons: a tenth of their noise, 1 %, falls beyond 1 + ceil(sqrt(log 100 / log 16) w) = 3 pixels and is added everywhere.
        self.assertEqual(sim.raw_pixels[9, 18], sim.raw_pixels[0, 0])
        self.assertAlmostEqual(sim.raw_pixels[0, 0], 100 * 16**-4.0 / 600)
        self.assertGreater(sim.raw_pixels[9, 17], 2 * sim.raw_pixels[0, 0])

    def test_point_spread_of_a_fiber(self):
        sim = small(detector_psf_type=shapetype.Gauss, detector_psf_fwhm_mm=2, detector_psf_kernel_radius_pixels=2)
        sim.raw_pixels = np.pad([[100.0]], ((9, 10), (14, 15)))
        sim.apply_psf()  # by a fiber's, whatever the attribute is
        g, everywhere = 2 * 0.652383013252053, 100 / np.sqrt(1 + (2 / 1.304766026504106)**2) / 600
        middle = 4 * np.arctan(0.25 / (g * np.sqrt(g * g + 0.5))) / (2 * np.pi)
        self.assertAlmostEqual(sim.raw_pixels[0, 0], everywhere)
        self.assertAlmostEqual(sim.raw_pixels[9, 14], 100 * middle + everywhere)

    def test_point_spread_of_many_pixels(self):
        """Wide disks about many pixels go through a Fourier transform; each pixel has its own radius all the same."""
        rows, columns, width = 40, 30, 0.8
        photons = np.random.default_rng(1).poisson(1000, (rows, columns)).astype(float)
        sim = nanoBragg(detpixels_slowfast=(rows, columns), pixel_size_mm=0.1, detector_psf_fwhm_mm=0.1 * width)
        sim.raw_pixels = photons
        sim.apply_psf()
        g = width * 0.652383013252053
        within = lambda x, y: np.arctan(x * y / (g * np.sqrt(g * g + x * x + y * y))) / (2 * np.pi)
        reach = min(rows, 1 + math.ceil(g * 10 * math.sqrt(photons.max())))
        dy, dx = np.mgrid[-reach:reach + 1, -reach:reach + 1]
        share = within(dx + .5, dy + .5) - within(dx + .5, dy - .5) - within(dx - .5, dy + .5) + within(dx - .5, dy - .5)
        want, lost = np.zeros((rows + 2 * reach, columns + 2 * reach)), 0
        for (y, x), light in np.ndenumerate(photons):
            radius = min(reach, 1 + math.ceil(g * 10 * math.sqrt(light)))
            lost += light * g / math.hypot(g, radius)
            want[y:y + 2 * reach + 1, x:x + 2 * reach + 1] += light * share * (dx * dx + dy * dy <= radius * radius)
        image = want[reach:-reach, reach:-reach] + lost / photons.size
        image[1:, 0] += want[reach:-reach - 1, reach + columns]  # as simtbx, beyond the last column
        np.testing.assert_allclose(sim.raw_pixels, image, rtol=1e-12)

    def test_point_spread_and_noise_take_as_many_threads_as_they_are_given(self):
        """Threads stay in the process, once begun."""
        program = ("import os, sys, numpy; from nanobragg.compat.simtbx import nanoBragg\n"
                   "sim = nanoBragg(detpixels_slowfast=(300, 300), pixel_size_mm=.1, detector_psf_fwhm_mm=.3, seed=5, calib_seed=7, threads=int(sys.argv[1]))\n"
                   "sim.detector_psf_kernel_radius_pixels = 30\n"
                   "before = len(os.listdir('/proc/self/task'))\n"
                   "for step in (sim.apply_psf, sim.add_noise):\n"
                   "    sim.raw_pixels = numpy.full((300, 300), 1000.)\n"
                   "    step()\n"
                   "    print(len(os.listdir('/proc/self/task')) - before, float(sim.raw_pixels[150, 150]))\n")
        said = [subprocess.run([sys.executable, "-c", program, threads], capture_output=True, text=True, check=True).stdout.split()
                for threads in ("1", "2")]
        self.assertEqual((said[0][0], said[0][2]), ("0", "0"))
        self.assertEqual((said[1][0], said[1][2]), ("1", "1"))
        self.assertEqual((said[0][1], said[0][3]), (said[1][1], said[1][3]))
        with self.assertRaisesRegex(ValueError, "threads"):
            nanoBragg(detpixels_slowfast=(3, 3), detector_psf_fwhm_mm=1, threads=-1).apply_psf()

    def test_noise_is_that_of_simtbx(self):
        """Numbers that simtbx's C++ gave."""
        photons = np.array([[0.5, 3, 11.9, 12.1], [100, 5000, 2e6, 0], [-1, 7, 30, 1]])
        sim = nanoBragg(detpixels_slowfast=(3, 4), seed=5, calib_seed=7, detector_psf_type=shapetype.Unknown, flicker_noise_pct=2,
                        detector_calibration_noise_pct=3, quantum_gain=1.5, adc_offset_adu=30, readout_noise_adu=2)
        sim.raw_pixels = photons
        sim.add_noise()
        want = [[33.987747030239575, 35.839886366990555, 46.60431348166341, 45.76800874053585],
                [151.72932022224768, 7197.770660260785, 3065591.2291651685, 28.386181507783917],
                [31.83190832047082, 39.913598468265796, 81.7684454310133, 35.29634938824114]]
        np.testing.assert_allclose(sim.raw_pixels, want, rtol=1e-13)
        self.assertEqual(sim.seed, 800884138)
        sim.raw_pixels, sim.region_of_interest = photons, ((1, 3), (0, 2))
        sim.add_noise()
        want = [[0.5, 34.8196603777813, 45.3571352003261, 45.74130751795425], [100.0, 8131.895601400769, 2968325.6108327396, 31.740204303495723],
                [-1.0, 42.40667727109499, 79.22951636155496, 36.167747424432605]]
        np.testing.assert_allclose(sim.raw_pixels, want, rtol=1e-13)
        self.assertEqual(sim.seed, 700013880)

    def test_mosaic_blocks(self):
        sim = small()
        sim.mosaic_spread_deg, sim.mosaic_domains = 1.0, 6
        want, blocks = sim.simulator.image(), sim.get_mosaic_blocks()
        np.testing.assert_allclose(blocks @ blocks.transpose(0, 2, 1), np.tile(np.eye(3), (6, 1, 1)), atol=1e-12)
        # The blocks of simtbx's default seed.
        np.testing.assert_allclose(blocks[1][0], [0.99986450, 0.01645191, -0.00056683], atol=2e-5)
        other = small()
        np.testing.assert_array_equal(other.get_mosaic_blocks(), np.eye(3)[None])
        other.set_mosaic_blocks(blocks.reshape(6, 9))
        np.testing.assert_array_equal(other.get_mosaic_blocks(), blocks)
        np.testing.assert_array_equal(other.simulator.image(), small().simulator.image())  # a crystal without spread
        other.mosaic_spread_deg = 0.1
        np.testing.assert_allclose(other.simulator.image(), want, rtol=1e-6, atol=1e-9 * want.max())
        half_turn = np.diag([1.0, -1, -1])
        other.set_mosaic_blocks([half_turn])
        np.testing.assert_array_equal(other.get_mosaic_blocks(), [half_turn])

    def test_orientation(self):
        sim, other = small(seed=3), small(seed=3)
        sim.randomize_orientation()
        other.randomize_orientation()
        first = sim.missets_deg
        self.assertEqual(first, other.missets_deg)
        sim.randomize_orientation()
        self.assertNotEqual(first, sim.missets_deg)
        direct = [[70, 0, 0], [0, 80, 0], [1, 2, 90]]
        sim.Amatrix_RUB = direct
        np.testing.assert_allclose(np.array(sim.Amatrix) @ np.array(direct).T, np.eye(3), atol=1e-12)

    def test_real_and_imaginary_parts(self):
        one, two = small(), small()
        indices = [(h, k, l) for h in range(-8, 9) for k in range(-8, 9) for l in range(-8, 9)]
        one.Fhkl_tuple = indices, np.full(len(indices), 50.0)
        two.Fhkl_tuple = indices, np.full(len(indices), 30.0), np.full(len(indices), -40.0)
        np.testing.assert_allclose(two.simulator.image(), one.simulator.image(), rtol=1e-12)

    def test_dxtbx(self):
        sim = nanoBragg([Panel()], Beam(), default_F=100, Ncells_abc=(5, 5, 5), oversample=1, unit_cell_tuple=(70, 80, 90, 90, 90, 90))
        simulator = sim.simulator
        self.assertEqual(simulator.shape, (20, 30))
        self.assertAlmostEqual(simulator["kahn_factor"], 0.95)  # the fraction, as in simtbx
        self.assertEqual((sim.flux, sim.quantum_gain), (3.0, 1.5))
        np.testing.assert_allclose(simulator["beam_direction"], [0, 0, -1])
        values = simulator.trace(0, 0)
        position = next(v for n, v in values.items() if np.shape(v) == (3,) and "pos" in n)
        np.testing.assert_allclose(np.array(position), [-0.0145, 0.0095, -0.1], rtol=1e-9)

    def test_cctbx(self):
        sim = small()
        sim.Fhkl = Miller()
        self.assertEqual(sim.simulator.structure_factors[0][0, 0, 0], 5)
        np.testing.assert_allclose(sim.unit_cell_tuple[:3], (71, 81, 91))
        with self.assertRaisesRegex(AttributeError, "Fhkl_tuple"):
            _ = sim.Fhkl

        class Phased(Miller):
            def generate_bijvoet_mates(self): return self
            def is_complex_array(self): return True
            def amplitudes(self): return Miller(True)

        sim.Fhkl = Phased()
        grid, low = sim.simulator.structure_factors
        self.assertEqual([grid[tuple(np.array(h) - low)] for h in ((1, 2, 3), (-1, -2, -3))], [5.0, 5.0])
        with self.assertRaisesRegex(TypeError, "real parts, imaginary parts"):
            sim.Fhkl_tuple = [(1, 2, 3)], np.array([3 + 4j])

    def test_names(self):
        sim = small()
        for call, kind, words in ((lambda: sim.wavelength, AttributeError, "closest is 'wavelength_A'"),
                                  (lambda: setattr(sim, "Ncell_abc", 3), AttributeError, "closest is 'Ncells_abc'"),
                                  (lambda: nanoBragg(pixel_size=1), AttributeError, "closest is 'pixel_size_mm'"),
                                  (lambda: sim.to_cbf("a.cbf"), NotImplementedError, "nb-sim --cbf"),
                                  (lambda: setattr(sim, "amorphous_sample_molecular_weight_Da", 28), AttributeError,
                                   "closest is 'amorphous_molecular_weight_Da'"),
                                  (lambda: nanoBragg(xtal_shape="fiber", default_F=1).add_nanoBragg_spots(), ValueError, "xtal_shape"),
                                  (lambda: nanoBragg(xtal_shape="squre"), ValueError, "closest is 'Square'"),
                                  (lambda: sim.set_mosaic_blocks([np.ones((3, 3))]), ValueError, "rotation matrices")):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()
        with self.assertWarnsRegex(nb.Warning, "amorphous_sample_thick_mm"):
            sim.add_background()
        self.assertEqual(sim.raw_pixels.max(), 0)

    def test_smv(self):
        sim = small()
        sim.add_nanoBragg_spots()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.img")
            sim.to_smv_format(file)
            with open(file, "rb") as f:
                data = f.read()
            self.assertEqual(len(data), 1024 + 2 * 600)
            self.assertIn(b"SIZE1=30;", data[:1024])
            pixels = np.frombuffer(data[1024:], "<u2")
            self.assertEqual((pixels.max(), pixels.argmax()), (55000, sim.raw_pixels.argmax()))
            sim = nanoBragg([Panel()], Beam(), default_F=1)
            sim.to_smv_format(file)
            with open(file, "rb") as f:
                header = f.read(1024)
            self.assertIn(b"DISTANCE=100;BEAM_CENTER_X=15;BEAM_CENTER_Y=10;", header.replace(b"\n", b"").replace(b"WAVELENGTH=1.1;", b""))


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
        resolution = sim["wavelength"] / (2 * np.sin(plot.two_theta(sim) / 2))
        values = sim.trace(4, 3)
        stol2 = np.linalg.norm(values["scattering_vec_A_inv"])
        self.assertAlmostEqual(resolution[4, 3] * 1e10 * stol2, 1, places=6)
        plot.image(np.ones((2, 5, 6)))
        for array, words in ((np.zeros(3), "has shape .3,.; it has to be"), (np.zeros((3, 3)), "the simulator's")):
            with self.assertRaisesRegex(ValueError, words):
                plot.image(array, sim)

    def test_levels(self):
        """A spot of twice the background is seen; what is not a number is as no photons."""
        from nanobragg.plot import _levels
        image = np.full((40, 40), 1e6) + np.arange(40)
        image[3:6, 3:6] = 2e6
        image[7, 7] = np.nan
        levels = _levels(image)
        self.assertLess(np.median(levels), 0.1)
        self.assertEqual((levels[4, 4], levels[7, 7]), (1, 0))
        image = np.zeros((40, 40))  # without a background, four decades
        image[5, :16], image[7, :3] = 1e6, (1e4, 1e2, 1e1)
        np.testing.assert_allclose(_levels(image)[7, :3], (0.5, 0, 0), atol=1e-9)
        self.assertEqual(_levels(np.zeros((4, 4))).max(), 0)

    def test_small_images_need_no_kernel(self):
        program = """
import os, sys
import numpy as np
from nanobragg.compat import _small_images
from nanobragg.compat.simtbx import nanoBragg
sim = nanoBragg(detpixels_slowfast=(20, 30), unit_cell_Adeg=(30, 40, 50, 90, 90, 90), Ncells_abc=(5, 5, 5), oversample=2)
sim.default_F, sim.Fbg_vs_stol, sim.amorphous_sample_thick_mm = 100, [(0, 2), (1, 1)], 0.1
def image():
    sim.raw_pixels = np.zeros((20, 30))
    sim.add_nanoBragg_spots()
    sim.add_background()
    return np.array(sim.raw_pixels), len(os.listdir(os.environ["NB_CACHE_DIR"]))
interpreted, kernels = image()
_small_images._IN_ALL = 0
compiled, more = image()
print(kernels, more > 0, abs(interpreted - compiled).max() <= 1e-9 * compiled.max(), compiled.max() > 0)
"""
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "NB_CACHE_DIR": cache})
        self.assertEqual(done.stdout, "0 True True True\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
