#!/usr/bin/env python3
"""Passes of MLIR's and of the project's at random places of the compiler's pipeline: each order makes the image
that the interpreter makes of the program as it was written, or is an error that names the pass, or the op and the
pass that it waits for. Nothing crashes or hangs.

    random_pipelines_test.py NB_TRY [--seconds=S] [--seed=N] [--orders=N] [--table]

Prints the seed, the command of each order that failed, and how many made a right image, by stage; with --table by
pass, and what was refused."""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import time

# Flags of small experiments with what makes programs differ: shapes, loops, tables, detectors.
COMMON = "-default_F 100 -cell 70 80 90 85 95 100 -misset 10 20 30 -lambda 1 -distance 100 -detpixels 12 --quiet"
EXPERIMENTS = ("-N 5 -mosaic 0.5 -mosaic_domains 3", "-N 5 -round_xtal -oversample 2", "-N 5 -gauss_xtal -mosaic 0.5 -mosaic_domains 2",
               "-N 5 -dispersion 0.1 -dispsteps 2 -osc 1 -phisteps 2", "-N 4 -detector_thick 100 -detector_thicksteps 2 -curved_det",
               "-N 5 -mosaic 0.5 -mosaic_domains 3 --precision=mixed", "-N 3 -tophat_spots -oversample 2 -hdivrange 1 -hdivsteps 2")
# Behind each stage of nb-cpu-pipeline; "" is the program as it was written.
STAGES = ("", "response", "hoist", "branches", "fuse", "precision", "peel", "lanes", "loops", "arith", "outline", "llvm")
# Passes of the project, wherever they stand in an order: those that keep the meaning of what they do not know.
OWN = ("nb-erase-probes", "nb-hoist-invariants", "nb-tabulate-invariants", "nb-split-sums", "nb-factor-sums", "nb-remove-branches",
       "nb-fuse", "nb-fuse-response", "nb-peel-miller-index", "nb-vectorize", "nb-vectorize{width=4}", "convert-nb-to-loops",
       "convert-nb-to-arith", "nb-outline-kernel")
UPSTREAM = (
    "canonicalize", "cse", "sccp", "loop-invariant-code-motion", "loop-invariant-subset-hoisting", "control-flow-sink", "mem2reg",
    "sroa", "remove-dead-values", "symbol-dce", "inline", "topological-sort", "strip-debuginfo", "snapshot-op-locations",
    "composite-fixed-point-pass{pipeline=canonicalize,cse}",
    "int-range-optimizations", "arith-expand", "arith-unsigned-when-equivalent", "math-uplift-to-fma", "math-expand-ops",
    "math-sincos-fusion", "form-expressions",
    "scf-for-loop-canonicalization", "scf-for-loop-peeling", "scf-for-loop-peeling{skip-partial=false}", "scf-for-loop-range-folding",
    "scf-for-loop-specialization", "scf-for-to-while", "scf-parallel-loop-fusion", "scf-parallel-loop-specialization",
    "scf-parallel-loop-tiling", "scf-forall-to-for",
    "affine-raise-from-memref", "affine-scalrep", "affine-loop-invariant-code-motion", "affine-loop-normalize", "affine-loop-fusion",
    "affine-loop-coalescing", "affine-loop-unroll", "affine-loop-unroll{unroll-factor=2}", "affine-loop-unroll-jam", "affine-loop-tile",
    "affine-parallelize", "affine-simplify-structures", "affine-simplify-min-max", "affine-expand-index-ops",
    "affine-expand-index-ops-as-affine", "affine-super-vectorize{virtual-vector-size=4}", "affine-data-copy-generate", "lower-affine",
    "buffer-hoisting", "buffer-loop-hoisting", "promote-buffers-to-stack", "fold-memref-alias-ops", "affine-fold-memref-alias-ops",
    "expand-strided-metadata", "memref-expand", "normalize-memrefs", "flatten-memref", "optimize-allocation-liveness",
    "convert-elementwise-to-linalg", "linalg-fuse-elementwise-ops", "linalg-fold-unit-extent-dims", "linalg-generalize-named-ops",
    "linalg-inline-scalar-operands", "convert-linalg-to-loops", "convert-linalg-to-affine-loops", "convert-tensor-to-linalg",
    "eliminate-empty-tensors", "fold-tensor-subset-ops",
    "lower-vector-mask", "lower-vector-multi-reduction", "convert-vector-to-scf", "convert-vector-to-llvm", "convert-scf-to-cf",
    "lift-cf-to-scf", "convert-arith-to-llvm", "convert-math-to-llvm", "convert-index-to-llvm", "finalize-memref-to-llvm",
    "convert-func-to-llvm", "convert-cf-to-llvm", "convert-ub-to-llvm", "convert-to-llvm", "reconcile-unrealized-casts",
    "duplicate-function-elimination", "resolve-ranked-shaped-type-result-dims", "llvm-legalize-for-export",
    "unroll-pixels")  # loops over pixels, by MLIR's transform ops

