#!/usr/bin/env python3
"""Lets single calls of nb-sim fail, and kills it.

    faults_test.py NB_SIM NB_CACHE FILE_COMPILER FAIL_CALL_LIBRARY [--every] [--kills N] [--seed S]

Each run starts from a folder with the outputs of an earlier run. Whatever happens, an output is what it was or
complete, nothing else is left in the folder, the run says in one sentence what was wrong, and the kernel cache serves the
next run. With --every, each call of each function fails in turn, which takes minutes; without, every call of the rare ones and
a sample of the others. The compiler is a stand-in whose kernels are files: LLVM ends the process
when it gets no memory, and promises nothing else."""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

CALLS = ("write", "fallocate", "rename", "fsync", "close", "open", "read", "stat", "mmap", "memfd_create",
         "ftruncate", "pthread_create", "malloc")
SAMPLE = 24  # calls of one function, without --every
COMMAND = ("-cell 100 100 100 90 90 90 -hkl in.hkl -default_F 10 -N 5 -lambda 1 -distance 100 "
           "-detpixels 96 -oversample 1 -seed 1 -dump out.dump --png=out.png --timing=out.json "
           "--threads=2").split()
OUTPUTS = ("floatimage.bin", "intimage.img", "image.pgm", "noiseimage.img", "out.dump", "out.png",
           "out.json")
VARYING = ("out.json",)  # it holds times


def earlier(name):
    return b"an earlier " + name.encode()


class Machine:
    """A folder for outputs and one for kernels, made anew for each run."""

    def __init__(self, words):
        self.words = words
        self.folder = tempfile.mkdtemp(prefix="nb-faults-")
        self.work = os.path.join(self.folder, "work")
        self.kernels = os.path.join(self.folder, "kernels")
        self.count = os.path.join(self.folder, "count")
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=words.compiler,
                                NB_CACHE_DIR=self.kernels)
        for name in ("NB_CACHE", "NB_CACHE_SIZE", "NB_TEST_BUILD_SECONDS", "NB_TEST_BUILD_LOG"):
            self.environment.pop(name, None)

    def prepare(self, cached):
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        if not cached:
            shutil.rmtree(self.kernels, ignore_errors=True)
        with open(os.path.join(self.work, "in.hkl"), "w") as file:
            file.write("0 0 1 10\n1 2 3 20\n-2 0 1 5\n")
        for name in OUTPUTS:
            with open(os.path.join(self.work, name), "wb") as file:
                file.write(earlier(name))

    def start(self, **environment):
        return subprocess.Popen([self.words.nb_sim, *COMMAND], cwd=self.work,
                                env={**self.environment, **environment}, text=True,
                                errors="replace", stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, **environment):
        process = self.start(**environment)
        try:
            process.out, process.err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.out, process.err = process.communicate()
            process.err += "\n(killed: it had not ended after a minute)"
        return process

    def run_failing(self, call, number):
        """The process, and how often it made the call."""
        with open(self.count, "wb") as file:
            file.write(bytes(8))
        process = self.run(LD_PRELOAD=self.words.library, NB_FAIL_CALL=call,
                           NB_FAIL_NUMBER=str(number), NB_FAIL_COUNT=self.count)
        with open(self.count, "rb") as file:
            made, = struct.unpack("=Q", file.read())
        return process, made

    def outputs(self):
        found = {}
        for name in os.listdir(self.work):
            with open(os.path.join(self.work, name), "rb") as file:
                found[name] = file.read()
        found.pop("in.hkl")
        return found


