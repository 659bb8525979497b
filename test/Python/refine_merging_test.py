"""All reflections of stills, integrated by the model and merged: simulated stills of known structure factors."""

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

from common import load_tests  # noqa: F401

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

import refine_index_test as stills
from nanobragg.refine import _files
from nanobragg.refine.__main__ import main
from nanobragg.refine._amplitudes import Amplitudes
from nanobragg.refine._integration import Integrated
from nanobragg.refine._merging import Observations, expected, merge

MISSETS, EDGE, SPOILT, DARK = [(17, -41, 66), (80, 15, -9), (-33, 52, 120), (141, 60, 28)], 100, 0.28, 0.1


def pulls(found, sigma, truth):
    """The robust and the root mean square of how many sigmas numbers are off."""
    z = (found - truth) / sigma
    return 1.4826 * np.median(np.abs(z)), np.sqrt((z**2).mean())


class Means(unittest.TestCase):
    """Counts of known intensities on crystals of wrong scales, with errors that grow with the distance from the sphere."""

    RELATIVE, TAIL, CRYSTALS, EACH, LEVEL = 0.04, 0.05, 40, 800, 200.0

    @classmethod
    def setUpClass(cls):
        random = np.random.default_rng(1)
        grid = np.sqrt(random.exponential(1e4, (15, 15, 15)))
        grid[random.random(grid.shape) < DARK] = 0
        cls.truth = grid[tuple(np.abs(np.mgrid[-14:15, -14:15, -14:15]))]**2
        model = np.sqrt(np.maximum(cls.truth, 100)) * np.exp(random.normal(scale=SPOILT, size=grid.shape)[tuple(np.abs(np.mgrid[-14:15, -14:15, -14:15]))])
        cls.amplitudes = Amplitudes(model, (-14, -14, -14), "P 2 2 2")
        cls.found = Observations(cls.amplitudes, cls.crystals(random, cls.CRYSTALS, cls.EACH, cls.RELATIVE, cls.TAIL, 1.0), range(cls.CRYSTALS))

    @classmethod
    def crystals(cls, random, count, each, relative, tail, wrong):
        """wrong: sigma of B factors, A^2, and of scales, a twentieth of it."""
        every = []
        for _ in range(count):
            hkl = random.integers(1, 15, (each, 3)) * random.choice([-1, 1], (each, 3))
            squares, share = ((hkl / 50)**2).sum(axis=1), random.uniform(0.02, 1, each)
            per = 0.05 * share * np.exp(random.normal())
            off = np.hypot(relative, tail * np.sqrt(-2 * np.log(share))) * random.normal(size=each)
            scale = np.exp(random.normal(scale=0.05 * wrong) - wrong * random.normal() * squares / 2)
            light = cls.truth[tuple((hkl + 14).T)] * per * scale * np.maximum(1 + off, 0)
            photons = random.poisson(light + cls.LEVEL) - cls.LEVEL
            none, one = np.zeros(each), np.ones(each)
            every.append(Integrated(hkl, none, none, np.zeros((each, 2)), none, photons, np.maximum(photons + cls.LEVEL, 0.3 * cls.LEVEL),
                                    one, per, share, none, squares, none, one, one))
        return every

    def true(self, hkl):
        return self.truth[tuple((hkl + 14).T)]

    def test_means_and_their_errors(self):
        noise, relative, tail = np.exp(self.found.errors)
        self.assertAlmostEqual(noise, 1, delta=0.05)
        self.assertAlmostEqual(relative, self.RELATIVE, delta=0.01)
        self.assertAlmostEqual(tail, self.TAIL, delta=0.01)
        truth = self.true(self.found.hkl)
        strong = self.found.mean > 10 * self.found.sigma
        ratio = np.median(truth[strong] / self.found.mean[strong])  # the model that says the scale is wrong by SPOILT
        self.assertAlmostEqual(ratio, 1, delta=0.03)
        for one in pulls(ratio * self.found.mean, ratio * self.found.sigma, truth):
            self.assertTrue(0.93 < one < 1.1, one)
        dark = truth == 0
        self.assertGreater(dark.sum(), 100)
        mean, sigma = self.found.mean[dark].mean(), np.sqrt((self.found.sigma[dark]**2).sum()) / dark.sum()
        self.assertLess(abs(mean), 2.5 * sigma)

    def test_large_errors_of_partialities_leave_scales(self):
        """Three crystals whose scales and B factors are right, four times."""
        for seed in range(4):
            found = Observations(self.amplitudes, self.crystals(np.random.default_rng(seed), 3, 2000, 0.25, 0.2, 0.0), range(3))
            self.assertLess(np.abs(found.scales[1]).max(), 1.5)

    def test_the_posterior_is_nearer_than_data_or_model(self):
        few = Observations.__new__(Observations)
        few.__dict__ |= self.found.__dict__
        few.mean, few.sigma = self.found.mean + np.random.default_rng(2).normal(scale=2500, size=len(self.found.mean)), np.hypot(self.found.sigma, 2500)
        few.seen = np.where(np.arange(len(few.mean)) % 3 == 0, 0, few.seen)  # a third is not seen
        few.mean, few.sigma = np.where(few.seen > 0, few.mean, np.nan), np.where(few.seen > 0, few.sigma, np.nan)
        merged = merge(few, self.amplitudes, np.eye(3) / 50)
        truth, use = np.sqrt(self.true(merged.hkl)), (merged.seen > 0) & (self.true(merged.hkl) > 0)
        wrong = lambda F: np.abs(F - truth)[use].sum() / truth[use].sum()
        model = np.zeros(len(truth))
        model[merged.of_amplitude] = self.amplitudes.start
        self.assertLess(wrong(merged.F_post), 0.9 * min(wrong(merged.F), wrong(model)))
        unseen = merged.seen == 0
        self.assertTrue(np.isnan(merged.I[unseen]).all() and np.isnan(merged.F[unseen]).all() and np.isfinite(merged.F_post).all())
        self.assertGreater(np.median(merged.sigma_post[unseen]), np.median(merged.sigma_post[~unseen]))

    def test_amplitudes_without_data_are_wilsons(self):
        nothing, wide = np.full(2, np.nan), np.full(2, 100.0)
        mean, sigma = expected(nothing, nothing, np.zeros(2), wide, np.array([True, False]))
        np.testing.assert_allclose(mean, 10 * np.array([np.sqrt(2 / np.pi), np.sqrt(np.pi / 4)]), rtol=1e-3)
        np.testing.assert_allclose(sigma**2, 100 - mean**2, rtol=2e-2)
        strong, _ = expected(np.full(2, 2500.0), np.full(2, 1.0), np.zeros(2), wide, np.array([True, False]))
        np.testing.assert_allclose(strong, 50, rtol=2e-3)


