"""Structure factors of other packages, complex ones, and those of an asymmetric unit."""

import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

import nanobragg as nb
from nanobragg import _core
from nanobragg.factors import box, box_rows

NB_SIM = sys.argv.pop(1)
MODEL = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/data-set/helices.pdb"
FLAGS = "-cell 40 50 60 90 90 90 -default_F 1 -N 5 -lambda 1 -distance 50 -pixel 1 -detpixels 24 -oversample 1 "

try:
    import gemmi
except ImportError:
    gemmi = None


def unit_of(group, most):
    """The asymmetric unit of all indices up to `most`."""
    every = np.stack(np.meshgrid(*3 * [np.arange(-most, most + 1)], indexing="ij"), axis=-1).reshape(-1, 3)
    _, unit, _, _, absent = _core.to_asymmetric_unit(group, every)
    return np.unique(unit[absent == 0], axis=0)


class AsymmetricUnit(unittest.TestCase):
    def test_every_equivalent_has_its_row(self):
        for group in ("P 1", "P 21 21 21", "P 43 21 2", "P 3", "P 61 2 2", "C 1 2 1", "I 2 3"):
            with self.subTest(group):
                unique = unit_of(group, 4)
                rows, lowest = box_rows(unique, group)
                at = np.argwhere(rows >= 0)
                _, unit, _, _, _ = _core.to_asymmetric_unit(group, at + np.array(lowest))
                np.testing.assert_array_equal(unit, unique[rows[tuple(at.T)]])
                mate = rows[::-1, ::-1, ::-1]  # Friedel's law; the box is symmetric about 0
                np.testing.assert_array_equal(rows, mate)
        rows, lowest = box_rows([(1, 2, 3)], "P 3")
        self.assertEqual((rows >= 0).sum(), 6)  # three rotations, which mix h and k, and mates
        self.assertEqual(lowest, (-3, -3, -3))

    def test_refusals(self):
        for hkl, group, words in (([(1, 2, 3), (-1, -2, -3)], "P 1", r"\(-1, -2, -3\) or an equivalent of it is listed twice"),
                                  ([(1, 2)], "P 1", r"has to be \(n, 3\)"), ([(1, 2, 3)], "P 7 7", "P 7 7"), ([], "P 1", "Miller indices")):
            with self.subTest(words), self.assertRaisesRegex((ValueError, OSError), words):
                box_rows(hkl, group)


class Objects(unittest.TestCase):
    def test_complex_factors(self):
        amplitudes = np.random.default_rng(1).random((5, 5, 5)) * 100
        complex_ones = amplitudes * np.exp(1j * np.arange(125).reshape(5, 5, 5))
        images = []
        for array in (amplitudes, complex_ones):
            made = nb.Simulator(nb.Crystal(cell=(4e-9, 5e-9, 6e-9, *[90 * nb.degree] * 3), ncells=5, structure_factors=(array, (-2, -2, -2))))
            np.testing.assert_allclose(made.structure_factors[0], amplitudes, rtol=1e-12)
            sim = nb.Simulator.from_flags(FLAGS)
            sim.structure_factors = array, (-2, -2, -2)
            images.append(sim.image())
        np.testing.assert_allclose(*images, rtol=1e-9)

    def test_objects_as_those_of_gemmi_and_reciprocalspaceship(self):
        group = types.SimpleNamespace(xhm=lambda: "P 21 21 21")
        hkl, numbers = np.array([(1, 2, 3), (2, 0, 0), (0, 3, 1)]), np.array([5.0, np.nan, 7 + 0j])
        asu = types.SimpleNamespace(miller_array=hkl, value_array=numbers, spacegroup=group)
        array, lowest = box(asu)
        self.assertEqual(lowest, (-1, -3, -3))
        self.assertEqual((array[2, 5, 6], array[0, 5, 0], array[1, 6, 4], array[1, 0, 2], np.count_nonzero(array)), (5, 5, 7, 7, 12))
        with self.assertRaisesRegex(ValueError, "has no space group"):
            box(types.SimpleNamespace(miller_array=hkl, value_array=numbers, spacegroup=None))
        with self.assertRaisesRegex(TypeError, "structure factors are a pair .* not builtins.dict"):
            box({"F": 1})
        with self.assertRaisesRegex(TypeError, "the latter three integers"):
            nb.Simulator.from_flags(FLAGS).structure_factors = np.ones((2, 2, 2)), (0, 0)

    @unittest.skipIf(gemmi is None, "skipped: there is no gemmi")
    def test_an_mtz_of_gemmi(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([NB_SIM, *f"-hkl {MODEL} --hkl-dmin=4 -lambda 1 -distance 100 -N 5 --quiet --write-mtz=model.mtz".split()],
                           cwd=folder, check=True, capture_output=True)
            mtz = gemmi.read_mtz_file(f"{folder}/model.mtz")
            cell = " ".join(map(str, mtz.cell.parameters))
            flags = f"-cell {cell} -N 5 -lambda 1 -distance 100 -pixel 2 -detpixels 64 -oversample 1 -misset 10 20 30 "
            expected = nb.Simulator.from_flags(flags + f"-hkl {folder}/model.mtz:F").image()
            sim = nb.Simulator.from_flags(flags + "-default_F 1")
            sim["default_F"] = 0.0
            for given in (mtz, mtz.get_float("F")):
                sim.structure_factors = given
                np.testing.assert_allclose(sim.image(), expected, rtol=1e-4, atol=1e-5 * expected.max())
            with self.assertRaisesRegex(ValueError, "has no column 'G'"):
                box(mtz, "G")


if __name__ == "__main__":
    unittest.main()
