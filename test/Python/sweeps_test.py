"""Rotation sweeps: pixels of all frames explained together."""

import contextlib
import csv
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

for needed in ("scipy", "msgpack"):
    if importlib.util.find_spec(needed) is None:
        print(f"skipped: there is no {needed}")
        sys.exit(0)

import nanobragg
from common import load_tests  # noqa: F401
from nanobragg.refine import _files, sweeps
from nanobragg.refine.__main__ import main
from nanobragg.refine._crystal import rotation
from nanobragg.refine._explain import Fit
from nanobragg.refine._foreground import foreground
from nanobragg.refine._scan import Scan
from nanobragg.refine._spot_fit import Known
from nanobragg.refine.sweeps import _SweepFit

REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "shared", "real", "l_cysteine")
CYSTEINE = [os.path.join(REAL, "l_cysteine_narrow_wedge_11_integrated." + end) for end in ("expt", "refl")]
FRAMES = ("-cell 40 50 60 90 90 90 -default_F 60 -N 40 -gauss_xtal -mosaic 0.12 -divergence_sigma 0.3 0.2 --bandwidth-sigma=0.05 "
          "-misset 12 -37 61 -lambda 1 -xds -distance 120 -detpixels 400 -pixel 0.172 -fluence 1e26 -water 0.3 -nopgm -noprogress "
          "--cull=1e-6 --frames=8 --osc-per-frame=0.1 --cbf=s.cbf --write-expt=truth.expt --write-refl=truth.refl -seed 3").split()


def _crystal(listed):
    return np.linalg.inv([listed["crystal"][0][f"real_space_{n}"] for n in "abc"])


def _degrees(change):
    """The angle of the rotation in it; a strain is none."""
    left, _, right = np.linalg.svd(change)
    change = left @ right
    return np.degrees(np.arccos(np.clip((np.trace(change) - 1) / 2, -1, 1)))


class OfASimulatedSweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([sys.executable, "-m", "nanobragg.simulate", *FRAMES], cwd=cls.folder.name, check=True, capture_output=True)
        cls.truth = _files.read_experiments(os.path.join(cls.folder.name, "truth.expt"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_comes_back_from_beside_the_truth(self):
        """Crystal, axis and distance are off."""
        start = json.loads(json.dumps(self.truth))
        off = rotation(np.radians([0.03, -0.05, 0.04])) @ _crystal(self.truth)
        start["crystal"][0] |= {f"real_space_{n}": v.tolist() for n, v in zip("abc", np.linalg.inv(off))}
        panel, = start["detector"][0]["panels"]
        panel["origin"][2] *= 1.001
        (goniometer,) = start["goniometer"]
        axis = np.array(goniometer["rotation_axis"], float)
        goniometer["rotation_axis"] = (rotation(np.radians([0.0, 0.03, 0.05])) @ axis).tolist()
        beside, out = (os.path.join(self.folder.name, name) for name in ("start.expt", "out"))
        with open(beside, "w") as file:
            json.dump(start, file)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(main(["sweep", beside, os.path.join(self.folder.name, "truth.refl"), "--system=orthorhombic", f"--out={out}",
                                   "--sets=1"]), 0)
        self.assertIn("1 of 1 sweeps refined", said.getvalue())
        with open(os.path.join(out, "sweeps.csv")) as file:
            row, = csv.DictReader(file)
        self.assertLess(abs(float(row["chi2_poisson"]) - 1), 0.1)
        self.assertLess(abs(float(row["sums"]) - 1), 0.02)
        self.assertLess(abs(float(row["mosaicity_deg"]) / 0.12 - 1), 0.05)
        self.assertLess(float(row["rms_px"]), 0.1)
        refined = _files.read_experiments(os.path.join(out, "refined.expt"))
        matrix = _crystal(refined)
        self.assertLess(_degrees(matrix @ np.linalg.inv(_crystal(self.truth))), 0.015)
        table = _files.read_reflections(os.path.join(out, "refined.refl"))
        self.assertEqual(set(table["id"]), {0})
        data, model, variance = (table[f"intensity.foreground.{name}"] for name in ("value", "model", "variance"))
        pull = (data - model) / np.sqrt(variance)
        self.assertLess(np.sqrt((pull**2).mean()), 1.3)
        self.assertGreater((data > 10 * np.sqrt(variance)).sum(), 20)

    def _started(self, name, change):
        """Path of the true list as ``change`` makes it."""
        listed = json.loads(json.dumps(self.truth))
        change(listed)
        path = os.path.join(self.folder.name, name + ".expt")
        with open(path, "w") as file:
            json.dump(listed, file)
        return path

    def test_panels_a_turned_setting_and_a_crystal_that_varies(self):
        """Two panels of one image under a goniometer with fixed and setting rotations."""
        setting, fixed = rotation(np.array([0.3, -0.5, 0.2])), rotation(np.array([-0.7, 0.1, 1.2]))

        def change(listed):
            off = rotation(np.radians([0.03, -0.05, 0.04])) @ _crystal(listed)
            matrix = (setting @ fixed).T @ off
            listed["crystal"][0] |= {f"real_space_{n}": v.tolist() for n, v in zip("abc", np.linalg.inv(matrix))}
            listed["crystal"][0]["A_at_scan_points"] = [matrix.ravel().tolist()] * 9
            axis = setting.T @ np.array(listed["goniometer"][0]["rotation_axis"], float)
            listed["goniometer"][0] = {"rotation_axis": axis.tolist(), "setting_rotation": setting.ravel().tolist(),
                                       "fixed_rotation": fixed.ravel().tolist()}
            detector = listed["detector"][0]
            detector.pop("hierarchy", None)
            whole, = detector["panels"]
            right = np.array(whole["origin"]) + 200 * 0.172 * np.array(whole["fast_axis"])
            detector["panels"] = [whole | {"image_size": [200, 400]},
                                  whole | {"image_size": [200, 400], "raw_image_offset": [200, 0], "origin": right.tolist()}]

        path = self._started("panels", change)
        table = dict(_files.read_reflections(os.path.join(self.folder.name, "truth.refl")))
        right = table["bbox"][:, :2].mean(axis=1) >= 200
        table["panel"] = right.astype("u8")
        table["bbox"] = (table["bbox"] - 200 * right[:, None] * np.array([1, 1, 0, 0, 0, 0])).astype("i4")
        _files.write_reflections(path.replace("expt", "refl"), table)
        with self.assertWarnsRegex(UserWarning, "the crystal varies over the scan of experiment 0"):
            sweep, = sweeps(path, path.replace("expt", "refl"), system="orthorhombic", sets=1,
                            out=os.path.join(self.folder.name, "of_panels"))
        self.assertEqual(sweep.status, "refined", sweep.why)
        self.assertLess(abs(sweep.chi2_poisson - 1), 0.1)
        self.assertLess(sweep.rms_px, 0.1)
        self.assertEqual(sweep.verdict, ("good", ""))
        self.assertLess(_degrees(sweep.matrix @ np.linalg.inv(_crystal(self.truth))), 0.015)
        refined = _files.read_experiments(os.path.join(self.folder.name, "of_panels", "refined.expt"))
        self.assertLess(_degrees(setting @ fixed @ _crystal(refined) @ np.linalg.inv(sweep.matrix)), 1e-5)  # arccos tells no less than 1.2e-6
        self.assertEqual([len(detector["panels"]) for detector in refined["detector"]][-1], 2)
        with open(os.path.join(self.folder.name, "of_panels", "report.html")) as file:
            page = file.read()
        for part in ("Rocking curves", "By frame", "By brightness", "polyline"):
            self.assertIn(part, page)

    def test_images_that_are_missing_and_an_axis_that_is_held(self):
        """Two frames of eight are there: too short a rotation to tell the axis, which the fit of
        the crystal does not follow."""
        def change(listed):
            listed["imageset"][0]["template"] = "some_#####.cbf"
            off = rotation(np.radians([0.03, -0.05, 0.04])) @ _crystal(listed)
            listed["crystal"][0] |= {f"real_space_{n}": v.tolist() for n, v in zip("abc", np.linalg.inv(off))}
            panel, = listed["detector"][0]["panels"]
            panel["origin"] = (1.002 * np.array(panel["origin"])).tolist()

        path = self._started("some", change)
        with self.assertRaisesRegex(nanobragg.FileError, "none of the 8 images of experiment 0 is there"):
            Scan(_files.read_experiments(path), 0, path).only_present()
        template = self.truth["imageset"][0]["template"]
        for number in (3, 4):
            digits = template.count("#")
            name = template.replace("#" * digits, f"{number:0{digits}}")
            os.symlink(os.path.join(self.folder.name, os.path.basename(name)), os.path.join(self.folder.name, f"some_{number:05}.cbf"))
        with self.assertWarnsRegex(UserWarning, "of the 8 images of experiment 0 2 are there"):
            sweep, = sweeps(path, os.path.join(self.folder.name, "truth.refl"), system="orthorhombic", sets=1)
        self.assertEqual((sweep.status, sweep.frames, sweep.first), ("refined", 2, 3), sweep.why)
        self.assertGreater(sweep.axis_unsure, 1)
        self.assertLess(sweep.axis_turned, 1e-6)
        self.assertLess(abs(sweep.chi2_poisson - 1), 0.1)
        self.assertLess(_degrees(sweep.matrix @ np.linalg.inv(_crystal(self.truth))), 0.02)

    def test_a_frame_is_missing(self):
        """Photons of a table over all frames are compared where all frames are there."""
        def change(listed):
            listed["imageset"][0]["template"] = "gap_####.cbf"

        path = self._started("gap", change)
        for number in (1, 2, 3, 4, 5, 6, 8):
            os.symlink(os.path.join(self.folder.name, f"s_{number:04}.cbf"), os.path.join(self.folder.name, f"gap_{number:04}.cbf"))
        table = dict(_files.read_reflections(os.path.join(self.folder.name, "truth.refl")))
        table["bbox"] = table["bbox"].copy()
        early = np.arange(len(table["id"])) % 2 == 0
        table["bbox"][early, 5] = np.minimum(table["bbox"][early, 5], 6)
        _files.write_reflections(path.replace("expt", "refl"), table)
        with self.assertWarnsRegex(UserWarning, "of the 8 images of experiment 0 7 are there"):
            sweep, = sweeps(path, path.replace("expt", "refl"), system="orthorhombic", sets=1)
        first, end = table["bbox"][sweep.rows][:, 4:].T
        known = sweep.columns["bright"] & ((end <= 6) | (first >= 7))
        said = table["intensity.sum.value"][sweep.rows][known]
        self.assertAlmostEqual(sweep.sums, np.median(sweep.columns["foreground_model"][known] / said), places=12)

    def test_a_fit_that_ends_elsewhere_is_not_good(self):
        def change(listed):
            off = rotation(np.radians([0.1, 0.1, 0.3])) @ _crystal(listed)
            listed["crystal"][0] |= {f"real_space_{n}": v.tolist() for n, v in zip("abc", np.linalg.inv(off))}

        path, out = self._started("elsewhere", change), os.path.join(self.folder.name, "of_elsewhere")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            main(["sweep", path, os.path.join(self.folder.name, "truth.refl"), "--system=orthorhombic", "--sets=1", f"--out={out}",
                  "--fix=orientation,distance,centre,tilt,axis,cell"])
        self.assertRegex(said.getvalue(), "; (bad|doubtful): (chi-square of bright reflections is|bright reflections are|the model has) ")
        with open(os.path.join(out, "sweeps.csv"), newline="") as file:
            row, = csv.DictReader(file)
        self.assertIn(row["verdict"], ("bad", "doubtful"))
        self.assertIn(row["reason"], said.getvalue())

    def test_what_does_not_fit_is_refused_with_a_reason(self):
        table = dict(_files.read_reflections(os.path.join(self.folder.name, "truth.refl")))
        wrong = {"miller_index": (table["miller_index"] + 5).astype("i4"), "panel": table["panel"] + 3, "id": table["id"] + 1,
                 "bbox": (table["bbox"] + np.array([900, 900, 0, 0, 0, 0])).astype("i4")}
        few = "its table has 0 reflections of experiment 0 .* at least; give the table"
        cases = {name: ({name: column}, (), few) for name, column in wrong.items()}
        cases["miller_index"] = {"miller_index": wrong["miller_index"]}, (), "0 of the .* boxes of its table contain the node"
        cases["cubic"] = {}, (), "the system is cubic, where a = b = c, alpha = 90.* of experiment 0 is 40.00 50.00 60.00"
        cases["still"] = {}, ("scan", {"oscillation": [0.0, 0.0]}), "turns by 0.0 degrees in an image"
        cases["dark"] = {}, ("panel", {"trusted_range": [1e6, 2e6]}), "none of the pixels in its boxes has a value from 1e.06 to"
        cases["large"] = {}, ("panel", {"image_size": [500, 400]}), "s_0001.cbf: has 400 x 400 pixels, and its panel in the list 500 x 400"
        for name, (columns, fields, said) in cases.items():
            with self.subTest(name):
                def change(listed, fields=fields):
                    if fields:
                        (listed["scan"][0] if fields[0] == "scan" else listed["detector"][0]["panels"][0]).update(fields[1])

                path = self._started("wrong", change)
                _files.write_reflections(path.replace("expt", "refl"), table | columns)
                sweep, = sweeps(path, path.replace("expt", "refl"), system="cubic" if name == "cubic" else "orthorhombic")
                self.assertEqual(sweep.status, "rejected")
                self.assertRegex(sweep.why, said)
        for numbers, said in (({"gain": 0.0}, "gain is 0.0"), ({"offset": np.nan}, "offset is nan"), ({"margin": -1}, "margin is -1"),
                              ({"sets": 0}, "sets is 0")):
            with self.assertRaisesRegex(ValueError, said):
                sweeps(path, path.replace("expt", "refl"), **numbers)

    def test_what_is_no_sweep_is_refused(self):
        listed = os.path.join(self.folder.name, "truth.expt")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["sweep", listed, listed.replace("expt", "refl"), "--", "-N", "3"]), 1)
            self.assertEqual(main(["stills", listed, listed.replace("expt", "refl")]), 1)
            self.assertEqual(main(["sweep", listed, listed.replace("expt", "refl"), "--fix=axes"]), 1)
        for text in ("flags of nb-sim", "has rotation scans; write nb-refine sweep", "axes is not a number of this fit"):
            self.assertIn(text, said.getvalue())


