#!/usr/bin/env python3
"""usage_test.py NB_SIM FAKE_COMPILER: the texts that nb-sim prints about itself."""

import nb_sim
from nb_sim import NbSimTest


class Usage(NbSimTest):
    def test_help_goes_to_standard_output(self):
        texts = set()
        for flag in ("-h", "-help", "--help"):
            done = self.run_nb_sim([flag])
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, "")
            self.assertTrue(done.stdout.lower().startswith("usage: nanobragg"), done.stdout[:80])
            texts.add(done.stdout)
        self.assertEqual(len(texts), 1)

    def test_help_names_every_flag_of_the_reference(self):
        listed = self.run_nb_sim(["--list-flags"]).stdout
        names = [line.split("`")[1].split()[0].split("=")[0]
                 for line in listed.splitlines() if line.startswith("| `")]
        self.assertGreater(len(names), 120)
        usage = self.run_nb_sim(["-h"]).stdout
        for name in names:
            self.assertIn("  " + name, usage)

    def test_help_works_on_a_wrong_line_and_writes_nothing(self):
        self.assertEqual(self.run_nb_sim("-nonsense -N five -help".split()).returncode, 0)
        self.assertEqual(self.snapshot(), {})

    def test_help_gives_units_and_defaults(self):
        usage = " ".join(self.run_nb_sim(["-h"]).stdout.split())
        self.assertIn("sample to detector along the beam [mm] (default: 100)", usage)
        self.assertIn("photon energy [eV]", usage)

    def test_help_finds_flags_by_word(self):
        everything = self.run_nb_sim(["-help"]).stdout
        for words in (["--help=Mosaic"], ["-help", "mosaic"], ["-nonsense", "-help", "mosaic", "-N"]):
            found = self.run_nb_sim(words)
            self.assertEqual(found.returncode, 0, found.stderr)
            for flag in ("-mosaic ", "-mosaic_domains ", "-mosaic_seed "):
                self.assertIn("\n  " + flag, found.stdout)
            self.assertNotIn("-distance ", found.stdout)
            self.assertLess(len(found.stdout), len(everything) / 8)
        # A word of descriptions, a word of a unit, a flag as the last word, a variable.
        self.assertIn("-osc ", self.run_nb_sim(["--help=spindle"]).stdout)
        self.assertIn("-energy ", self.run_nb_sim(["--help=eV"]).stdout)
        self.assertIn("-twotheta ", self.run_nb_sim(["-help", "-twotheta"]).stdout)
        self.assertIn("NB_CACHE_SIZE", self.run_nb_sim(["--help=cache"]).stdout)
        # A flag in the middle is not what the help is about.
        self.assertEqual(self.run_nb_sim(["-help", "-cell", "40"]).stdout, everything)

    def test_version(self):
        done = self.run_nb_sim(["--version"])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^nb-sim \d+\.\d+\.\d+\n$")

    def test_a_line_without_inputs_says_what_is_missing(self):
        done = self.run_nb_sim([])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("-help", done.stderr)


if __name__ == "__main__":
    nb_sim.main()
