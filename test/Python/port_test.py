"""The names of the PyTorch port: configurations, images, derivatives, stage A."""

import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch); NB_TEST_TORCH=pip ./bootstrap test fetches it (3 GB)")
    sys.exit(0)

import numpy as np

import nanobragg as nb
import nanobragg.compat.nanobrag_torch as port

port.alias()
from nanobrag_torch.config import BeamConfig, CrystalConfig, CrystalShape, DetectorConfig, DetectorConvention, DetectorPivot  # noqa: E402
from nanobrag_torch.models.crystal import Crystal  # noqa: E402
from nanobrag_torch.models.detector import Detector  # noqa: E402
from nanobrag_torch.models.experiment import ExperimentModel  # noqa: E402
from nanobrag_torch.simulator import Simulator  # noqa: E402

f64 = torch.float64


def run(crystal=None, detector=None, beam=None, hkl=None):
    crystal = Crystal(CrystalConfig(**{"cell_a": 70., "cell_b": 80., "cell_c": 90., "N_cells": (5, 5, 5), "default_F": 100., **(crystal or {})}),
                      dtype=f64)
    if hkl is not None:
        crystal.hkl_data, crystal.hkl_metadata = hkl
    detector = Detector(DetectorConfig(**{"spixels": 16, "fpixels": 20, "pixel_size_mm": 1.0, "oversample": 1, **(detector or {})}), dtype=f64)
    return Simulator(crystal, detector, beam_config=BeamConfig(**(beam or {})), dtype=f64).run()


class Port(unittest.TestCase):
    def test_images(self):
        """As nb-sim's, in the C program's semantics."""
        common = "-cell 70 80 90 90 90 90 -N 5 -default_F 100 -detpixels_s 16 -detpixels_f 20 -pixel 1 -oversample 1 --compat=c "
        for how, flags in (
                ({}, "-mosflm"),
                ({"crystal": {"misset_deg": (10., 20., 30.), "shape": CrystalShape.GAUSS, "fudge": 1.1}}, "-misset 10 20 30 -gauss_xtal -fudge 1.1"),
                ({"crystal": {"phi_start_deg": 3., "osc_range_deg": 2., "phi_steps": 3}}, "-phi 3 -osc 2 -phisteps 3"),
                ({"crystal": {"mosaic_spread_deg": 0.5, "mosaic_domains": 4}}, "-mosaic 0.5 -mosaic_domains 4"),
                ({"detector": {"detector_rotx_deg": 1., "detector_roty_deg": 2., "detector_rotz_deg": 3.}},
                 "-detector_rotx 1 -detector_roty 2 -detector_rotz 3"),
                ({"detector": {"detector_convention": DetectorConvention.XDS, "detector_pivot": DetectorPivot.SAMPLE},
                  "beam": {"wavelength_A": 1.2, "polarization_factor": 0.9, "polarization_axis": (1., 0., 0.)}},
                 "-xds -lambda 1.2 -polar 0.9 -ORGX 10.5 -ORGY 8.5"),
                ({"detector": {"roi_xmin": 3, "roi_xmax": 12, "roi_ymin": 2, "roi_ymax": 9}}, "-roi 3 12 2 9"),
                ({"detector": {"detector_abs_um": 500., "detector_thick_um": 300., "detector_thicksteps": 3}},
                 "-detector_abs 500 -detector_thick 300 -detector_thicksteps 3"),
                ({"beam": {"nopolar": True, "fluence": 1e24}}, "-nopolar -fluence 1e24")):
            with self.subTest(flags):
                want = nb.Simulator.from_flags(common + flags).image()
                self.assertGreater(want.max(), 0)
                np.testing.assert_allclose(run(**how).numpy(), want, rtol=1e-6, atol=1e-9 * want.max())

    def test_gradients(self):
        start = {"cell_a": 70., "cell_beta": 91., "N": 5., "misset": 10., "mosaic": 0.4, "distance": 100., "wavelength": 1., "fluence": 1e24}

        def image(x):
            v = {n: x[i] * start[n] for i, n in enumerate(start)}
            return run({"cell_a": v["cell_a"], "cell_beta": v["cell_beta"], "N_cells": (v["N"], 5, 5), "misset_deg": (v["misset"], 0., 0.),
                        "mosaic_spread_deg": v["mosaic"], "mosaic_domains": 3},
                       {"distance_mm": v["distance"], "spixels": 4, "fpixels": 4, "pixel_size_mm": 5.},
                       {"wavelength_A": v["wavelength"], "fluence": v["fluence"]})

        x = torch.ones(len(start), dtype=f64, requires_grad=True)
        scale = float(image(x).detach().max())
        self.assertTrue(torch.autograd.gradcheck(lambda x: image(x) / scale, [x]))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x: image(x) / scale, [x]))

    def test_region_and_mask(self):
        """Pixels outside of either are 0 and do not count."""
        from nanobrag_torch.io.mask import create_circular_mask, create_rectangle_mask
        mask = create_circular_mask(16, 20, 8.0, 9.0, 5.0)
        crystal = Crystal(CrystalConfig(cell_a=70., cell_b=80., cell_c=90., default_F=100., N_cells=(5, 5, 5)))
        detector = Detector(DetectorConfig(spixels=16, fpixels=20, pixel_size_mm=1., oversample=1, roi_xmin=6, roi_xmax=18, roi_ymin=3,
                                           roi_ymax=9, mask_array=mask))
        simulator = Simulator(crystal, detector, beam_config=BeamConfig(), dtype=f64)
        image = simulator.run()
        counts = (mask * create_rectangle_mask(16, 20, 6, 18, 3, 9)) > 0
        self.assertTrue((image[~counts] == 0).all() and (image[counts] > 0).all())
        statistics = simulator.compute_statistics(image)
        pixels = image[counts]
        self.assertEqual((statistics["N"], statistics["max_I"]), (len(pixels), float(pixels.max())))
        self.assertEqual(float(image[statistics["max_I_slow"], statistics["max_I_fast"]]), float(pixels.max()))
        self.assertAlmostEqual(statistics["RMSD"] / float(pixels.std()), 1, places=12)

    def test_files(self):
        import pathlib
        import tempfile
        from nanobrag_torch.io.mosflm import read_mosflm_matrix, reciprocal_to_real_cell
        from nanobrag_torch.io.source import read_sourcefile
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "x")
            file.write_text("0.02 0 0\n0 0.025 0 # of A\n0 0 0.01\n")
            np.testing.assert_allclose(reciprocal_to_real_cell(*read_mosflm_matrix(file, 2.0)), (100, 80, 200, 90, 90, 90))
            file.write_text("0 0 10 2 1e-10\n\n3 4\n")
            with self.assertWarnsRegex(UserWarning, "ignored"):
                directions, weights, wavelengths = read_sourcefile(file, 2e-10, dtype=f64)
            np.testing.assert_allclose(directions, [[0, 0, 1], [0.6, 0.8, 0]])
            np.testing.assert_allclose(weights, [2, 1])
            np.testing.assert_allclose(wavelengths, [2e-10, 2e-10])
            for text, read in (("1 2", lambda: read_mosflm_matrix(file, 1.0)), ("", lambda: read_sourcefile(file, 1e-10)),
                               ("0 0 x", lambda: read_sourcefile(file, 1e-10)), ("0 0 x", lambda: read_mosflm_matrix(file, 1.0))):
                file.write_text(text)
                with self.assertRaisesRegex(ValueError, str(file)):
                    read()

    def test_structure_factors(self):
        values = torch.rand(9, 9, 9, dtype=f64) * 100
        bounds = {f"{axis}_{end}": v for axis in "hkl" for end, v in (("min", -4), ("max", 4))}
        first = run(hkl=(values, bounds))
        np.testing.assert_allclose(run(hkl=(2 * values, bounds), crystal={"default_F": 200.}), 4 * first, rtol=1e-12)
        grid = values.clone().requires_grad_()
        gradient, = torch.autograd.grad(run(hkl=(grid, bounds)).sum(), grid)
        self.assertGreater(float(gradient.abs().max()), 0)

    def test_geometry(self):
        crystal = Crystal(CrystalConfig(cell_a=70., cell_b=80., cell_c=90., cell_alpha=75., cell_beta=85., cell_gamma=95., misset_deg=(1., 2., 3.)), dtype=f64)
        products = [[float(a @ b) for b in (crystal.a_star, crystal.b_star, crystal.c_star)] for a in (crystal.a, crystal.b, crystal.c)]
        np.testing.assert_allclose(products, np.eye(3), atol=1e-12)
        for vector, length in zip((crystal.a, crystal.b, crystal.c), (70, 80, 90)):
            self.assertAlmostEqual(float(torch.linalg.norm(vector)), length)
        detector = Detector(DetectorConfig(detector_rotx_deg=5., detector_twotheta_deg=10.), dtype=f64)
        self.assertTrue(detector.verify_beam_center_preservation()[0])

    def test_unknown_names(self):
        with self.assertRaisesRegex(TypeError, "closest is 'cell_a'"):
            CrystalConfig(cell_aa=3)
        with self.assertRaises(ValueError):
            DetectorConfig(roi_xmin=5000)


