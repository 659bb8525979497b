#!/usr/bin/env python3
"""debug_lines_test.py SOURCE BUILD [FILES...]: --debug-only in an nb-opt whose passes are compiled as in a debug build.

Only the files that print such lines, or FILES of them, are compiled again, and nothing of the build folder is changed."""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """func.func @f(%a: f64 {nb.name = "a"}, %slow: index, %fast: index) -> tensor<?x?x?xf64> {
  %one = arith.constant 1 : index
  %image = nb.image panel %p in %one, slow %s in %slow, fast %f in %fast : tensor<?x?x?xf64> {
    %square = arith.mulf %a, %a : f64
    nb.yield %square : f64
  }
  return %image : tensor<?x?x?xf64>
}
"""


def without_ndebug(command, output):
    """The words of a compilation without NDEBUG, precompiled headers, which have it, and optimization."""
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word == "-Xclang":
            option = next(words)
            if option == "-include-pch":
                next(words), next(words)
            else:
                kept += [word, option]
        elif word == "-o":
            next(words)
        elif word not in ("-DNDEBUG", "-Winvalid-pch", "-O3"):
            kept.append(word)
    return [*kept, "-O0", "-o", output]


class DebugLines(unittest.TestCase):
    def test_lines_of_a_pass(self):
        commands = {row["file"]: row for row in json.loads((BUILD / "compile_commands.json").read_text())}
        printing = FILES or [file for folder in ("lib", "dialect") for file in sorted((SOURCE / folder).rglob("*.cpp"))
                             if "LDBG()" in file.read_text()]
        link = [line for line in subprocess.run(["ninja", "-t", "commands", "-s", "bin/nb-opt"], cwd=BUILD, text=True, check=True,
                                                capture_output=True).stdout.splitlines() if "-o bin/nb-opt" in line][-1]
        with tempfile.TemporaryDirectory() as folder:
            objects = []
            for file in [SOURCE / "lib/Compiler/Pipelines/MLIRFlags.cpp", *printing]:
                row = commands[str(file)]
                objects.append(f"{folder}/{len(objects)}.o")
                done = subprocess.run(without_ndebug(row["command"], objects[-1]), cwd=row["directory"], text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
            subprocess.run(link.replace("-o bin/nb-opt", f"{' '.join(objects)} -o {folder}/nb-opt"), shell=True, cwd=BUILD, check=True)

            def said(*words):
                return subprocess.run([f"{folder}/nb-opt", *words, "-o", "/dev/null"], input=PROGRAM, text=True, capture_output=True,
                                      check=True).stderr
            self.assertRegex(said("--nb-hoist-invariants", "--debug-only=nb-hoist-invariants"),
                             r"^\[nb-hoist-invariants HoistInvariants\.cpp:\d+ \d+\] out of nb\.image: %square = arith\.mulf")
            self.assertEqual(said("--nb-hoist-invariants", "--debug-only=nb-fuse"), "")
            self.assertEqual(said("--nb-hoist-invariants"), "")


if __name__ == "__main__":
    SOURCE, BUILD, *FILES = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
