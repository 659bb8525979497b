#!/usr/bin/env python3
"""How the time of a still that is made from its table of reflections grows with the reflections: a picture and a table.

usage: reflections.py OUT.svg OUT.md, with the package nanobragg in PYTHONPATH and matplotlib

One crystal after the other, each with a larger cell. All in one process and one thread; of several runs the one that took least
processor time counts. The average of each pixel is what `--average-tolerance` alone decides where there are fewer pixels, so that
it is measured on two halves of the image.
"""

import platform
import sys
import time

import matplotlib
import nanobragg as nb

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

WORDS = ("-default_F 100 -gauss_xtal -mosaic 0.1 --bandwidth-sigma=0.1 -divergence_sigma 0.3 -lambda 1 -distance 150 -pixel 0.25 "
         "-misset 10 20 30 --average=closed --average-tolerance=1e-3")
CELL, SIZE, PIXELS = (70, 80, 90), 2100, 1024  # A, the crystal's edge, which stays as it is
FACTORS = (0.55, 0.8, 1.2, 1.8, 2.6, 3.8, 5.0)


def least(run, times=3):
    taken = []
    for _ in range(times):
        begin = time.process_time()
        run()
        taken.append(time.process_time() - begin)
    return 1e3 * min(taken)


def measure(factor):
    """Reflections, and milliseconds of the table, the image from it and the average of each pixel."""
    edges = [factor * edge for edge in CELL]
    words = f"{WORDS} -cell {edges[0]} {edges[1]} {edges[2]} 90 90 90 -N {round(SIZE / edges[0])} -detpixels {PIXELS}"
    sim = nb.Simulator.from_flags(words, threads=1)
    distance = sim["distance"]

    def moved(run):
        sim["distance"] = sim["distance"] + 1e-7
        run()

    sim.image()
    of_table, of_image = least(lambda: moved(sim.reflections)), least(lambda: moved(sim.image))
    sim["distance"] = distance
    halves = [nb.Simulator.from_flags(f"{words} -roi 0 {PIXELS - 1} {begin} {begin + 127}", threads=1) for begin in range(0, PIXELS, 128)]
    of_pixels = sum(least(half.image) for half in halves)
    row = len(sim.reflections().photons), of_table, of_image, of_pixels
    print(*row, flush=True)
    return row


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def main(svg, markdown):
    rows = [measure(factor) for factor in FACTORS]
    count, *times = zip(*rows)
    for label, of in zip(("table", "image from the table, the table included", "average of each pixel"), times):
        plt.loglog(count, of, "o-", label=label)
    plt.xlabel("reflections of partiality 0.001 and more")
    plt.ylabel("ms")
    plt.grid(True, alpha=0.4)
    plt.legend()
    plt.savefig(svg)
    with open(markdown, "w") as file:
        file.write("# Time against the number of reflections\n\n"
                   f"Written by `test/bench/reflections.py` on an {processor()}, one thread, f64: processor time in\n"
                   f"milliseconds of stills of {PIXELS} x {PIXELS} pixels at a tolerance of 1e-3. The crystal has a size of\n"
                   f"0.2 µm. Its cell edges are {CELL[0]}, {CELL[1]} and {CELL[2]} Å, times a factor from 0.55 to 5 ([reflections](../reflections.md)).\n\n"
                   "![The times on logarithmic axes](reflections.svg)\n\n"
                   "| reflections | table | image, table included | average of each pixel |\n|--:|--:|--:|--:|\n")
        for n, *of in rows:
            file.write(f"| {n} | {' | '.join(f'{t:.1f}' for t in of)} |\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