class Stills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        values, lowest = stills.factors()
        h, k, l = np.abs(np.mgrid[-30:31, -30:31, -55:56])
        dark = np.random.default_rng(6).random((31, 31, 56))[np.maximum(h, k), np.minimum(h, k), l] < DARK
        cls.truth = np.where(dark, 0, values), lowest
        images = [os.path.join(cls.folder, f"still{i}.cbf") for i in range(len(MISSETS))]
        with mock.patch.object(stills, "factors", lambda: cls.truth):
            for seed, (misset, image) in enumerate(zip(MISSETS, images)):
                _, photons = stills.simulated(misset, seed)
                stills.write_cbf(image, photons[EDGE:-EDGE, EDGE:-EDGE], stills.DISTANCE, np.array(stills.CENTRE) - EDGE)
        model, cls.out = (os.path.join(cls.folder, name) for name in ("model.mtz", "out"))
        stills.write_model(model, SPOILT)
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["index", *images, f"--model={model}", f"--out={cls.out}", "--workers=2", "--sets=1"]) == 0
        cls.table = _files.read_reflections(os.path.join(cls.out, "integrated.refl"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def true(self, hkl):
        values, lowest = self.truth
        return values[tuple((hkl - lowest).T)]

    def path(self, name):
        return os.path.join(self.out, name)

    def test_intensities_of_stills(self):
        table = self.table
        truth, p = self.true(table["miller_index"])**2, table["partiality"]
        np.testing.assert_allclose(table["intensity.prf.value"] * p, table["intensity.sum.value"])
        self.assertTrue((p >= 0.02).all() and (p <= 1).all())
        for number in range(len(MISSETS)):
            mine = table["id"] == number
            full, sigma = (table["lp"] * table["intensity.prf.value"])[mine], (table["lp"] * np.sqrt(table["intensity.prf.variance"]))[mine]
            strong = full > 20 * sigma
            ratio = np.log(full[strong] / truth[mine][strong])
            self.assertGreater(strong.sum(), 100)
            self.assertLess(1.4826 * np.median(np.abs(ratio - np.median(ratio))), 0.08)
            dark = truth[mine] == 0
            self.assertGreater(dark.sum(), 20)
            partial, noise = table["intensity.sum.value"][mine][dark], table["intensity.sum.variance"][mine][dark]
            self.assertLess(abs(partial.sum()) / np.sqrt(noise.sum()), 3.5)
            self.assertTrue(0.75 < np.sqrt(np.mean(partial**2 / noise)) < 1.3, np.sqrt(np.mean(partial**2 / noise)))

    def test_merged_intensities(self):
        import gemmi
        mtz = gemmi.read_mtz_file(self.path("structure_factors.mtz"))
        column = lambda label: np.array(mtz.column_with_label(label))
        hkl = np.column_stack([column(c) for c in "HKL"]).astype(int)
        F, I, sigma, seen = self.true(hkl), column("I"), column("SIGI"), column("N")
        np.testing.assert_array_equal(seen == 0, np.isnan(I))
        np.testing.assert_array_equal(seen == 0, np.isnan(column("F")))
        self.assertTrue(np.isfinite(column("FPOST")).all() and (seen == 0).any())
        use = seen > 0
        scale = np.exp(np.median(np.log(F**2 / I)[(I > 5 * sigma) & (F > 0)]))
        I, sigma, wrong = scale * I, scale * sigma, lambda found: np.abs(found - F)[use].sum() / F[use].sum()
        print(f"{use.sum()} reflections: R {wrong(np.sqrt(np.maximum(I, 0))):.4f}, pulls", pulls(I[use], sigma[use], F[use]**2))
        self.assertLess(wrong(np.sqrt(np.maximum(I, 0))), 0.05)
        self.assertLess(wrong(np.sqrt(scale) * column("FPOST")), 0.05)
        for one in pulls(I[use], sigma[use], F[use]**2):
            self.assertTrue(0.8 < one < 1.3, one)
        plus, minus = (np.isfinite(column(label)) for label in ("I(+)", "I(-)"))
        np.testing.assert_array_equal(plus | minus, use)
        only = plus & ~minus
        np.testing.assert_allclose(column("I(+)")[only], column("I")[only], rtol=1e-4, atol=1e-3)
        self.assertGreater(minus.sum(), 100)
        dark = use & (F == 0)
        self.assertLess(abs(I[dark].mean()), 3 * np.sqrt((sigma[dark]**2).sum()) / dark.sum())
        unmerged = gemmi.read_mtz_file(self.path("unmerged.mtz"))
        self.assertEqual(len(unmerged.batches), len(MISSETS))
        self.assertEqual({one.wavelength for one in (*unmerged.datasets, *unmerged.batches)}, {1.0})
        self.assertEqual(len(unmerged.array), seen.sum())
        unmerged.switch_to_original_hkl()
        measured = {tuple(row) for row in self.table["miller_index"].tolist()}
        self.assertTrue({tuple(row) for row in np.array(unmerged.array)[:, :3].astype(int).tolist()} <= measured)

    def test_statistics(self):
        with open(self.path("merging.csv")) as file:
            names, *rows = (line.strip().split(",") for line in file)
        whole = dict(zip(names, rows[-1]))
        self.assertEqual(sum(int(row[names.index("unique")]) for row in rows[:-1]), int(whole["unique"]))
        self.assertGreater(float(whole["CC_half"]), 0.99)
        self.assertLess(float(whole["R_split"]), 0.1)

    @unittest.skipUnless(shutil.which("dials.scale"), "DIALS is not here")
    def test_dials_takes_them(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

        def run(*words):
            done = subprocess.run(words, cwd=self.folder, env=environment, text=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, " ".join(words) + done.stdout[-2000:] + done.stderr[-2000:])
            return done.stdout

        files = self.path("integrated.expt"), self.path("integrated.refl")
        self.assertIn("intensity.prf.value", run("dials.show", *files))
        run("dials.scale", *files, "output.merging.nbins=5")
        run("dials.export", "scaled.expt", "scaled.refl", "format=mtz")
        import gemmi
        self.assertEqual(len(gemmi.read_mtz_file(os.path.join(self.folder, "scaled.mtz")).batches), len(MISSETS))


if __name__ == "__main__":
    unittest.main()
