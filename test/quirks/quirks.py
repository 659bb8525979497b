#!/usr/bin/env python3
"""The results of the default semantics where the C program is wrong, and that `-compat c` gives the
C program's value of the same quantity.

One class per switch of lib/Experiment/Semantics.h, named in `switch` (the two switches of the sensor's
layers share one). Every expectation comes from a model
that shares no code with the simulator (model.py) or from an identity between runs.

    NB_SIM=build/bin/nb-sim quirks.py                        all tests
    NB_SIM=.../nanoBragg NB_SIM_IS_C=1 quirks.py             the -compat c half, on the C program"""

import json
import os
import re
import tempfile
import time
import unittest

import numpy as np

import model
from model import BEAM, FAST, SLOW, Camera
from simulator import IS_C_PROGRAM, simulate

CELL = (37.0, 43.0, 52.0, 65.0, 75.0, 70.0)
ORTHOGONAL = (37.0, 43.0, 52.0, 90.0, 90.0, 90.0)
MISSET = (10.0, 20.0, 30.0)


def words(flag, numbers):
    return [flag] + [repr(float(x)) for x in numbers]


def oriented(vectors):
    return vectors @ model.misset_rotation(MISSET).T


class QuirkTest(unittest.TestCase):
    switch = None

    def run_default(self, arguments, notice=True, **options):
        """The default semantics; unless told otherwise it must say that it differs, and by what."""
        result = simulate(self, arguments, "default", **options)
        if notice and self.switch:
            self.assertTrue(any(self.switch in line for line in result.differs),
                            f"no notice of {self.switch}: {result.differs}")
        return result

    def run_c(self, arguments, **options):
        result = simulate(self, arguments, "c", **options)
        self.assertEqual(result.differs, [])
        return result

    def assert_images_agree(self, got, want, rtol=1e-5, atol=1e-8):
        self.assertEqual(got.shape, np.shape(want))
        excess = np.abs(got - want) / (rtol * np.abs(want) + atol * np.abs(want).max())
        worst = np.unravel_index(excess.argmax(), excess.shape)
        self.assertLessEqual(excess.max(), 1, f"at slow, fast {worst}: {got[worst]:.8g} instead of "
                                              f"{want[worst]:.8g}")

    def assert_images_differ(self, a, b):
        self.assertGreater(np.abs(a - b).max(), 1e-3 * np.abs(b).max())


class Triclinic(QuirkTest):
    switch = "cell-setting"
    camera = Camera()
    cells = (10, 10, 10)

    def arguments(self):
        return (self.camera.arguments() + words("-cell", CELL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 10, "-oversample", 1])

    def image(self, vectors):
        indices = self.camera.miller_indices(oriented(vectors))
        directions = self.camera.directions()
        return (100.0**2 * model.square_lattice(indices, self.cells)**2
                * model.unpolarized(directions) * self.camera.solid_angle())

    def test_model_has_the_given_cell(self):
        vectors = model.real_vectors(CELL)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), CELL[:3])
        np.testing.assert_allclose(model.angles_of(vectors), CELL[3:])

    def test_default_diffracts_from_the_given_cell(self):
        result = self.run_default(self.arguments())
        self.assert_images_agree(result.image, self.image(model.real_vectors(CELL)))

    def test_default_prints_the_given_cell(self):
        result = self.run_default(self.arguments())
        np.testing.assert_allclose(result.numbers("Unit Cell:", 6), CELL, rtol=1e-5)

    def test_c_has_right_lengths_and_wrong_angles(self):
        result = self.run_c(self.arguments())
        self.assert_images_agree(result.image, self.image(model.real_vectors_c(CELL)))
        printed = result.numbers("Unit Cell:", 6)
        np.testing.assert_allclose(printed[:3], CELL[:3], rtol=1e-5)
        np.testing.assert_allclose(printed[3:], [64.4339, 74.6295, 69.7854], rtol=1e-5)

    def test_monoclinic_cell_is_the_same_in_both(self):
        arguments = (self.camera.arguments() + words("-cell", (37, 43, 52, 90, 105, 90))
                     + ["-default_F", 100, "-N", 5, "-oversample", 1])
        default = self.run_default(arguments, notice=False)
        self.assertEqual(default.differs, [])
        self.assert_images_agree(default.image, self.run_c(arguments).image, rtol=1e-6)


class SpotMetric(QuirkTest):
    switch = "spot-metric"
    camera = Camera()
    cells = (3, 5, 8)

    def arguments(self, shape):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-Na", 3, "-Nb", 5, "-Nc", 8, shape, "-oversample", 1])

    def squared_radius(self, rule):
        vectors = oriented(model.real_vectors(ORTHOGONAL))
        indices = self.camera.miller_indices(vectors)
        delta = indices - model.nearest(indices)
        if rule == "default":
            return np.sum((delta * self.cells)**2, axis=-1)
        return np.sum((delta @ np.linalg.inv(vectors).T)**2, axis=-1) * np.prod(self.cells)**2.0

    def scale(self):
        return (100.0**2 * np.prod(self.cells)**2.0 * model.unpolarized(self.camera.directions())
                * self.camera.solid_angle())

    def check_gauss(self, run, rule):
        image = self.scale() * np.exp(-self.squared_radius(rule) / 0.63)**2
        self.assert_images_agree(run(self.arguments("-gauss_xtal")).image, image)

    def check_tophat(self, run, rule):
        radius = self.squared_radius(rule)
        image = np.where(radius < 0.3969, self.scale(), 0)
        got = run(self.arguments("-tophat_spots")).image
        on_the_edge = np.abs(radius - 0.3969) < 1e-9
        self.assertLess(on_the_edge.mean(), 0.01)
        self.assertGreater(np.count_nonzero(image), 10)
        self.assert_images_agree(np.where(on_the_edge, 0, got), np.where(on_the_edge, 0, image))

    def test_gauss_width_is_one_over_n_along_each_axis(self):
        self.check_gauss(self.run_default, "default")

    def test_tophat_width_is_one_over_n_along_each_axis(self):
        self.check_tophat(self.run_default, "default")

    def test_c_gauss(self):
        self.check_gauss(self.run_c, "c")

    def test_c_tophat(self):
        self.check_tophat(self.run_c, "c")