class OfSigmas(unittest.TestCase):
    def test_pixels_are_less_sure_where_they_are_explained_badly_and_restraints_are_not(self):
        fit = Fit.__new__(Fit)
        fit.free_at_end, fit.curvature, fit.misfit = np.array([True, False, True]), np.diag([25.0, 10.0]), 9.0
        fit.known, fit.begin = lambda: Known(None, np.array([np.inf, 1.0, 1.0]), None), None
        np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance())), [3 / 5, 1 / np.sqrt(2)])

    def test_a_detector_that_is_held_keeps_the_sigmas_of_the_fit_before(self):
        fit = Fit.__new__(Fit)
        fit.free_at_end, fit.curvature, fit.misfit = np.array([True, False, True]), np.array([[25.0, 5.0], [5.0, 10.0]]), 1.0
        fit.known, fit.begin = lambda: Known(None, np.array([np.inf, 1.0, 1.0]), None), mock.Mock(sigma=np.array([0.0, 0.0, 0.2]))
        fit.model = mock.Mock(groups=lambda: ["orientation", "halo", "distance"])
        follows = 5 / 25  # the orientation that fits best changes by as much with the distance
        np.testing.assert_allclose(np.diag(fit.covariance()), [1 / 25 + follows**2 * 0.04, 0.04])


