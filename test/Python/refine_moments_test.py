"""Moments of spots: measured in pixels, foretold by tables of reflections, and fitted."""

import importlib.util
import sys
import unittest

import numpy as np

import nanobragg as nb
from common import load_tests  # noqa: F401

if importlib.util.find_spec("scipy") is None:
    print("skipped: there is no scipy")
    sys.exit(0)

from nanobragg.refine._blocks import Blocks, Crystals, Measurement
from nanobragg.refine._explain import Boxes, simulators
from nanobragg.refine._moments import Foretold, MomentFit, Moments
from nanobragg.refine._response import Response

PIXELS, LEVEL, DOUBT = 1000, 3.0, 0.28  # pixels of an edge, photons of background, error of the logarithms of F
HELD = ("wavelength", "gain", "dead_time", "halo")
SPREAD = {"orientation": 1.5e-3, "cell": 1.0, "distance": 0.4, "centre": 0.17, "mosaicity": 1.0, "bandwidth": 1.0, "divergence": 1.0, "size": 0.8}
FOUND = {"orientation": 1.5e-4, "cell": 0.05, "distance": 5e-3, "centre": 0.015, "mosaicity": 0.05, "bandwidth": 0.25, "divergence": 0.7}


def box_of(hkl, at, background):
    """One box about a place (fast, slow) that a reflection has light in."""
    boxes = Boxes.around(np.array([at]), 2, background, background > 0, background)
    return boxes.with_reflections(np.tile(hkl, (len(boxes.rows), 1)))


class Measured(unittest.TestCase):
    def test_spots_of_known_shape(self):
        """Sums of normal distributions over pixels, each beside another spot, in noise."""
        random, half, level = np.random.default_rng(1), 12, 3.0
        at = np.stack(np.meshgrid(*[np.arange(30, 970, 40)] * 2), -1).reshape(-1, 2) + random.uniform(-0.5, 0.5, (576, 2))
        wide = random.uniform(0.3, 3, (len(at), 2))
        across = random.uniform(-0.7, 0.7, len(at)) * np.sqrt(wide.prod(axis=1))
        photons = np.exp(random.uniform(6, 9, len(at)))
        image = np.full((1000, 1000), level)
        steps = (np.arange(5 * (2 * half + 1)) + 0.5) / 5 - half
        for (x, y), (a, b), c, total in zip(at, wide, across, photons):
            i, j = int(y), int(x)
            for dx, dy, share in ((0, 0, 1.0), (9, 3, 0.3)):
                fast, slow = steps + j - x - dx, (steps + i - y - dy)[:, None]
                inner = np.linalg.inv([[a, c], [c, b]])
                spot = np.exp(-0.5 * (inner[0, 0] * fast**2 + 2 * inner[0, 1] * fast * slow + inner[1, 1] * slow**2))
                spot = spot.reshape(2 * half + 1, 5, -1, 5).sum(axis=(1, 3))
                image[i - half:i + half + 1, j - half:j + half + 1] += share * total * spot / spot.sum()
        usable = np.ones(image.shape, bool)
        usable[514, 512] = False  # beside the spot at 510
        seen = Moments.measured(at + random.normal(scale=0.4, size=at.shape), random.poisson(image), usable, np.full(image.shape, level), 7)
        self.assertGreater(seen.known.mean(), 0.97)
        self.assertFalse(seen.known[np.argmin(np.linalg.norm(at - 510, axis=1))])
        noise = seen.sigma[seen.known] / seen.photons[seen.known]
        self.assertLess(abs(np.median(seen.photons / photons) - 1), 0.02)
        for i, variance in enumerate(wide[seen.known].T):
            off = (seen.at - at)[seen.known, i]
            self.assertLess(1.4826 * np.median(np.abs(off / np.sqrt(variance) / noise)), 1.7)
            wider = (seen.covariance[seen.known, 2 * i] - variance) / variance
            self.assertLess(abs(np.median(wider)), 0.05)
            self.assertLess(1.4826 * np.median(np.abs(wider / noise)), 3.5)
        self.assertLess(abs(np.median((seen.covariance[:, 1] - across)[seen.known])), 0.04)