class WidthMatrix(QuirkTest):
    """-Ncells_def: F = det(N) exp(-|N delta|^2 fudge / 0.63), N symmetric. The C program has no such
    flag."""
    camera = Camera()
    cells = (3, 5, 8)
    cross = (1.5, -2.0, 0.75)  # D, E, F

    def arguments(self, *cross, shape="-gauss_xtal"):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-Na", 3, "-Nb", 5, "-Nc", 8, shape, "-oversample", 1]
                + (["-Ncells_def", *cross] if cross else []))

    def matrix(self):
        (a, b, c), (d, e, f) = self.cells, self.cross
        return np.array([[a, d, f], [d, b, e], [f, e, c]])

    def test_default(self):
        indices = self.camera.miller_indices(oriented(model.real_vectors(ORTHOGONAL)))
        delta = indices - model.nearest(indices)
        radius = np.sum((delta @ self.matrix())**2, axis=-1) * 1.3
        factor = np.linalg.det(self.matrix()) * np.exp(-radius / 0.63)
        image = (100.0**2 * factor**2 * model.unpolarized(self.camera.directions())
                 * self.camera.solid_angle())
        arguments = self.arguments(*self.cross) + ["-fudge", 1.3]
        for engine in ([], ["--no-fuse"], ["--device=gpu-on-cpu"]):
            with self.subTest(engine):
                got = self.run_default(arguments + engine, notice=False).image
                self.assert_images_agree(got, image)
        self.assert_images_differ(image, self.run_default(self.arguments() + ["-fudge", 1.3],
                                                          notice=False).image)

    def test_default_turns_with_the_crystal(self):
        """Another choice of axes of the same lattice: b' = -b, c' = -c. D and F change their sign,
        the image does not."""
        d, e, f = self.cross
        turned = self.arguments(-d, e, -f)
        turned = turned[:turned.index("-misset")] + turned[turned.index("-misset") + 4:]
        rotation = model.misset_rotation(MISSET) @ model.rotation(np.array([1.0, 0, 0]), np.pi)
        angles = [np.arctan2(rotation[2, 1], rotation[2, 2]), -np.arcsin(rotation[2, 0]),
                  np.arctan2(rotation[1, 0], rotation[0, 0])]
        got = self.run_default(turned + words("-misset", np.degrees(angles)), notice=False).image
        want = self.run_default(self.arguments(*self.cross), notice=False).image
        self.assert_images_agree(got, want, rtol=1e-5)

    def test_default_without_cross_widths_is_the_ordinary_gaussian(self):
        got = self.run_default(self.arguments(0, 0, 0), notice=False).image
        self.assert_images_agree(got, self.run_default(self.arguments(), notice=False).image,
                                 rtol=1e-7)


class RandomMisset(QuirkTest):
    switch = "random-misset"

    def angles(self, seed, run):
        result = run(["-cell", 50, "-default_F", 1, "-N", 1, "-detpixels", 8, "-oversample", 1,
                      "-misset_seed", seed, "-misset", "random"])
        return result.numbers("random orientation misset angles:", 3)

    def test_default_is_uniform_over_rotations(self):
        # Neighbouring seeds give related first deviates; these are far apart.
        seeds = [1 + (i * 7919 * 104729) % 2147483000 for i in range(100)]
        rotations = [model.misset_rotation(self.angles(seed, self.run_default)) for seed in seeds]
        angles = np.sort([np.arccos(np.clip((np.trace(r) - 1) / 2, -1, 1)) for r in rotations])
        self.check_distribution((angles - np.sin(angles)) / np.pi)
        # Where each axis goes is uniform on the sphere: its height is uniform on -1..1.
        for row in range(3):
            for column in range(3):
                self.check_distribution(np.sort([(r[row, column] + 1) / 2 for r in rotations]))

    def check_distribution(self, quantiles):
        """Kolmogorov-Smirnov against uniform, at the 0.1 % level. Seeds are fixed, so a pass stays."""
        n = len(quantiles)
        distance = max(np.abs(quantiles - np.arange(n) / n).max(),
                       np.abs(quantiles - np.arange(1, n + 1) / n).max())
        self.assertLess(distance, 1.95 / np.sqrt(n))

    def test_same_seed_same_orientation(self):
        first, second, other = (self.angles(seed, self.run_default) for seed in (5, 5, 6))
        np.testing.assert_array_equal(first, second)
        self.assertGreater(np.abs(first - other).max(), 1e-3)

    def test_c_takes_degrees_for_radians(self):
        np.testing.assert_allclose(self.angles(42, self.run_c), [-11.585887, 56.207689, -1.333374],
                                   atol=2e-6)


