"""nb-bench fills its tables, with nb-sim in the place of the C program, and its guard of instruction
counts notices a count that rose."""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

arguments = None
ROW = ["--shapes=gauss", "--domains=2", "--samples=5000", "--repeat=2"]


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_bench(self, *words, status=0):
        done = subprocess.run([arguments.nb_bench, *map(str, words)], text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def report(self, *words):
        self.run_bench(*words, f"--json={self.root}/t.json", f"--markdown={self.root}/t.md")
        return (json.loads((self.root / "t.json").read_text()),
                (self.root / "t.md").read_text())

    def test_rows_beside_a_reference(self):
        # The physics of the C program, which nb-bench expects of a reference.
        script = self.root / "reference"
        script.write_text(f'#!/bin/sh\nexec {arguments.nb_sim} -compat c "$@"\n')
        script.chmod(0o755)
        data, text = self.report(*ROW, f"--reference={script}", "--threads=1,2",
                                 "--factors=constant,tricubic", "--sources=9", "--phi=1",
                                 "--oversample=2", "--cells=7")
        self.assertEqual([(row["factors"], row["threads"]) for row in data["rows"]],
                         [("constant", 1), ("constant", 2), ("tricubic", 1), ("tricubic", 2)])
        for row in data["rows"]:
            self.assertEqual(row["samples"], row["pixels"] ** 2 * 2 * 9 * 4)
            self.assertGreater(row["ns_per_sample"], 0)
            self.assertGreater(row["reference_startup_seconds"], 0)
            self.assertLess(row["worst_difference"], 1e-5)
        self.assertTrue(data["processor"])
        self.assertIn(data["processor"], text)
        self.assertIn("--reference=PATH/reference", text)
        speed = text[text.index("## Time per sample"):text.index("## Instructions")]
        self.assertIn("N = 7, mosaic domains: 2, oversample: 2, sources: 9, phi steps: 1", speed.replace("\n", " "))
        self.assertEqual(len(re.findall(r"^\| gauss, (constant|tricubic) \| f64 \| [12] \|", speed, re.M)), 4)
        widths = {line.count("|") for line in speed.splitlines() if line.startswith("|")}
        self.assertEqual(len(widths), 1, text)

    def test_instructions_are_counted_exactly(self):
        rows = [self.report(*ROW, "--threads=1", "--instructions")[0]["rows"][0] for _ in range(2)]
        for count in ("instructions_per_sample", "bound_cycles_per_sample", "bound_part"):
            self.assertEqual(rows[0].get(count), rows[1].get(count))
        self.assertTrue(5 < rows[0]["instructions_per_sample"] < 500)
        if "bound_share" in rows[0]:  # LLVM has a model of this processor
            for row in rows:
                self.assertAlmostEqual(row["bound_share"],
                                       row["bound_cycles_per_sample"] / row["ns_per_sample"] / row["clock_ghz"])

    def test_what_is_compiled_in_is_counted_so(self):
        few, many = (self.report("--shapes=square", "--factors=constant", "--domains=10", f"--samples={samples}", "--repeat=1",
                                 "--threads=1", "--instructions")[0]["rows"][0] for samples in ("1e6", "1.1e7"))
        self.assertLess(many["instructions_per_sample"], 0.8 * few["instructions_per_sample"])

    def test_starts(self):
        data, text = self.report(*ROW, "--threads=1", "--starts=32")
        start, = data["starts"]
        self.assertGreater(start["cold"]["compile_seconds"], 0)
        self.assertEqual(start["another_process"]["compile_seconds"], 0)
        for kind in ("cold", "same_process", "another_process"):
            self.assertGreater(start[kind]["setup_seconds"], start[kind]["kernel_seconds"])
        self.assertIn("warm, another process", text)

    def test_guard(self):
        committed = pathlib.Path(__file__).parent / "instructions.json"
        counts = json.loads(committed.read_text())
        for rows in counts.values():
            next(iter(rows.values()))["cycles"] *= 0.5
        (self.root / "lower.json").write_text(json.dumps(counts))
        said = self.run_bench(f"--baseline={self.root}/lower.json", "--targets=gfx942",
                              status=1).stdout
        self.assertRegex(said, r"gfx942, .*: cycles of vector unit per sample: .*\+\d+\.\d% of the baseline")

    def test_command_lines_that_cannot_be_used(self):
        for words, why in ((["--shapes=cube"], "cube"), (["--domains=0"], "domains"),
                           (["--quick", "--full"], "choose one"),
                           (["--precision=f16", *ROW], "f16"),
                           (["--reference=/no/such/program", *ROW], "/no/such/program")):
            done = subprocess.run([arguments.nb_bench, *words], text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("nb-bench", "nb-sim"):
        parser.add_argument("--" + name, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
