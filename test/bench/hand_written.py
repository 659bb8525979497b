#!/usr/bin/env python3
"""Times kernels of each level of x86-64 in turn with hand_written.cpp, the same mathematics written by
hand for that level, and prints a table in Markdown. Kernels compute each pixel's corrections too, so that
what they need beyond the bound shrinks with the number of mosaic domains."""

import argparse
import json
import pathlib
import subprocess
import tempfile

LEVELS = {"x86-64": 2, "x86-64-v2": 2, "x86-64-v3": 4, "x86-64-v4": 8}
FAST, SLOW = 1024, 8  # the rows of hand_written.cpp


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nb-sim", required=True, help="nb-sim; nb-compile is taken from beside it")
    parser.add_argument("--cxx", default="clang++")
    parser.add_argument("--domains", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--levels", nargs="*", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--repeat", type=int, default=15)
    return parser.parse_args()


def write_reflections(path):
    with open(path, "w", encoding="ascii") as file:
        for h in range(-32, 33):
            for k in range(-38, 39):
                file.write("".join(f"{h} {k} {l} 50\n" for l in range(-44, 45)))


class Bound:
    """The program by hand for one level."""

    def __init__(self, cxx, level, folder):
        self.program = folder / f"bound-{level}"
        source = pathlib.Path(__file__).with_name("hand_written.cpp")
        subprocess.run([cxx, "-std=c++20", "-O2", f"-march={level}", "-mprefer-vector-width=512",
                        "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi",
                        f"-DWIDTH={LEVELS[level]}", str(source), "-o", str(self.program)], check=True)

    def nanoseconds(self, precision, factors, domains):
        done = subprocess.run([str(self.program), precision, factors, str(domains)], check=True,
                              capture_output=True, text=True)
        return float(done.stdout)


class Kernel:
    """A compiled kernel for one level."""

    def __init__(self, nb_sim, level, precision, factors, domains, folder):
        self.folder, self.samples = folder, FAST * SLOW * domains
        words = (f"-cell 50 60 70 90 90 90 -misset 10 20 30 -N 10 -mosaic 0.5 -mosaic_domains {domains} "
                 f"-distance 100 -pixel 0.1 -detpixels_x {FAST} -detpixels_y {SLOW} -oversample 1 -lambda 1 "
                 f"-square_xtal -nointerpolate -nonoise -nopgm --precision={precision}").split()
        words += ["-default_F", "100"] if factors == "constant" else ["-hkl", str(folder / "all.hkl")]
        nb_compile = pathlib.Path(nb_sim).with_name("nb-compile")
        file = folder / "kernel.so"
        subprocess.run([str(nb_compile), *words, f"--target={level}", "--specialize=oversample", "-o",
                        str(file)], check=True, capture_output=True)
        self.command = [str(pathlib.Path(nb_sim).absolute()), *words, f"--kernel={file}", "--threads=1",
                        "--timing=timing.json", "-floatfile", "image.bin"]

    def nanoseconds(self):
        subprocess.run(self.command, check=True, capture_output=True, cwd=self.folder)
        timing = json.loads((self.folder / "timing.json").read_text())
        return timing["run_seconds"] / self.samples * 1e9


def main():
    options = arguments()
    print("| level | precision | F | mosaic domains | by hand, ns | kernel, ns | by hand / kernel |")
    print("|---|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_reflections(folder / "all.hkl")
        for level in options.levels:
            bound = Bound(options.cxx, level, folder)
            for precision in ("f64", "mixed"):
                for factors in ("constant", "nearest"):
                    for domains in options.domains:
                        kernel = Kernel(options.nb_sim, level, precision, factors, domains, folder)
                        pairs = [(bound.nanoseconds(precision, factors, domains), kernel.nanoseconds())
                                 for _ in range(options.repeat)]
                        hand, ours = (min(times) for times in zip(*pairs))
                        print(f"| {level} | {precision} | {factors} | {domains} | {hand:.2f} | {ours:.2f} "
                              f"| {100 * hand / ours:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
