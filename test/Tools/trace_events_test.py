#!/usr/bin/env python3
"""trace_events_test.py NB_SIM NB_COMPILE: what --trace-events and NB_TRACE_EVENTS write."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SMALL = "-cell 100 -default_F 1 -N 5 -detpixels 64 -mosaic 1 -mosaic_domains 20 --quiet".split()


class TraceEvents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_tool(self, tool, *words, status=0, **variables):
        done = subprocess.run([tool, *words], cwd=self.root, text=True, capture_output=True,
                              env=os.environ | {"NB_CACHE_DIR": str(self.root / "cache")} | variables)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def trace(self, *words, tool=None):
        """The spans of a run in their order, and the names of lanes."""
        self.run_tool(tool or NB_SIM, *words, "--trace-events=t.json")
        return self.read("t.json")

    def read(self, file):
        events = json.loads((self.root / file).read_text())["traceEvents"]
        spans = [e for e in events if e["ph"] == "X"]
        for e in spans:
            self.assertLessEqual({"name", "cat", "pid", "tid", "ts", "dur"}, e.keys())
            self.assertGreaterEqual(e["dur"], 0, e)
        lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertLessEqual({e["tid"] for e in spans}, lanes.keys() | {e["tid"] for e in spans})
        self.check_nesting(spans)
        return spans, lanes

    def check_nesting(self, spans):
        """In each lane spans are within each other or apart. LLVM's have whole microseconds."""
        rounding = 2.0
        lanes = collections.defaultdict(list)
        for span in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
            around = lanes[span["tid"]]
            while around and around[-1]["ts"] + around[-1]["dur"] <= span["ts"] + rounding:
                around.pop()
            if around:
                self.assertLessEqual(span["ts"] + span["dur"], around[-1]["ts"] + around[-1]["dur"] + rounding,
                                     (span, around[-1]))
            around.append(span)

    def test_cold(self):
        spans, lanes = self.trace(*SMALL, "-detpixels", "300", "-mosaic_domains", "200", "--threads=2")
        names = [e["name"] for e in spans]
        # Each pass of the pipeline, as often as it stands there; --print-pipeline adds nb-fix-counts.
        pipeline = self.run_tool(NB_SIM, *SMALL, "-detpixels", "300", "-mosaic_domains", "200", "--print-pipeline").stdout
        passes = re.findall(r"[\w-]+(?=[{,)])", re.sub(r"{[^}]*}", "{", pipeline.replace(" ", "")))
        passes = [name for name in passes if name and name != "nb-fix-counts"]
        self.assertGreater(len(passes), 20)
        for name in passes:
            self.assertGreaterEqual(names.count(name), passes.count(name), name)
        for name in ("frontend", "translate to LLVM IR", "LLVM optimizer", "LLVM code generation", "link",
                     "open the compiler library", "look for the kernel", "keep the kernel", "load the kernel",
                     "read the inputs", "prepare", "put into place"):
            self.assertIn(name, names)
        self.assertTrue(any(e["name"] == "RunPass" and "Register Alloc" in e["args"]["detail"] for e in spans))
        # Tiles of both threads, each row once.
        self.assertEqual(sorted(lanes.values())[0], "main")
        self.assertIn("worker 1", lanes.values())
        tiles = [e for e in spans if e["name"] == "tile"]
        rows = sorted(int(e["args"]["detail"].split("rows ")[1].split(" to ")[0]) for e in tiles)
        self.assertEqual(rows[0], 0)
        self.assertEqual(len(rows), len(set(rows)))
        # The compiler's time is that of its parts, and the process's that of what it did.
        whole = next(e for e in spans if e["name"] == "nb-sim")
        self.assertGreater(self.covered(spans, whole), 0.8)
        compiling = next(e for e in spans if e["name"] == "compile the kernel")
        self.assertGreater(self.covered(spans, compiling), 0.8)

    @staticmethod
    def covered(spans, whole):
        """The part of a span in which others of its lane, below it, run."""
        end, covered = whole["ts"], 0
        for e in sorted(spans, key=lambda e: e["ts"]):
            if e is whole or e["tid"] != whole["tid"] or e["ts"] < whole["ts"] or e["dur"] >= whole["dur"]:
                continue
            if e["ts"] + e["dur"] > whole["ts"] + whole["dur"] + 2:
                continue
            covered += max(0, e["ts"] + e["dur"] - max(end, e["ts"]))
            end = max(end, e["ts"] + e["dur"])
        return covered / whole["dur"]

    def test_warm(self):
        self.run_tool(NB_SIM, *SMALL)
        spans, _ = self.trace(*SMALL)
        names = {e["name"] for e in spans}
        self.assertIn("load the kernel", names)
        self.assertNotIn("compile the kernel", names)
        self.assertNotIn("open the compiler library", names)

    def test_series(self):
        spans, lanes = self.trace(*SMALL, "--frames=3", "-osc", "0.1", "-phisteps", "1")
        images = [e for e in spans if e["name"] == "image"]
        self.assertEqual([e["args"]["detail"] for e in images], ["1", "2", "3"])
        written = [e for e in spans if e["name"] == "write image"]
        self.assertEqual(len(written), 3)
        self.assertIn("writer", lanes.values())

    def test_derivatives(self):
        spans, _ = self.trace(*SMALL, "--grad=cell_a")
        self.assertIn("nb-differentiate", {e["name"] for e in spans})

    def test_nb_compile(self):
        spans, _ = self.trace(*SMALL, "-o", "k.so", tool=NB_COMPILE)
        self.assertIn("nb-fuse", {e["name"] for e in spans})
        self.assertIn("nb-compile", {e["name"] for e in spans})

    def test_the_environment_of_every_program(self):
        program = self.run_tool(NB_SIM, *SMALL, "-detpixels", "16", "--emit=nb").stdout
        (self.root / "p.mlir").write_text(program)
        small = [*SMALL, "-detpixels", "16"]
        for tool, words, spans in (
                ("nb-run", ["p.mlir", "--out", "i.npy", "--", *small], ["nb-fuse", "LLVM code generation"]),
                ("nb-opt", ["p.mlir", "--nb-hoist-invariants", "--cse"], ["nb-hoist-invariants", "cse"]),
                ("nb-try", [*small, "--grad=none", "--repeat=0"], ["try a pipeline", "interpret the program"]),
                ("nb-compile", [*small, "-o", "k.so"], ["nb-fuse"]),
                ("nb-sim", small, ["tile"]),
                ("nb-cache", ["list"], [])):
            with self.subTest(tool):
                self.run_tool(pathlib.Path(NB_SIM).with_name(tool), *words, NB_TRACE_EVENTS="%p-t.json")
                file, = self.root.glob("*-t.json")
                found, _ = self.read(file.name)
                names = [e["name"] for e in found]
                self.assertLessEqual({*spans, tool}, set(names))
                self.assertEqual({e["pid"] for e in found}, {int(file.name.split("-")[0])})
                file.unlink()

    def test_the_flag_wins_over_the_environment(self):
        self.run_tool(NB_SIM, *SMALL, "--trace-events=t.json", NB_TRACE_EVENTS="other.json")
        self.assertIn("nb-sim", [e["name"] for e in self.read("t.json")[0]])
        self.assertEqual([path.name for path in self.root.glob("*other*")], [])

    def test_what_fails_leaves_no_file(self):
        for tool, words in (("nb-sim", ["-hkl", "none.hkl"]), ("nb-opt", ["none.mlir"]), ("nb-run", ["none.mlir"])):
            with self.subTest(tool):
                self.run_tool(pathlib.Path(NB_SIM).with_name(tool), *words, status=1, NB_TRACE_EVENTS="t.json")
                self.assertEqual([path.name for path in self.root.glob("*t.json*")], [])
                done = self.run_tool(pathlib.Path(NB_SIM).with_name(tool), *words, status=1, NB_TRACE_EVENTS="none/t.json")
                self.assertRegex(done.stderr, f"^{tool}: error: .*none/t.json.*\n$")

    def test_a_plain_run_records_nothing(self):
        plain = self.run_tool(NB_SIM, *SMALL)
        self.assertEqual(plain.stderr, "")
        self.assertFalse((self.root / "t.json").exists())

    def test_mistakes(self):
        for words, said in ((("--trace-events=none/t.json",), "none/t.json"),
                            (("--trace-events=t.json", "-floatfile", "t.json"), "t.json")):
            done = subprocess.run([NB_SIM, *SMALL, *words], cwd=self.root, text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertFalse((self.root / "t.json").exists())


if __name__ == "__main__":
    NB_COMPILE = sys.argv.pop(2)
    NB_SIM = sys.argv.pop(1)
    unittest.main()
