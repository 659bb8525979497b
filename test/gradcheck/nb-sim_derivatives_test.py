"""nb-sim --grad, --loss and --jacobian, as a user meets them.

    nb-sim_derivatives_test.py NB_SIM"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

EXPERIMENT = ("-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
              "-pixel 2 -detpixels 24 -oversample 1").split()
VARIABLES = ("NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE")


class Derivatives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_it(self, *flags, status=0, **variables):
        environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        environment |= variables | {"NB_CACHE_DIR": os.path.join(self.folder, "cache")}
        done = subprocess.run([PROGRAM, *EXPERIMENT, *flags], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def gradient(self, *flags, **variables):
        done = self.run_it(*flags, "--json", **variables)
        result = json.loads(done.stdout)
        result["by"] = {g["parameter"]: g for g in result["gradient"]}
        result["stderr"] = done.stderr
        return result

    def image(self, *flags):
        self.run_it(*flags, "-nonoise", "-nopgm", "-noprogress", "--quiet")
        return np.fromfile(os.path.join(self.folder, "floatimage.bin"), np.float32)

    def test_gradient_has_units_and_writes_no_image(self):
        result = self.gradient("--grad=cell,misset,distance")
        self.assertEqual(result["engine"], "fused")
        self.assertEqual(list(result["by"]), ["cell_a", "cell_b", "cell_c", "cell_alpha",
                                              "cell_beta", "cell_gamma", "misset_x", "misset_y",
                                              "misset_z", "distance"])
        self.assertEqual(result["by"]["cell_a"]["unit"], "m")
        self.assertAlmostEqual(result["by"]["cell_a"]["value"], 30e-10)
        self.assertEqual(result["by"]["misset_x"]["unit"], "rad")
        self.assertNotIn("floatimage.bin", os.listdir(self.folder))
        self.assertAlmostEqual(result["loss"] / self.image().astype(float).sum(), 1, places=6)

    def test_gradient_predicts_the_loss_of_a_changed_flag(self):
        g = self.gradient("--grad=distance")["by"]["distance"]["gradient"]
        step = 1e-3  # mm
        there = self.gradient("--grad=distance", "-distance", str(60 + step))["loss"]
        back = self.gradient("--grad=distance", "-distance", str(60 - step))["loss"]
        self.assertAlmostEqual((there - back) / (2 * step * 1e-3) / g, 1, places=5)

    def test_engines_agree(self):
        fused = self.gradient("--grad=all")
        for flags, variables in ((("--no-fuse",), {}), ((), {VARIABLES[0]: "1"}),
                                 ((), {VARIABLES[1]: "1"})):
            other = self.gradient("--grad=all", *flags, **variables)
            self.assertEqual(other["engine"], "interpreter")
            for name, g in fused["by"].items():
                a, b = np.atleast_1d(g["gradient"]), np.atleast_1d(other["by"][name]["gradient"])
                # One source's weight cancels: what is left are roundings of the loss.
                roundings = 1e-15 * abs(fused["loss"]) if name == "source_weight" else 0
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max() + roundings,
                                           err_msg=name)

    def test_chi2_against_an_image(self):
        truth = self.image()
        at_truth = self.gradient("--grad=cell", "--loss=chi2:floatimage.bin,sigma=2")
        self.assertLess(at_truth["loss"], 1e-6 * float((truth**2).sum()))
        away = self.gradient("--grad=cell_a", "--loss=chi2:floatimage.bin,sigma=2", "-cell", "30.1",
                             "40", "50", "80", "95", "105")
        moved = self.image("-cell", "30.1", "40", "50", "80", "95", "105").astype(float)
        self.assertAlmostEqual(away["loss"] / ((moved - truth)**2 / 4).sum(), 1, places=4)
        self.assertGreater(away["by"]["cell_a"]["gradient"], 0)

    def test_formats_sigma_and_mask(self):
        data = self.image().reshape(24, 24).astype(float) + 1
        np.save(os.path.join(self.folder, "data.npy"), data)
        np.save(os.path.join(self.folder, "sigma.npy"), np.full((24, 24), 2.0))
        mask = np.ones((24, 24))
        mask[:12] = 0
        np.save(os.path.join(self.folder, "mask.npy"), mask)
        loss = lambda text: self.gradient("--grad=cell_a", "--loss=chi2:data.npy" + text)["loss"]
        self.assertAlmostEqual(loss("") / (24 * 24), 1, places=5)
        self.assertAlmostEqual(loss(",sigma=sigma.npy") / (24 * 24 / 4), 1, places=5)
        self.assertAlmostEqual(loss(",mask=mask.npy") / (12 * 24), 1, places=5)
        poisson = (1 / np.maximum(data, 1)).sum()
        self.assertAlmostEqual(loss(",sigma=poisson") / poisson, 1, places=5)

    def test_pedestal_of_an_smv_image_is_subtracted(self):
        self.run_it("-nonoise", "-nopgm", "--quiet", "-scale", "1", "-intfile", "data.img",
                    "-adc", "40")
        result = self.gradient("--grad=cell_a", "--loss=chi2:data.img")
        self.assertLess(result["loss"], 24 * 24 * 0.3)  # rounding to whole photons

    def test_jacobian_writes_arrays(self):
        done = self.run_it("--jacobian=cell_a,misset", "--out=images", "--timing=t.json")
        self.assertEqual(len(done.stdout.splitlines()), 5)
        files = sorted(os.listdir(os.path.join(self.folder, "images")))
        self.assertEqual(files, ["d_cell_a.npy", "d_misset_x.npy", "d_misset_y.npy",
                                 "d_misset_z.npy", "image.npy"])
        derivative = np.load(os.path.join(self.folder, "images", "d_cell_a.npy"))
        self.assertEqual(derivative.shape, (24, 24))
        gradient = self.gradient("--grad=cell_a")["by"]["cell_a"]["gradient"]
        self.assertAlmostEqual(derivative.sum() / gradient, 1, places=10)
        with open(os.path.join(self.folder, "t.json"), encoding="utf-8") as file:
            timing = json.load(file)
        self.assertGreater(timing["derivative_seconds"], 0)
        self.assertEqual(timing["derivative_runs"], 1)

    def test_second_run_takes_its_kernels_from_the_cache(self):
        self.run_it("--grad=cell", "--timing=t.json")
        self.run_it("--grad=cell", "--timing=t.json", "-distance", "61")
        with open(os.path.join(self.folder, "t.json"), encoding="utf-8") as file:
            timing = json.load(file)
        self.assertEqual((timing["kernel_compiles"], timing["kernel_loads"]), (0, 2))

    def test_dead_gradients_are_reported(self):
        result = self.gradient("--grad=mosaic,osc,cell_a")
        self.assertEqual([d["parameter"] for d in result["dead"]], ["mosaic_spread", "osc"])
        self.assertIn("WARNING: the derivative with respect to mosaic_spread is zero: the only mosaic domain",
                      result["stderr"])

    def test_jacobian_by_a_dead_parameter_is_zero(self):
        for flags in ((), ("--no-fuse",)):
            done = self.run_it("-tophat_spots", "--jacobian=cell_a,fluence", "--out=images", *flags)
            self.assertIn("WARNING: the derivative with respect to cell_a is zero: a tophat is flat", done.stderr)
            folder = os.path.join(self.folder, "images")
            self.assertFalse(np.load(os.path.join(folder, "d_cell_a.npy")).any())
            image = np.load(os.path.join(folder, "image.npy"))
            self.assertTrue(image.any())
            fluence = 1.25932015286227e29
            np.testing.assert_allclose(np.load(os.path.join(folder, "d_fluence.npy")) * fluence,
                                       image, rtol=1e-12)

    def test_derivatives_tell_what_an_image_tells(self):
        told = ["-water", "1", "-sourcefile", "sources"]
        with open(os.path.join(self.folder, "sources"), "w", encoding="utf-8") as file:
            file.write("-10 0 0 1 1e-10\n-10 1 0 2 1e-10\n")
        notes = lambda *flags: [line for line in self.run_it(*told, *flags).stderr.splitlines()
                                if line.startswith("NOTE: ")]
        image = notes()
        self.assertEqual(len(image), 5, image)
        self.assertIn("the first of the 2 sources of -sourcefile", image[-1])
        for action in (["--grad=cell_a"], ["--jacobian=cell_a", "--out=d"], ["--compare-engines"],
                       ["--emit=nb"], ["--list-parameters"]):
            self.assertEqual(notes(*action), image, action)
        self.assertEqual(notes("--grad=cell_a", "--quiet"), [])

    def peak_memory(self, domains):
        """MB of a process that makes the kernel and the gradient."""
        environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        environment["NB_CACHE_DIR"] = os.path.join(self.folder, f"cache{domains}")
        with subprocess.Popen(
                [PROGRAM, *EXPERIMENT, "-detpixels", "64", "-mosaic", "1", "-mosaic_domains",
                 str(domains), "--grad=cell,misset,mosaic,wavelength,detector"],
                cwd=self.folder, env=environment, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss / 1024

    def test_memory_does_not_grow_with_the_samples(self):
        few, many = self.peak_memory(10), self.peak_memory(1000)
        self.assertLess(many, 1.1 * few, "MB at 1000 and at 10 mosaic domains")

    def test_refusals(self):
        for flags, message in (
                (["--grad=cel_a"], "--grad: unknown parameter 'cel_a'; the closest is 'cell_a'"),
                (["--grad=phi_steps"], "'phi_steps' (number of phi steps) is a discrete choice"),
                (["--grad=fudge"], "'fudge' is not used by this experiment"),
                (["--jacobian=cell"], "name their folder with --out=DIR"),
                (["--jacobian=beam_direction", "--out=x"], "'beam_direction' is not one number"),
                (["--grad=cell", "--loss=chi"], "'chi' is not a loss; expected sum, chi2:IMAGE"),
                (["--grad=cell", "--loss=chi2:a.npy,sgima=1"], "'sgima=1' is not understood"),
                (["--grad=cell", "--kernel=k.so"], "derivatives need their own")):
            done = self.run_it(*flags, status=2)
            self.assertIn(message, done.stderr)

    def test_data_of_another_shape(self):
        np.save(os.path.join(self.folder, "data.npy"), np.zeros((23, 24)))
        done = self.run_it("--grad=cell", "--loss=chi2:data.npy", status=1)
        self.assertIn("data.npy: has 23 x 24 pixels and the experiment 24 x 24", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
