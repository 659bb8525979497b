"""nb-gradcheck as a user meets it: its table, its JSON, its exit status.

    nb-gradcheck_derivatives_test.py NB_GRADCHECK"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

EXPERIMENT = ("-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
              "-pixel 2 -detpixels 16 -oversample 1").split()


class GradCheck(unittest.TestCase):
    def run_it(self, *flags, status=0, experiment=EXPERIMENT):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, *experiment, *flags], capture_output=True, text=True,
                                  env=os.environ | {"NB_CACHE_DIR": folder})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_both_engines_pass(self):
        done = self.run_it("--wrt=cell,misset", "--loss=random:3", "--json")
        result = json.loads(done.stdout)
        self.assertTrue(result["passed"])
        self.assertEqual([e["engine"] for e in result["engines"]], ["fused", "interpreter"])
        for engine in result["engines"]:
            self.assertNotEqual(engine["loss"], 0)
            self.assertEqual(len(engine["derivatives"]), 9)
            for d in engine["derivatives"]:
                self.assertEqual(d["verdict"], "ok")
                self.assertLess(d["relative_error"], 1e-6)
                self.assertGreater(d["step"], 0)
                self.assertLess(abs(d["difference_error"]), 1e-6 * abs(d["difference"]))

    def test_roundings_are_seen_at_every_step(self):
        """A second derivative that is small beside others differs by what roundings of the image make of a short step."""
        for step in ("1e-3", "3e-3", "1e-2", "1e-1"):
            done = self.run_it("-fluence", "1e29", "-pixel", "4", "-detpixels", "12", "-mosaic_abc", "0.5", "1", "2", "-mosaic_dom", "6",
                               "-dispersion", "2", "-dispsteps", "3", "-psf", "fiber", "-psf_fwhm", "3000", "-psf_radius", "4",
                               "--wrt=mosaic_abc", "--loss=random:3", "--order=2", "--step=" + step, "--json")
            for engine in json.loads(done.stdout)["engines"]:
                # No verdict is bought by an estimate that means nothing.
                errors = [d["difference_error"] / abs(d["difference"]) for d in engine["derivatives"]]
                self.assertLess(min(errors), 1e-3)

    def test_diffuse_scattering_jumps(self):
        """It is that of the nearest reflection, also where all have the same structure factor."""
        self.run_it("-diffuse_gamma", "30", "40", "50", "-diffuse_sigma", "0.3", "0.4", "0.2", "--order=2",
                    "--wrt=diffuse_gamma,diffuse_sigma,cell", "--loss=random:3")

    def test_zeros_differ_by_roundings(self):
        """Entries of a background table that no pixel sees."""
        done = self.run_it("-stol", "water", "-thickness", "1", "--order=2", "--loss=random:3",
                           "--wrt=background_thickness,background_F")
        self.assertIn("dead", done.stdout)

    def test_a_spread_stays_above_zero(self):
        """By little, too, where the image hardly depends on it."""
        self.run_it("-mosaic_abc", "0.3", "0.1", "0.5", "-mosaic_domains", "6", "-water", "20", "-gauss_xtal", "-N", "2",
                    "--wrt=mosaic_abc", "--loss=random:3")

    def test_a_derivative_of_roundings_is_none(self):
        """A single source's weight divides itself out."""
        for mode in ("--mode=forward", "--mode=reverse"):
            self.run_it("--wrt=source_weight,distance", "--loss=random:52", "-phi", "10", "-osc", "1", "-phisteps", "3", mode)

    def test_an_offset_at_zero_is_small_against_what_it_is_added_to(self):
        with tempfile.NamedTemporaryFile("w", suffix=".lam") as file:
            file.write("1.0 1\n1.01 2\n1.03 1\n")
            file.flush()
            for order in ("1", "2"):
                self.run_it("--spectrum=" + file.name, "--wrt=wavelength_offset,wavelength_scale", "--loss=random:3",
                            "--order=" + order)

    def test_table(self):
        done = self.run_it("--wrt=cell_a,mosaic_spread", "--engine=interpreter")
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("gradient of the loss of the interpreter engine; loss"))
        self.assertTrue(lines[2].startswith("cell_a") and lines[2].endswith("ok"), lines[2])
        self.assertTrue(lines[3].endswith("dead: the only mosaic domain is not rotated"), lines[3])
        self.assertTrue(lines[4].startswith("passed: 2 derivatives"), lines[4])

    def test_modes_and_orders(self):
        for flags in (["--mode=forward"], ["--order=2"], ["--together"]):
            done = self.run_it("--wrt=cell_a,misset_x,distance", *flags)
            self.assertEqual(done.stdout.count("passed: "), 2)

    def test_fails_beyond_the_tolerance(self):
        # A step so large that differences are wrong, and say so.
        done = self.run_it("--wrt=misset_x", "--step=0.9", "--engine=interpreter", status=1)
        self.assertIn("FAILED", done.stdout)

    def test_all_dead_is_a_failure(self):
        done = self.run_it("--wrt=mosaic,osc", "--engine=interpreter", status=1)
        self.assertEqual(done.stdout.count(" dead"), 2)
        self.assertIn("FAILED: 2 derivatives", done.stdout)

    def test_refusals(self):
        for flags, message in ((["--wrt=cel_a"], "the closest is 'cell_a'"),
                               (["--mode=backward"], "--mode: 'backward' is not one of its values"),
                               (["--rtol=0"], "--rtol: '0' is not a number that is greater than 0"),
                               (["--no-such-flag"], "unknown flag '--no-such-flag'")):
            self.assertIn(message, self.run_it(*flags, status=2).stderr)
        done = self.run_it(experiment=[], status=2)
        self.assertIn("nothing to check", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
