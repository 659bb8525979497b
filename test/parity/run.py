#!/usr/bin/env python3
"""Runs a nanoBragg-compatible program over the corpus and compares what it makes. See README.md.

    run.py --bin PROGRAM [--semantics c|default] [--only REGEX] [--jobs N]"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "quirks"))
import model  # shared with the tests of single quirks
NOTICE = re.compile(r"(NOTE: )?default semantics differ")
# Fewer comparisons than this in the default semantics would mean that a notice is printed where none
# is due.
LEAST_DEFAULT_CASES = 130

# A switch that changes a printed number and no pixel.
PRINTED_ONLY = ("solid-angle-sum",)
# Output that the default semantics writes in its own way, tested in test/quirks: the true solid
# angle, and in image headers the beam centre by the convention that DIALS reads.
OWN_STATISTICS = ("solid_angle",)
OWN_KEYWORDS = ("BEAM_CENTER_X", "BEAM_CENTER_Y")

STATISTICS = {
    "max_I": r"^max_I = (\S+)",
    "mean": r"^mean= *(\S+)",
    "rms": r"\brms= *(\S+)",
    "rmsd": r"\brmsd= *(\S+)",
    "intfile_scale": r"^intfile_scale = (\S+)",
    "solid_angle": r"^solid angle subtended by detector = (\S+)",
    "cells": r"xtal: (\d+x\d+x\d+) cells",
    "sources": r"^ *(\d+) sources$",
    "domains": r"^ *(\d+) mosaic domains over",
    "phisteps": r"^ *(\d+) phi steps from",
    "noise_photons": r"^(\d+) photons on noise image",
    "misset": r"^random orientation misset angles: (.*) deg",
}
TEXT_STATISTICS = ("cells", "sources", "domains", "phisteps")


def tolerance(case, precision):
    """Relative and absolute (in units of the largest reference value) tolerance of a pixel."""
    if "chaotic" in case["tags"]:
        return 1e-4, 1e-7
    return (1e-5, 1e-7) if precision == "mixed" else (1e-6, 1e-9)


def compare_image(case, got, want, precision="f64"):
    """None, or what is wrong."""
    if got.size != want.size:
        return f"image has {got.size} pixels instead of {want.size}"
    got = got.reshape(want.shape).astype(float)
    want = want.astype(float)
    if not np.isfinite(got).all():
        return f"{np.count_nonzero(~np.isfinite(got))} pixels are not finite"
    rtol, atol = tolerance(case, precision)
    excess = np.abs(got - want) / (rtol * np.abs(want) + atol * np.abs(want).max() + 1e-300)
    if excess.max() <= 1:
        return None
    slow, fast = np.unravel_index(excess.argmax(), want.shape)
    return (f"{np.count_nonzero(excess > 1)} of {want.size} pixels differ, worst at slow {slow} "
            f"fast {fast}: {got[slow, fast]:.8g} instead of {want[slow, fast]:.8g} "
            f"({excess.max():.3g} x tolerance)")


def compare_statistics(case, console, skip=()):
    """A list of what is wrong with the console lines that other programs parse."""
    problems = []
    for key, want in case["stats"].items():
        if key in skip:
            continue
        found = re.findall(STATISTICS[key], console, re.MULTILINE)
        if not found:
            problems.append(f"no console line gives {key} (expected {want})")
            continue
        got = found[-1]
        if key in TEXT_STATISTICS:
            agree = got == want
        else:
            got_numbers = [float(x) for x in got.split()]
            want_numbers = [float(x) for x in want.split()]
            # One unit in the last of six printed digits; misset angles have six decimals.
            relative = 1e-3 if key == "noise_photons" and "bright" in case["name"] else 1.01e-5
            if "chaotic" in case["tags"]:
                relative = max(relative, 2e-4)
            if key == "noise_photons" and "bright" not in case["name"]:
                relative = 0
            absolute = 2e-6 if key == "misset" else 0
            agree = len(got_numbers) == len(want_numbers) and all(
                abs(g - w) <= relative * abs(w) + absolute
                for g, w in zip(got_numbers, want_numbers))
        if not agree:
            problems.append(f"console gives {key} {got} instead of {want}")
    return problems


def split_side_file(kind, data):
    """Header text and pixels of an SMV or PGM file."""
    if kind == "pgm":
        match = re.match(rb"P5\n(?:#.*\n)?(\d+) (\d+)\n(?:#.*\n)?255\n", data)
        if not match:
            raise ValueError("not a PGM file")
        return data[:match.end()].decode(), np.frombuffer(data[match.end():], np.uint8)
    match = re.search(rb"HEADER_BYTES=\s*(\d+)", data[:512])
    if not match:
        raise ValueError("not an SMV file")
    size = int(match.group(1))
    return data[:size].decode("latin-1"), np.frombuffer(data[size:], "<u2")


def compare_side_file(case, kind, data, reference, skip=()):
    try:
        header, got = split_side_file(kind, data)
    except ValueError as error:
        return [f"{kind} file: {error}"]
    want_header, want = split_side_file(kind, reference)
    problems = []
    if got.size != want.size:
        return [f"{kind} file has {got.size} pixels instead of {want.size}"]
    difference = np.abs(got.astype(int) - want.astype(int))
    if kind == "noise" and case["name"] == "io_noise_bright":
        sigma = np.sqrt(np.maximum(want, 1.0))
        total = abs(got.sum(dtype=float) - want.sum(dtype=float)) / np.sqrt(want.sum(dtype=float))
        if (difference > 8 * sigma + 2).any() or total > 6:
            problems.append(f"noise file is off by more than its statistics ({total:.1f} sigma in all)")
    elif kind == "noise":
        if difference.any():
            problems.append(f"noise file: {np.count_nonzero(difference)} pixels differ")
    elif difference.max() > 1 or np.count_nonzero(difference) > got.size // 1000:
        problems.append(f"{kind} file: {np.count_nonzero(difference)} pixels differ, by up to "
                        f"{difference.max()}")
    if kind != "pgm":
        problems += compare_smv_headers(header, want_header, skip)
    return problems


def compare_smv_headers(header, reference, skip=()):
    """Every keyword of the reference header must be there with its value."""
    keywords = lambda text: dict(re.findall(r"(\w+)=([^;\n]*);?\n", text))
    got, problems = keywords(header), []
    for key, want in keywords(reference).items():
        if key == "HEADER_BYTES" or key in skip:
            continue
        numbers = lambda text: [float(x) for x in text.split(",")]
        try:
            agree = np.allclose(numbers(got.get(key, "nan")), numbers(want), rtol=1.01e-5, atol=1e-12)
        except ValueError:
            agree = got.get(key) == want
        if not agree:
            problems.append(f"SMV header has {key}={got.get(key)} instead of {want}")
    return problems


def wavelength(args):
    """In A, as the flags of a case say; the last counts."""
    value = 1.0
    for flag, word in zip(args, args[1:]):
        if flag in ("-lambda", "-wave"):
            value = float(word)
        elif flag == "-energy":
            value = 12398.42 / float(word)
    return value


def without_cell_quirk(args):
    """The same lattice said in a way on which both semantics agree. Most cases have a triclinic -cell,
    from which the C program makes a lattice with slightly different angles; as a matrix file that
    lattice is what it is. Returns the flags and the text of `lattice.mat`, or None without need."""
    if "-cell" not in args or "-mat" in args or "-mask" in args:
        return None
    start = args.index("-cell") + 1
    cell = []
    for word in args[start:start + 6]:
        if word.startswith("-"):
            break
        cell.append(float(word))
    if len(cell) < 6:
        return None
    vectors = model.real_vectors_c(cell)
    if np.allclose(vectors, model.real_vectors(cell), rtol=0, atol=1e-9):
        return None
    matrix = np.linalg.inv(vectors) * wavelength(args)
    text = "\n".join(" ".join(repr(float(x)) for x in row) for row in matrix) + "\n"
    return args[:start - 1] + ["-mat", "lattice.mat"] + args[start + 6:], text


class Run:
    """The results of one case."""

    def __init__(self, binary, case, semantics, extra):
        args = case["args"]
        lattice = without_cell_quirk(args) if semantics == "default" else None
        if lattice:
            args = lattice[0]
        self.rewritten = bool(lattice)
        expand = lambda words: [w.replace("@IN@", os.path.join(HERE, "inputs")) for w in words]
        side = case.get("side", [])
        # Side files that the case's own flags turn off must stay off.
        outputs = ["-floatfile", "out.bin", "-intfile", "out.img"]
        for kind, flag, name in (("pgm", "-pgmfile", "out.pgm"), ("noise", "-noisefile", "out_n.img")):
            if kind in side:
                outputs += [flag, name]
        with tempfile.TemporaryDirectory() as folder:
            options = dict(cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=120)
            if lattice:
                with open(os.path.join(folder, "lattice.mat"), "w", encoding="utf-8") as file:
                    file.write(lattice[1])
            for words in case.get("before", []):
                subprocess.run([binary, *extra, *expand(words)], **options)
            try:
                process = subprocess.run([binary, *outputs, *extra, *expand(args)], **options)
                self.status, self.console = process.returncode, process.stdout
            except subprocess.TimeoutExpired as expired:
                self.status, self.console = "timeout", (expired.stdout or b"").decode()
            read = lambda name: open(os.path.join(folder, name), "rb").read()
            self.image, self.side = None, {}
            try:
                self.image = np.frombuffer(read("out.bin"), "<f4")
                names = {"int": "out.img", "pgm": "out.pgm", "noise": "out_n.img"}
                self.side = {kind: read(names[kind]) for kind in side}
            except OSError as error:
                self.status = self.status or f"missing output {error.filename}"
        notices = [line for line in self.console.splitlines() if NOTICE.match(line)]
        # "default semantics differ ... (switch): ..."
        switches = [(re.findall(r"\(([\w-]+)\):", line) or ["unstated"])[0] for line in notices]
        self.noticed = bool(notices)
        self.differs = [switch for switch in switches if switch not in PRINTED_ONLY]
        self.own_numbers = semantics == "default"

    def problems(self, case, references, sides, precision="f64"):
        if self.status or self.image is None:
            tail = self.console.strip().splitlines()[-1:] or ["no output"]
            return [f"exit status {self.status}: {tail[0][:300]}"]
        wrong = compare_image(case, self.image, references[case["name"]], precision)
        problems = [wrong] if wrong else []
        if precision == "mixed":
            return problems  # six printed digits and random photons need more digits than it has
        problems += compare_statistics(case, self.console,
                                       OWN_STATISTICS if self.own_numbers else ())
        for kind, data in self.side.items():
            problems += compare_side_file(case, kind, data,
                                          sides[f"{case['name']}.{kind}"].tobytes(),
                                          OWN_KEYWORDS if self.own_numbers else ())
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--semantics", choices=("c", "default", "none"), default="c",
                        help="none: no flag and no notice, for the C program itself")
    parser.add_argument("--precision", choices=("f64", "mixed"), default="f64",
                        help="mixed: images alone are compared, to 1e-5 and 1e-7 of the brightest")
    parser.add_argument("--device", choices=("cpu", "gpu-on-cpu"),
                        help="as nb-sim's; the image has to come from its kernel")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    # Parallel over cases, so that each run gets one thread.
    # Domains of the laboratory, lest each case with a mosaic spread be another image.
    extra = {"c": ["-compat", "c", "--threads=1"], "default": ["--threads=1", "--noise=serial", "-mosaic_lab"],
             "none": []}
    if options.precision != "f64":
        extra[options.semantics].append(f"--precision={options.precision}")
    if options.device:
        # Otherwise the interpreter would hide that a kernel cannot be made.
        extra[options.semantics] += [f"--device={options.device}", "--no-fallback"]
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as file:
        cases = [c for c in json.load(file)["cases"] if re.search(options.only, c["name"])]
    archive = np.load(os.path.join(HERE, "reference.npz"))
    references = {c["name"]: archive[c["name"]] for c in cases}
    side_archive = np.load(os.path.join(HERE, "side.npz"))
    sides = {name: side_archive[name] for name in side_archive.files}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(
            lambda case: Run(binary, case, options.semantics, extra[options.semantics]), cases))

    passed, failed, excluded, needless = 0, 0, collections.Counter(), []
    for case, run in zip(cases, runs):
        if options.semantics == "default" and run.differs and not run.status:
            excluded[" + ".join(sorted(set(run.differs)))] += 1
            if compare_image(case, run.image, references[case["name"]]) is None:
                needless.append(case["name"])
            continue
        if options.semantics == "c" and run.noticed:
            print(f"FAILED {case['name']}: -compat c says that default semantics differ")
            failed += 1
            continue
        problems = run.problems(case, references, sides, options.precision)
        if problems:
            failed += 1
            print(f"FAILED {case['name']} {case['tags'] or ''}")
            for problem in problems:
                print(f"    {problem}")
        else:
            passed += 1

    if options.semantics == "default":
        print(f"{sum(run.rewritten for run in runs)} cases with a triclinic -cell were given the C "
              "program's lattice as a matrix")
    for reason, count in excluded.most_common():
        print(f"excluded {count} cases: {reason}")
    if needless:
        print(f"of these, {len(needless)} have the C program's image all the same: "
              + " ".join(needless))
    if options.semantics == "default" and not options.only and passed + failed < LEAST_DEFAULT_CASES:
        print(f"only {passed + failed} cases compared, expected {LEAST_DEFAULT_CASES} or more")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
