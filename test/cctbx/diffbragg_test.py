#!/usr/bin/env python3
"""The derivatives of our diffBragg against differences of its own images. diffbragg_test.py BUILD_PYTHON"""

import os
import sys
import unittest

import numpy

sys.path.insert(0, sys.argv.pop(1))
os.environ["NB_CCTBX_REPLACE"] = "1"
try:
    import scitbx  # noqa: F401
    from cctbx.array_family import flex
    from dxtbx.model import BeamFactory
    from dxtbx.model.detector import DetectorFactory
except ImportError as error:
    print(f"skipped: {sys.executable} has no cctbx and dxtbx (Debian: python3-cctbx): {error}")
    sys.exit(0)
try:
    from nanobragg.cctbx.diffbragg_ext import diffBragg
    from nanobragg.cctbx.nanobragg_ext import shapetype
except ImportError as error:
    print(f"skipped: {sys.executable} cannot load the bindings, which are built for another Python: {error}")
    sys.exit(0)

ROT, CELL, NCELLS, PANELS, FCELL, LAMBDA, TURNS, ETA, DEF, DIFFUSE = (0, 1, 2), (3, 4), 9, (10, 15, 16), 11, (12, 13), (14, 17, 18), 19, 21, 23


def turn(axis, angle):
    x, y, z = numpy.array(axis) / numpy.linalg.norm(axis)
    k = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + numpy.sin(angle) * k + (1 - numpy.cos(angle)) * k @ k


def flat(matrix):
    return tuple(float(x) for x in numpy.reshape(matrix, -1))


