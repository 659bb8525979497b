#!/usr/bin/env python3
"""background_test.py NB_SIM NB_GRADCHECK: amorphous background (-stol), from first principles.

The model here shares no code with the simulator. The results of nonBragg.c (bl831/nanoBragg) stand in
nonbragg.json, which compare_nonbragg.py wrote."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
R_E_SQUARED, AVOGADRO = 7.94079248018965e-30, 6.02214179e23
PIXELS, SIZE, DISTANCE = 40, 2e-3, 0.06
CAMERA = (f"-distance {DISTANCE * 1e3} -pixel {SIZE * 1e3} -detpixels {PIXELS} -lambda 1 -beam_vector 1 0 0 "
          "-fdet_vector 0 0 1 -sdet_vector 0 -1 0 -odet_vector 1 0 0 -polar_vector 0 0 1 "
          f"-Xbeam {PIXELS * SIZE * 500} -Ybeam {PIXELS * SIZE * 500}").split()
ENGINES = ([], ["--no-fuse"], ["--device=gpu-on-cpu"])
#: Where the nodes of a table may be no kinks: F = 10 - 20 s + 15 s^2.
SMOOTH = [(s, 10 - 20 * s + 15 * s * s) for s in (0, 0.05, 0.12, 0.2, 0.31, 0.4, 0.55)]


def positions(oversample=1, depth=0.0):
    """Positions of all sub-pixels, [slow][fast][3], in m."""
    at = (np.arange(PIXELS * oversample) + 0.5) * SIZE / oversample - PIXELS * SIZE / 2
    slow, fast = np.meshgrid(at, at, indexing="ij")
    return np.stack([np.full_like(fast, DISTANCE + depth), -slow, fast], axis=-1)


def lagrange(nodes, values, x):
    """Through two nodes on either side, as far as there are any; constant outside."""
    nodes, values = np.asarray(nodes, float), np.asarray(values, float)
    x = np.clip(x, nodes[0], nodes[-1])
    result = np.empty_like(x)
    for i, at in np.ndenumerate(x):
        j = min(max(int(np.searchsorted(nodes, at, side="right")) - 1, 0), len(nodes) - 2)
        use = range(max(j - 1, 0), min(j + 3, len(nodes)))
        result[i] = sum(values[k] * np.prod([(at - nodes[m]) / (nodes[k] - nodes[m])
                                             for m in use if m != k]) for k in use)
    return result


def model(table, molecules, wavelength=1.0, polarized=True, oversample=1, layers=((0.0, None),)):
    """Photons of one source at the default fluence."""
    total = 0
    for depth, capture in layers:
        p = positions(oversample, depth)
        r = np.linalg.norm(p, axis=-1)
        d = p / r[..., None]
        stol = np.linalg.norm(d - [1, 0, 0], axis=-1) / 2 / wavelength
        f = lagrange([s for s, _ in table], [f for _, f in table], stol)
        omega = SIZE**2 / r**2 * (DISTANCE + depth) / r
        polar = (1 + d[..., 0]**2) / 2 if polarized else 1
        value = f * np.abs(f) * omega * polar
        total = total + (value if capture is None else value * capture(d[..., 0]))
    n = oversample
    return molecules * total.reshape(PIXELS, n, PIXELS, n).mean(axis=(1, 3))


def molecules(thickness, density, weight, side=0.1):
    """mm, g/cm^3, g/mol, mm."""
    return thickness / 10 * (side / 10)**2 * density * AVOGADRO / weight


class Background(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def table(self, points, name="table.stol"):
        with open(os.path.join(self.folder, name), "w") as file:
            file.writelines(f"{float(s)!r} {float(f)!r}\n" for s, f in points)
        return name

    def run_it(self, *flags, program=None, status=0):
        environment = os.environ | {"NB_CACHE_DIR": os.path.join(self.folder, "cache")}
        done = subprocess.run([program or NB_SIM, *CAMERA, *map(str, flags)], cwd=self.folder,
                              env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def image(self, *flags, pixels=PIXELS):
        self.run_it(*flags, "-nonoise", "-nopgm", "--quiet")
        return np.fromfile(os.path.join(self.folder, "floatimage.bin"),
                           "<f4").reshape(pixels, pixels).astype(float)

    def assert_close(self, got, want, rtol=3e-7):
        np.testing.assert_allclose(got, want, rtol=rtol)

    def test_a_constant_table_leaves_solid_angle_and_polarization(self):
        for points in ([(0, 7)], [(0, 7), (1, 7)], [(0.1 * i, 7) for i in range(9)]):
            name = self.table(points)
            for engine in ENGINES:
                with self.subTest((len(points), engine)):
                    got = self.image("-stol", name, "-thickness", 2, "-density", 0.5, "-MW", 40, *engine)
                    self.assert_close(got, model([(0, 7), (1, 7)], molecules(2, 0.5, 40)))

    def test_every_pixel_in_closed_form(self):
        random = np.random.default_rng(1)
        points = list(zip(np.cumsum(random.uniform(0.005, 0.03, 40)), random.uniform(1, 9, 40)))
        name = self.table(points)
        for engine in ENGINES:
            with self.subTest(engine):
                got = self.image("-stol", name, "-thickness", 2, *engine)
                self.assert_close(got, model(points, molecules(2, 1, 18)))

    def test_edges_of_the_table(self):
        """Constant outside, where nonBragg goes on along the line through the last two entries."""
        points = [(0.2, 3.0), (0.25, 5.0)]
        got = self.image("-stol", self.table(points), "-nopolar")
        want = model(points, molecules(0.1, 1, 18), polarized=False)
        self.assert_close(got, want)
        self.assertEqual(len(np.unique(lagrange(*zip(*points), np.array([0.0, 0.1, 0.2])))), 1)

    def test_a_negative_factor_takes_away(self):
        points = [(0, 5.0), (0.3, -5.0), (0.6, -6.0)]
        got = self.image("-stol", self.table(points))
        self.assertLess(got.min(), 0)
        want = model(points, molecules(0.1, 1, 18))
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * want.max())

    def test_materials_add_up(self):
        each = [self.image("-stol", "water", "-thickness", 2),
                self.image("-stol", "air", "-thickness", 5, "-density", 0.002),
                self.image("-stol", self.table(SMOOTH), "-MW", 30)]
        for engine in ENGINES:
            with self.subTest(engine):
                got = self.image("-stol", "water", "-thickness", 2, "-stol", "air", "-thickness", 5,
                                 "-density", 0.002, "-stol", "table.stol", "-MW", 30, *engine)
                self.assert_close(got, sum(each))

    def test_units_of_the_first_column(self):
        want = self.image("-stol", self.table(SMOOTH))
        for flag, factor in (("-4stol", 4), ("-Q", 4 * np.pi)):
            self.assert_close(self.image(flag, self.table([(s * factor, f) for s, f in SMOOTH])), want)

    def test_it_adds_to_the_crystal(self):
        crystal = ["-cell", 30, 40, 50, "-default_F", 300, "-N", 4, "-mosaic", 1, "-mosaic_dom", 3]
        amount = ["-stol", "water", "-thickness", 1e-12]
        both = self.image(*crystal, *amount, "-oversample", 1)
        np.testing.assert_allclose(both, self.image(*crystal, "-oversample", 1) + self.image(*amount),
                                   rtol=1e-6)

    def test_culled_pixels_have_their_background(self):
        crystal = ["-cell", 30, 40, 50, "-default_F", 300, "-N", 90, "-gauss_xtal", "-oversample", 1]
        amount = ["-stol", "water", "-thickness", 1e-12]
        np.testing.assert_array_equal(self.image(*crystal, *amount, "--cull=exact"),
                                      self.image(*crystal, *amount, "--cull=off"))

    def test_the_beam_size_counts(self):
        got = self.image("-stol", "water", "-beamsize", 0.05)
        self.assert_close(got, self.image("-stol", "water") / 4)

    def test_sources_are_averaged(self):
        with open(os.path.join(self.folder, "s.txt"), "w") as file:
            file.write("-10 0 0 1 1e-10\n-10 0 0 3 1.2e-10\n")
        got = self.image("-stol", self.table(SMOOTH), "-sourcefile", "s.txt")
        n = molecules(0.1, 1, 18)
        self.assert_close(got, (model(SMOOTH, n) + 3 * model(SMOOTH, n, wavelength=1.2)) / 4)

    def test_oversampling(self):
        want = model(SMOOTH, molecules(0.1, 1, 18), oversample=3)
        name = self.table(SMOOTH)
        for flags in (["-background_oversample", 3], ["-oversample", 3],
                      ["-oversample", 2, "-background_oversample", 3]):
            with self.subTest(flags):
                self.assert_close(self.image("-stol", name, *flags), want)

    def test_layers_of_the_sensor(self):
        thick, depth, n = 450e-6, 234e-6, 3
        step = thick / n
        layers = [(t * step, lambda c, t=t: np.exp(-t * step / depth / c)
                   - np.exp(-(t + 1) * step / depth / c)) for t in range(n)]
        want = 0
        for layer in layers:
            want = want + model(SMOOTH, molecules(0.1, 1, 18), layers=(layer,))
        got = self.image("-stol", self.table(SMOOTH), "-detector_thick", 450, "-detector_abs", 234,
                         "-detector_thicksteps", n)
        self.assert_close(got, want)

    def test_as_nonbragg(self):
        with open(os.path.join(HERE, "nonbragg.json")) as file:
            facts = json.load(file)
        for case in facts["cases"]:
            with self.subTest(case["flags"]):
                name = self.table(case["table"])
                self.run_it("-stol", name, *case["flags"], "-nonoise", "-nopgm", "--quiet")
                image = np.fromfile(os.path.join(self.folder, "floatimage.bin"), "<f4")
                for pixel, value in case["pixels"]:
                    self.assertAlmostEqual(image[pixel] / value, 1, delta=3e-7)

    def test_derivatives(self):
        """By all numbers, of both orders; nodes of this table are no kinks."""
        flags = ["-stol", self.table(SMOOTH), "-thickness", 1, "-stol", "table.stol", "-density", 0.3,
                 "-detector_thick", 450, "-detector_abs", 234, "--loss=random:3",
                 "-detpixels", 16, "-pixel", 5, "-oversample", 2]
        numbers = ("background_thickness,background_density,background_molar_mass,background_area,"
                   "distance,wavelength,attenuation_depth")
        for more in (["--wrt=" + numbers + ",background_F"], ["--wrt=" + numbers, "--order=2"],
                     ["--wrt=background_F,distance", "--together"],
                     ["--wrt=" + numbers, "--mode=forward"],
                     ["--wrt=" + numbers + ",background_F", "--device=gpu-on-cpu"]):
            with self.subTest(more):
                done = self.run_it(*flags, *more, program=NB_GRADCHECK)
                self.assertIn("passed: ", done.stdout)
                self.assertNotIn("FAILED", done.stdout)

    def test_precisions(self):
        flags = ["-cell", 30, 40, 50, "-default_F", 300, "-N", 4, "-stol", "water", "-thickness", 1e-12]
        exact = self.image(*flags)
        for precision, tolerance in (("mixed", 1e-5), ("f32", 1e-3)):
            with self.subTest(precision):
                np.testing.assert_allclose(self.image(*flags, "--precision=" + precision), exact,
                                           rtol=tolerance)

    def test_lines_in_any_order(self):
        points = [(0.02 * i, 3 + i % 4) for i in range(20)]
        self.table(points, "good.stol")
        self.table(points[:7] + points[12:] + points[7:12], "mixed.stol")
        flags = ["-thickness", 1]
        want = self.image("-stol", "good.stol", *flags)
        self.assertGreater(want.min(), 0)
        np.testing.assert_array_equal(self.image("-stol", "mixed.stol", *flags), want)
        self.assertIn("mixed.stol: line 16 is below the one before", self.run_it("-stol", "mixed.stol", *flags).stderr)

    def test_refusals(self):
        self.table([(0.1, 2), (0.1, 3)], "back.stol")
        self.table([(i / 1e5, 2) for i in range(65537)], "long.stol")
        for flags, status, message in (
                (["-stol", "none.stol"], 1, "none.stol"),
                (["-stol", "back.stol"], 1, "back.stol:2: has the sin(theta)/lambda of line 1"),
                (["-stol", "long.stol"], 1, "65537 lines"),
                (["-stol", "water", "-density", "-1"], 2, "-density"),
                (["-stol", "water", "-MW", "0"], 2, "-MW"),
                (["-stol", "water", "-beamsize", "0"], 2, "-beamsize"),
                (["-stol", "water", "-default_F", "1"], 2, "no unit cell")):
            with self.subTest(flags):
                self.assertIn(message, self.run_it(*flags, status=status).stderr)


if __name__ == "__main__":
    NB_SIM, NB_GRADCHECK = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