class MosaicFrame(QuirkTest):
    switch = "mosaic-frame"
    camera = Camera()
    spindle, phi, cells = np.array([0.0, 0, 1]), 25.0, (5, 5, 5)

    def arguments(self):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 5, "-nopolar", "-oversample", 1, "-phi", self.phi, "-mosaic", 3,
                   "-mosaic_dom", 4])

    def image(self, of_the_crystal):
        """Domains turn the crystal in its own frame, which without misset and phi is the laboratory's, or as it
        stands in the laboratory."""
        turn = model.rotation(self.spindle, np.radians(self.phi)) @ model.misset_rotation(MISSET)
        total = 0
        for domain in model.mosaic_rotations(np.radians(3), 4):
            rotation = turn @ domain if of_the_crystal else domain @ turn
            indices = self.camera.miller_indices(model.real_vectors(ORTHOGONAL) @ rotation.T)
            total = total + model.square_lattice(indices, self.cells)**2
        return 100.0**2 * total / 4 * self.camera.solid_angle()

    def test_the_model_draws_as_the_c_program_does(self):
        np.testing.assert_allclose(model.mosaic_rotations(np.radians(1), 2)[1][0],
                                   [0.999863686, -0.015948772, 0.004271564], atol=1e-8)

    def test_default_domains_turn_with_the_crystal(self):
        self.assert_images_agree(self.run_default(self.arguments()).image, self.image(True), rtol=1e-4)
        self.assert_images_differ(self.image(True), self.image(False))

    def test_c_domains_stand_in_the_laboratory(self):
        self.assert_images_agree(self.run_c(self.arguments()).image, self.image(False), rtol=1e-4)

    def test_default_can_have_those_of_the_laboratory(self):
        result = self.run_default(self.arguments() + ["-mosaic_lab"], notice=False)
        self.assertFalse(any(self.switch in line for line in result.differs))
        self.assert_images_agree(result.image, self.image(False), rtol=1e-4)

    def test_default_says_nothing_where_both_frames_are_one(self):
        arguments = (self.camera.arguments() + words("-cell", ORTHOGONAL)
                     + ["-default_F", 100, "-N", 5, "-mosaic", 3, "-mosaic_dom", 4])
        result = self.run_default(arguments, notice=False)
        self.assertFalse(any(self.switch in line for line in result.differs))


class InterpolationChoice(QuirkTest):
    switch = "interpolation-choice"
    camera = Camera()

    @staticmethod
    def reflections(bound):
        random = np.random.default_rng(1)
        return {(h, k, l): round(float(random.uniform(10, 200)), 3)
                for h in range(-bound, bound + 1) for k in range(-bound, bound + 1)
                for l in range(-bound, bound + 1)}

    @staticmethod
    def text(reflections):
        return "".join(f"{h} {k} {l} {f}\n" for (h, k, l), f in reflections.items())

    def arguments(self, *more):
        # 0.2 um of these axes are 6, 5 and 4 cells.
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-hkl", "F.hkl", "-xtalsize", 0.00002, "-oversample", 1, *more])

    def setUp(self):
        self.files = {"F.hkl": self.text(self.reflections(14))}

    def test_default_chooses_by_the_final_size(self):
        chosen = self.run_default(self.arguments(), files=self.files)
        plain = self.run_default(self.arguments("-nointerpolate"), notice=False, files=self.files)
        np.testing.assert_array_equal(chosen.image, plain.image)

    def test_c_chooses_before_the_size_is_known(self):
        chosen = self.run_c(self.arguments(), files=self.files)
        cubic = self.run_c(self.arguments("-interpolate"), files=self.files)
        np.testing.assert_array_equal(chosen.image, cubic.image)
        plain = self.run_c(self.arguments("-nointerpolate"), files=self.files)
        self.assert_images_differ(chosen.image, plain.image)


class InterpolationOutOfRange(QuirkTest):
    """Neither semantics lets one evaluation outside the list turn interpolation off for the rest."""
    camera = Camera()
    bound = 5

    def expected(self, reflections):
        vectors = oriented(model.real_vectors(ORTHOGONAL))
        indices = self.camera.miller_indices(vectors)
        inside = np.all((indices >= -self.bound + 2) & (indices <= self.bound - 2), axis=-1)
        self.assertGreater(np.count_nonzero(inside), 100)
        self.assertGreater(np.count_nonzero(~inside), 100)
        factors = np.empty(inside.shape)
        for pixel in np.ndindex(inside.shape):
            if inside[pixel]:
                factors[pixel] = model.tricubic(reflections, indices[pixel])
            else:
                node = tuple(int(x) for x in model.nearest(indices[pixel]))
                factors[pixel] = reflections.get(node, 7.0)
        return (factors**2 * model.square_lattice(indices, (3, 3, 3))**2
                * model.unpolarized(self.camera.directions()) * self.camera.solid_angle())

    def check(self, run):
        reflections = InterpolationChoice.reflections(self.bound)
        arguments = (self.camera.arguments() + words("-cell", ORTHOGONAL)
                     + words("-misset", MISSET)
                     + ["-hkl", "F.hkl", "-default_F", 7, "-N", 3, "-interpolate", "-oversample", 1])
        result = run(arguments, files={"F.hkl": InterpolationChoice.text(reflections)})
        self.assert_images_agree(result.image, self.expected(reflections))

    def test_default(self):
        self.check(self.run_default)

    @unittest.skipIf(IS_C_PROGRAM, "reproduced in neither semantics")
    def test_c(self):
        self.check(self.run_c)


