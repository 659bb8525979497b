#!/usr/bin/env python3
"""Do the tests fail when our own code is wrong?

    mutate.py check                       does every mutant of mutants.toml still find its place?
    mutate.py build FOLDER                a copy of the sources with all mutants in it, built there
    mutate.py run FOLDER                  switches them on one after another and runs the tests that ought
                                          to fail; prints the survivors and the share that was caught
    mutate.py all FOLDER                  the three of them

Results of a run are kept in FOLDER/results.json as long as the sources stay the same: the next run goes on with
what is missing.

All mutants are compiled at once: `from` becomes `(nbMutant(N) ? to : from)`, and the environment variable NB_MUTANT
says which of them is on. So one build serves all of them, and a mutant costs no more than its tests."""

import argparse
import collections
import functools
import hashlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SWITCH = """#include <cstdlib>
namespace {
inline bool nbMutant(int number) {
  static const char *text = std::getenv("NB_MUTANT");
  static const int chosen = text ? std::atoi(text) : 0;
  return chosen == number;
}
} // namespace
"""
# Where code that a .td file holds is compiled.
COMPILED_IN = {"dialect/GeometryOps.td": "dialect/NBOps.cpp",
               "dialect/DiffractionOps.td": "dialect/NBOps.cpp"}
# The tests of each group, run in the build folder; {python} is the interpreter, {source} the copy.
TESTS = {
    "rules": [["bin/nb-derivatives-test"]],
    "interpreter": [["bin/nb-interpreter-test"], ["{lit}", "-sv", "--workers", "2", "test/Interpreter"]],
    "passes": [["{lit}", "-sv", "--workers", "2", "test/Transforms"]],
    "loops": [["{lit}", "-sv", "--workers", "2", "test/Conversion"]],
    "frontend": [["{lit}", "-sv", "--workers", "2", "test/Frontend"]],
    "random": [["bin/nb-random-test", "--seed=1", "--trials=4"]],
    "gradients": [["bin/nb-gradcheck-test", "--gtest_filter=*RandomExperiments*:*Adjoint*"]],
    "parity": [["{python}", "-B", "{source}/test/parity/run.py", "--bin", "bin/nb-sim",
                "--semantics", "c", "--jobs", "2"]],
    "quirks": [["{python}", "-B", "{source}/test/quirks/quirks.py"]],
    "disorder": [["{python}", "-B", "{source}/test/background/disorder_test.py", "bin/nb-sim", "-f"]],
    "background": [["{python}", "-B", "{source}/test/background/background_test.py", "bin/nb-sim",
                    "bin/nb-gradcheck", "-f"]],
    "response": [["{python}", "-B", "{source}/test/response/response_test.py", "bin/nb-sim",
                  "bin/nb-gradcheck", "-f"]],
    "energies": [["{python}", "-B", "{source}/test/energies/energies_test.py", "bin/nb-sim",
                  "bin/nb-gradcheck", "-f"]],
    "averages": [["{python}", "-B", "{source}/test/averages/closed_test.py", "-f"]],
    "noise": [["bin/nb-io-test", "--gtest_filter=*Noise*:*Poisson*:*PointSpread*:*FourierSpread*"]],
    "losses": [["bin/nb-gradcheck-test", "--gtest_filter=Loss*"]],
    "culling": [["{python}", "-B", "{source}/test/culling/culling_test.py", "-f"],
                ["bin/nb-cull-derivatives-test"]],
}
TARGETS = ["nb-derivatives-test", "nb-interpreter-test", "nb-opt", "nb-run", "nb-random-test", "nb-sim",
           "nb-gradcheck-test", "nb-gradcheck", "nb-io-test", "nb-cull-derivatives-test", "nb-compiler",
           "nb-lsp-server", "nb-gemmi"]
# A mutant that hangs is caught: by processor time, since on a machine that others use the clock says little.
PROCESSOR_SECONDS, SECONDS = 300, 3600
# Code moves. So many of the mutants may have lost their place before somebody has to look.
MOST_LOST = 0.1


