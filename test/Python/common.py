"""Experiments that the tests of the Python package share."""

import functools
import os
import unittest

import numpy as np

import nanobragg as nb

SMALL = ("-cell 70 80 90 85 95 100 -default_F 100 -lambda 1 -N 5 -distance 100 -detpixels 24 -pixel 1 "
         "-misset 10 20 30 -mosaic 0.5 -mosaic_domains 3 -oversample 1")


def load_tests(loader, tests, pattern):
    """The part NB_TEST_PART of a module's methods: "nightly", those of classes with that attribute, or "1/3" of the others.

    unittest looks for this name in a module of tests."""
    part = os.environ.get("NB_TEST_PART", "all")
    if part == "all":
        return tests
    every = [test for suite in tests for test in suite]
    if part == "nightly":
        return unittest.TestSuite(test for test in every if hasattr(test, "nightly"))
    number, parts = map(int, part.split("/"))
    return unittest.TestSuite([test for test in every if not hasattr(test, "nightly")][number - 1::parts])


def flags(*more):
    return SMALL + " " + " ".join(more)


def grid(seed=1):
    values = np.random.default_rng(seed).uniform(10, 100, (13, 13, 13))
    return values, (-6, -6, -6)


def simulator(*more, with_grid=True, **how):
    sim = nb.Simulator.from_flags(flags(*more), **how)
    if with_grid:
        sim.structure_factors = grid()
    return sim


@functools.cache
def reference():
    """One whose numbers no test changes."""
    return simulator()


def central(function, x, step):
    """Central difference of fourth order."""
    return (8 * (function(x + step) - function(x - step)) - (function(x + 2 * step) - function(x - 2 * step))) / (12 * step)
