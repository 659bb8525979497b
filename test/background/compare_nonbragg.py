#!/usr/bin/env python3
"""compare_nonbragg.py NONBRAGG > nonbragg.json: what nonBragg computes, for background_test.py.

NONBRAGG is nonBragg.c of bl831/nanoBragg, compiled: gcc -O2 -o nonBragg nonBragg.c -lm. It takes the
detector's frame from -Xbeam and -Ybeam, which are along fast and slow, and no sensor."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

VECTORS = ("-fdet_vector 0 0 1 -sdet_vector 0 -1 0 -odet_vector 1 0 0 -beam_vector 1 0 0 -polar_vector 0 0 1 "
           "-Xbeam 51 -Ybeam 48").split()
CAMERA = "-lambda 1 -distance 100 -detpixels 64 -pixel 1.6".split() + VECTORS
CASES = (
    "-thickness 1 -density 1 -MW 18 -polar 0.9",
    "-thickness 5 -density 0.0012 -MW 28 -nopolar",
    "-thickness 1 -dispersion 3 -dispsteps 5 -divergence 4 -divsteps 3",
    "-thickness 1 -point_pixel -flux 1e11 -beamsize 0.05 -exposure 0.1",
    "-thickness 1 -oversample 3",
    "-distance 60 -detector_rotx 10 -detector_roty 5 -detector_rotz 3",
    "-thickness 1 -curved_det -Xbeam 45 -Ybeam 55",
    "-thickness 1 -twotheta 11 -pivot beam",
)


def main():
    random = np.random.default_rng(18)
    facts = {"source": "nonBragg.c of bl831/nanoBragg, commit 455534a", "cases": []}
    with tempfile.TemporaryDirectory() as folder:
        for text in CASES:
            table = [[round(0.02 * i + 0.015 * float(random.uniform()), 4), round(float(random.uniform(1, 9)), 3)]
                     for i in range(40)]
            table[0][0] = 0
            with open(os.path.join(folder, "t.stol"), "w") as file:
                file.writelines(f"{s} {f}\n" for s, f in table)
            flags = CAMERA + text.split()
            subprocess.run([os.path.abspath(sys.argv[1]), "-stol", "t.stol", *flags, "-floatfile", "f.bin",
                            "-nopgm", "-nonoise"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            image = np.fromfile(os.path.join(folder, "f.bin"), "<f4")
            pixels = [0, 63, 4095, *map(int, random.integers(0, image.size, 17))]
            facts["cases"].append({"flags": flags, "table": table,
                                   "pixels": [[i, float(image[i])] for i in pixels]})
    json.dump(facts, sys.stdout)
    print()


if __name__ == "__main__":
    main()