class OfAnUnsureAxis(unittest.TestCase):
    def test_what_followed_it_begins_again_without_it(self):
        fit, begun = _SweepFit.__new__(_SweepFit), []

        def run(*_, **__):
            begun.append((fit.x.copy(), "axis" in fit.held))
            fit.x = fit.x + 1

        fit.x, fit.held, fit.restrain, fit.run, fit.keep_sigmas = np.zeros(2), set(), {}, run, lambda *_: None
        fit._axis_is_unsure, fit._another_set = lambda *_: True, lambda: False
        fit.positions_and_rocking()
        self.assertEqual([(*x, held) for x, held in begun[:3]], [(0, 0, False), (0, 0, True), (1, 1, True)])


EXPERIMENT = {"scan": 0, "imageset": 0, "crystal": 0, "goniometer": 0, "detector": 0}


class OfScans(unittest.TestCase):
    def test_a_scan_of_more_images_than_there_are_is_refused(self):
        listed = {"experiment": [EXPERIMENT], "crystal": [{}], "imageset": [{"template": "a_####.cbf"}],
                  "scan": [{"image_range": [1, 1000000000], "oscillation": [0, 0.1]}], "detector": [{"panels": [{}]}], "goniometer": [{}]}
        with self.assertRaisesRegex(nanobragg.FileError, "image_range"):
            Scan(listed, 0, "/data/x.expt")

    def test_goniometers_of_several_axes(self):
        """The laboratory's crystal and axis come back to what the list says of a phi scan under a turned omega."""
        axes, angles = [[0.6, -0.8, 0.0], [1.0, 0.0, 0.0]], [20.0, 35.0]
        omega = rotation(np.radians(35.0) * np.array(axes[1]))
        for moving in (0, 1):
            listed = {"experiment": [EXPERIMENT], "crystal": [{}],
                      "scan": [{"image_range": [3, 5], "oscillation": [angles[moving], 0.1]}],
                      "imageset": [{"template": "a_####.cbf"}], "detector": [{"panels": [{}]}],
                      "goniometer": [{"axes": axes, "angles": angles, "scan_axis": moving}]}
            self.assertTrue(Scan.of(listed, 0))
            scan = Scan(listed, 0, "/data/x.expt")
            self.assertEqual((scan.names[0], len(scan)), ("/data/a_0003.cbf", 3))
            self.assertAlmostEqual(np.degrees(scan.phi(2)), angles[moving] + 0.2)
            fixed = np.eye(3) if moving == 0 else rotation(np.radians(20.0) * np.array(axes[0]))
            setting = omega if moving == 0 else np.eye(3)
            matrix = np.diag([0.1, 0.2, 0.3])
            np.testing.assert_allclose(scan.crystal(setting @ fixed @ matrix), matrix, atol=1e-12)
            axis = setting @ axes[moving]
            np.testing.assert_allclose(scan.with_axis(axis)["axes"][moving], axes[moving], atol=1e-12)

    def test_lists_of_current_dials_say_where_images_start(self):
        """And how wide they are where that does not follow, as of a single one."""
        for images, properties in ((1, {"oscillation": [7.0], "oscillation_width": [0.5]}), (2, {"oscillation": [7.0, 7.5]})):
            listed = {"experiment": [EXPERIMENT], "crystal": [{}],
                      "scan": [{"image_range": [1, images], "properties": {**properties, "exposure_time": [0.1] * images}}],
                      "imageset": [{"template": "a_####.cbf"}], "detector": [{"panels": [{}]}],
                      "goniometer": [{"rotation_axis": [1, 0, 0]}]}
            scan = Scan(listed, 0, "/data/x.expt")
            self.assertEqual((scan.start, scan.step, scan.seconds), (7.0, 0.5, 0.1))


