#!/usr/bin/env python3
"""brute_force_test.py NB_SIM: the brute force that averages are held against is right itself. Its geometry is that of
nb-sim where nothing is averaged, and its weighted draws have the mean of plain ones."""

import sys
import tempfile
import unittest

import numpy as np

import brute_force
import draws
import reflections
from experiment import random_experiment
from model import Model

NB_SIM = sys.argv[1]


class BruteForce(unittest.TestCase):
    def test_grids_are_those_of_nb_sim(self):
        lit = 0
        for seed in range(10):
            random = np.random.default_rng(seed)
            with tempfile.TemporaryDirectory() as folder:
                worst, peak = brute_force.conventions(random_experiment(random), random, NB_SIM, folder)
            self.assertLess(worst, 1e-6, f"seed {seed}")
            lit += peak > 1e-4
        self.assertGreater(lit, 5, "images of spots, and not of their tails")

    def test_weighted_draws_have_the_mean_of_plain_ones(self):
        pulls = []
        for seed in range(12):
            random = np.random.default_rng(seed)
            model = Model(random_experiment(random))
            places, meets = reflections.predicted(model, reflections.near_sphere(model))
            pixels = np.rint(places[meets][random.permutation(meets.sum())[:60]])
            if not len(pixels):
                continue
            pixels = pixels[np.argsort(-draws.weighted(model, pixels, 160, random)[0])[:2]]
            mean, error = draws.weighted(model, pixels, 16000, random)
            plain, plain_error = draws.plain(model, pixels, 100000, random)
            enough = plain_error < 0.05 * plain  # else too few draws have light for a normal error
            pulls += list(((mean - plain) / np.hypot(error, plain_error))[enough])
        self.assertGreater(len(pulls), 10)
        self.assertLess(np.abs(pulls).max(), 4.5)
        self.assertLess(np.sqrt(np.mean(np.square(pulls))), 1.6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
