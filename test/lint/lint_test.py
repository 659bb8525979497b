#!/usr/bin/env python3
"""The lint must fail on each of these files, and on nothing that is in order."""

import os
import subprocess
import sys
import tempfile
import unittest

import lint

GOOD = """\
// RUN: nb-opt %s --nb-fuse -split-input-file \\
// RUN:   -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,FUSED
// NOTE: prose may open with a capital word.
// Check that prose may also begin like this.
// CHECK-LABEL: func @a
// CHECK-NEXT{LITERAL}: [[
// CHECK-COUNT-3: nb.sum
// FUSED-NOT: nb.sum
func.func @a() {
  // expected-error @below {{'nb.sum' op [C1] needs a bound}}
  // expected-note-re@+2 {{in func {{.*}}}}
  // expected-remark{{done}}
}
"""

BARE = """\
# Prose stands behind a sign, directives do not.
RUN: nb-opt %s | FileCheck %s
CHECK-LABEL: func @a
module {}
"""


def with_run(body, run="nb-opt %s | FileCheck %s"):
    return f"// RUN: {run}\n// CHECK: func\n{body}\n"


BAD = {
    "no RUN line": "// CHECK: func\nfunc.func @a()\n",
    "misspelt suffix without comment sign": BARE + "CHECK-NXT: func\n",
    "misspelt suffix": with_run("// CHECK-LABLE: func @a"),
    "unknown suffix": with_run("// CHECK-NXT: func @a"),
    "misspelt prefix": with_run("// CHEKC: func @a"),
    "misspelt prefix with suffix": with_run("// CHEK-NEXT: func @a"),
    "underscore": with_run("// CHECK_NEXT: func @a"),
    "plural": with_run("// CHECKS: func @a"),
    "colon missing": with_run("// CHECK-NEXT func @a"),
    "lower case": with_run("// Check-next: func @a"),
    "undeclared prefix": with_run("// FUSED-NEXT: func @a"),
    "RUN misspelt": with_run("// RNU: nb-opt %s"),
    "RUN without colon": with_run("// RUN nb-opt %s"),
    "CHECK without FileCheck": "// RUN: nb-opt %s\n// CHECK: func\n",
    "FileCheck without CHECK": "// RUN: nb-opt %s | FileCheck %s\nfunc.func @a()\n",
    "declared prefix without lines": with_run("", "nb-opt %s | FileCheck %s -check-prefixes=CHECK,X"),
    "expectation not verified": with_run("// expected-error @below {{no}}"),
    "only-expected": "// RUN: nb-opt %s --verify-diagnostics=only-expected\n"
                     "// expected-error {{no}}\n",
}
for name, comment in {
        "expeted": "expeted-error @below {{no}}",
        "expected-errror": "expected-errror {{no}}",
        "expect": "expect-error {{no}}",
        "underscored": "expected_remark {{no}}",
        "spaced": "expected error {{no}}",
        "expected-warnings": "expected-warnings {{no}}",
        "position misspelt": "expected-error @abov {{no}}",
        "braces missing": "expected-error {no}",
        "text after the braces": "expected-error {{no}} here",
}.items():
    BAD["expectation: " + name] = f"// RUN: nb-opt %s -verify-diagnostics\n// {comment}\n"


class LintTest(unittest.TestCase):
    def test_good_file_passes(self):
        self.assertEqual(lint.lint_text(GOOD), [])
        self.assertEqual(lint.lint_text(BARE), [])

    def test_each_bad_file_fails(self):
        for name, text in BAD.items():
            with self.subTest(name):
                self.assertNotEqual(lint.lint_text(text), [])

    def test_problem_names_its_line(self):
        (number, message), = lint.lint_text(with_run("// CHECK-LABLE: func @a"))
        self.assertEqual(number, 3)
        self.assertIn("CHECK-LABLE", message)

    def test_program_fails_on_a_tree_with_one_bad_file(self):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "Inputs"))
            for name, text in (("good.mlir", GOOD), ("Inputs/no-run.mlir", "module {}\n")):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            program = [sys.executable, lint.__file__, root]
            self.assertEqual(subprocess.run(program, capture_output=True).returncode, 0)
            with open(os.path.join(root, "bad.mlir"), "w", encoding="utf-8") as file:
                file.write(BAD["misspelt suffix"])
            run = subprocess.run(program, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn("bad.mlir:3:", run.stdout)


if __name__ == "__main__":
    unittest.main()