class Derivatives(unittest.TestCase):
    CELL = numpy.array([[40.0, 0, -5], [0, 50, 0], [0, 0, 62]])

    def setUp(self):
        panels = [DetectorFactory.make_detector("", (1, 0, 0), (0, -1, 0), (-6.0 + 0.2 * i, 6.0 + 8 * i, -120 - i), (0.1, 0.1), (100, 110), (0, 1e9))[0]
                  for i in (0, 1)]
        self.detector = DetectorFactory.make_detector("", (1, 0, 0), (0, -1, 0), (0, 0, -100), (0.1, 0.1), (100, 110), (0, 1e9))
        self.detector.add_panel(panels[1])
        self.detector[0].set_frame(panels[0].get_fast_axis(), panels[0].get_slow_axis(), panels[0].get_origin())
        self.beam = BeamFactory.simple(1.3)
        self.beam.set_direction((0, 0, 1))
        self.D = D = diffBragg(self.detector, self.beam)
        D.oversample, D.polarization, D.hall_symbol = 2, 0.4, " P 1"
        rng = numpy.random.default_rng(3)
        self.hkl = numpy.array([h for h in numpy.ndindex(31, 31, 31)]) - 15
        self.F = rng.uniform(50, 150, len(self.hkl))
        self.set_cell(0, 0)
        self.set_F()
        D.F000 = 0
        beams = [BeamFactory.simple(1.3) for _ in range(3)]
        for i, beam in enumerate(beams):
            beam.set_direction((0, 0, 1))
            beam.set_wavelength(1.3e-10 * (1 + 0.003 * i))
            beam.set_flux(1e12 * (1 + i))
            beam.set_polarization_fraction(0.4)
        D.xray_beams = beams
        D.Umatrix = flat(turn((1, 2, 3), 0.7))
        D.Ncells_abc_aniso, D.Ncells_def = (11, 9.5, 8), (1, 0.5, -0.7)
        for i in ROT:
            D.set_value(i, 0.01 * (i + 1))
        self.axes = rng.normal(size=(4, 3))
        self.set_blocks((0.004, 0.006, 0.005))
        rows = numpy.array([(p, f, s) for p in (0, 1) for s in range(0, 110, 3) for f in range(0, 100, 3)])
        self.pfs = flex.size_t(rows.reshape(-1).tolist())

    def set_F(self, shift=0.0):
        self.D.Fhkl_tuple = flex.miller_index([tuple(h) for h in self.hkl.tolist()]), flex.double(self.F + shift), None

    def set_cell(self, a, beta):
        """Straight and curved in its parameters."""
        self.slopes = [numpy.diag([1.0, 0, 0]), numpy.array([[0, 0, 3.0], [0, 0, 0], [0, 0, 1]])]
        self.curves = [numpy.zeros((3, 3)), numpy.array([[0, 0, 1.0], [0, 0, 0], [0, 0, -2]])]
        direct = self.CELL + sum(s * t + c * t * t / 2 for s, c, t in zip(self.slopes, self.curves, (a, beta)))
        self.D.Bmatrix = flat(numpy.linalg.inv(direct).T)
        for i, (slope, curve, t) in enumerate(zip(self.slopes, self.curves, (a, beta))):
            self.D.set_ucell_derivative_matrix(3 + i, flex.double(flat(slope + curve * t)))
            self.D.set_ucell_second_derivative_matrix(3 + i, flex.double(flat(curve)))

    def set_blocks(self, eta, isotropic=False):
        """Rotations about axes by angles that are the mean of the spreads, each with weights of its own."""
        weights = numpy.array([[1, 0.2, 0.1], [0.3, 1, 0.2], [0.1, 0.3, 1], [-1, -0.5, -0.2]]) if not isotropic else numpy.array([[1.0], [-0.5], [0.7], [0.2]])
        angles = weights @ numpy.array(eta)
        blocks = [turn(axis, angle) for axis, angle in zip(self.axes, angles)]
        units = self.axes / numpy.linalg.norm(self.axes, axis=1)[:, None]
        cross = [numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in units]
        self.D.mosaic_domains, self.D.mosaic_spread_deg = 4, 0.3
        self.D.set_mosaic_blocks([flat(b) for b in blocks])
        for order, put in ((1, self.D.set_mosaic_blocks_prime), (2, self.D.set_mosaic_blocks_dbl_prime)):
            put([flat(weights[m, i]**order * numpy.linalg.matrix_power(cross[m], order) @ blocks[m]) for i in range(weights.shape[1]) for m in range(4)])
        self.D.vectorize_umats()

    def image(self):
        self.D.add_diffBragg_spots(self.pfs)
        return self.D.raw_pixels_roi.as_numpy_array()[:len(self.pfs) // 3]

    def check(self, refine_id, change, step, part=0, second=True, of_pixels=1.0):
        """change(t): sets what is refined at a distance from now. of_pixels: the part of them that is compared, the best ones."""
        D, n = self.D, len(self.pfs) // 3
        D.compute_curvatures = second
        D.refine(refine_id)
        self.image()
        first, curve = (D._derivative(images, refine_id, part).as_numpy_array()[:n] for images in (D._first, D._second))
        D.fix(refine_id)
        D.compute_curvatures = False
        images = {}
        for k in (-2, -1, 0, 1, 2):
            change(k * step)
            images[k] = self.image()
        change(0)
        wanted = (8 * (images[1] - images[-1]) - images[2] + images[-2]) / (12 * step)
        self.assertGreater(numpy.abs(wanted).max(), 0)
        self.assertLess(numpy.quantile(numpy.abs(first - wanted), of_pixels), 1e-6 * numpy.abs(wanted).max())
        if second:
            wanted = (16 * (images[1] + images[-1]) - images[2] - images[-2] - 30 * images[0]) / (12 * step**2)
            self.assertLess(numpy.abs(curve - wanted).max(), 1e-3 * numpy.abs(wanted).max())

    def test_rotations(self):
        for i in ROT:
            self.check(i, lambda t: self.D.set_value(i, 0.01 * (i + 1) + t), 1e-4)

    def test_cell(self):
        self.check(3, lambda t: self.set_cell(t, 0), 5e-3)
        self.set_cell(0.1, 0.2)
        self.check(4, lambda t: self.set_cell(0.1, 0.2 + t), 2e-3)

    def test_ncells(self):
        start = numpy.array([11, 9.5, 8])
        for i in range(3):
            self.check(NCELLS, lambda t: setattr(self.D, "Ncells_abc_aniso", start + t * numpy.eye(3)[i]), 1e-2, part=i)
        self.D.Ncells_abc = 10
        self.check(NCELLS, lambda t: self.D.set_value(NCELLS, 10 + t), 1e-2)

    def test_ncells_def(self):
        start = numpy.array([1, 0.5, -0.7])
        for i in range(3):
            self.check(DEF, lambda t: setattr(self.D, "Ncells_def", start + t * numpy.eye(3)[i]), 1e-2, part=i)

    def test_without_the_scale_of_ncells(self):
        self.D.no_Nabc_scale = True
        self.check(NCELLS, lambda t: setattr(self.D, "Ncells_abc_aniso", (11 + t, 9.5, 8)), 1e-2)

    def test_spots_as_wide_in_all_directions(self):
        """The widths of Gauss_star follow the cell and all N."""
        D = self.D
        D.xtal_shape = shapetype.Gauss_star
        self.check(3, lambda t: self.set_cell(t, 0), 5e-3)
        self.check(4, lambda t: self.set_cell(0, t), 2e-3)
        self.check(0, lambda t: D.set_value(0, 0.01 + t), 1e-4)
        for no_scale in (False, True):
            D.no_Nabc_scale = no_scale
            self.check(NCELLS, lambda t: setattr(D, "Ncells_abc_aniso", (11, 9.5 + t, 8)), 1e-2, part=1)
        D.no_Nabc_scale = False
        self.check(DEF, lambda t: setattr(D, "Ncells_def", (1, 0.5 + t, -0.7)), 1e-2, part=1)
        self.check(LAMBDA[1], lambda t: setattr(D, "lambda_coefficients", (0, 1 + t)), 1e-4)

    def test_panels(self):
        for once in (False, True):
            self.D.oversample_omega = not once
            for refine_id, axis in zip(PANELS, (2, 0, 1)):
                def shift(t):
                    for panel in (0, 1):
                        self.D.update_dxtbx_geoms(self.detector, self.beam, panel, panel_offsetX=t * (axis == 0), panel_offsetY=t * (axis == 1),
                                                  panel_offsetZ=t * (axis == 2))
                shift(0)
                self.check(refine_id, shift, 1e-6, second=False)

    def test_turns_of_panels(self):
        self.D.reference_origin = (1, 2, -110)
        for i, refine_id in enumerate(TURNS):
            def rotate(t):
                for panel in (0, 1):
                    self.D.update_dxtbx_geoms(self.detector, self.beam, panel, *(numpy.array([0.01, 0.02, -0.01]) + t * numpy.eye(3)[i]))
            rotate(0)
            self.check(refine_id, rotate, 1e-5, second=False)

    def test_shift_along_z(self):
        self.check(10, lambda t: self.D.shift_origin_z(self.detector, t), 1e-6, second=False)

    def test_wavelengths(self):
        self.D.lambda_coefficients = 0.001, 1.001
        self.check(12, lambda t: setattr(self.D, "lambda_coefficients", (0.001 + t, 1.001)), 1e-4)
        self.check(13, lambda t: setattr(self.D, "lambda_coefficients", (0.001, 1.001 + t)), 1e-4)

    def test_mosaic_spreads(self):
        self.D.has_anisotropic_mosaic_spread = True
        for i in range(3):
            self.check(ETA, lambda t: self.set_blocks(numpy.array((0.004, 0.006, 0.005)) + t * numpy.eye(3)[i]), 1e-4, part=i)

    def test_one_mosaic_spread(self):
        self.set_blocks((0.008,), isotropic=True)
        self.check(ETA, lambda t: self.set_blocks((0.008 + t,), isotropic=True), 1e-4)

    def test_structure_factors(self):
        self.check(FCELL, self.set_F, 0.5)

    def test_diffuse_scattering(self):
        self.D.use_diffuse, self.D.diffuse_gamma, self.D.diffuse_sigma = True, (30, 40, 50), (0.3, 0.5, 0.4)
        for i in range(3):
            self.check(DIFFUSE, lambda t: setattr(self.D, "diffuse_gamma", numpy.array((30, 40, 50)) + t * numpy.eye(3)[i]), 0.1, part=i)
            self.check(DIFFUSE, lambda t: setattr(self.D, "diffuse_sigma", numpy.array((0.3, 0.5, 0.4)) + t * numpy.eye(3)[i]), 1e-3, part=3 + i)
        # The image jumps where another reflection becomes the nearest one.
        self.check(3, lambda t: self.set_cell(t, 0), 1e-3, second=False, of_pixels=0.8)

    def test_a_spindle(self):
        self.D.phi_deg, self.D.osc_deg, self.D.phisteps = 3, 0.4, 3
        self.check(1, lambda t: self.D.set_value(1, 0.02 + t), 1e-4)
        self.D.has_anisotropic_mosaic_spread = True
        self.check(ETA, lambda t: self.set_blocks((0.004 + t, 0.006, 0.005)), 1e-4)

    def test_likelihood_by_scales(self):
        """Two channels have scales; the model follows them."""
        D, n = self.D, len(self.pfs) // 3
        D._update_channels(numpy.array([0, 1, 1]))
        scales = numpy.random.default_rng(1).uniform(0.5, 2, 2 * D.Num_ASU)
        D._update_scales(scales, 2)
        data = 1e3 * self.image() * numpy.random.default_rng(2).uniform(0.5, 1.5, n)

        def target(scales):
            D._update_scales(scales, 2)
            variance = 1e3 * self.image() + 5
            return 0.5 * numpy.sum((data - variance + 5)**2 / variance + numpy.log(variance))

        target(scales)
        model = 1e3 * self.image()
        gradient = D._add_gradients(self.pfs, data - model, model + 5, numpy.ones(n, bool), numpy.ones(n, numpy.int32), 2, 1e3)
        direction = numpy.random.default_rng(4).normal(size=len(scales)) * scales
        ends = [target(scales + k * 1e-3 * direction) for k in (-2, -1, 1, 2)]
        wanted = (8 * (ends[2] - ends[1]) - ends[3] + ends[0]) / 12e-3
        self.assertAlmostEqual(gradient @ direction / wanted, 1, places=6)

    def test_restraints(self):
        D = self.D
        D.hall_symbol = " P 2y"
        self.hkl = self.hkl.copy()  # another list
        self.set_F()
        unit = D._asu()
        rng = numpy.random.default_rng(5)
        scales, direction = rng.uniform(0.5, 2, unit.size), rng.normal(size=unit.size)
        edges = numpy.quantile(unit.d[numpy.isfinite(unit.d)], [0, 0.3, 0.7, 1])
        key = {tuple(h): i for i, h in enumerate(unit.keys.tolist())}
        plus, minus = numpy.array([(i, key[tuple(-x for x in h)]) for h, i in key.items() if min(h) > 0]).T
        self.assertGreater(len(plus), 100)
        for restrain in (lambda s: unit.restrain_means(edges, s, 1e4, False), lambda s: unit.restrain_means(edges, s, 1e4, True),
                         lambda s: unit.restrain_start(edges, s, 2.0), lambda s: unit.restrain_friedel(plus, minus, s, 0.3)):
            _, gradient = restrain(scales)
            ends = [restrain(scales + k * 1e-4 * direction)[0] for k in (-2, -1, 1, 2)]
            wanted = (8 * (ends[2] - ends[1]) - ends[3] + ends[0]) / 12e-4
            self.assertAlmostEqual(gradient @ direction / wanted, 1, places=6)

    def test_mean_wavelengths_and_indices(self):
        D = self.D
        D.store_ave_wavelength_image = True
        image = self.image()
        mean = D.ave_wavelength_image().as_numpy_array()
        self.assertTrue((mean[image > 0] >= 1.3 - 1e-9).all() and (mean[image > 0] <= 1.3 * 1.006 + 1e-9).all())
        bright = image > 0.5 * image.max()
        h = numpy.stack([x.as_numpy_array() for x in D.ave_hkl_image()], axis=1)[bright]
        self.assertLess(numpy.abs(h - numpy.rint(h)).max(), 0.2)

    def test_complex_structure_factors(self):
        first = self.image()
        indices = flex.miller_index([tuple(h) for h in self.hkl.tolist()])
        self.D.Fhkl_tuple = indices, flex.double(0.6 * self.F), flex.double(0.8 * self.F)
        self.assertEqual(len(self.D.Fhkl_tuple), 3)
        self.assertLess(numpy.abs(self.image() - first).max(), 1e-12 * first.max())

    def test_anomalous_atoms(self):
        """An image for each f' and f'' of a source is that of the structure factors with the atoms' share in them."""
        D, rng = self.D, numpy.random.default_rng(5)
        indices, phases = flex.miller_index([tuple(h) for h in self.hkl.tolist()]), rng.uniform(0, 2 * numpy.pi, len(self.hkl))
        F = self.F * numpy.exp(1j * phases)

        def put(F):
            D.Fhkl_tuple = indices, flex.double(F.real.copy()), flex.double(F.imag.copy())
        x, B, occupancy = rng.uniform(size=(2, 3)), [15.0, 30.0], [1.0, 0.4]
        d_star = self.hkl @ numpy.array(D.Bmatrix).reshape(3, 3).T
        share = sum(o * numpy.exp(2j * numpy.pi * self.hkl @ at - b * (d_star**2).sum(axis=1) / 4) for at, b, o in zip(x, B, occupancy))
        put(F)
        plain = self.image()
        D.heavy_atom_data = (*x.T.tolist(), B, occupancy)
        D.fprime_fdblprime = [-8.0] * 3, [4.0] * 3
        image = self.image()
        D.fprime_fdblprime = [0.0] * 3, [0.0] * 3
        self.assertLess(numpy.abs(self.image() - plain).max(), 1e-12 * plain.max())
        put(F + (-8 + 4j) * share)
        beside = numpy.rint(D._nearest(D._numbers_now(), D._rows(self.pfs))).any(axis=1)  # F000 is 0 there, and the atoms' share here
        self.assertLess(numpy.abs(self.image() - image)[beside].max(), 1e-12 * image.max())
        self.assertGreater(numpy.abs(image - plain).max(), 0.05 * plain.max())
        # The first source alone has them: the sum over sources is that of its image and those of the others.
        put(F)
        D.fprime_fdblprime = [-8.0, 0, 0], [4.0, 0, 0]
        one = self.image()
        D.fprime_fdblprime = [0.0, -8, -8], [0.0, 4, 4]
        self.assertLess(numpy.abs(one + self.image() - image - plain).max(), 1e-12 * image.max())
        self.set_F()
        with self.assertRaisesRegex(ValueError, "complex structure factors"):
            self.image()

    def test_intensities_below_zero(self):
        first = self.image()
        indices = flex.miller_index([tuple(h) for h in self.hkl.tolist()])
        self.D.refine_Icell = True
        self.D.Fhkl_tuple = indices, flex.double(-self.F**2), None
        self.assertLess(numpy.abs(self.image() + first).max(), 1e-12 * first.max())

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "no derivative with respect to 0; call refine"):
            self.D.get_derivative_pixels(0)
        with self.assertRaisesRegex(ValueError, "give one for each source"):
            self.D._update_channels([0])
        with self.assertRaisesRegex(ValueError, "not a number of what diffBragg refines"):
            self.D.refine(24)
        self.D.xtal_shape = shapetype.Square
        with self.assertRaisesRegex(NotImplementedError, "xtal_shape is Square; set shapetype.Gauss or Gauss_star"):
            self.image()
        self.D.xtal_shape = shapetype.Gauss
        self.assertGreater(self.image().max(), 0)
        with self.assertRaisesRegex(ValueError, "each of the 3 sources"):
            self.D.fprime_fdblprime = [1.0], [2.0]
        for refused in (lambda: self.D.refine(22), lambda: setattr(self.D, "fprime_fdblprime_derivs", ([], [])), self.D.get_fp_fdp_derivative_pixels):
            with self.assertRaisesRegex(NotImplementedError, "f_double_prime"):
                refused()


if __name__ == "__main__":
    unittest.main()
