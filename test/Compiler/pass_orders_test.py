#!/usr/bin/env python3
"""Random orders of passes on programs of a few experiments end in a program or in an error with a
place: nb-opt neither crashes nor hangs.

    pass_orders_test.py NB_OPT NB_SIM [--seconds=S] [--seed=N]

Prints the seed, and for each order that failed the command that shows it."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

EXPERIMENTS = (
    "-cell 100 -default_F 1 -N 5 -detpixels 16",
    "-cell 100 -default_F 1 -N 5 -detpixels 16 -mosaic 1 -mosaic_domains 3 -twotheta 20 -osc 1 -phisteps 2",
    "-cell 70 -default_F 1 -N 8 -detpixels 16 -round_xtal -oversample 2 -dispersion 0.1 -dispsteps 2",
    "-cell 70 -default_F 1 -N 8 -detpixels 16 -gauss_xtal -detector_thick 100 -detector_thicksteps 2",
)
PARAMETERS = ("cell_a", "distance", "twotheta", "mosaic_spread", "wavelength", "fluence")
PLAIN = (
    "cse", "canonicalize", "nb-erase-probes", "nb-insert-probes{all=true}", "nb-fuse-response",
    "nb-peel-miller-index", "nb-hoist-invariants", "nb-tabulate-invariants", "nb-split-sums",
    "nb-factor-sums", "nb-remove-branches", "nb-fuse", "nb-set-precision{precision=mixed}",
    "nb-set-precision{precision=f32}", "nb-vectorize{width=4}", "convert-nb-to-loops",
    "convert-nb-to-loops{concurrent=true}", "convert-nb-to-arith", "nb-outline-kernel", "nb-to-gpu",
    "nb-relieve-registers", "nb-gpu-to-loops", "nb-sum-over-warps", "nb-erase-launches",
)
MODES = ("vjp", "jvp", "jacobian", "hvp")


def sequence(dice):
    """Passes in any order; more often than not, nb's own come first, so that some get far."""
    passes = [dice.choice(PLAIN) for _ in range(dice.randint(1, 9))]
    if dice.random() < 0.6:
        passes.sort(key=lambda name: PLAIN.index(name) + dice.uniform(-4, 4))
    if dice.random() < 0.5:
        names = dice.sample(PARAMETERS, dice.randint(1, 2))
        derivative = f"nb-differentiate{{mode={dice.choice(MODES)} parameters={','.join(names)}}}"
        passes.insert(dice.randint(0, len(passes)), derivative)
    return "builtin.module(" + ",".join(passes) + ")"


def problem(nb_opt, path, pipeline):
    """None, or what is wrong with how nb-opt ended."""
    try:
        run = subprocess.run([nb_opt, path, f"--pass-pipeline={pipeline}", "-o", os.devnull],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "did not end in 60 s"
    if run.returncode < 0 or "PLEASE submit a bug report" in run.stderr:
        return f"status {run.returncode}: {run.stderr[:400]}"
    if run.returncode and f"{os.path.basename(path)}:" not in run.stderr:
        return f"an error without a place: {run.stderr[:400]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nb_opt")
    parser.add_argument("nb_sim")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    dice = random.Random(seed)
    failures, count, end = 0, 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for i, flags in enumerate(EXPERIMENTS):
            path = os.path.join(folder, f"experiment{i}.mlir")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([os.path.abspath(options.nb_sim), *flags.split(), "--quiet", "--emit=nb"], stdout=file,
                               cwd=folder, check=True)
            programs.append((path, flags))
        while time.monotonic() < end:
            (path, flags), pipeline = dice.choice(programs), sequence(dice)
            count += 1
            wrong = problem(options.nb_opt, path, pipeline)
            if wrong:
                failures += 1
                print(f"nb-sim {flags} --emit=nb | nb-opt --pass-pipeline='{pipeline}'\n  {wrong}")
    print(f"{count} orders, {failures} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