class SourceWeights(QuirkTest):
    switch = "source-weights"
    camera = Camera()
    # Where the source is, weight, wavelength in m.
    sources = ["-10 0.02 0 1 1.0e-10\n", "-10 0 -0.03 2.5 1.01e-10\n", "-10 0.01 0.04 4 0.98e-10\n"]

    def arguments(self):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 5, "-nopolar", "-oversample", 1, "-sourcefile", "src.txt"])

    def single_images(self, run, **options):
        return [run(self.arguments(), files={"src.txt": line}, **options).image
                for line in self.sources]

    def test_default_is_the_weighted_mean_of_single_sources(self):
        result = self.run_default(self.arguments(), files={"src.txt": "".join(self.sources)})
        mean = np.average(self.single_images(self.run_default, notice=False), axis=0,
                          weights=[1, 2.5, 4])
        self.assert_images_agree(result.image, mean, rtol=1e-6)

    def test_c_is_the_plain_mean(self):
        result = self.run_c(self.arguments(), files={"src.txt": "".join(self.sources)})
        self.assert_images_agree(result.image, np.mean(self.single_images(self.run_c), axis=0),
                                 rtol=1e-6)


class TwothetaRatio(QuirkTest):
    switch = "twotheta-ratio"
    camera = Camera(pixels=64, pixel=0.2e-3, distance=0.1)

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 2, "-oversample", 1, "-twotheta", 30, *more])

    def test_default_reports_the_given_distance_and_beam_centre(self):
        result = self.run_default(self.arguments("-mosflm"))
        self.assertAlmostEqual(result.number(r"distance="), 0.1, delta=1e-6)
        self.assertAlmostEqual(result.number(r"Fbeam="), self.camera.beam_centre, delta=1e-8)
        self.assertAlmostEqual(result.number(r"Sbeam="), self.camera.beam_centre, delta=1e-8)

    def test_default_beam_centre_is_where_the_beam_meets_the_detector(self):
        for convention in ("-mosflm", "-xds"):
            with self.subTest(convention):
                result = self.run_default(self.arguments(convention))
                beam = BEAM if convention == "-mosflm" else np.array([0.0, 0.0, 1.0])
                # The DIALS origin is printed in its own frame, in mm.
                z, y, minus_x = result.numbers("dials origin=", 3)
                origin = np.array([-minus_x, y, z]) / 1000
                fast = result.numbers("DIRECTION_OF_DETECTOR_X-AXIS=", 3)
                slow = result.numbers("DIRECTION_OF_DETECTOR_Y-AXIS=", 3)
                spot = origin + result.number("Fbeam=") * fast + result.number("Sbeam=") * slow
                np.testing.assert_allclose(spot, result.number("distance=") * beam, atol=2e-6)

    def test_c_reports_a_distance_shortened_by_the_swing(self):
        result = self.run_c(self.arguments("-mosflm"))
        self.assertAlmostEqual(result.number(r"distance="), 0.1 * np.cos(np.radians(30)), delta=1e-6)


class TwothetaAxis(QuirkTest):
    switch = "twotheta-axis"
    camera = Camera()

    def arguments(self, length):
        # The swing's axis before its angle: the C program reads the angle from both.
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, "-twotheta_axis", 0, 0, -length,
                   "-twotheta", 10, "-pivot", "sample"])

    def test_default_depends_on_the_direction_only(self):
        twice = self.run_default(self.arguments(2))
        unit = self.run_default(self.arguments(1), notice=False)
        self.assert_images_agree(twice.image, unit.image, rtol=1e-6)

    def test_c_depends_on_the_length(self):
        self.assert_images_differ(self.run_c(self.arguments(2)).image,
                                  self.run_c(self.arguments(1)).image)


class DetectorNormal(QuirkTest):
    switch = "detector-normal"
    camera = Camera()

    def arguments(self, normal):
        # A left-handed frame: fast x slow points back at the sample.
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, "-fdet_vector", 0, 0, 1,
                   "-sdet_vector", 0, 1, 0, "-odet_vector", *normal])

    def normal_of(self, result):
        return result.numbers("DIRECTION_OF_DETECTOR_Z-AXIS=", 3)

    def test_default_keeps_the_direction(self):
        result = self.run_default(self.arguments((2, 0, 0)))
        np.testing.assert_allclose(self.normal_of(result), [1, 0, 0], atol=1e-6)
        unit = self.run_default(self.arguments((1, 0, 0)), notice=False)
        self.assert_images_agree(result.image, unit.image, rtol=1e-6)

    def test_c_takes_fast_cross_slow(self):
        result = self.run_c(self.arguments((2, 0, 0)))
        np.testing.assert_allclose(self.normal_of(result), [-1, 0, 0], atol=1e-6)