class Fitted(unittest.TestCase):
    STILLS, STARTS = 2, 3

    @classmethod
    def setUpClass(cls):
        h, k, l = np.abs(np.mgrid[-30:31, -30:31, -80:81])
        values = np.random.default_rng(5).rayleigh(3000, (31, 31, 81))[np.maximum(h, k), np.minimum(h, k), l]
        cls.factors = values * np.exp(-0.5 * 20 * ((h / 57.8)**2 + (k / 57.8)**2 + (l / 150.1)**2) / 2), (-30, -30, -80)
        cls.stills = [cls.still(seed) for seed in range(cls.STILLS)]

    @classmethod
    def simulator(cls, random, **detector):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        parts = (nb.Crystal(real_space=np.diag([57.8e-10, 57.8e-10, 150.1e-10]) @ turn * np.linalg.det(turn)), nb.Beam(wavelength=1e-10, fluence=2e24),
                 nb.Detector.plane(np.array([-86, 86, -200]) * 1e-3, (1, 0, 0), (0, -1, 0), (PIXELS, PIXELS), 0.172e-3, beam_direction=(0, 0, -1),
                                   **detector))
        sim, _ = simulators(parts, np.radians(0.1), 5e-4, 2e-4)
        sim.set(ncells_a=25.0, ncells_b=25.0, ncells_c=25.0)
        sim.structure_factors = cls.factors
        return sim

    @classmethod
    def still(cls, seed):
        """Blocks whose numbers are those of the still at 0, and F wrong, and its MomentFit."""
        random = np.random.default_rng(seed)
        sim = cls.simulator(random)
        table, flat = sim.reflections(0.01), np.full((PIXELS, PIXELS), LEVEL)
        photons = random.poisson(sim.image() + flat).astype(float)
        bright = table.photons > 150
        at, hkl = np.column_stack([table.fast, table.slow])[bright], table.miller_index[bright]
        seen = Moments.measured(at, photons, flat > 0, flat, 4)
        grid, lowest = cls.factors
        sim.structure_factors = grid * np.exp(random.normal(scale=DOUBT, size=grid.shape)), lowest
        blocks = Blocks(sim, box_of(hkl[0], at[0], flat), Crystals("tetragonal"))
        none = np.zeros(seen.known.sum(), int)
        return blocks, MomentFit(seen.chosen(seen.known), hkl[seen.known], none, none, 0.0)

    def test_derivatives(self):
        """The derivatives of two sets of blocks agree with differences."""
        blocks, fit = self.stills[0]
        x = np.zeros(blocks.size)
        blocks, x = blocks.with_set(x, np.array([1e-3, -2e-3, 5e-4]), 1.3, 0.4)
        free = ~np.isin(blocks.groups(), HELD)
        foretold = Foretold(blocks, *fit.spots)
        rows, scale = foretold.jacobian(x, free), np.abs(foretold.moments(x)).max(axis=0)
        for i in np.flatnonzero(free):
            step = np.zeros(len(x))
            step[i] = 1e-6 if blocks.groups()[i] == "orientation" else 1e-4
            slope = (foretold.moments(x + step) - foretold.moments(x - step)) / (2 * step[i])
            for column, (one, other) in enumerate(zip(rows[:, :, i].T, slope.T)):
                np.testing.assert_allclose(one, other, atol=1e-4 * np.abs(other).max() + 1e-5 * scale[column], err_msg=f"{column} by {blocks.names[i]}")

    def test_a_wide_set_lights_reflections_that_are_far_from_the_sphere(self):
        """It has a hundredth of the light, and so they have less than that of theirs."""
        blocks, fit = self.stills[0]
        hkl = fit.spots[0] + np.array([[k, 0, 0] for k in np.arange(len(fit.spots[0])) % 2])  # every other one is another reflection
        x, spots = np.zeros(blocks.size), (hkl, *fit.spots[1:])
        alone = Foretold(blocks, *spots).partiality(x)
        wide, numbers = blocks.with_set(x, np.zeros(3), 12.0, 0.01)
        both = Foretold(wide, *spots).partiality(numbers)
        near = alone > 0.1
        np.testing.assert_allclose(both[near], alone[near] / 1.01, atol=0.01)
        far = (alone == 0) & (both > 0)
        self.assertGreater(far.sum(), 20)
        self.assertLess(both[far].max(), 0.01)

    def test_a_point_spread_stays(self):
        _, fit = self.stills[0]
        response = Response(("gauss", 80.0))
        flat, sim = np.ones((PIXELS, PIXELS)), self.simulator(np.random.default_rng(0), **response.of_detector(0.172))
        blocks = Blocks(sim, box_of(fit.spots[0][0], fit.seen.at[0], flat), Crystals("tetragonal"), Measurement(response=response))
        groups, x = np.array(blocks.groups()), np.zeros(blocks.size)
        found, _ = fit.run(blocks, fit.brightened(blocks, x), ~np.isin(groups, HELD), x, np.full(len(x), 1.0))
        self.assertEqual(found[groups == "psf"], 0)
        self.assertLess(np.abs(found[groups == "orientation"]).max(), 1e-3)

    def test_what_no_experiment_has_is_not_tried(self):
        """Steps far beyond what simulators accept cost none of them."""
        blocks, fit = self.stills[0]
        groups, x = np.array(blocks.groups()), np.zeros(blocks.size)
        x[blocks.names.index("divergence vertical")] = 10.0
        found, cost = fit.run(blocks, x, ~np.isin(groups, HELD), np.zeros(len(x)), np.full(len(x), 1.0))
        self.assertTrue(np.isfinite(cost) and np.abs(found).max() < 10)

    def test_every_start_ends_at_the_truth(self):
        random = np.random.default_rng(0)
        for number, (blocks, fit) in enumerate(self.stills):
            groups, costs = np.array(blocks.groups()), []
            free = ~np.isin(groups, HELD)
            spread, sigma = np.zeros(blocks.size), np.full(blocks.size, np.inf)
            for group, width in SPREAD.items():
                spread[groups == group] = width
            sigma[groups == "B"], sigma[groups == "tilt"] = 10.0, 1.0
            self.assertGreater(len(fit.lattice), 400)
            for start in range(self.STARTS):
                x = fit.brightened(blocks, random.normal(size=blocks.size) * spread)
                x, cost = fit.run(blocks, x, free, np.zeros(len(x)), sigma)
                costs.append(cost)
                values = dict(zip(blocks.names, x))
                for group, most in FOUND.items():
                    self.assertLess(np.abs(x[groups == group]).max(), most, f"{group} of still {number} from start {start}")
                self.assertLess(np.abs([values["size a"], values["size b"]]).max(), 0.1)  # along c blocks are too large to be measured
            np.testing.assert_allclose(costs, min(costs), rtol=2e-3)


