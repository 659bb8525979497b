#!/usr/bin/env python3
"""All comparisons of whole commands, as the page docs/benchmarks/commands.md and a line of its history.

    page.py BUILD OUT.md HISTORY.csv [--reference=NANOBRAGG] [--before=NB_SIM] [--frameworks=PYTHON] [--pairs=N] [--pixels=N] [--domains=N]

Processes run in turn: nb-sim of BUILD, the C program (--reference), an earlier nb-sim (--before). For each pair the ratio of
processor times counts; the page has their median, least and most. --frameworks names a Python with JAX, PyTorch or Dr.Jit, for
frameworks/frameworks.py; without it BUILD's own, if that has JAX. Lines that are not measured are named on the page."""

import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENT = ("-hkl {hkl} -cell 63.4 63.4 83.8 90 90 120 -misset 12 34 56 -lambda 1 -distance 280 -detpixels {pixels} "
              "-pixel {size} -N 10 -mosaic 0.4 -mosaic_dom {domains} -oversample 1 -fluence 1e25 -nopgm -nonoise "
              "-floatfile float.bin -intfile int.img")
COLUMNS = ("commit", "date", "processor", "pixels", "precision", "against", "pairs", "median", "least", "most")


def seconds(command, folder):
    """Processor time of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pairs(ours, other, count):
    """Seconds of ours and the other's, median each; the ratios other / ours, sorted."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (ours, other):  # compiles, and reads the list of reflections
            seconds(command, folder)
        times = [(seconds(ours, folder), seconds(other, folder)) for _ in range(count)]
    return [statistics.median(column) for column in zip(*times)], sorted(b / a for a, b in times)


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip()


def frameworks(python, build, *sizes):
    """Rows like those of pairs: value and gradient of one formula, a process of each framework in turn."""
    if not os.path.exists(python):
        return []
    done = subprocess.run([python, ROOT / "test/bench/frameworks/frameworks.py", *sizes, "--json"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(build.resolve() / "python")})
    sys.stderr.write(done.stderr)
    if done.returncode:
        sys.exit("frameworks.py failed")
    found = json.loads(done.stdout)
    own = found.pop("nanobragg")
    return [("f64 gradient", f"{name} {version(python, name)}", statistics.median(own), statistics.median(times),
             sorted(b / a for a, b in zip(own, times))) for name, times in found.items()]


def version(python, framework):
    module = framework.removesuffix("-compile")
    return said(python, "-c", f"import {module}; print({module}.__version__.split('+')[0])")


def table(rows):
    return ["| run | compared with | nb-sim, ms | other, ms | ratio: median (least to most) |", "|---|---|--:|--:|--:|",
            *(f"| {what} | {against} | {1e3 * own:.1f} | {1e3 * other:.1f} | {statistics.median(ratios):.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f}) |" for what, against, own, other, ratios in rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("build", "out", "history"):
        parser.add_argument(name, type=pathlib.Path)
    for name in ("--reference", "--before", "--frameworks"):
        parser.add_argument(name)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--pixels", type=int, default=1024)
    parser.add_argument("--domains", type=int, default=10)
    args = parser.parse_args()

    words = EXPERIMENT.format(hkl=ROOT / "test/data/1hpv_3.0A.hkl", pixels=args.pixels, size=204.8 / args.pixels,
                              domains=args.domains).split()
    nb_sim = str((args.build / "bin/nb-sim").resolve())
    rows, missing = [], []
    for precision in ("f64", "mixed"):
        ours = [nb_sim, *words, f"--precision={precision}", "--threads=1", "--quiet"]
        for against, program, extra in (("C program", args.reference, []),
                                        ("nb-sim before", args.before, ours[len(words) + 1:])):
            if not program:
                missing.append(against)
                continue
            (own, other), ratios = pairs(ours, [os.path.abspath(program), *words, *extra], args.pairs)
            rows.append((precision, against, own, other, ratios))
            print(f"{precision}, {against}: {statistics.median(ratios):.2f} times", flush=True)

    commit, today = said("git", "rev-parse", "--short=10", "HEAD") or "unknown", datetime.date.today().isoformat()
    lines = ["# Benchmarks of whole commands", "",
             "How long whole commands take, on one machine. `test/bench/page.py` wrote this page and its history.", "",
             f"{today}, commit {commit}, {said(nb_sim, '--version')}, {processor()}, {platform.system()} "
             f"{platform.release().split('-')[0]}, load {os.getloadavg()[0]:.1f}.",
             f"{args.pixels} x {args.pixels} pixels, {args.domains} mosaic domains, N = 10, one thread, processor time of the whole process.",
             f"Both programs were run alternately, {args.pairs} times each. A ratio above 1: the other program takes longer.",
             '"nb-sim before" is an earlier build.', "", "```sh",
             f"nb-sim {' '.join(words).replace(str(ROOT) + '/', '')}", "```", ""]
    lines += table(rows)
    python, pixels = args.frameworks or str(args.build / "venv/bin/python"), min(args.pixels, 256)
    others = frameworks(python, args.build, f"--pixels={pixels}", f"--domains={args.domains}", f"--repeat={max(2, args.pairs // 3)}")
    if others:
        lines += ["", f"Value and gradient of one formula in other frameworks, {pixels} x {pixels} pixels, {args.domains} domains, one thread,",
                  f"processor time of the fastest call in each process; {len(others[0][-1])} processes of each framework, run alternately:",
                  "", *table(others)]
    else:
        missing.append("frameworks")
    if missing:
        lines += ["", f"Not measured in this run: {', '.join(dict.fromkeys(missing))}."]
    args.out.write_text("\n".join(lines) + "\n")

    fresh = not args.history.exists()
    with args.history.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(COLUMNS)
        for measured, size in ((rows, args.pixels), (others, pixels)):
            for what, against, _, _, ratios in measured:
                writer.writerow((commit, today, processor(), size, what, against, len(ratios),
                                 f"{statistics.median(ratios):.2f}", f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"))
    print(f"{len(rows)} comparisons of commands, {len(others)} of frameworks: {args.out}, {args.history}")


if __name__ == "__main__":
    main()
