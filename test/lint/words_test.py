#!/usr/bin/env python3
"""The check of words must complain about each of these, and about nothing that is in order."""

import unittest

import words

LONG = "A word " + "and another " * 24 + "end."
BAD = ("The compiler wants a table.", "We first tried a table.", "That is obviously right.",
       "The cost was measured last night.", "It is there in order to be read.", LONG,
       f"* {LONG}", f"Short.\n{LONG}", "The kernel is\nhappy with a table.")
GOOD = ("The compiler makes a table.", "It took 3 ms on 2026-11-20.", f"```sh\n{LONG}\n```",
        f"| {LONG} |", "    " + LONG, f"# {LONG}", "One. " * 60, "* a list\n" * 60)


class Words(unittest.TestCase):
    def test_bad(self):
        for text in BAD:
            with self.subTest(text):
                self.assertTrue(list(words.complaints(text)))

    def test_good(self):
        for text in GOOD:
            with self.subTest(text):
                self.assertEqual(list(words.complaints(text)), [])


if __name__ == "__main__":
    unittest.main()