class Judge:
    """Says what is wrong after a run."""

    def __init__(self, machine):
        self.machine = machine
        machine.prepare(cached=False)
        process = machine.run()
        if process.returncode != 0:
            sys.exit(f"the run without faults fails: {process.err}")
        self.good = machine.outputs()
        if set(self.good) != set(OUTPUTS):
            sys.exit(f"the run without faults leaves {sorted(self.good)}")

    def is_complete(self, name, content):
        if name in VARYING:
            return content.startswith(b"{") and content.rstrip().endswith(b"}")
        return content == self.good[name]

    def of_outputs(self, killed, all_new):
        found = self.machine.outputs()
        for name in OUTPUTS:
            content = found.pop(name, None)
            if content is None:
                yield f"{name} is lost"
            elif content == earlier(name):
                if all_new:
                    yield f"{name} is not written although the run ended well"
            elif not self.is_complete(name, content):
                yield f"{name} is half-written: {len(content)} bytes"
        for name in found:
            # A process cannot clean up at kill -9; the next run does.
            if not (killed and name.endswith(".part")):
                yield f"{name} is left behind"

    def of_process(self, process):
        errors = [line for line in process.err.splitlines() if line.startswith("nb-sim: error: ")]
        if process.returncode < 0:
            yield f"it died of {signal.Signals(-process.returncode).name}: {process.err[-300:]}"
        elif process.returncode != 0 and len(errors) != 1:
            yield f"status {process.returncode} with {len(errors)} sentences: {process.err[-300:]}"
        elif errors and not re.search(r"\w+ \w+", errors[0][15:]):
            yield f"no sentence: {errors[0]}"

    def of_cache(self):
        verify = subprocess.run([self.machine.words.nb_cache, "verify"], text=True,
                                env=self.machine.environment, capture_output=True)
        if verify.returncode != 0:
            yield f"the cache is damaged: {verify.stdout}{verify.stderr}"
        self.machine.prepare(cached=True)
        process = self.machine.run()
        if process.returncode != 0:
            yield f"the next run fails: {process.err[-300:]}"
        for problem in self.of_outputs(killed=False, all_new=True):
            yield f"after the next run, {problem}"


class Report:
    def __init__(self):
        self.problems = collections.Counter()
        self.runs = self.survived = 0

    def add(self, where, problems):
        for problem in problems:
            kind = re.sub(r"\d+", "N", problem)
            self.problems[kind] += 1
            if self.problems[kind] <= 5:
                print(f"{where}: {problem}", flush=True)


def chosen_numbers(made, every, chance):
    numbers = range(1, made + 1)
    if every or made <= SAMPLE:
        return numbers
    # The ends are where most things are opened and published.
    return sorted({*numbers[:5], *numbers[-5:], *chance.sample(numbers, SAMPLE - 10)})


def fail_calls(judge, report, words, chance):
    machine = judge.machine
    for call in words.calls or CALLS:
        for cached in (False, True):
            machine.prepare(cached=False)
            if cached:
                machine.run()
                machine.prepare(cached=True)
            _, made = machine.run_failing(call, 0)
            refused = 0
            numbers = chosen_numbers(made, words.every, chance)
            for number in numbers:
                machine.prepare(cached)
                if cached and not os.path.isdir(machine.kernels):
                    machine.run()
                    machine.prepare(cached)
                process, _ = machine.run_failing(call, number)
                where = f"{call} {number} of {made}{', kernel in the cache' * cached}"
                ended_well = process.returncode == 0
                refused += not ended_well
                report.runs += 1
                report.add(where, judge.of_process(process))
                report.add(where, judge.of_outputs(False, ended_well))
                if not cached or words.every:
                    report.add(where, judge.of_cache())
            print(f"{call}{' with the kernel in the cache' * cached}: {made} calls, failed "
                  f"{len(numbers)} of them, {refused} runs refused", flush=True)


def kill(judge, report, kills, chance):
    machine = judge.machine
    machine.prepare(cached=False)
    begin = time.monotonic()
    machine.run()
    duration = time.monotonic() - begin
    finished = 0
    for _ in range(kills):
        machine.prepare(cached=chance.random() < 0.5)
        process = machine.start()
        delay = chance.uniform(0, 1.2 * duration)
        try:
            process.communicate(timeout=delay)
            finished += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        where = f"kill -9 after {delay:.4f} s"
        report.runs += 1
        report.add(where, judge.of_outputs(True, process.returncode == 0))
        machine.run()
        report.add(where + ", then a whole run", judge.of_outputs(False, True))
        report.add(where, judge.of_cache())
    print(f"{kills} runs killed at random moments of the first {1.2 * duration:.3f} s, "
          f"{finished} had ended before")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("nb_sim", "nb_cache", "compiler", "library"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--every", action="store_true", help="fail each call, not a sample")
    parser.add_argument("--calls", nargs="*", choices=CALLS, help="only these")
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    words = parser.parse_args()
    print(f"seed {words.seed}", flush=True)
    chance = random.Random(words.seed)
    machine, report = Machine(words), Report()
    try:
        judge = Judge(machine)
        kill(judge, report, words.kills, chance)
        fail_calls(judge, report, words, chance)
    finally:
        shutil.rmtree(machine.folder)
    print(f"{report.runs} runs, {sum(report.problems.values())} problems")
    for kind, times in report.problems.most_common():
        print(f"  {times} x {kind}")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
