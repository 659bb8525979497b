#!/usr/bin/env python3
"""Tests of passes.py."""

import unittest

from passes import check, passes_of

DEFINITION = 'def Move : Pass<"nb-move"> {\n  let statistics = [\n    Statistic<"moved", "moved", "ops that moved">\n  ];\n}\n'
SOURCE = '#define DEBUG_TYPE "nb-move"\n#define GEN_PASS_DEF_MOVE\nLDBG() << 1;\nmoved += 1;\n'
TEST = "A: nb-move\nA: (S) 1 moved - ops that moved\n"


class Passes(unittest.TestCase):
    def complaints(self, source=SOURCE, definition=DEFINITION, test=TEST):
        return check({"lib/Transforms/Move.cpp": source}, passes_of(definition), test)

    def test_no_complaint(self):
        self.assertEqual(self.complaints(), [])
        self.assertEqual(self.complaints(SOURCE.replace("moved += 1", "++moved")), [])

    def test_each_complaint(self):
        for changed, complaint in (
                (dict(source=SOURCE.replace("nb-move", "nb-moves")), "has no #define DEBUG_TYPE"),
                (dict(source=SOURCE.replace("LDBG() << 1;", "")), "has no LDBG"),
                (dict(source=SOURCE.replace("moved += 1;", "")), "does not count moved"),
                (dict(source=SOURCE.replace("DEF_MOVE", "DEF_OTHER")), "no file defines it"),
                (dict(source=SOURCE + "  PassManager passes(context);\n"), "use FlaggedPassManager"),
                (dict(definition='def Move : Pass<"nb-move"> {\n}\n'), "has no statistics"),
                (dict(test=TEST.replace("A: nb-move\n", "")), "does not look at nb-move"),
                (dict(test="A: nb-move\n"), "does not look at moved of nb-move")):
            with self.subTest(complaint):
                found = self.complaints(**changed)
                self.assertEqual(len(found), 1, found)
                self.assertIn(complaint, found[0])


if __name__ == "__main__":
    unittest.main()
