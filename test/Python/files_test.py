"""Files of other programs, by nb-sim's flags: experiments of DIALS, geometries of CrystFEL, models of the PDB."""

import json
import os
import tempfile
import unittest

import numpy as np

import nanobragg as nb

EXPERIMENT = {
    "__id__": "ExperimentList",
    "experiment": [{"__id__": "Experiment", "identifier": "", "beam": 0, "detector": 0, "goniometer": 0, "scan": 0,
                    "crystal": 0}],
    "beam": [{"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": 1.1, "polarization_normal": [0, 1, 0],
              "polarization_fraction": 0.999}],
    "detector": [{"panels": [{"name": name, "type": "", "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0],
                              "origin": [-10, y, -100], "image_size": [40, 20], "pixel_size": [0.5, 0.5],
                              "trusted_range": [0, 1e6], "gain": 1.0, "thickness": 0.0, "material": "", "mu": 0.0,
                              "mask": [[0, 0, 40, 5]] if name == "up" else [],
                              "px_mm_strategy": {"type": "SimplePxMmStrategy"}} for name, y in (("up", 10.5), ("down", -0.5))]}],
    "goniometer": [{"rotation_axis": [1, 0, 0], "fixed_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1],
                    "setting_rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1]}],
    "scan": [{"image_range": [1, 10], "batch_offset": 0, "oscillation": [5, 0.5], "exposure_time": [1] * 10,
              "epochs": list(range(10))}],
    "crystal": [{"__id__": "crystal", "real_space_a": [40, 0, 0], "real_space_b": [0, 50, 0], "real_space_c": [0, 0, 60],
                 "space_group_hall_symbol": " P 2 2"}]}
MODEL = """CRYST1   20.000   24.000   28.000  90.00 100.00  90.00 P 1 21 1      2
ATOM      1  C   ALA A   1       3.100   4.200   5.300  1.00 12.00           C
HETATM    2 SE   MSE A   2       9.000   8.000   2.000  1.00 20.00          SE
"""


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def add(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(content)
        return path

    def test_an_experiment_of_dials(self):
        path = self.add("a.expt", json.dumps(EXPERIMENT))
        sim = nb.Simulator.from_flags(f"--expt={path} -default_F 100 -N 5 -oversample 1 -phisteps 2 -fluence 1e24 -water 10")
        image = sim.image()
        self.assertEqual(image.shape, (2, 20, 40))
        self.assertTrue((image[0, :5] == 0).all(), "a masked rectangle")
        self.assertTrue((image[0, 5:] > 0).all() and (image[1] > 0).all())
        self.assertAlmostEqual(sim["wavelength"], 1.1e-10, delta=1e-20)
        # The crystal turns on from where the scan begins.
        other = nb.Simulator.from_flags(f"--expt={path} -phi 5.5 -default_F 100 -N 5 -oversample 1 -phisteps 2 -fluence 1e24 "
                                        "-water 10")
        self.assertFalse(np.array_equal(other.image(), image))

    def test_a_geometry_of_crystfel(self):
        path = self.add("a.geom", "photon_energy = 9000\nadu_per_photon = 1\nclen = 0.1\nres = 2000\n"
                        "p/min_fs = 0\np/max_fs = 31\np/min_ss = 0\np/max_ss = 15\np/corner_x = -16\np/corner_y = -8\n"
                        "p/fs = +1x\np/ss = +1y\n")
        sim = nb.Simulator.from_flags(f"--geom={path} -cell 40 50 60 90 90 90 -default_F 100 -N 5 -oversample 1")
        self.assertEqual(sim.image().shape, (16, 32))
        self.assertAlmostEqual(sim["wavelength"] * 1e10, 12398.42 / 9000, places=6)

    def test_a_model(self):
        path = self.add("a.pdb", MODEL)
        words = f"-hkl {path} --hkl-dmin=2 -N 5 -lambda 1 -distance 50 -detpixels 32 -pixel 2 -oversample 1"
        try:
            image = nb.Simulator.from_flags(words).image()
        except ValueError as error:  # a wheel without libnb-gemmi.so
            if "libnb-gemmi" not in str(error):
                raise
            self.skipTest(str(error))
        self.assertGreater(image.max(), 0)
        with self.assertRaisesRegex(ValueError, "contradicts"):
            nb.Simulator.from_flags(words + " -cell 20 24 29 90 100 90")

    def test_names_need_not_be_utf8(self):
        path = self.add(os.fsdecode(b"a\xff.expt"), json.dumps(EXPERIMENT))
        sim = nb.Simulator.from_flags([f"--expt={path}", *"-default_F 100 -N 5 -oversample 1 -fluence 1e24".split()])
        self.assertAlmostEqual(sim["wavelength"], 1.1e-10, delta=1e-20)
        image = os.path.join(self.folder.name, os.fsdecode(b"b\xff.npy"))
        np.save(image, sim.image())
        np.testing.assert_array_equal(nb.read_image(image), sim.image())
        with self.assertRaisesRegex(nb.FileError, "c.{1,4}[.]npy"):
            nb.read_image(os.path.join(self.folder.name, os.fsdecode(b"c\xff.npy")))

    def test_what_is_wrong_is_said(self):
        broken = dict(EXPERIMENT, beam=[{"direction": [0, 0, 1]}])
        path = self.add("b.expt", json.dumps(broken))
        with self.assertRaisesRegex((ValueError, OSError), "wavelength"):
            nb.Simulator.from_flags(f"--expt={path} -default_F 1")


if __name__ == "__main__":
    unittest.main()
