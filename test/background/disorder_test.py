#!/usr/bin/env python3
"""disorder_test.py NB_SIM: -mosaic_abc, -diffuse_*, -lambda_offset and -lambda_scale from first principles."""

import itertools
import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PIXELS = 32
CELL = (40.0, 50.0, 60.0)
CAMERA = (f"-distance 60 -pixel 2 -detpixels {PIXELS} -lambda 1 -nopolar -point_pixel -default_F 10 "
          "-beam_vector 1 0 0 -fdet_vector 0 0 1 -sdet_vector 0 -1 0 -odet_vector 1 0 0 "
          f"-Xbeam {PIXELS} -Ybeam {PIXELS}").split()
ENGINES = ([], ["--no-fuse"], ["--device=gpu-on-cpu"])


def rotation(axis, angle):
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def turned(*degrees):
    """About X, then Y, then Z."""
    result = np.eye(3)
    for axis, angle in zip(np.eye(3), np.radians(degrees)):
        result = rotation(axis, angle) @ result
    return result


def xyz(r):
    """The inverse."""
    return np.degrees([np.arctan2(r[2, 1], r[2, 2]), -np.arcsin(r[2, 0]), np.arctan2(r[1, 0], r[0, 0])])


class Disorder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_it(self, *flags, status=0):
        environment = os.environ | {"NB_CACHE_DIR": os.path.join(self.folder, "cache")}
        done = subprocess.run([NB_SIM, *CAMERA, *map(str, flags)], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def image(self, *flags):
        self.run_it(*flags, "-nonoise", "-nopgm", "--quiet")
        return np.fromfile(os.path.join(self.folder, "floatimage.bin"),
                           "<f4").reshape(PIXELS, PIXELS).astype(float)

    # --- mosaic spread ---

    @staticmethod
    def normal_length(p):
        """The length below which three normal deviates together are with the probability p."""
        low, high = 0.0, 8.0
        for _ in range(60):
            r = (low + high) / 2
            below = math.erf(r / 2**0.5) - (2 / math.pi)**0.5 * r * math.exp(-r * r / 2)
            low, high = (r, high) if below < p else (low, r)
        return low

    def test_domains_one_by_one(self):
        """The mean over crystals that are turned by hand, each about one axis of its frame."""
        spreads, domains = np.array([0.5, 0.8, 0.0]), 6
        flags = ["-cell", *CELL, "-N", 8, "-oversample", 1, "-misset"]
        spiral = []
        for i in range(3):
            t = (i + 0.5) / 3
            phi, sine = (np.pi * 3)**0.5 * math.asin(t), (1 - t * t)**0.5
            spiral.append([sine * math.cos(phi), sine * math.sin(phi), t])
        lengths = [self.normal_length((i + 0.5) / 3) for i in range(3)]
        for misset in ((0, 0, 0), (10, 20, 30)):
            got = self.image(*flags, *misset, "-mosaic_abc", *spreads, "-mosaic_domains", domains)
            differences = []
            for order in itertools.permutations(lengths):  # a matter of the seed
                vectors = np.array(spiral) * np.array(order)[:, None]
                factor = np.linalg.cholesky(vectors.T @ vectors / 3)
                total = 0
                for w in np.radians(spreads) * np.linalg.solve(factor, vectors.T).T:
                    angle = np.linalg.norm(w)
                    for sign in (1, -1):
                        domain = turned(*misset) @ rotation(w / angle, sign * angle)
                        total = total + self.image(*flags, *xyz(domain))
                differences.append(np.abs(total / domains - got).max() / got.max())
            with self.subTest(misset):
                self.assertLess(min(differences), 1e-6)
                self.assertGreater(max(differences), 1e-3)

    def test_without_spread_there_is_one_orientation(self):
        flags = ["-cell", *CELL, "-N", 8]
        for engine in ENGINES:
            np.testing.assert_allclose(self.image(*flags, "-mosaic_abc", 0, 0, 0, "-mosaic_domains", 6, *engine),
                                       self.image(*flags), rtol=1e-6)

    def test_domains_turn_with_the_spindle(self):
        """Their frame is the crystal's, whatever has turned it."""
        flags = ["-cell", *CELL, "-N", 8, "-mosaic_abc", 0.5, 0.8, 1.1, "-mosaic_domains", 6]
        turn = rotation((0, 0, 1), np.radians(35)) @ turned(10, 20, 30)
        expected = self.image(*flags, "-misset", *xyz(turn))
        for engine in ENGINES:
            got = self.image(*flags, "-misset", 10, 20, 30, "-spindle_axis", 0, 0, 1, "-phi", 35, *engine)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6 * expected.max())

    def indices(self, *misset):
        """Miller indices of pixel centres, for the crystal turned about X, then Y, then Z."""
        turn = turned(*misset)
        q = self.scattering_vectors()
        return [a * (q @ (turn @ axis)) for a, axis in zip(CELL, np.eye(3))]

    def scattering_vectors(self):
        """In 1/A."""
        at = (np.arange(PIXELS) + 0.5) * 2.0 - PIXELS
        slow, fast = np.meshgrid(at, at, indexing="ij")
        p = np.stack([np.full_like(fast, 60.0), -slow, fast], axis=-1)
        d = p / np.linalg.norm(p, axis=-1)[..., None]
        return d - [1, 0, 0]

    def test_domains_are_even(self):
        for domains in (5, 4):
            done = self.run_it("-cell", *CELL, "-mosaic_abc", 1, 1, 1, "-mosaic_domains", domains, status=1)
            self.assertIn("even number of at least 6", done.stderr)

    # --- diffuse scattering ---

    def diffuse(self, gamma, sigma, n, rotations):
        h = np.stack(self.indices(0, 0, 0), axis=-1)
        h0 = np.ceil(h - 0.5)
        total = 0
        for g in rotations:
            q, d = (h0 @ g.T) / CELL, ((h - h0) @ g.T) / CELL
            e = 4 * np.pi**2 * ((sigma * q)**2).sum(-1)
            u = 1 + 4 * np.pi**2 * ((gamma * d)**2).sum(-1)
            total = total + e * np.exp(-e) * 8 * np.pi * np.prod(gamma) / u**2
        return total / len(rotations) * n**3 / np.prod(CELL)

    def test_diffuse_in_closed_form(self):
        gamma, sigma, n = np.array([20.0, 30, 40]), np.array([0.3, 0.5, 0.7]), 5
        flags = ["-cell", *CELL, "-N", n, "-oversample", 1]
        with_it = ["-diffuse_gamma", *gamma, "-diffuse_sigma", *sigma]
        two = [np.diag(v) for v in ((1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1))]
        bragg = self.image(*flags)
        r2 = (0.06 / (self.scattering_vectors() + [1, 0, 0])[..., 0])**2
        for group, rotations in ((1, two[:1]), (2, two[:2]), (5, two)):
            want = bragg + 100 * self.diffuse(gamma, sigma, n, rotations) / r2
            for engine in ENGINES:
                with self.subTest((group, engine)):
                    got = self.image(*flags, *with_it, "-laue_group", group, *engine)
                    np.testing.assert_allclose(got, want, rtol=2e-5)

    def test_diffuse_turns_with_the_crystal(self):
        """Swapping two axes of cell, gamma and sigma and turning the crystal back is the same crystal."""
        flags = ["-N", 5, "-oversample", 1]
        one = self.image(*flags, "-cell", 40, 50, 60, "-diffuse_gamma", 20, 30, 40,
                         "-diffuse_sigma", 0.3, 0.5, 0.7)
        other = self.image(*flags, "-cell", 50, 40, 60, "-diffuse_gamma", 30, 20, 40,
                           "-diffuse_sigma", 0.5, 0.3, 0.7, "-misset", 0, 0, 90)
        np.testing.assert_allclose(one, other, rtol=1e-4)

    def test_refusals_of_diffuse(self):
        cell = ["-cell", *CELL]
        self.assertIn("belong together", self.run_it(*cell, "-diffuse_gamma", 20, status=1).stderr)
        self.assertIn("one number, or three",
                      self.run_it(*cell, "-diffuse_gamma", 20, 30, "-diffuse_sigma", 1, status=2).stderr)
        done = self.run_it(*cell, "-diffuse_gamma", 20, "-diffuse_sigma", 1, "-laue_group", 14,
                           "-nonoise", "-nopgm")
        self.assertIn("does not have this symmetry", done.stdout + done.stderr)

    # --- spectra ---

    def test_offset_and_scale_of_wavelengths(self):
        def write(name, wavelengths):
            with open(os.path.join(self.folder, name), "w") as file:
                file.writelines(f"-10 0 0 {i + 1} {float(w)!r}\n" for i, w in enumerate(wavelengths))
        write("a.txt", [1e-10, 1.01e-10])
        write("b.txt", [1e-10 * 1.02 - 3e-12, 1.01e-10 * 1.02 - 3e-12])
        flags = ["-cell", *CELL, "-N", 5]
        got = self.image(*flags, "-sourcefile", "a.txt", "-lambda_scale", 1.02, "-lambda_offset", -0.03)
        np.testing.assert_allclose(got, self.image(*flags, "-sourcefile", "b.txt"), rtol=1e-5)

    def test_thousands_of_energies_are_their_mean(self):
        """Twice the same spectrum, and weights of another sum, are no brighter."""
        energies = np.linspace(12300, 12500, 2000)
        weights = np.exp(-((energies - 12400) / 30)**2)
        for name, factor, repeats in (("a.txt", 1, 1), ("b.txt", 7, 2)):
            with open(os.path.join(self.folder, name), "w") as file:
                for _ in range(repeats):
                    file.writelines(f"{float(e)!r} {float(w) * factor!r}\n" for e, w in zip(energies, weights))
        flags = ["-cell", *CELL, "-N", 5]
        one = self.image(*flags, "--spectrum=a.txt")
        np.testing.assert_allclose(self.image(*flags, "--spectrum=b.txt"), one, rtol=2e-6)
        mono = self.image(*flags, "-energy", 12400)
        self.assertLess(abs(one.sum() / mono.sum() - 1), 0.05)


if __name__ == "__main__":
    NB_SIM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