@unittest.skipUnless(os.path.isdir(REAL), "skipped: there is no sweep of ../shared/real")
class OfCysteine(unittest.TestCase):
    """B. Williams, R. Gildea, G. Winter, doi 10.5281/zenodo.51405, CC-BY 4.0."""

    nightly = True
    def test_rocking_curves_are_explained(self):
        sweep, = sweeps(*CYSTEINE, system="orthorhombic", sets=2)
        self.assertEqual(sweep.status, "refined", sweep.why)
        self.assertEqual((sweep.frames, sweep.bright), (10, 19))
        self.assertLess(sweep.chi2, 1)
        self.assertLess(sweep.chi2_poisson, 1.9)
        self.assertLess(sweep.rms_px, 0.3)
        self.assertLess(abs(sweep.sums - 1), 0.02)
        self.assertLess(sweep.sums_apart, 0.03)
        # Whatever the model's shapes are, the photons of the same pixels are the table's.
        self.assertLess(abs(sweep.sums_data - 1), 0.01)
        self.assertEqual(sweep.sums_data_far, 0)

    def test_what_dials_sums_is_known(self):
        """As many pixels as the table says that it has summed, of reflections above 10 sigmas."""
        listed, table = _files.read_experiments(CYSTEINE[0]), _files.read_reflections(CYSTEINE[1])
        plain = nanobragg.Simulator.from_flags(["--expt", CYSTEINE[0], "-default_F", "1", "-N", "10", "--average=sampled"], threads=1)
        said = table["num_pixels.foreground"]
        bright = table["intensity.sum.value"] > 10 * np.sqrt(np.maximum(table["intensity.sum.variance"], 1e-9))
        rows = np.flatnonzero(bright & (table["id"] == 0) & (table["flags"] & 1 << 8 > 0))
        self.assertEqual(len(rows), 19)
        for row in rows:
            f0, f1, s0, s1, first, end = table["bbox"][row]
            pixels = np.array([(s, f) for s in range(s0, s1) for f in range(f0, f1)])
            at = np.tile(table["xyzcal.px"][row, :2], (len(pixels), 1))
            inside = foreground(listed["profile"][0], plain, at, np.zeros(len(pixels), int), pixels)
            self.assertEqual(inside.sum() * (end - first), said[row])


if __name__ == "__main__":
    unittest.main()
