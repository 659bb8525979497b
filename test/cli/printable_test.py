#!/usr/bin/env python3
"""printable_test.py NB_SIM FAKE_COMPILER: whatever names, files and flags hold, what nb-sim prints of them is short lines
that a terminal only prints."""

import os

from nb_sim import NbSimTest, main

NAMES = ("a\nb", "a\x1b[31mb", "a\u202eb", "a\x07\x7f", "a\u0085b", "x" * 200)
GOOD = "-cell 50 50 50 90 90 90 -default_F 1 -N 5 -distance 100 -detpixels 8".split()


class Printable(NbSimTest):
    def check(self, words, status=None):
        done = self.run_nb_sim(words)
        for line in done.stderr.splitlines() if "\u0085" not in done.stderr else [done.stderr]:
            self.assertTrue(line.isprintable(), repr(line))
            self.assertLess(len(line), 2500)
        self.assertTrue(all(c.isprintable() or c in "\n\r\t" for c in done.stdout), repr(done.stdout))
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1 + (status == 2), done.stderr)
        return done

    def test_names_of_files_that_are_not_there(self):
        for name in NAMES:
            for flag in ("-hkl", "-mat", "-img", "-sourcefile", "-mask", "-stol", "-spectrum"):
                self.check([*GOOD, flag, name])
            for flag in ("--expt", "--panels", "--schedule", "--kernel", "--patterns", "--shots", "--pixels"):
                self.check([*GOOD, f"{flag}={name}"])

    def test_names_of_outputs(self):
        for name in NAMES:
            done = self.check([*GOOD, "-floatfile", name, "-intfile", name + "i", "-noisefile", name + "n", "-pgmfile", name + "p"], 0)
            self.assertIn("wrote ", done.stdout)
            self.check([*GOOD, "-floatfile", os.path.join(name, "b")], 1)

    def test_flags_and_values(self):
        for name in NAMES:
            self.check([*GOOD, "-" + name], 2)
            self.check([*GOOD, "-lambda", name], 2)
            self.check([*GOOD, "--cull=" + name], 2)

    def test_long_contents(self):
        self.add("long.txt", "y" * 50000)
        self.add("odd.txt", "\x1b[2J\u202e" * 10000)
        for file in ("long.txt", "odd.txt"):
            for flag in ("-hkl", "-mat", "-sourcefile", "-stol"):
                self.check([*GOOD, flag, file])
            for flag in ("--expt", "--panels", "--schedule", "--shots", "--pixels", "--kernel"):
                self.check([*GOOD, f"{flag}={file}"])


if __name__ == "__main__":
    main()
