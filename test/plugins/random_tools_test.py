#!/usr/bin/env python3
"""random_tools_test.py --seed 1 --programs 3 --plugin LorentzFactor.so BIN_DIR

Random programs with an op of docs/examples/plugin go through all programs that take programs: both engines and the
gradient agree, reports and reductions contain the op, and kernels are made of it."""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FLAGS = ("-cell 70 80 90 85 95 100 -default_F 100 -N 5 -lambda 1 -distance 100 -detpixels 24 -mosaic 1 "
         "-mosaic_domains 2 -misset 10 20 30 --quiet").split()


def with_foreign_ops(program, rng):
    """The program of an experiment with random numbers of the foreign op on the way from the lattice factor to the light."""
    before, line, after = re.split(r"(.*%F_latt = .*\n)", program, maxsplit=1)
    indent = line[:len(line) - len(line.lstrip())]
    lines, scope = [], ["%F_latt"]

    def new(text):
        lines.append(f"{indent}%own{len(lines)} = {text}\n")
        return f"%own{len(lines) - 1}"

    for _ in range(rng.randint(1, 4)):
        index, cells = "%hkl", "%ncells"
        if rng.random() < 0.5:
            index = new(f"nb.scale %hkl, {new(f'arith.constant {rng.uniform(0.5, 2):.6f} : f64')} : !nb.vec3<f64>")
        factor = new(f"own.lorentz_factor {index}, {cells} : !nb.vec3<f64>")
        other = rng.choice(scope)
        kind = rng.randrange(4)
        if kind == 0:
            factor = new(f"math.sqrt {new(f'math.absf {factor} : f64')} : f64")
        elif kind == 1:
            factor = new(f"math.tanh {factor} : f64")
        scope.append(new(f"arith.{rng.choice(['addf', 'mulf'])} {factor}, {other} : f64"))
    return before + line + "".join(lines) + re.sub(r"%F_latt\b", scope[-1], after)


class Tools:
    def __init__(self, options, folder):
        self.bin, self.folder, self.plugin = pathlib.Path(options.bin), folder, f"--plugin={options.plugin}"

    def run(self, tool, *words, status=0):
        command = [self.bin / tool, *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=300)
        if done.returncode != status:
            raise AssertionError(f"{' '.join(map(str, command))} ends with {done.returncode}, not {status}:\n"
                                 f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout

    def check(self):
        program = ["p.mlir", self.plugin]
        again = self.run("nb-opt", *program)
        contains("own.lorentz_factor", again, "what nb-opt prints")
        contains("the engines agree", self.run("nb-run", *program, "--compare-engines", "--", *FLAGS), "nb-run")
        # Status 1: neither image nor gradient differs, and there are both.
        self.run("nb-try", *program, *FLAGS, "--is=differs", "--grad=ncells_a,misset_x,cell_b", status=1)
        self.run("nb-try", *program, *FLAGS, "--is=fails", "--grad=ncells_a,misset_x,cell_b", status=1)
        contains("own.lorentz_factor", self.run("nb-explore", *program, *FLAGS, "--text", "--no-judge"), "nb-explore")
        reduced = self.run("nb-reduce", *program, "--quiet", "--because=grep -q own.lorentz_factor {}")
        contains("own.lorentz_factor", reduced, "what nb-reduce leaves")
        if len(reduced.splitlines()) > len(again.splitlines()) / 2:
            raise AssertionError("nb-reduce leaves more than half of the program")
        contains("image_run_tile", self.run("nb-compile", *program, "--emit=asm"), "nb-compile")
        contains("bound", self.run("nb-compile", *program, "--emit=stats"), "nb-compile --emit=stats")


def contains(text, whole, what):
    if text not in whole:
        raise AssertionError(f"{what} has no '{text}':\n{whole[-1500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("bin")
    options = parser.parse_args()
    print(f"first seed {options.seed}", flush=True)
    failed = 0
    for seed in range(options.seed, options.seed + options.programs):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tools = Tools(options, folder)
            text = with_foreign_ops(tools.run("nb-sim", *FLAGS, "--emit=nb"), random.Random(seed))
            (folder / "p.mlir").write_text(text)
            try:
                tools.check()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"seed {seed}: {error}\n{text}")
    print(f"{options.programs} programs, {failed} of them failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
