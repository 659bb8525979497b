"""Labelled frames that are made as they are asked for."""

import unittest
import warnings

import numpy as np

import nanobragg as nb
from nanobragg.frames import Frames, _Background

warnings.filterwarnings("ignore", category=nb.Warning)
FLAGS = "-cell 70 80 90 90 90 90 -default_F 100 -N 8 -lambda 1 -distance 80 -detpixels 40 -pixel 1 -oversample 1 -fluence 1e27"


def misset(rng):
    return {"misset": nb.random_misset(seed=rng), "fluence": 1e27 * rng.lognormal(sigma=0.3)}


class Counts(unittest.TestCase):
    def test_the_distribution_is_poissons(self):
        from scipy.stats import poisson
        for mean in (0.03, 2.0, 150.0):
            with self.subTest(mean):
                n = 4_000_000
                drawn = np.empty(n, np.int32)
                _Background(np.array(mean)).count(drawn, np.zeros(n), 1)
                counts = np.bincount(drawn)
                expected = n * poisson.pmf(np.arange(len(counts) + 20), mean)
                counts = np.pad(counts, (0, 20))
                well = expected > 10
                chi = ((counts - expected)[well] ** 2 / expected[well]).sum()
                self.assertLess(abs(chi - well.sum()), 5 * np.sqrt(2 * well.sum()))
                self.assertLess(abs(counts[~well].sum() - expected[~well].sum()), 5 * np.sqrt(expected[~well].sum() + 1))


    def test_photons_of_each_pixel_are_poissons(self):
        light = np.array([0.0, 1e-30, 0.02, 0.3, 0.49, 0.5, 7.0, 0.0, 0.1])
        frames = 40_000
        drawn = np.empty((frames, len(light)), dtype=np.int32)
        for seed, counts in enumerate(drawn):
            _Background(np.array(0.0)).count(counts, light.copy(), seed)
        error = np.sqrt(light / frames)
        self.assertTrue((abs(drawn.mean(axis=0) - light) <= 5 * error).all())
        # The variance is the mean, whose own error follows from the fourth moment; pixels are independent.
        self.assertTrue((abs(drawn.var(axis=0) - light) <= 5 * np.sqrt((light + 2 * light**2) / frames)).all())
        covariance = np.cov(drawn[:, 2:7].T) - np.diag(light[2:7])
        self.assertLess(abs(covariance[np.triu_indices(5, 1)]).max(), 5 * np.sqrt(light[6] * light[5] / frames))


    def test_a_background_of_many_means_is_poissons(self):
        from scipy.stats import poisson
        for low, high in ((1.0, 5.0), (0.0, 200.0), (7.0, 7.01)):
            with self.subTest(low=low, high=high):
                means, frames = np.linspace(low, high, 500), 2000
                background, drawn = _Background(means), np.empty((frames, len(means)), np.int32)
                for seed, counts in enumerate(drawn):
                    background.count(counts, np.zeros(len(means)), seed)
                pull = (drawn.mean(axis=0) - means) / np.sqrt(means / frames + 1e-30)
                self.assertLess(abs(pull[means > 0.1]).max(), 5)
                self.assertLess(abs((pull[means > 0.1] ** 2).mean() - 1), 0.4)
                # The whole distribution: a count below which a third of the draws are expected.
                edge = poisson.ppf(1 / 3, means)
                share, expected = (drawn <= edge).mean(axis=0), poisson.cdf(edge, means)
                self.assertLess(abs((share - expected) / np.sqrt(expected * (1 - expected) / frames + 1e-30))[means > 0.1].max(), 5)