class CurvedDetector(QuirkTest):
    switch = "curved-detector"
    # Far from symmetric, so that a mirrored or transposed image cannot pass.
    camera = Camera(pixels=48, pixel=0.8e-3, distance=0.06)
    # The beam's line meets it before the sample.
    source_side = (["-beam_vector", -1, 0, 0], ["-beam_vector", -1, 0.3, 0.2])
    swung = ["-pivot", "sample", "-twotheta_axis", 0, 0, 1, "-twotheta"]

    def arguments(self):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 4, "-oversample", 1])

    def image(self, positions):
        indices = self.camera.miller_indices(oriented(model.real_vectors(ORTHOGONAL)), positions)
        return (100.0**2 * model.square_lattice(indices, (4, 4, 4))**2
                * model.unpolarized(self.camera.directions(positions))
                * self.camera.solid_angle(positions))

    def test_default_bends_by_the_distance_from_the_beam_centre(self):
        result = self.run_default(self.arguments() + ["-curved_det", "-nonoise"])
        self.assert_images_agree(result.image, self.image(self.camera.positions_curved()))

    def test_default_is_flat_near_the_beam(self):
        camera = Camera(pixels=48, pixel=0.1e-3, distance=0.4)
        arguments = (camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                     + ["-default_F", 100, "-N", 4, "-oversample", 1])
        for side in ([], self.source_side[0], self.swung + [180]):
            with self.subTest(side=side):
                flat = self.run_default(arguments + side, notice=False).image
                curved = self.run_default(arguments + side + ["-curved_det"]).image
                correlation = np.corrcoef(flat.ravel(), curved.ravel())[0, 1]
                self.assertGreater(correlation, 0.9999)

    def test_c_bends_by_lab_coordinates(self):
        flat = self.camera.positions()
        positions = np.empty_like(flat)
        for index in np.ndindex(flat.shape[:2]):
            _, y, z = flat[index] / self.camera.distance
            positions[index] = (model.rotation(FAST, z) @ model.rotation(SLOW, y)
                                @ (self.camera.distance * BEAM))
        result = self.run_c(self.arguments() + ["-curved_det", "-nonoise"])
        self.assert_images_agree(result.image, self.image(positions))

    def test_default_absorbs_the_same_share_everywhere(self):
        # Tilted about the beam's spot, and turned beyond a right angle.
        sensor = ["-detector_thick", 450, "-detector_abs", 500, "-detector_thicksteps", 4]
        for tilt in ([], ["-detector_roty", 20], ["-twotheta", 40], ["-twotheta", 120],
                     self.swung + [150], *self.source_side):
            with self.subTest(tilt=tilt):
                arguments = (self.camera.arguments() + words("-cell", ORTHOGONAL)
                             + ["-default_F", 100, "-N", 1, "-nopolar", "-oversample", 1,
                                "-curved_det"] + tilt)
                bare = self.run_default(arguments).image
                share = self.run_default(arguments + sensor).image / bare
                # Layers are up to 450 um farther away than the face.
                np.testing.assert_allclose(share, 1 - np.exp(-450 / 500), rtol=0.03)

    def test_default_solid_angle_is_the_same_everywhere(self):
        for tilt in ([], ["-detector_roty", 20], ["-twotheta", 40], *self.source_side):
            with self.subTest(tilt=tilt):
                arguments = (self.camera.arguments() + words("-cell", ORTHOGONAL)
                             + ["-default_F", 100, "-N", 1, "-nopolar", "-oversample", 1])
                result = self.run_default(arguments + ["-curved_det"] + tilt)
                # One cell with a constant structure factor scatters alike in all directions; the
                # radius is the distance along the beam's line.
                omega = self.camera.pixel**2 / self.camera.distance**2
                self.assert_images_agree(result.image, np.full((48, 48), 100**2 * omega))
                printed = result.number("solid angle subtended by detector =")
                np.testing.assert_allclose(printed, 48**2 * omega, rtol=1e-5)


class Layers(QuirkTest):
    """A single unit cell scatters smoothly, so that only the sensor shapes the image."""
    switch = "layer-capture"
    camera = Camera(pixels=48, pixel=1e-3, distance=0.04)
    depth, attenuation = 450e-6, 500e-6

    def arguments(self, steps=None, oversample=1):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 1, "-nopolar", "-oversample", oversample,
                   "-detector_thick", 450, "-detector_abs", 500]
                + ([] if steps is None else ["-detector_thicksteps", steps]))

    def captures(self, steps, spacing):
        """Fraction absorbed in each layer, along the path through it. The pixel is as far away as
        the layer, so that the direction changes a little with depth."""
        out = []
        for layer in range(steps):
            oblique = self.camera.directions(self.camera.positions(layer * spacing)) @ BEAM
            at = lambda depth: np.exp(-depth / self.attenuation / oblique)
            out.append(at(layer * spacing) - at((layer + 1) * spacing))
        return np.array(out)

    def unattenuated(self):
        return 100.0**2 * self.camera.solid_angle()

    def test_default_weights_each_layer_by_its_own_fraction(self):
        for steps in (2, 4, 9):
            with self.subTest(steps=steps):
                result = self.run_default(self.arguments(steps))
                captures = self.captures(steps, self.depth / steps)
                self.assert_images_agree(result.image, self.unattenuated() * captures.sum(axis=0))

    def images_of_layers(self, spacing, plane):
        """By the solid angle of each layer: of a plane at `plane(depth)`."""
        steps = 4
        captures = self.captures(steps, spacing)
        for layer, capture in enumerate(captures):
            depth = layer * spacing
            airpath = np.linalg.norm(self.camera.positions(depth), axis=-1)
            yield capture, 100.0**2 * self.camera.pixel**2 * plane(depth) / airpath**3

    def test_default_solid_angle_is_that_of_the_layer(self):
        result = self.run_default(self.arguments(4) + ["-oversample_omega"])
        layers = self.images_of_layers(self.depth / 4, lambda depth: self.camera.distance + depth)
        self.assert_images_agree(result.image, sum(capture * image for capture, image in layers))

    def test_c_takes_the_plane_of_the_face(self):
        result = self.run_c(self.arguments(4) + ["-oversample_omega"])
        layers = list(self.images_of_layers(self.depth / 3, lambda depth: self.camera.distance))
        self.assert_images_agree(result.image, layers[-1][0] * sum(image for _, image in layers))

    def test_default_absorbs_as_much_as_the_whole_sensor_does(self):
        oblique = self.camera.directions() @ BEAM
        whole = 1 - np.exp(-self.depth / self.attenuation / oblique)
        for steps in (None, 1, 3, 12):
            with self.subTest(steps=steps):
                result = self.run_default(self.arguments(steps))
                # The remaining difference is the parallax inside the sensor.
                self.assert_images_agree(result.image, self.unattenuated() * whole, rtol=5e-3)

    def test_default_says_that_the_spacing_differs(self):
        result = self.run_default(self.arguments(4))
        self.assertTrue(any("layer-spacing" in line for line in result.differs), result.differs)

    def test_c_counts_every_layer_as_the_last_of_a_thicker_stack(self):
        result = self.run_c(self.arguments(4))
        captures = self.captures(4, self.depth / 3)
        self.assert_images_agree(result.image, self.unattenuated() * 4 * captures[-1])


