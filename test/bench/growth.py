#!/usr/bin/env python3
"""How the time of a run grows with its light: a picture on logarithmic axes and a table.

usage: growth.py NB_SIM OUT.svg OUT.md, with the package nanobragg in PYTHONPATH

A Gaussian crystal of more and more cells a side has fewer and fewer samples with light. For each size the settings of
--cull run in turn, each several times, one thread, in one process and into one image, so that neither start nor files
nor the first touch of memory count: processor time of the kernel and of the search for what is lit. The least counts,
which a busy machine disturbs least. NB_SIM says how many samples have light."""

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time

import nanobragg
import numpy

WORDS = ("-cell 70 80 90 90 90 90 -mosaic 0.2 -mosaic_dom 100 -lambda 1 -distance 100 -detpixels 1024 "
         "-default_F 100 -oversample 1 -misset 10 20 30").split()
CELLS = (10, 15, 20, 30, 50, 70, 100, 150, 200, 300)
SETTINGS = ("off", "exact", "1e-12")
SQUARE = ("off", "1e-9")
REPEATS, IN_A_ROW = 12, 3
COLOURS = {"off": "#888888", "exact": "#1f77b4", "1e-12": "#d62728"}


def counts(nb_sim, words):
    """The report of --timing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([nb_sim, *words, "-nopgm", "-nonoise", "--quiet", "-floatfile", "out.bin", "--timing=t.json"],
                       cwd=folder, check=True)
        with open(os.path.join(folder, "t.json")) as file:
            return json.load(file)


def run_seconds(nb_sim, words, times=5):
    """The time of nb-sim, whose image is of f32, by the clock, first touch of memory and all."""
    return min(counts(nb_sim, [*words, "--threads=1"])["run_seconds"] for _ in range(times))


def seconds(simulators, image):
    """The least processor time of each."""
    least = [math.inf] * len(simulators)
    for _ in range(REPEATS):
        for i, simulator in enumerate(simulators):
            for _ in range(IN_A_ROW):
                before = time.process_time()
                simulator.image(out=image)
                least[i] = min(least[i], time.process_time() - before)
    return least


def measure(nb_sim, shape, cells, settings):
    """Samples, and for each setting (seconds, lit samples, computed samples)."""
    words = [[*WORDS, shape, "-N", str(cells), f"--cull={s}"] for s in settings]
    simulators = [nanobragg.Simulator.from_flags(w, threads=1) for w in words]
    image = numpy.empty(simulators[0].shape)
    times = seconds(simulators, image)
    said = [counts(nb_sim, w) for w in words]
    row = {s: (t, c["samples_lit"], c["samples_evaluated"]) for s, t, c in zip(settings, times, said)}
    if "exact" in settings:
        row["f32"] = [run_seconds(nb_sim, w) for w in words[:2]]
    print(shape, cells, row, flush=True)
    return cells, said[0]["samples"], row


def ticks(low, high):
    return [10.0 ** e for e in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]


def picture(rows):
    width, height, left, bottom, right, top = 640, 420, 70, 50, 20, 20
    points = {s: [(row["1e-12"][1], 1e3 * row[s][0]) for _, _, row in rows] for s in SETTINGS}
    xs = [x for x, _ in points["off"]]
    ys = [y for line in points.values() for _, y in line]
    x0, x1, y0, y1 = min(xs) / 1.5, max(xs) * 1.5, min(ys) / 1.5, max(ys) * 1.5

    def place(x, y):
        across = math.log(x / x0) / math.log(x1 / x0)
        up = math.log(y / y0) / math.log(y1 / y0)
        return left + across * (width - left - right), height - bottom - up * (height - bottom - top)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for x in ticks(x0, x1):
        at, _ = place(x, y0)
        out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{height - bottom}" stroke="#dddddd"/>')
        out.append(f'<text x="{at:.1f}" y="{height - bottom + 16}" text-anchor="middle">1e{round(math.log10(x))}</text>')
    for y in ticks(y0, y1):
        _, at = place(x0, y)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{y:g} ms</text>')
    for setting, line in points.items():
        placed = [place(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[setting]}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[setting]}"/>' for x, y in placed]
        x, y = placed[-1]  # where the lines are far from each other
        out.append(f'<text x="{x + 4:.1f}" y="{y - 10:.1f}" fill="{COLOURS[setting]}">--cull={setting}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">samples within reach of light '
               '(1e-12)</text>')
    return "\n".join([*out, "</svg>", ""])


def table(rows, square):
    lines = ["# Time against the fraction of lit samples", "",
             f"Written by `test/bench/growth.py` on an {processor()}, one thread, f64: processor time of the kernel and of",
             f"the search for lit samples. In each of {REPEATS} rounds, all settings run {IN_A_ROW} times in turn, in one process",
             "and into the same image; the shortest times are listed. 1024x1024 pixels, cell 70 80 90, Gaussian, 100 mosaic domains over 0.2 degrees. The picture",
             "is [growth.svg](growth.svg); [culling.md](../culling.md) explains the settings. *times* is the speedup over *off*. The last three columns are `run_seconds` of",
             "`nb-sim`, which writes a new image of f32.", "",
             "| cells | lit, 1e-12 | off, ms | exact, ms | times | 1e-12, ms | times | f32: off | exact | times |",
             "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for cells, samples, row in rows:
        off, exact, some = (row[s][0] for s in SETTINGS)
        off32, exact32 = row["f32"]
        lines.append(f"| {cells} | 1 in {samples / row['1e-12'][1]:.0f} | {1e3 * off:.1f} | {1e3 * exact:.2f} | "
                     f"{off / exact:.1f} | {1e3 * some:.2f} | {off / some:.1f} | {1e3 * off32:.1f} | {1e3 * exact32:.2f} | "
                     f"{off32 / exact32:.1f} |")
    lines += ["", "Square crystals, where each sample is tested:", "",
              "| cells | computed | off, ms | 1e-9, ms | times |", "|--:|--:|--:|--:|--:|"]
    for cells, samples, row in square:
        off, some = (row[s][0] for s in SQUARE)
        lines.append(f"| {cells} | {100 * row['1e-9'][2] / samples:.1f} % | {1e3 * off:.1f} | {1e3 * some:.1f} | "
                     f"{off / some:.1f} |")
    return "\n".join([*lines, ""])


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.machine()


def main(nb_sim, svg, markdown):
    nb_sim = os.path.abspath(nb_sim)
    rows = [measure(nb_sim, "-gauss_xtal", cells, SETTINGS) for cells in CELLS]
    square = [measure(nb_sim, "-square_xtal", cells, SQUARE) for cells in (80, 100, 200, 300)]
    with open(svg, "w") as file:
        file.write(picture(rows))
    with open(markdown, "w") as file:
        file.write(table(rows, square))


if __name__ == "__main__":
    main(*sys.argv[1:])