def mutants():
    with open(os.path.join(HERE, "mutants.toml"), "rb") as file:
        found = tomllib.load(file)["mutant"]
    for number, mutant in enumerate(found, 1):
        mutant["number"] = number
    return found


def place(mutant, text):
    """Begin and end of what the mutant replaces; None where that is gone, which is said."""
    anchor = text.find(mutant["after"])
    begin = text.find(mutant["from"], anchor) if anchor >= 0 else -1
    if begin < 0:
        missing = "after" if anchor < 0 else "from"
        print(f"{mutant['name']}: {mutant['file']} has no {mutant[missing]!r}")
        return None
    return begin, begin + len(mutant["from"])


def replacement(mutant, original):
    choice = f"nbMutant({mutant['number']})"
    if mutant.get("raw"):
        return mutant["to"].replace("{m}", str(mutant["number"]))
    if not mutant["to"]:
        return f"if (!{choice}) {original}"
    return f"({choice} ? ({mutant['to']}) : ({original}))"


def mutated(text, of_file):
    """The text with the mutants of its file, and those that have a place in it. Several of one place
    are chosen among."""
    at = collections.defaultdict(list)
    for mutant in of_file:
        found = place(mutant, text)
        if found:
            at[found].append(mutant)
    last = len(text) + 1
    for (begin, end), there in sorted(at.items(), reverse=True):
        if end > last:
            sys.exit(f"mutants of {there[0]['file']} overlap: {there[0]['name']}")
        new = text[begin:end]
        for mutant in there:
            new = replacement(mutant, new)
        text = text[:begin] + new + text[end:]
        last = begin
    return text, [mutant for there in at.values() for mutant in there]


def by_file(all_mutants):
    files = collections.defaultdict(list)
    for mutant in all_mutants:
        files[mutant["file"]].append(mutant)
    return files


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    if os.path.exists(path) and read(path) == text:
        return  # not built again
    with open(path, "w") as file:
        file.write(text)


def check():
    every, placed = mutants(), 0
    for file, of_file in by_file(every).items():
        path = os.path.join(ROOT, file)
        placed += len(mutated(read(path), of_file)[1]) if os.path.exists(path) else 0
    print(f"{placed} of {len(every)} mutants have a place")
    unknown = {group for mutant in every for group in mutant["tests"]} - TESTS.keys()
    for group in sorted(unknown):
        print(f"there are no tests '{group}'")
    return 1 if unknown or len(every) - placed > MOST_LOST * len(every) else 0


def build(folder):
    source = os.path.join(folder, "source")
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.split("\0")[:-1]
    files = by_file(mutants())
    built, digest = [], hashlib.sha256()
    switched = {COMPILED_IN.get(name, name) for name in files}
    for name in names:
        origin, target = os.path.join(ROOT, name), os.path.join(source, name)
        if not os.path.isfile(origin):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(origin, "rb") as file:
            content = file.read()
        digest.update(name.encode() + b"\0" + content + b"\0")
        if name in files or name in switched:
            text = read(origin)
            if name in files:
                text, placed = mutated(text, files[name])
                built += placed
            write(target, SWITCH * (name in switched) + text)
        elif name == "test/lit.cfg.py":
            write(target, read(origin) + '\nconfig.environment["NB_MUTANT"] = '
                                         'os.environ.get("NB_MUTANT", "0")\n')
        else:
            if not os.path.exists(target) or open(target, "rb").read() != content:
                with open(target, "wb") as file:
                    file.write(content)
                os.chmod(target, os.stat(origin).st_mode)
    if not os.path.exists(os.path.join(source, "build", "build.ninja")):
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
        have = subprocess.run(["which", "ccache"], capture_output=True).returncode == 0
        subprocess.run(["cmake", "--preset", "release", *launcher * have], cwd=source, check=True)
    subprocess.run(["ninja", "-k", "0", "-C", os.path.join(source, "build"), *TARGETS], check=True)
    write(os.path.join(folder, "mutants.json"),
          json.dumps({"sources": digest.hexdigest(), "mutants": sorted(built, key=lambda mutant: mutant["number"])}))