class Sets(unittest.TestCase):
    def setUp(self):
        self.sim = nb.Simulator.from_flags(FLAGS)

    def test_numbers_that_are_none(self):
        frames = Frames(self.sim, misset, count=3)
        for number, error, words in ((slice(0, 2), TypeError, "whole number, not slice"), (3, IndexError, "no frame 3"),
                                     (-1, IndexError, "counted from 0")):
            with self.subTest(number), self.assertRaisesRegex(error, words):
                frames[number]

    def test_frames_are_those_of_their_numbers(self):
        frames = Frames(self.sim, misset, seed=3, background=2.0)
        first, again = frames[7], Frames(self.sim, misset, seed=3, background=2.0)[7]
        for name in ("counts", "labels"):
            np.testing.assert_array_equal(first[name], again[name])
        self.assertFalse((frames[8]["counts"] == first["counts"]).all())
        self.assertEqual([f["parameters"]["fluence"] for f, _ in zip(frames, range(3))], [frames[i]["parameters"]["fluence"] for i in range(3)])
        self.assertEqual(list(Frames(self.sim, misset, count=7).numbers(1, 3)), [1, 4])

    def test_threads_make_the_same_frames(self):
        alone, together = (Frames(self.sim, misset, background=2.0, count=9, threads=n) for n in (1, 3))
        for first, again in zip(alone, together, strict=True):
            for name in ("counts", "labels"):
                np.testing.assert_array_equal(first[name], again[name])
        with self.assertRaisesRegex(ValueError, "threads is 0; it has to be an integer of at least 1"):
            Frames(self.sim, misset, threads=0)
        with self.assertRaisesRegex(ValueError, "batch is '4'; it has to be an integer of at least 1"):
            Frames(self.sim, misset, batch="4")
        slow = nb.Simulator.from_flags(FLAGS + " -dead_time 1e-7 -exposure 0.1")
        with self.assertRaisesRegex(ValueError, "dead_time is 1e-07 s, and its counts are not Poisson-distributed"):
            Frames(slow, misset)
        with self.assertRaisesRegex(TypeError, "draw returned 1"):
            next(iter(Frames(self.sim, lambda rng: 1, threads=2)))

    def test_batches_have_the_same_frames(self):
        alone = list(Frames(self.sim, misset, background=2.0, count=7))
        for threads in (1, 2):
            batches = Frames(self.sim, misset, background=2.0, count=7, threads=threads, batch=3)
            made = list(batches)
            self.assertEqual([len(batch["counts"]) for batch in made], [3, 3, 1])
            self.assertEqual(len(batches), 3)
            for name in ("counts", "labels"):
                np.testing.assert_array_equal(np.concatenate([batch[name] for batch in made]), [frame[name] for frame in alone])
            np.testing.assert_array_equal(np.concatenate([batch["parameters"]["misset"] for batch in made]),
                                          [frame["parameters"]["misset"] for frame in alone])
            self.assertEqual([len(spots) for batch in made for spots in batch["spots"]], [len(frame["spots"]) for frame in alone])
            np.testing.assert_array_equal(batches[4]["counts"], alone[4]["counts"])
        batches = iter(Frames(self.sim, misset, batch=2))
        place = next(batches)["counts"].ctypes.data
        self.assertEqual(next(batches)["counts"].ctypes.data, place)
        with self.assertRaisesRegex(ValueError, "batch is 0; it has to be an integer of at least 1"):
            Frames(self.sim, misset, batch=0)

    def test_frames_that_are_kept_do_not_change(self):
        frames = Frames(self.sim, misset, background=2.0)
        kept = [frames[i] for i in range(3)]
        copies = [frame["counts"].copy() for frame in kept]
        frames[3], frames[4]
        for frame, copy in zip(kept, copies):
            np.testing.assert_array_equal(frame["counts"], copy)
        place = kept[0]["labels"].ctypes.data
        del kept, frame
        self.assertEqual(frames[5]["labels"].ctypes.data, place)

    def test_counts_and_labels_are_those_of_the_image(self):
        frame = Frames(self.sim, misset, background=2.0)[0]
        self.sim.set(**frame["parameters"])
        light = self.sim.image()
        np.testing.assert_array_equal(frame["labels"] > 0, light >= 0.5)
        np.testing.assert_array_equal(frame["labels"], frame["spots"].labels)
        pull = (frame["counts"] - light - 2) / np.sqrt(light + 2)
        self.assertLess(abs(pull.mean()), 0.1)
        self.assertLess(abs(pull.std() - 1), 0.1)
        slope = np.broadcast_to(np.linspace(1, 300, 40), (40, 40))
        frame = Frames(self.sim, misset, background=slope)[0]
        pull = (frame["counts"] - light - slope) / np.sqrt(light + slope)
        self.assertLess(abs(pull.std() - 1), 0.1)

    def test_tensors_are_those_of_the_frames(self):
        try:
            from nanobragg.torch import Frames as Tensors
        except ImportError:
            self.skipTest("PyTorch is not installed")
        tensors, frames = Tensors(self.sim, misset, count=4), Frames(self.sim, misset, count=4)
        self.assertEqual(len(tensors), 4)
        np.testing.assert_array_equal(tensors[2]["labels"].numpy(), frames[2]["labels"])

    def test_refusals(self):
        for how, words in ((dict(background=-1.0), "at least 0"), (dict(background=np.ones((3, 3))), r"shape \(40, 40\)")):
            with self.assertRaisesRegex(ValueError, words):
                Frames(self.sim, misset, **how)
        with self.assertRaisesRegex(IndexError, "no frame 4"):
            Frames(self.sim, misset, count=4)[4]
        self.assertEqual(len(list(Frames(self.sim, misset, count=4))), len(Frames(self.sim, misset, count=4)))
        with self.assertRaisesRegex(TypeError, "give Frames a count"):
            len(Frames(self.sim, misset))
        with self.assertRaisesRegex(TypeError, "draw returned None; it has to"):
            Frames(self.sim, lambda rng: None)[0]
        with self.assertRaisesRegex(ValueError, "misset_x: 100 rad"):
            Frames(self.sim, lambda rng: {"misset": (100, 0, 0)})[0]


if __name__ == "__main__":
    unittest.main()