class DetectorFaces(QuirkTest):
    """Light on the back of a detector."""
    switch = "detector-faces"
    camera = Camera(pixels=48, pixel=1e-3, distance=0.04)
    sensor = ["-detector_thick", 450, "-detector_abs", 500, "-detector_thicksteps", 5]

    def arguments(self):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 1, "-nopolar", "-oversample", 1])

    def panel(self, mirrored):
        """Off the beam and tilted; with `mirrored`, its fast axis begins at the other end."""
        slow = model.rotation(FAST, 0.2) @ SLOW
        offset = np.array([0.01, 0, 0]) + 0.004 * FAST
        fast = FAST
        if mirrored:
            offset, fast = offset + self.camera.pixels * self.camera.pixel * FAST, -FAST
        return {"offset_mm": list(1e3 * offset), "fast": list(fast), "slow": list(slow)}

    def image_of(self, panel, more):
        files = {"panels.json": json.dumps([panel])}
        return self.run_default(self.arguments() + ["--panels=panels.json"] + more, notice=False,
                                files=files)

    def test_default_does_not_depend_on_the_side_of_the_normal(self):
        for more in ([], self.sensor, self.sensor + ["-oversample_thick", "-oversample_omega"],
                     ["-curved_det"] + self.sensor):
            with self.subTest(more=more):
                usual = self.image_of(self.panel(mirrored=False), more)
                mirrored = self.image_of(self.panel(mirrored=True), more)
                self.assertTrue(any(self.switch in line for line in mirrored.differs))
                self.assertFalse(any(self.switch in line for line in usual.differs))
                self.assertGreater(usual.image.min(), 0)
                self.assert_images_agree(mirrored.image[..., ::-1], usual.image)

    def test_default_absorbs_what_the_sensor_takes_from_behind(self):
        turned = self.arguments() + ["-mosflm", "-twotheta", 150]
        bare = self.run_default(turned).image
        self.assertGreater(bare.min(), 0)
        share = self.run_default(turned + self.sensor).image / bare
        # The shortest path is across the sensor, and none absorbs more than all.
        self.assertGreater(share.min(), 0.95 * (1 - np.exp(-450 / 500)))
        self.assertLess(share.max(), 1)

    def test_c_counts_it_as_negative(self):
        turned = self.arguments() + ["-mosflm", "-twotheta", 150]
        self.assert_images_agree(-self.run_c(turned).image, self.run_default(turned).image)


class NoAbsorption(QuirkTest):
    switch = "no-absorption"
    camera = Camera()

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, *more])

    def plain(self):
        return self.run_c(self.arguments()).image

    def test_default_counts_every_photon_without_absorption(self):
        for flags in (("-detector_abs", "inf", "-detector_thick", 450), ("-oversample_thick",)):
            with self.subTest(flags):
                result = self.run_default(self.arguments(*flags))
                self.assertGreater(result.image.sum(), 0)
                if flags == ("-oversample_thick",):
                    self.assert_images_agree(result.image, self.plain(), rtol=1e-6)
                else:
                    # Layers behind the first are a little further away.
                    self.assertAlmostEqual(result.image.sum() / self.plain().sum(), 1, delta=0.02)

    def test_c_is_black(self):
        for flags in (("-detector_abs", "inf", "-detector_thick", 450), ("-oversample_thick",)):
            with self.subTest(flags):
                self.assertEqual(np.abs(self.run_c(self.arguments(*flags)).image).max(), 0)


class BackgroundTables(QuirkTest):
    """The C program reads a table and does not use it; what it means is tested in test/background."""
    switch = "background-tables"
    camera = Camera(pixels=16)

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 1, "-N", 1, "-oversample", 1, "-beamsize", 0.1, *more])

    def table(self):
        with tempfile.NamedTemporaryFile("w", suffix=".stol", delete=False) as file:
            file.write("0 2\n1 2\n")
        self.addCleanup(os.unlink, file.name)
        return file.name

    def test_default_adds_what_the_material_scatters(self):
        fluence = 1 / model.R_E_SQUARED
        got = self.run_default(self.arguments("-stol", self.table(), "-thickness", 1e-15)).image
        crystal = self.run_default(self.arguments(), notice=False).image
        molecules = 1e-16 * 0.01**2 / 18 * model.AVOGADRO
        background = (4 * molecules * model.R_E_SQUARED * fluence * self.camera.solid_angle()
                      * model.unpolarized(self.camera.directions()))
        self.assertGreater(background.max(), 1e-2 * got.max())
        self.assert_images_agree(got, crystal + background)

    def test_c_ignores_it(self):
        got = self.run_c(self.arguments("-stol", self.table()))
        self.assert_images_agree(got.image, self.run_c(self.arguments()).image)


