#!/usr/bin/env python3
"""How the time of a run grows with its light: a picture on logarithmic axes and a table.

usage: growth.py NB_SIM OUT.svg OUT.md

A Gaussian crystal of more and more cells a side has fewer and fewer samples with light. For each size the settings of
--cull run in turn, each several times, one thread. The least processor time counts, which a busy machine disturbs least, without
that of the same run with a region of interest of four pixels: start, statistics and the file."""

import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile

WORDS = ("-cell 70 80 90 90 90 90 -gauss_xtal -mosaic 0.2 -mosaic_dom 100 -lambda 1 -distance 100 -detpixels 1024 "
         "-default_F 100 -oversample 1 -misset 10 20 30 -nopgm -nonoise --quiet --threads=1").split()
CELLS = (10, 15, 20, 30, 50, 70, 100, 150, 200, 300)
SETTINGS = ("off", "exact", "1e-12")
REPEATS = 15
COLOURS = {"off": "#888888", "exact": "#1f77b4", "1e-12": "#d62728"}


def run(nb_sim, folder, words):
    """Processor time of one run in s, and what --timing says."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([nb_sim, *words, "-floatfile", "out.bin", "--timing=t.json"], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(folder, "t.json")) as file:
        timing = json.load(file)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, timing


def measure(nb_sim, folder):
    """Rows of cells, samples, and for each setting (seconds, lit samples, computed samples)."""
    nothing = [*WORDS, "-N", "20", "--cull=off", "-roi", "0", "1", "0", "1"]
    beside = min(run(nb_sim, folder, nothing)[0] for _ in range(3 * REPEATS))
    rows = []
    for cells in CELLS:
        row = {}
        for _ in range(REPEATS):
            for setting in SETTINGS:
                seconds, timing = run(nb_sim, folder, [*WORDS, "-N", str(cells), f"--cull={setting}"])
                known = row.get(setting, (math.inf,))[0]
                row[setting] = (min(known, seconds - beside), timing["samples_lit"], timing["samples_evaluated"])
        rows.append((cells, timing["samples"], row))
        print(cells, row, flush=True)
    return rows


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


def table(rows):
    lines = ["# Time against light", "",
             f"Written by `test/bench/growth.py` on an {processor()}, one thread, f64: processor time of the kernel and",
             f"the search for what is lit, the least of {REPEATS} in turn. 1024x1024 pixels, cell 70 80 90, Gaussian, 100 mosaic domains over 0.2 degrees. The picture",
             "is [growth.svg](growth.svg); [culling.md](../culling.md) says what the settings leave out.", "",
             "| cells | lit, 1e-12 | off, ms | exact, ms | times | 1e-12, ms | times |", "|--:|--:|--:|--:|--:|--:|--:|"]
    for cells, samples, row in rows:
        off, exact, some = (row[s][0] for s in SETTINGS)
        lines.append(f"| {cells} | 1 in {samples / row['1e-12'][1]:.0f} | {1e3 * off:.1f} | {1e3 * exact:.2f} | "
                     f"{off / exact:.1f} | {1e3 * some:.2f} | {off / some:.1f} |")
    return "\n".join([*lines, ""])


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.machine()


def main(nb_sim, svg, markdown):
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(os.path.abspath(nb_sim), folder)
    with open(svg, "w") as file:
        file.write(picture(rows))
    with open(markdown, "w") as file:
        file.write(table(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
