#!/usr/bin/env python3
"""Random command lines, for nb-sim -compat c and for the C program.

    NB_C_PROGRAM=PATH c_program.py NB_SIM [--seconds S] [--lines N] [--seed S]

The C program is not part of this project; without NB_C_PROGRAM this is skipped (exit status 77). A pixel agrees as in
test/parity; pixels that jump in either program when the wavelength changes in its last digits are left out."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "parity"))
import run as parity  # the tolerances

SKIPPED = 77
CASE = {"tags": []}


def command_line(draws):
    """Words, with the wavelength where {lambda} stands."""
    def number(low, high):
        return f"{draws.uniform(low, high):.6g}"

    def maybe(chance, *words):
        return list(words) if draws.random() < chance else []

    # At the first index outside of the list the C program stops to interpolate, in whichever thread
    # comes there first. So where interpolation is on, the camera sees what the list has.
    interpolates = draws.random() < 0.25
    edges = [number(20, 40 if interpolates else 120) for _ in range(3)]
    angles = draws.choice([["90"] * 3, ["90", "90", "120"], [number(75, 105) for _ in range(3)]])
    camera = ["-distance", number(120, 150), "-pixel", number(0.2, 0.3),
              "-detpixels", str(draws.randint(8, 16))] if interpolates else [
                  "-distance", number(40, 150), "-pixel", number(0.2, 2),
                  "-detpixels", str(draws.randint(8, 40))]
    words = ["-cell", *edges, *angles, "-lambda", "{lambda}", *camera,
             "-oversample", str(draws.randint(1, 3)), "-misset", *(number(-180, 180) for _ in range(3))]
    words += draws.choice([["-hkl", "in.hkl"], ["-hkl", "in.hkl", "-default_F", number(1, 50)],
                          ["-default_F", number(1, 200)]])
    words += draws.choice([["-N", str(draws.randint(1, 30))],
                          ["-Na", str(draws.randint(1, 9)), "-Nb", str(draws.randint(1, 9)),
                           "-Nc", str(draws.randint(1, 9))]])
    shape = maybe(0.5, draws.choice(["-round_xtal", "-gauss_xtal", "-tophat_spots",
                                    "-square_xtal"]))
    words += shape
    if shape == ["-round_xtal"]:
        # The C program's formula loses all digits where the index is whole but for rounding, as it is
        # in the direct beam; so no sample lies there.
        words += ["-Xbeam", number(1.01, 1.04), "-Ybeam", number(1.06, 1.09)]
    words += ["-interpolate" if interpolates else "-nointerpolate"]
    words += maybe(0.4, "-mosaic", number(0, 2), "-mosaic_dom", str(draws.randint(1, 6)),
                   "-mosaic_seed", str(draws.randint(1, 999)))
    words += maybe(0.4, "-phi", number(0, 90), "-osc", number(0.1, 3),
                   "-phisteps", str(draws.randint(1, 4)))
    words += maybe(0.3, "-dispersion", number(0.1, 3), "-dispsteps", str(draws.randint(2, 4)))
    words += maybe(0.3, "-hdivrange", number(1, 20), "-hdivsteps", str(draws.randint(2, 3)),
                   "-vdivrange", number(1, 20), "-vdivsteps", str(draws.randint(2, 3)))
    words += maybe(0.3, "-polar", number(-1, 1)) or maybe(0.2, "-nopolar")
    words += maybe(0.5, "-fluence", number(1e23, 1e26))
    words += maybe(0 if "-Xbeam" in words else 0.3, draws.choice(["-mosflm", "-denzo", "-adxv", "-xds", "-dials"]))
    turned = 0 if interpolates else 1
    words += maybe(0.3 * turned, "-detector_rotx", number(-20, 20), "-detector_roty", number(-20, 20),
                   "-detector_rotz", number(-20, 20))
    words += maybe(0.2 * turned, "-twotheta", number(-20, 20))
    words += maybe(0.2, "-detector_thick", number(50, 500), "-detector_abs", number(50, 500),
                   "-thicksteps", str(draws.randint(1, 3)))
    words += maybe(0.2, "-water", number(1, 50))
    words += maybe(0.2, "-dmin", number(1, 4))
    words += maybe(0.1, "-point_pixel")
    words += maybe(0.2, "-roi", "2", "6", "1", "5")
    return words, draws.uniform(0.8, 1.8)


def reflections(draws):
    lines = [f"{h} {k} {l} {draws.uniform(1, 500):.3f}" for h in range(-6, 7) for k in range(-6, 7)
             for l in range(-6, 7) if draws.random() < 0.9]
    return "\n".join(lines) + "\n"


def image_of(program, words, wavelength, folder):
    """Its float image, or None and what it said."""
    filled = [f"{wavelength:.17g}" if word == "{lambda}" else word for word in words]
    float_file = os.path.join(folder, "float.bin")
    done = subprocess.run([*program, *filled, "-floatfile", float_file, "-nopgm", "-nonoise",
                           "-noprogress"], cwd=folder, capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0 or not os.path.exists(float_file):
        return None, f"status {done.returncode}: {(done.stderr or done.stdout)[-300:]}"
    image = np.fromfile(float_file, dtype=np.float32)
    os.remove(float_file)
    return image, ""


def compare(ours, theirs, words, wavelength, folder):
    """None, or what is wrong."""
    got, problem = image_of(ours, words, wavelength, folder)
    want, other_problem = image_of(theirs, words, wavelength, folder)
    if got is None or want is None:
        return f"nb-sim: {problem or 'well'}; the C program: {other_problem or 'well'}"
    side = (1, want.size)
    found = parity.compare_image(CASE, got, want.reshape(side))
    if not found:
        return None
    if got.size != want.size:
        return found
    if np.abs(want).max() < 1e-20:
        return None  # the rounding of zero
    # Where an edge lies within rounding of a sample, in either program.
    least, jumps = 1e-9 * np.abs(want).max(), np.zeros(want.shape, bool)
    for change in (-1e-13, 1e-13, -1e-12, 1e-12):
        for program, image in ((ours, got), (theirs, want)):
            near, _ = image_of(program, words, wavelength * (1 + change), folder)
            jumps |= ~np.isclose(near, image, rtol=1e-6, atol=least)
    want[jumps] = got[jumps]
    return parity.compare_image(CASE, got, want.reshape(side))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nb_sim", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--lines", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    options = parser.parse_args()
    c_program = os.environ.get("NB_C_PROGRAM")
    if not c_program:
        print("skipped: NB_C_PROGRAM does not say where the C program is")
        return SKIPPED
    print(f"first seed {options.seed}")
    end, failures, number = time.monotonic() + options.seconds, 0, 0
    while number < options.lines and time.monotonic() < end:
        seed = options.seed + number
        number += 1
        draws = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="nb-random-") as folder:
            with open(os.path.join(folder, "in.hkl"), "w") as file:
                file.write(reflections(draws))
            words, wavelength = command_line(draws)
            problem = compare([options.nb_sim, "-compat", "c"], [os.path.abspath(c_program)], words,
                              wavelength, folder)
        if problem:
            failures += 1
            print(f"FAILED with --seed {seed} --lines 1: {problem}\n  " +
                  " ".join(words).replace("{lambda}", f"{wavelength:.17g}"), flush=True)
    print(f"{number} command lines, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
