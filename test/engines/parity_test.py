#!/usr/bin/env python3
"""Runs the parity corpus through `nb-sim --compare-stages`: the interpreted program after each pass
and the compiled kernel against the interpreted input.

    parity_test.py NB_SIM [--only REGEX] [--jobs N]

Cases tagged chaotic are where the C program's result hangs on the last digit of a number; there the
exit status may be 3, and what differs is printed."""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PARITY = os.path.join(HERE, "..", "parity")
PASSES = ("nb-erase-probes", "nb-peel-miller-index", "cse", "nb-hoist-invariants",
          "nb-tabulate-invariants", "nb-split-sums", "nb-factor-sums", "nb-remove-branches",
          "nb-fuse", "nb-vectorize")


def compare(program, case):
    """None, or what is wrong."""
    expand = lambda words: [w.replace("@IN@", os.path.join(PARITY, "inputs")) for w in words]
    with tempfile.TemporaryDirectory() as folder:
        options = dict(cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=120)
        for words in case.get("before", []):
            subprocess.run([program, "-compat", "c", *expand(words)], **options)
        run = subprocess.run([program, "-compat", "c", "--compare-stages", "--threads=1",
                              *expand(case["args"])], **options)
    if run.returncode == 3 and "chaotic" in case["tags"]:
        return None, "differs, as chaotic cases may\n" + run.stdout
    if run.returncode:
        return f"status {run.returncode}\n{run.stdout}", None
    missing = [name for name in PASSES if f"after {name}: " not in run.stdout]
    return (f"no comparison after {', '.join(missing)}" if missing else None), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="run every N-th case")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with open(os.path.join(PARITY, "cases.json"), encoding="utf-8") as file:
        cases = [c for c in json.load(file)["cases"] if re.search(options.only, c["name"])]
    cases = cases[::options.every]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        program = os.path.abspath(options.program)
        results = pool.map(lambda case: compare(program, case), cases)
        for case, (problem, remark) in zip(cases, results):
            if remark:
                print(f"{case['name']}: {remark}")
            if problem:
                failed += 1
                print(f"FAILED {case['name']}: {problem}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
