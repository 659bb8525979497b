"""The spot finder of the tutorial learns spots from a few simulated frames."""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "docs/tutorials/spots"))

try:
    import scipy  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    print(f"skipped: {error.name} is not installed")
    sys.exit(0)

import numpy as np
import spot_finder


class SpotFinder(unittest.TestCase):
    def test_few_steps_tell_spots_from_background(self):
        network, level = spot_finder.train(40)
        self.assertTrue(0.5 <= level < 1)
        rng = np.random.default_rng(5)
        sim = spot_finder.simulator(rng)
        frames = [spot_finder.frame(sim, rng) for _ in range(20)]
        scores = np.array([spot_finder.probability(network, counts) for counts, _ in frames])
        truth = np.array([pixels for _, pixels in frames])
        self.assertGreater(scores[truth].mean(), 2 * scores[~truth].mean())

    def test_spots_beside_gaps(self):
        counts = np.random.default_rng(2).poisson(1.0, (150, 131)).astype(float)
        centers = [(30, 20), (60, 111), (100, 40), (140, 90)]  # slow, fast
        for slow, fast in centers:
            counts[slow - 1:slow + 2, fast - 1:fast + 2] += 40
        counts[80:90] = -1

        def network(features):  # counts 10 sigmas above the mean
            return features[:, 0] - np.arcsinh(10)
        spots = spot_finder.find(network, 0.5, counts)
        self.assertEqual(len(spots), 4)
        for (slow, fast), spot in zip(centers, spots):
            np.testing.assert_allclose(spot[:2], (fast + 0.5, slow + 0.5), atol=0.1)
            self.assertAlmostEqual(spot[2], 360, delta=30)
            self.assertEqual(spot[3], 9)

    def test_an_image_without_spots(self):
        spots = spot_finder.find(lambda features: features[:, 0] - 99, 0.5, np.ones((40, 40)))
        self.assertEqual(spots.shape, (0, 4))

    def test_f1_counts_spots(self):
        truth, found = np.zeros((2, 20, 20), bool)
        truth[2:4, 2:4] = truth[10:12, 10:12] = True
        found[3:5, 3:5] = found[10:12, 15:17] = True
        found[18, 2] = True  # one pixel is no spot
        self.assertEqual(spot_finder.spot_f1([found], [truth]), 0.5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