SCHEDULE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/examples/schedules/unroll-pixels.mlir")
# Those that MLIR makes for functions alone.
OF_FUNCTIONS = ("affine-", "buffer-", "lower-vector-", "promote-", "optimize-allocation")


def nested(name):
    if name == "unroll-pixels":
        return f"nb-apply-patterns{{files={SCHEDULE}}}"
    return f"func.func({name})" if name.startswith(OF_FUNCTIONS) else name


def pipeline(draws):
    """(stage, passes, text): the compiler's up to a stage, and a few passes there. The rest of the kernel's follows."""
    at = draws.randrange(len(STAGES))
    chosen = [draws.choice(UPSTREAM if draws.random() < 0.8 else OWN) for _ in range(draws.randint(1, 4))]
    first = [f"nb-cpu-pipeline{{until-after={STAGES[at]}}}"] if at else []
    return STAGES[at] or "written", chosen, "builtin.module(" + ",".join(first + [nested(name) for name in chosen]) + ")"


# A refusal says which pass refused, or what op is left and which pass it waits for.
NAMED = re.compile(r"pass [a-z0-9-]+: .|is left, of which there is no code: .*(convert|lower|expand|reconcile|bufferize)|"
                   r"which nb-outline-kernel takes|cannot be used: ", re.S)


def verdict(row):
    """right, refused, or what is wrong."""
    failure = row["failure"]
    if not failure:
        return "right" if row["image"]["same"] else f"WRONG image at {row['image']['where']}"
    if failure.startswith(("crashes", "takes more", "says nothing")) or not NAMED.search(failure):
        return failure
    return "refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nb_try")
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--orders", type=int, default=48)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--table", action="store_true", help="of each pass: orders, right ones, refusals")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    draws = random.Random(seed)
    begin, count, failures, said = time.monotonic(), 0, 0, {}
    ends, by_pass = collections.Counter(), collections.defaultdict(collections.Counter)
    while time.monotonic() - begin < options.seconds if options.seconds else count < options.orders:
        flags = draws.choice(EXPERIMENTS)
        batch = [pipeline(draws) for _ in range(16)]
        command = [options.nb_try, *COMMON.split(), *flags.split(), "--grad=none", "--repeat=0", "--timeout=30", "--json",
                   *(f"--pipeline={text}" for _, _, text in batch)]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, NB_CACHE="off"), timeout=600)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == len(batch) + 1 and rows[0]["image"]["same"], done.stdout + done.stderr
        for (stage, passes, text), row in zip(batch, rows[1:]):
            count += 1
            answer = verdict(row)
            kind = answer if answer in ("right", "refused") else "failure"
            ends[stage, kind] += 1
            for name in passes:
                by_pass[name][kind] += 1
            if kind == "refused":
                said.setdefault(re.sub(r"%\w+|\d+|'[^']*'", "#", row["failure"]), []).append(text)
            if kind == "failure":
                failures += 1
                print(f"nb-try {COMMON} {flags} --pipeline='{text}'\n  {answer[:600]}", flush=True)
    if options.table:
        for name in sorted(by_pass):
            print(f"{name:50} {dict(by_pass[name])}")
        for sentence, texts in sorted(said.items(), key=lambda item: -len(item[1])):
            print(f"{len(texts):5} {sentence}\n      {texts[0]}")
    for stage in STAGES:
        of = {kind: ends[stage or "written", kind] for kind in ("right", "refused", "failure")}
        print(f"{stage or 'written':10} {of}")
    total = {kind: sum(n for (_, k), n in ends.items() if k == kind) for kind in ("right", "refused", "failure")}
    print(f"{count} orders: {total['right']} with the right image, {total['refused']} refused with a reason, {failures} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