def limit_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def fails(command, source, number):
    words = []
    for word in command:
        if word == "{lit}":
            words += [sys.executable, "/usr/lib/llvm-22/bin/lit"]
        else:
            words.append(word.format(python=sys.executable, source=source))
    with tempfile.TemporaryDirectory() as cache:  # one cache for each mutant
        environment = dict(os.environ, NB_MUTANT=str(number), NB_CACHE_DIR=cache,
                           NB_SIM=os.path.join(source, "build/bin/nb-sim"))
        try:
            done = subprocess.run(words, cwd=os.path.join(source, "build"), env=environment, capture_output=True,
                                  timeout=SECONDS, preexec_fn=limit_processor_time)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


class Results:
    """By the number of a mutant: the group of tests that caught it, or None; of these sources."""

    def __init__(self, folder, sources):
        self.file, self.sources = os.path.join(folder, "results.json"), sources
        kept = json.loads(read(self.file)) if os.path.exists(self.file) else {}
        self.caught = kept.get("caught_by", {}) if kept.get("sources") == sources else {}

    def __contains__(self, mutant):
        return str(mutant["number"]) in self.caught

    def of(self, mutant):
        return self.caught[str(mutant["number"])]

    def add(self, mutant, group):
        self.caught[str(mutant["number"])] = group
        write(self.file + ".new", json.dumps({"sources": self.sources, "caught_by": self.caught}))
        os.replace(self.file + ".new", self.file)


def run(folder, only, sample, seed):
    source = os.path.join(os.path.abspath(folder), "source")
    built = json.loads(read(os.path.join(folder, "mutants.json")))
    every, results = built["mutants"], Results(folder, built["sources"])
    chosen = [m for m in every if re.search(only, f"{m['file']}: {m['name']}")]
    if sample:
        chosen = random.Random(seed).sample(chosen, min(sample, len(chosen)))
    missing = [mutant for mutant in chosen if mutant not in results]

    @functools.cache
    def commands(group):
        for command in TESTS[group]:
            if fails(command, source, 0):
                sys.exit(f"the tests '{group}' fail without a mutant: {' '.join(command)}")
        return TESTS[group]

    for mutant in missing:
        begin = time.monotonic()
        by = next((group for group in mutant["tests"]
                   if any(fails(command, source, mutant["number"]) for command in commands(group))), None)
        seconds = time.monotonic() - begin
        results.add(mutant, by)
        print(f"{mutant['number']:3} {'caught by ' + by if by else 'SURVIVES':20} {seconds:5.1f} s  "
              f"{mutant['name']}", flush=True)
    survivors = [mutant for mutant in chosen if results.of(mutant) is None]
    caught = collections.Counter(results.of(mutant) for mutant in chosen if results.of(mutant))
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants caught, of {len(every)} that there are: " +
          ", ".join(f"{count} by {group}" for group, count in caught.most_common()))
    for mutant in survivors:
        print(f"SURVIVES: {mutant['name']} ({mutant['file']})")
    return 1 if survivors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "build", "run", "all"))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--only", default="", help="mutants whose file or name has this")
    parser.add_argument("--sample", type=int, help="so many of them, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    words = parser.parse_args()
    if words.what != "check" and not words.folder:
        parser.error("a folder is needed")
    status = check() if words.what in ("check", "all") else 0
    if words.what in ("build", "all") and status == 0:
        build(words.folder)
    if words.what in ("run", "all") and status == 0:
        status = run(words.folder, words.only, words.sample, words.seed)
    return status


if __name__ == "__main__":
    sys.exit(main())