class Water(QuirkTest):
    """The crystal scatters too little to be seen beside the water."""
    switch = "water"
    camera = Camera(pixels=32)
    edge, fluence = 1e-3, 1e20

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 1e-3, "-N", 1, "-water", 1000, "-fluence", self.fluence, *more])

    def background(self):
        """Photons per steradian of a cube of water, forward scattering of 18 g/mol."""
        electrons = 2.57**2 * model.R_E_SQUARED * self.fluence
        molecules = self.edge**3 * 1e6 * model.AVOGADRO / 18.0
        return electrons * molecules

    def pattern(self):
        return model.unpolarized(self.camera.directions()) * self.camera.solid_angle()

    def test_default_is_background_times_solid_angle_whatever_the_sampling(self):
        expected = self.background() * self.pattern()
        for sampling in ([], ["-mosaic", 1, "-mosaic_dom", 3], ["-phi", 5, "-osc", 1, "-phisteps", 4],
                         ["-dispersion", 1, "-dispsteps", 3]):
            with self.subTest(sampling):
                result = self.run_default(self.arguments("-oversample", 1, *sampling))
                self.assert_images_agree(result.image, expected)

    def test_default_does_not_depend_on_oversampling(self):
        result = self.run_default(self.arguments("-oversample", 3))
        # Solid angle and polarisation are those of a corner sub-pixel.
        self.assert_images_agree(result.image, self.background() * self.pattern(), rtol=1e-2)

    def test_the_cutoff_takes_the_background_too(self):
        """Polarisation is that of the first sample within the resolution, if there is one."""
        dmin = 15.0
        sin_theta = np.sqrt((1 - self.camera.directions() @ model.BEAM) / 2)
        inside = self.camera.wavelength * 1e10 / 2 >= dmin * sin_theta
        self.assertTrue(0.2 < inside.mean() < 0.9)
        result = self.run_default(self.arguments("-oversample", 1, "-dmin", dmin))
        self.assert_images_agree(result.image, inside * self.background() * self.pattern())

    def test_c_scales_twice_and_divides_by_the_samples(self):
        result = self.run_c(self.arguments("-oversample", 1, "-mosaic", 1, "-mosaic_dom", 3))
        expected = self.background() * self.pattern() * model.R_E_SQUARED * self.fluence / 3
        self.assert_images_agree(result.image, expected)


class SolidAngleSum(QuirkTest):
    switch = "solid-angle-sum"
    camera = Camera(pixels=64)

    def arguments(self):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, "-mosaic", 1, "-mosaic_dom", 4])

    def printed(self, run):
        return run(self.arguments()).number("solid angle subtended by detector =")

    def test_default_is_that_of_the_detector(self):
        total = self.camera.solid_angle().sum()
        self.assertAlmostEqual(self.printed(self.run_default) / total, 1, delta=1e-4)

    def test_c_divides_by_the_samples(self):
        total = self.camera.solid_angle().sum()
        self.assertAlmostEqual(self.printed(self.run_c) * 4 / total, 1, delta=1e-4)


class NoiseWrap(QuirkTest):
    switch = "noise-wrap"
    camera = Camera(pixels=32)

    def arguments(self, adc):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, "-fluence", 3e30, "-seed", 4,
                   "-adc", adc, "-noisefile", "noise.img"])

    def test_default_clamps_at_zero(self):
        photons = self.run_default(self.arguments(0), notice=False).smv("noise.img")
        self.assertLess(photons.min(), 10)
        self.assertGreater(photons.max(), 10)
        clamped = self.run_default(self.arguments(-10)).smv("noise.img")
        np.testing.assert_array_equal(clamped, np.maximum(photons - 10, 0))

    def test_c_wraps_around(self):
        photons = self.run_c(self.arguments(0)).smv("noise.img")
        wrapped = self.run_c(self.arguments(-10)).smv("noise.img")
        np.testing.assert_array_equal(wrapped, (photons - 10) % 65536)


class HeaderLookup(QuirkTest):
    switch = "header-lookup"
    pixels = 32

    def mask(self):
        header = ("{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n"
                  f"SIZE1={self.pixels};\nSIZE2={self.pixels};\nPIXEL_SIZE=0.4;\nDISTANCE=80;\n"
                  "WAVELENGTH=1;\nORGX=10;\nORGY=12;\nXDS_ORGX=20;\nXDS_ORGY=23;\n}\n")
        return header.encode().ljust(512) + np.ones(self.pixels**2, "<u2").tobytes()

    def arguments(self, *more):
        return (["-xds"] + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 4, "-oversample", 1, *more])

    def explicit(self, run, x, y):
        camera = Camera(pixels=self.pixels)
        return run(self.arguments(*camera.arguments(), "-ORGX", x, "-ORGY", y)).image

    def test_default_reads_the_entry_of_that_name(self):
        result = self.run_default(self.arguments("-mask", "mask.img"),
                                  files={"mask.img": self.mask()})
        plain = lambda arguments: self.run_default(arguments, notice=False)
        self.assert_images_agree(result.image, self.explicit(plain, 10, 12), rtol=1e-6)

    def test_c_reads_the_last_keyword_that_contains_it(self):
        result = self.run_c(self.arguments("-mask", "mask.img"), files={"mask.img": self.mask()})
        self.assert_images_agree(result.image, self.explicit(self.run_c, 20, 23), rtol=1e-6)


