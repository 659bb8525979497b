#!/usr/bin/env python3
"""Holds averaged images of nb-sim against brute force: an independent model, drawn very often.

    brute_force.py --seed 1 --trials 20 --draws 20000           nb-sim --average=closed
    brute_force.py --conventions --trials 20                    nothing averaged: grids of both, to 1e-6
    brute_force.py --seed 1 --trials 3 --plain --draws 1000000  draws from the distributions themselves
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

import draws
import reflections
from experiment import random_experiment
from model import NORMAL, UNIFORM, Model, amplitude


def simulate(nb_sim, flags, folder, pixels):
    image = os.path.join(folder, "image.bin")
    done = subprocess.run([nb_sim, *flags, "-floatfile", image, "-noprogress", "-nonoise", "-nopgm"], cwd=folder,
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=3000)
    if done.returncode:
        sys.exit(f"nb-sim {' '.join(flags)}\nexit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return np.fromfile(image, "<f4").astype(float).reshape(pixels, pixels)


def chosen_pixels(image, places, random, count):
    """Where light is, of all strengths, and where the model has it, whatever the image says. Pixels (fast, slow)."""
    strength = np.log(np.maximum(image, 1e-300) / max(image.max(), 1e-300))
    lit = np.argwhere(strength > np.log(1e-5))[:, ::-1]
    order = np.argsort(-image[lit[:, 1], lit[:, 0]])
    some = [lit[order[:count // 4]], lit[random.permutation(len(lit))[:count // 2]]]
    place = np.rint(places[random.permutation(len(places))[:count // 4]]).astype(int)
    return np.unique(np.concatenate(some + [place]), axis=0)


def window(place, half):
    low = np.rint(place).astype(int) - half
    return np.stack(np.meshgrid(*[np.arange(a, a + 2 * half + 1) for a in low]), -1).reshape(-1, 2)


def compared(model, image, nodes, random, options):
    """One line of figures; whether all pixels and spots agree."""
    estimate = draws.plain if options.plain else draws.weighted
    places, meets = reflections.predicted(model, nodes)
    places = places[meets]
    peak = image.max()
    pixels = chosen_pixels(image, places, random, options.pixels)
    if not len(pixels) or peak <= 0:
        return "no light", True
    mean, error = estimate(model, pixels, options.draws, random)
    there = image[pixels[:, 1], pixels[:, 0]]
    away = np.abs(there - mean)
    allowed = np.maximum(options.tolerance * peak, 4 * error)
    worst = np.argmax(away / allowed)
    pulls = (there - mean)[error > 0] / error[error > 0]
    text = (f"{len(pixels)} pixels: worst {away.max() / peak:.1e} of the peak "
            f"(error {error[np.argmax(away)] / peak:.1e}), "
            f"rms pull {np.sqrt((pulls**2).mean()) if len(pulls) else 0:.2f}")
    good = away[worst] <= allowed[worst]
    if not good:
        text += f"; pixel {pixels[worst]}: {there[worst]:.6g}, brute force {mean[worst]:.6g} +- {error[worst]:.2g}"
    # The spots with most light of the model's places.
    at = np.rint(places).astype(int)
    inside = ((at >= options.half) & (at < model.e.pixels - options.half)).all(1)
    places, at = places[inside], at[inside]
    bright = places[np.argsort(-image[at[:, 1], at[:, 0]])[:options.spots]]
    for place in bright:
        area = window(place, options.half)
        total, deviation = draws.spot(model, place, options.half, options.draws, random)
        there = image[area[:, 1], area[:, 0]].sum()
        if total < 1e-9 * peak:
            continue  # fainter than what the lists of reflections leave out
        text += f"; spot {there:.5g} for {total:.5g}"
        text += f" ({100 * there / total - 100:+.3f} % +- {100 * deviation / total:.3f})"
        good = good and abs(there - total) <= max(options.spot_tolerance * total, 4 * deviation)
    return text, good


def grid_image(model, oversample, phisteps, hdivsteps, vdivsteps, dispsteps, ranges):
    """The sum of nb-sim without -average: sub-pixels, steps at their beginnings, sources of a grid."""
    e = model.e
    sub = (np.arange(oversample) + 0.5) / oversample - 0.5
    model.deviations[3:] = ranges
    pixels = np.stack(np.meshgrid(np.arange(e.pixels), np.arange(e.pixels)), -1).reshape(-1, 2).astype(float)
    total = np.zeros(len(pixels))
    steps = [np.arange(n) / max(n - 1, 1) - 0.5 if n > 1 else np.zeros(1) for n in (dispsteps, hdivsteps, vdivsteps)]
    grid = np.stack(np.meshgrid(sub, sub, np.arange(phisteps) / phisteps - 0.5, [0], [0], [0], *steps), -1)
    for draw in grid.reshape(-1, UNIFORM + NORMAL):
        hkl = model.miller_index(pixels, draw)
        node = np.ceil(hkl - 0.5)
        total += amplitude(node)**2 * model.shape(hkl, node)
    # Solid angle and polarization are those of the first sub-pixel and the first source.
    first = model.incident(steps[1][0] * ranges[1], steps[2][0] * ranges[2])
    central, model.beam = model.beam, first
    factor = model.factor(pixels, sub[0], sub[0])
    model.beam = central
    return (total / len(grid.reshape(-1, UNIFORM + NORMAL)) * factor).reshape(e.pixels, e.pixels)


def conventions(e, random, nb_sim, folder):
    """The largest difference of images in which nothing is averaged, in units of the peak, and the peak in units of
    what a pixel at a node has."""
    e.pixels, e.mosaic = 60, 0.0
    e.pixel *= 400 / 60
    e.beam_centre = [x * 60 / 400 for x in e.beam_centre]
    e.osc = e.osc or 0.3
    model = Model(e)
    oversample, phi, h, v, wave = (int(random.integers(1, n)) for n in (4, 4, 4, 4, 4))
    ranges = [random.uniform(0, 0.02) if wave > 1 else 0, random.uniform(0, 0.003) if h > 1 else 0,
              random.uniform(0, 0.003) if v > 1 else 0]
    nodes = reflections.near_sphere(model)
    reflections.write(os.path.join(folder, "list.hkl"), nodes)
    flags = e.flags("list.hkl") + e.step_flags()
    flags += ["-oversample", str(oversample), "-phisteps", str(phi), "-square_div"]
    for flag, steps, n, width in (("-dispersion", "-dispsteps", wave, 100 * ranges[0]),
                                  ("-hdivrange", "-hdivsteps", h, 1e3 * ranges[1]),
                                  ("-vdivrange", "-vdivsteps", v, 1e3 * ranges[2])):
        if n > 1:
            flags += [flag, repr(width), steps, str(n)]
    image = simulate(nb_sim, flags, folder, e.pixels)
    ours = grid_image(model, oversample, phi, h, v, wave, ranges)
    most = (100 * np.prod(np.array(e.ncells, float)))**2 * model.factor(np.full((1, 2), 30.0))[0]
    return np.abs(image - ours).max() / ours.max(), ours.max() / most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nb-sim", default=os.environ.get("NB_SIM", "nb-sim"))
    parser.add_argument("--seed", type=int, default=1, help="of the first experiment; the next has the next")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--draws", type=int, default=20000, help="for each pixel and node")
    parser.add_argument("--pixels", type=int, default=80)
    parser.add_argument("--spots", type=int, default=2, help="with integrated intensities")
    parser.add_argument("--half", type=int, default=8, help="half a spot's window, in pixels")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of the image's brightest pixel")
    parser.add_argument("--spot-tolerance", type=float, default=2e-3, help="of a spot's photons")
    parser.add_argument("--plain", action="store_true", help="no weights: draws from the distributions themselves")
    parser.add_argument("--conventions", action="store_true", help="grids without averages, against nb-sim's")
    parser.add_argument("--flags", default="--average=closed", help="of nb-sim, besides the experiment's")
    options = parser.parse_args()
    options.nb_sim = os.path.abspath(options.nb_sim) if os.sep in options.nb_sim else options.nb_sim
    failed = 0
    for seed in range(options.seed, options.seed + options.trials):
        random = np.random.default_rng(seed)
        e = random_experiment(random)
        with tempfile.TemporaryDirectory(prefix="nb-averages-") as folder:
            if options.conventions:
                worst, _ = conventions(e, random, options.nb_sim, folder)
                text, good = f"worst {worst:.1e} of the peak", worst < 1e-6
            else:
                model = Model(e)
                nodes = reflections.near_sphere(model)
                reflections.write(os.path.join(folder, "list.hkl"), nodes)
                flags = e.flags("list.hkl") + e.spread_flags() + options.flags.split()
                image = simulate(options.nb_sim, flags, folder, e.pixels)
                text, good = compared(model, image, nodes, random, options)
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} seed {seed}: N {e.ncells} mosaic {e.mosaic:.2g} "
              f"bandwidth {e.bandwidth:.2g} divergence {e.divergence[0]:.2g} {e.divergence[1]:.2g} "
              f"osc {e.osc:.2g}: {text}", flush=True)
    print(f"{options.trials - failed} of {options.trials} agree")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
