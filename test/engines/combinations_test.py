"""Compiles each combination of average, precision, derivative and target, without a word to standard error.

    combinations_test.py NB_COMPILE [--every N]"""

import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile

EXPERIMENT = ("-cell 70 80 90 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 -distance 100 -pixel 1 -detpixels 16 -mosaic 0.1 -osc 0.1 "
              "-detector_abs 500 -detector_thick 300 -detector_thicksteps 2").split()
AVERAGES = {"sampled": ["-mosaic_domains", "3"], "closed": ["-gauss_xtal", "--average=closed"],
            "draws": ["--average=draws", "--average-draws=64"], "quadrature": ["--average=quadrature"]}
PRECISIONS = ["f64", "mixed", "f32"]
DERIVATIVES = ["", "vjp", "jvp", "jacobian", "hvp"]
TARGETS = {"native": "so", "x86-64-v2": "obj", "x86-64-v4": "obj", "aarch64": "obj", "gpu-on-cpu": "so", "sm_90": "ptx", "gfx942": "hsaco",
           "gfx1100": "hsaco", "spirv64": "spirv"}


def compile_one(combination):
    average, precision, derivative, target = combination
    words = [*EXPERIMENT, *AVERAGES[average], f"--precision={precision}", f"--target={target}", f"--emit={TARGETS[target]}"]
    if derivative:
        words.append(f"--grad={derivative}:osc,distance")
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "kernel")
        done = subprocess.run([PROGRAM, *words, "-o", output], cwd=folder, capture_output=True, text=True, timeout=300)
        size = os.path.getsize(output) if os.path.exists(output) else 0
    said = (done.stdout + done.stderr).strip()
    right = done.returncode == 0 and size > 0 and not said
    return None if right else f"{' '.join(words)}: exit status {done.returncode}, {size} bytes: {said[:400]}"


def main():
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    chosen = list(itertools.product(AVERAGES, PRECISIONS, DERIVATIVES, TARGETS))[::every]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(compile_one, chosen) if text]
    print(f"{len(chosen)} combinations, {len(wrong)} wrong", *wrong, sep="\n")
    return bool(wrong)


PROGRAM = os.path.abspath(sys.argv[1])
sys.exit(main())
