#!/usr/bin/env python3
"""kernel_tables.py INSTRUCTIONS.JSON: the page about the numbers of kernels, of the file that the test
instruction-counts guards."""

import json
import re
import sys

CHIPS = {
    "sm_90": "H200: 132 multiprocessors at 1.98 GHz",
    "gfx90a": "MI250X, one of two dies: 440 SIMDs at 1.7 GHz",
    "gfx942": "MI300X: 1216 SIMDs at 2.1 GHz",
    "gfx1100": "RX 7900 XTX: 192 SIMDs at 2.5 GHz",
    "gfx1201": "RX 9070 XT: 128 SIMDs at 2.97 GHz",
}
HEAD = """<!-- Written by the target nb-docs; do not edit. -->
# Kernels in numbers

This page lists the instructions of a sample, and a lower bound of the cycles that they take, for
crystals of 10 cells along each edge. The test `instruction-counts` compiles and counts these kernels
again and fails if a number has increased. `nb-bench --baseline=test/bench/instructions.json
--update` writes the file from which this page is generated. `nb-compile FLAGS --emit=stats` prints
such numbers [of any kernel](../profiling.md#numbers).
"""


def cells(*values):
    return "| " + " | ".join(str(value) for value in values) + " |"


def table(title, rule, rows):
    return "\n".join(["", cells(*title), "|" + "|".join(rule) + "|", *(cells(*row) for row in rows), ""])


def words(name):
    """The shape, structure factors, the other counts and the precision of a workload."""
    shape, _, factors, *counts, precision = name.split()
    changed = [count for count in counts if not re.fullmatch("mosaic=10|(oversample|sources|phi)=1", count)]
    return shape, factors, " ".join(changed), precision


def processors(counts, levels):
    rows = []
    for kind in ("", " gradient"):
        for name in counts[levels[0] + kind]:
            numbers = []
            for level in levels:
                row = counts[level + kind][name]
                numbers += [f"{row['instructions']:.1f}", f"{row['cycles']:.2f}", row["part"]]
            shape, factors, changed, precision = words(name)
            rows.append([shape, factors, changed, precision, "gradient" if kind else "image", *numbers])
    return table(["crystal", "F", "other counts", "precision", "kernel", *(f"{level}: instructions" if i == 0 else title
                                                                for level in levels
                                                                for i, title in enumerate(("", "cycles", "busiest part")))],
                 ["---"] * 5 + ["--:", "--:", "---"] * len(levels), rows)


def gpu(counts, chip):
    rows = []
    amd = chip.startswith("gfx")
    for kind in ("", " gradient"):
        for name, row in counts[chip + kind].items():
            shape, factors, _, precision = words(name)
            occupied = [row["registers"], row["waves"], row["spills"]] if amd else []
            rows.append([shape, factors, precision, "gradient" if kind else "image", *occupied,
                         f"{row['instructions']:.0f}", f"{row['bytes']:.0f}", f"{row['cycles']:g}",
                         *([] if amd else [row["part"]]), f"{row['gigasamples']:.3g}"])
    occupied = ["registers", "waves", "spills"] if amd else []
    return (f"\n### {chip} ({CHIPS[chip]})\n" +
            table(["crystal", "F", "precision", "kernel", *occupied, "instructions", "bytes", "cycles",
                   *([] if amd else ["busiest part"]), "G samples/s"],
                  ["---"] * 4 + ["--:"] * (len(occupied) + 3) + ([] if amd else ["---"]) + ["--:"], rows))


def page(counts):
    text = HEAD + """
## Processors

Instructions are executed and counted, and averaged over samples. Unless stated otherwise, there are
10 mosaic domains, one sub-pixel, one source and one phi step. Cycles are those for which the
busiest part of the processor, named in the next column, is occupied if no instruction waits for
another. They follow from LLVM's scheduling models of Haswell (for x86-64-v3) and of Skylake with
AVX-512 (for x86-64-v4). `nb-bench --instructions` prints their share of the measured time.
"""
    text += processors(counts, ("x86-64-v3", "x86-64-v4"))
    text += """
## GPUs

These numbers are counted, not measured. They are those of the loop over samples, for one sample of
each thread of a warp or wave. *Bytes* are what one thread loads. *Cycles* are those for which the
busiest part of a multiprocessor (NVIDIA) or the vector unit of a SIMD (AMD) is occupied, at the
speeds that the vendors publish. *G samples/s* is the speed of the whole chip if nothing else limits
it. For NVIDIA's chips, instructions are those of PTX; in cycles, moves and changes of sign are
free, and operations on 64-bit integers and selections count twice.
"""
    return text + "".join(gpu(counts, chip) for chip in CHIPS)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf8") as file:
        print(page(json.load(file)), end="")