class StageA(unittest.TestCase):
    def test_recovers_and_never_compiles_again(self):
        crystal = CrystalConfig(cell_a=100., cell_b=100., cell_c=100., N_cells=(5, 5, 5))
        detector = DetectorConfig(spixels=64, fpixels=64, pixel_size_mm=1.0, oversample=1, roi_xmin=16, roi_xmax=47, roi_ymin=16, roi_ymax=47)
        beam = BeamConfig(wavelength_A=6.2, fluence=1e12)
        bounds = {f"{axis}_{end}": v for axis in "hkl" for end, v in (("min", -5), ("max", 5))}
        hkl = torch.full((11, 11, 11), 100., dtype=f64), bounds
        frozen = ExperimentModel(crystal, detector, beam, dtype=f64, hkl_data=hkl[0], hkl_metadata=bounds)
        data = frozen()
        crystal.cell_a = 100.5
        model = ExperimentModel(crystal, detector, beam, dtype=f64, param_init="stage_a", hkl_data=hkl[0], hkl_metadata=bounds)
        scale = float(data.max())
        losses = []
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
        for i in range(30):
            optimizer.zero_grad()
            loss = ((model() - data) / scale).square().sum()
            loss.backward()
            if i == 0:
                for name, p in model.named_parameters():
                    self.assertTrue(torch.isfinite(p.grad).all(), name)
                before = nb.counters()["compiles"]
            optimizer.step()
            losses.append(float(loss))
        self.assertLess(losses[-1], 0.2 * losses[0])
        self.assertEqual(nb.counters()["compiles"], before)


if __name__ == "__main__":
    unittest.main()