class FlagPrefixes(QuirkTest):
    switch = "flag-prefixes"
    camera = Camera()

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-oversample", 1, *more, "-N", 4])

    def test_default_takes_a_seed_for_a_seed(self):
        seeded = self.run_default(self.arguments("-misset_seed", 5))
        plain = self.run_default(self.arguments(), notice=False)
        np.testing.assert_array_equal(seeded.image, plain.image)

    def test_c_takes_a_seed_for_an_angle_too(self):
        seeded = self.run_c(self.arguments("-misset_seed", 5))
        turned = self.run_c(self.arguments("-misset", 5, 0, 4))
        np.testing.assert_array_equal(seeded.image, turned.image)


class ExactRatios(QuirkTest):
    switch = "exact-ratios"
    camera = Camera(pixels=32)
    edges, size = (50, 150, 75), 60_000  # A; 0.006 mm

    def arguments(self, *more):
        return (self.camera.arguments() + ["-cell", *self.edges, 90, 90, 90]
                + ["-misset", 0, 0, 45, "-default_F", 100, "-oversample", 1, *more])

    def check(self, run, cells, **options):
        by_size = run(self.arguments("-xtalsize", 0.006), **options)
        self.assertIn("xtal: %dx%dx%d cells" % cells, by_size.console)
        by_number = run(self.arguments("-Na", cells[0], "-Nb", cells[1], "-Nc", cells[2]))
        np.testing.assert_array_equal(by_size.image, by_number.image)

    def test_default_fills_the_size_exactly(self):
        plain = lambda arguments, notice=False: self.run_default(arguments, notice=notice)
        self.check(plain, tuple(self.size // edge for edge in self.edges), notice=True)

    def test_c_adds_a_cell_where_rounding_went_up(self):
        self.check(self.run_c, (1200, 401, 800))


class ClockSeed(QuirkTest):
    switch = "clock-seed"
    camera = Camera(pixels=8)

    def seed(self, run, **options):
        result = run(self.camera.arguments() + words("-cell", ORTHOGONAL)
                     + ["-default_F", 100, "-N", 3, "-oversample", 1, "-noisefile", "n.img"], **options)
        return -int(result.number("seed:"))

    def test_default_is_another_in_every_run(self):
        self.assertEqual(len({self.seed(self.run_default, notice=False) for _ in range(3)}), 3)

    def test_c_is_the_clock(self):
        before = int(time.time())
        self.assertIn(self.seed(self.run_c), range(before, int(time.time()) + 1))


class Columns(QuirkTest):
    switch = "columns"
    camera = Camera(pixels=8)

    def sources(self, run, text, **options):
        arguments = (self.camera.arguments() + words("-cell", ORTHOGONAL)
                     + ["-default_F", 100, "-N", 3, "-oversample", 1, "-sourcefile", "s"])
        return run(arguments, files={"s": text}, **options).image

    def test_default_refuses_a_direction_of_two_numbers(self):
        with self.assertRaisesRegex(AssertionError, "s:1: has 2 columns"):
            self.sources(self.run_default, "-10 1\n", notice=False)

    def test_c_completes_it(self):
        np.testing.assert_array_equal(self.sources(self.run_c, "-10 1\n"),
                                      self.sources(self.run_c, "-10 1 0 1 1e-10\n"))


class FileNames(QuirkTest):
    switch = "file-names"
    camera = Camera(pixels=8)

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL)
                + ["-default_F", 100, "-N", 3, "-oversample", 1, "-scale", 1, *more])

    def test_default_refuses_a_name_of_another_format(self):
        with self.assertRaisesRegex(AssertionError, "'x.cbf' is named as CBF"):
            self.run_default(self.arguments("-intfile", "x.cbf"), notice=False)

    def test_c_writes_smv_under_any_name(self):
        smv = self.run_c(self.arguments("-intfile", "x.img")).smv("x.img")
        cbf = self.run_c(self.arguments("-intfile", "x.cbf")).smv("x.cbf")
        np.testing.assert_array_equal(smv, cbf)


class PhiZero(QuirkTest):
    """A corrected mistake of the C program, reproduced in neither semantics: at phi = 0 it kept the
    previous orientation."""
    camera = Camera()

    def arguments(self, *more):
        return (self.camera.arguments() + words("-cell", ORTHOGONAL) + words("-misset", MISSET)
                + ["-default_F", 100, "-N", 5, "-oversample", 1, *more])

    def check(self, run):
        swept = run(self.arguments("-phi", 0, "-osc", 8, "-phisteps", 4)).image
        stills = [run(self.arguments("-phi", angle)).image for angle in (0, 2, 4, 6)]
        self.assert_images_agree(swept, np.mean(stills, axis=0), rtol=1e-6)

    def test_default_is_the_mean_of_its_stills(self):
        self.check(self.run_default)

    def test_c_is_the_mean_of_its_stills(self):
        self.check(self.run_c)


class EverySwitch(unittest.TestCase):
    def test_each_switch_of_the_documentation_is_tested(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "..", "docs", "semantics.md"), encoding="utf-8") as file:
            documented = set(re.findall(r"^\* `([\w-]+)` \(", file.read(), re.MULTILINE))
        tested = {test.switch for test in QuirkTest.__subclasses__()} - {None}
        tested.add("layer-spacing")  # together with layer-capture
        self.assertEqual(documented, tested)


if __name__ == "__main__":
    unittest.main()
