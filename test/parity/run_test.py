#!/usr/bin/env python3
"""The parity runner must notice what is wrong."""

import os
import unittest

import numpy as np

import run

CASE = {"name": "a", "tags": [], "stats": {}}
CHAOTIC = {"name": "a", "tags": ["chaotic"], "stats": {}}
IMAGE = np.array([[1000.0, 1.0], [0.0, 1e-5]], "<f4")
NOISY = {"name": "a", "tags": [],
         "stats": {"max_I": "10234.9", "cells": "5x5x5", "noise_photons": "9129"}}
CONSOLE = "square xtal: 5x5x5 cells\nmax_I = 10234.9  at 0.1 0.2\n9129 photons on noise image\n"


def changed(pixel, factor=1.0, offset=0.0):
    image = IMAGE.copy()
    image[pixel] = image[pixel] * factor + offset
    return image


class RunTest(unittest.TestCase):
    def test_image_tolerance(self):
        self.assertIsNone(run.compare_image(CASE, IMAGE, IMAGE))
        self.assertIsNone(run.compare_image(CASE, changed((0, 0), 1 + 9e-7), IMAGE))
        self.assertIsNone(run.compare_image(CASE, changed((1, 0), offset=9e-7), IMAGE))
        self.assertIn("differ", run.compare_image(CASE, changed((0, 0), 1 + 2e-6), IMAGE))
        self.assertIn("differ", run.compare_image(CASE, changed((1, 0), offset=2e-6), IMAGE))
        self.assertIsNone(run.compare_image(CHAOTIC, changed((0, 0), 1 + 5e-5), IMAGE))
        self.assertIn("differ", run.compare_image(CHAOTIC, changed((0, 0), 1 + 3e-4), IMAGE))

    def test_image_shape_and_finiteness(self):
        self.assertIn("pixels instead", run.compare_image(CASE, IMAGE.ravel()[:3], IMAGE))
        self.assertIn("finite", run.compare_image(CASE, changed((0, 0), np.nan), IMAGE))

    def test_statistics(self):
        self.assertEqual(run.compare_statistics(NOISY, CONSOLE), [])
        for old, new in (("10234.9", "10235.3"), ("5x5x5", "5x5x6"), ("9129", "9130"),
                         ("max_I =", "max I =")):
            with self.subTest(new):
                self.assertEqual(len(run.compare_statistics(NOISY, CONSOLE.replace(old, new))), 1)

    def test_side_files(self):
        with np.load(os.path.join(run.HERE, "side.npz")) as archive:
            for kind in ("int", "pgm", "noise"):
                case = {"name": "io_noise_int_pgm"}
                reference = archive[f"io_noise_int_pgm.{kind}"].tobytes()
                self.assertEqual(run.compare_side_file(case, kind, reference, reference), [])
                worse = bytearray(reference)
                worse[-1000] ^= 0x07
                self.assertNotEqual(run.compare_side_file(case, kind, bytes(worse), reference), [])
                self.assertNotEqual(run.compare_side_file(case, kind, reference[:-2], reference), [])
            header = reference.replace(b"DISTANCE=80;", b"DISTANCE=81;")
            self.assertNotEqual(run.compare_side_file(case, "noise", header, reference), [])


if __name__ == "__main__":
    unittest.main()
