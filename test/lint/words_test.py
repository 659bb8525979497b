#!/usr/bin/env python3
"""The check of words must complain about each of these, and about nothing that is in order."""

import unittest

import words

LONG = "A word " + "and another " * 24 + "end."
BAD = ("The compiler wants a table.", "We first tried a table.", "That is obviously right.",
       "The cost was measured last night.", "It is there in order to be read.", LONG,
       "`nb-sim` knows the flag.", "Passes see a table.", "It used to be a table.", "Thus it is there.",
       "It should be noted that it is there.", "It works out of the box.", f"* {LONG}", f"Short.\n{LONG}", "The kernel is\nhappy with a table.")
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

    def test_comments_and_docstrings(self):
        for bad in ("The compiler wants a table.", "Of a table.", "What a table has.", "Those of tables.", "A table. Of it."):
            for path, text in (("a.h", f"// {bad}\n"), ("a.cpp", f'f("//"); // {bad}'), ("a.h", f"/* {bad} */"),
                               ("a.td", f"def A; // A.\n// {bad}"), ("a.h", f"/* A\n * table.\n * {bad}\n */"),
                               ("a.py", f'def f():\n    """{bad}"""\n'), ("a.py", f'"""A table.\n\n{bad}"""\n'), ("a.py", f"a = 1  # {bad}\n")):
                with self.subTest(text):
                    self.assertEqual([number for number, _ in words.complaints_of(path, text)], [text[:text.index(bad[1:])].count("\n") + 1])
            for path, text in (("a.h", f'puts("{bad}");'), ("a.py", f'f("""{bad}""")'), ("a.h", f'puts("// {bad}");')):
                with self.subTest(text):
                    self.assertEqual(list(words.complaints_of(path, text)), [])
        self.assertTrue(list(words.complaints_of("a.h", "int a; ///< of a table")))
        for text in ("// A table\n// of numbers.", "// Offsets.", "int a; // A table,\n        // of numbers."):
            with self.subTest(text):
                self.assertEqual(list(words.complaints_of("a.h", text)), [])


if __name__ == "__main__":
    unittest.main()
