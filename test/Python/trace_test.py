"""A timeline of a Python process."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import nanobragg as nb
from common import flags, simulator
from nanobragg import compiler

PROGRAM = """
import sys, nanobragg as nb
if len(sys.argv) > 1:
    nb.Simulator.from_flags(sys.argv[1]).image()
"""


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def names(self, file):
        events = json.loads((self.root / file).read_text())["traceEvents"]
        self.assertIn("python", [e["args"]["name"] for e in events if e["name"] == "process_name"])
        return [e["name"] for e in events if e["ph"] == "X"]

    def test_a_block(self):
        sim = simulator()
        sim.image()
        with nb.trace_events(self.root / "run.json"):
            sim.image()
            worker = threading.Thread(target=lambda: compiler.run(compiler.emit(flags()), "builtin.module(cse)"))
            worker.start()
            worker.join()
        names = self.names("run.json")
        self.assertLessEqual({"tile", "cse", "python"}, set(names))
        # A second one has its own spans alone, also of a block that fails.
        with self.assertRaises(ZeroDivisionError), nb.trace_events(str(self.root / "other.json")):
            sim.image()
            raise ZeroDivisionError
        self.assertLessEqual({"tile", "python"}, set(self.names("other.json")))
        self.assertNotIn("cse", self.names("other.json"))

    def test_mistakes(self):
        with self.assertRaisesRegex(nb.FileError, "none/run.json"), nb.trace_events(self.root / "none" / "run.json"):
            self.fail()
        with nb.trace_events(self.root / "run.json"):
            with self.assertRaisesRegex(RuntimeError, "one at a time"), nb.trace_events(self.root / "inner.json"):
                self.fail()
        self.assertEqual([path.name for path in self.root.iterdir()], ["run.json"])

    def run_program(self, *words, **variables):
        done = subprocess.run([sys.executable, *words], cwd=self.root, text=True, capture_output=True, env=os.environ | variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_the_environment(self):
        self.run_program("-c", PROGRAM, flags(), NB_TRACE_EVENTS="run.json")
        self.assertLessEqual({"tile", "python"}, set(self.names("run.json")))
        (self.root / "run.json").unlink()
        # Nothing ran, and so there is nothing to write.
        self.assertEqual(self.run_program("-c", PROGRAM, NB_TRACE_EVENTS="run.json"), "")
        self.assertEqual(list(self.root.iterdir()), [])
        self.assertRegex(self.run_program("-c", PROGRAM, flags(), NB_TRACE_EVENTS="none/run.json"), "(?m)^WARNING: NB_TRACE_EVENTS: .*none/run.json.*\n$")
        self.run_program("-c", PROGRAM, flags(), NB_TRACE_EVENTS="%p.json")
        file, = self.root.iterdir()
        self.assertTrue(file.stem.isdigit())


if __name__ == "__main__":
    unittest.main()