class OfObliqueCells(unittest.TestCase):
    def test_blocks_of_a_hexagonal_cell_are_any_ellipsoid(self):
        """They start round, and sizes of sets that are a halo follow those of the others."""
        real = np.array([[58, 0, 0], [-29, 29 * 3**0.5, 0], [0, 0, 75]])
        parts = (nb.Crystal(real_space=1e-10 * real), nb.Beam(wavelength=1e-10),
                 nb.Detector.plane(np.array([-86, 86, -200]) * 1e-3, (1, 0, 0), (0, -1, 0), (20, 20), 0.172e-3, beam_direction=(0, 0, -1)))
        sim, _ = simulators(parts, np.radians(0.1), 5e-4, 2e-4)
        a, b, c, d, e, f = (sim[f"ncells_{axis}"] for axis in "abcdef")
        hkl = np.array([(1, 0, 0), (0, 1, 0), (-1, 1, 0), (1, 1, 0), (0, 0, 1), (2, -1, 3)])
        widths = np.linalg.norm(hkl @ [[a, d, f], [d, b, e], [f, e, c]], axis=1)
        np.testing.assert_allclose(widths, 2000 * np.linalg.norm(hkl @ np.linalg.inv(real).T, axis=1), rtol=1e-6)
        flat = np.ones((20, 20))
        blocks = Blocks(sim, box_of((1, 2, 3), (9.5, 9.5), flat), Crystals("hexagonal"))
        self.assertEqual([name for name in blocks.names if name.startswith("size")], ["size a", "size b", "size c", "size ab"])
        x = np.zeros(blocks.size)
        names = [f"ncells_{axis}" for axis in "abcd"]
        x[7], x[[blocks.names.index("size a"), blocks.names.index("size ab")]] = 0.3, (0.2, -0.1)
        for i, change in blocks._directions(x, 0, blocks.values(x, 0)):
            high, low = (blocks.values(x + step * np.eye(len(x))[i], 0) for step in (1e-5, -1e-5))
            for name in names:
                np.testing.assert_allclose(change.get(name, 0), (high[name] - low[name]) / 2e-5, rtol=1e-6, atol=1e-6, err_msg=f"{name} by {blocks.names[i]}")
        # However far a fit goes: beyond, a width would grow again, and a false minimum lie there.
        for x[blocks.names.index("size ab")] in (-5, 5):
            a, b, _, d = (blocks.values(x, 0)[name] for name in names)
            self.assertGreater(a * b, d * d)


class FittedOften(Fitted):
    nightly = True
    STILLS, STARTS = 6, 6


if __name__ == "__main__":
    unittest.main()
