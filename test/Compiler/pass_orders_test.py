#!/usr/bin/env python3
"""Random orders of passes on the programs of random experiments, whole and damaged, end in a program or in an
error with a place: nb-opt neither crashes nor hangs, and no pass leaves a program that does not verify.

    pass_orders_test.py NB_OPT NB_SIM [--seconds=S] [--seed=N] [--keep=DIR]

Prints the seed, and for each order that failed the command that shows it; --keep: and keeps its program."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Each group: one of them, or none.
FLAGS = (
    ("-round_xtal", "-gauss_xtal", "-tophat_spots", "-gauss_xtal -Ncells_def 1 0.5 0.2"),
    ("-mosaic 1 -mosaic_domains 3", "-mosaic 0.3 -mosaic_domains 40", "-osc 1 -phisteps 2"),
    ("-dispersion 0.1 -dispsteps 2", "-hdivrange 1 -hdivsteps 2 -vdivrange 1 -vdivsteps 2"),
    ("-detector_thick 100 -detector_thicksteps 2", "-oversample 2", "-oversample 2 -oversample_polar", "-oversample 2 -detector_thick 50 -oversample_thick"),
    ("-twotheta 20", "-curved_det", "-point_pixel", "--panels=panels.json"),
    ("-hkl p1.hkl", "-hkl p1.hkl -interpolate", "-hkl p1.hkl -dmin 3"),
    ("-gain 2", "-gain_map gain.bin", "-water 5", "-polar 0.5", "-nopolar"),
    ("--pixels=pixels.txt", "-roi 2 9 3 7"),
    ("--cull=exact", "--cull=1e-6"),
)
PARAMETERS = ("cell_a", "distance", "twotheta", "mosaic_spread", "wavelength", "fluence", "misset_x",
              "structure_factors", "default_F", "gain", "ncells_d")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/examples")
SCHEDULES = ("schedules/domains-outside.mlir", "schedules/pixel-tiles.mlir")
# Passes of nb-opt that are not here are taken without options.
OPTIONS = {
    "nb-insert-probes": ("all=true", "names=F*", "ops=nb.lattice_factor outside=true"),
    "nb-set-precision": ("precision=mixed", "precision=f32", "precision=f64"),
    "nb-vectorize": ("width=4", "width=1", "width=3", "width=0"),
    "convert-nb-to-loops": ("", "warp=32"),
    "convert-nb-to-arith": ("", "estimates=true"),
    "nb-apply-patterns": tuple(f"files={EXAMPLES}/{name}" for name in ("patterns/reciprocal.pdll", *SCHEDULES)),
}
OTHERS = ("cse", "canonicalize", "loop-invariant-code-motion", "convert-to-llvm", "gpu-kernel-outlining",
          "nb-cpu-pipeline{until-after=fuse}", "nb-gpu-pipeline{until-after=gpu}", "nb-cpu-pipeline{precision=mixed}")
# Passes on a gpu.module, not on the module.
OF_DEVICE = ("nb-gpu-to-nvvm", "nb-gpu-to-rocdl", "nb-gpu-to-spirv")
MODES = ("vjp", "jvp", "jacobian", "hvp")
# About the order in which passes belong.
ORDER = ("nb-erase", "nb-insert", "nb-split-response", "nb-fuse-response", "nb-hoist", "nb-tab", "nb-split", "nb-factor",
         "nb-remove", "nb-diff",
         "nb-fuse", "nb-set", "nb-peel", "nb-cull", "nb-vec", "convert-nb-to-loops", "convert-nb-to-arith", "nb-outline",
         "nb-to-gpu", "nb-relieve", "nb-sum", "nb-gpu-to-loops", "gpu-kernel", "convert-", "nb-")


def own_passes(nb_opt):
    text = subprocess.run([nb_opt, "--list-passes"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  --((?:nb-|convert-nb-)[a-z0-9-]+) ", text, re.M)
    assert "nb-cull" in names and len(names) > 20, names
    return [name for name in names if not name.endswith("-pipeline") and name not in OF_DEVICE]


class Orders:
    def __init__(self, draws, names):
        self.draws, self.names = draws, names

    def one(self, name):
        if name == "nb-differentiate":
            by = self.draws.sample(PARAMETERS, self.draws.randint(1, 2))
            more = self.draws.choice(("", "", " value=false", " directions=2"))
            return f"nb-differentiate{{mode={self.draws.choice(MODES)} parameters={','.join(by)}{more}}}"
        option = self.draws.choice(OPTIONS.get(name, ("",)))
        return f"{name}{{{option}}}" if option else name

    def pipeline(self):
        """Passes in any order; more often than not about as they belong, so that some get far."""
        draws = self.draws
        chosen = [draws.choice(self.names if draws.random() < 0.85 else OTHERS) for _ in range(draws.randint(1, 10))]
        if draws.random() < 0.6:
            place = lambda name: next((i for i, begin in enumerate(ORDER) if name.startswith(begin)), len(ORDER))
            chosen.sort(key=lambda name: place(name) + draws.uniform(-2, 2))
        passes = [self.one(name) for name in chosen]
        if draws.random() < 0.05:
            passes.append(f"gpu.module({draws.choice(OF_DEVICE)})")
        return "builtin.module(" + ",".join(passes) + ")"


def damaged(draws, text):
    """Lines dropped, doubled and exchanged; words and characters of one place at another."""
    for _ in range(draws.randint(1, 3)):
        lines = text.split("\n")
        i, j = draws.randrange(len(lines)), draws.randrange(len(lines))
        kind = draws.randrange(7)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(j, lines[i])
        elif kind == 2:
            lines[i], lines[j] = lines[j], lines[i]
        else:
            words = re.findall(r"%?[\w.]+|<[^<>]*>|\[[^][]*\]|\([^()]*\)|-?\d[\d.e+-]*", text)
            old = draws.choice(words)
            new = {3: draws.choice(words), 4: "", 5: draws.choice(("0", "-1", "9223372036854775807", "%c", "nan", "f16", "<?xf32>")),
                   6: old[:-1]}[kind]
            places = [m.start() for m in re.finditer(re.escape(old), text)]
            at = draws.choice(places)
            text = text[:at] + new + text[at + len(old):]
            continue
        text = "\n".join(lines)
    return text


def run(nb_opt, path, pipeline, *words):
    return subprocess.run([nb_opt, path, f"--pass-pipeline={pipeline}", *words, "-o", os.devnull],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60)


def problem(nb_opt, path, pipeline):
    """None, or what is wrong with how nb-opt ended."""
    try:
        done = run(nb_opt, path, pipeline)
        if done.returncode < 0 or done.returncode > 1 or "PLEASE submit a bug report" in done.stderr:
            return f"status {done.returncode}: {done.stderr[:400]}"
        if done.returncode == 0:
            return None
        if not re.search(r"\.(mlir|pdll):\d+:\d+: error: ", done.stderr):
            return f"an error without a place: {done.stderr[:400]}"
        # Was it the pass that refused, or the verifier after it? The latter would not have said it.
        alone = run(nb_opt, path, pipeline, "--verify-each=false")
        if alone.stderr.split("\n")[0] != done.stderr.split("\n")[0] and run(nb_opt, path, "builtin.module()").returncode == 0:
            return f"a pass leaves what does not verify: {done.stderr[:400]}"
    except subprocess.TimeoutExpired:
        return "did not end in 60 s"
    return None


def write_inputs(folder):
    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    write("p1.hkl", "".join(f"{h} {k} {l} {1 + abs(h) + k * k}\n" for h in range(-6, 7) for k in range(-3, 4) for l in range(-3, 4)))
    write("pixels.txt", "0 3 4\n0 5 6\n0 7 1\n0 15 15\n")
    write("panels.json", '[{"offset_mm": [0, 0, 0], "fast": [1, 0, 0], "slow": [0, 1, 0]}, {"offset_mm": [0, 3, 1], "fast": [1, 0, 0], "slow": [0, 0.995, 0.1]}]')
    with open(os.path.join(folder, "gain.bin"), "wb") as file:
        file.write(b"\0\0\x80\x3f" * 256)


class Programs:
    """Random experiments, made as they are asked for."""

    def __init__(self, draws, nb_sim, folder):
        self.draws, self.nb_sim, self.folder, self.made, self.refused = draws, os.path.abspath(nb_sim), folder, [], 0
        write_inputs(folder)

    def make(self):
        words = "-cell 70 80 90 80 100 95 -default_F 1 -N 5 -lambda 1 -distance 100 -detpixels 16"
        for group in FLAGS:
            if self.draws.random() < 0.4:
                words += " " + self.draws.choice(group)
        path = os.path.join(self.folder, f"experiment{len(self.made)}.mlir")
        done = subprocess.run([self.nb_sim, *words.split(), "--quiet", "--emit=nb"], capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            self.refused += 1
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        self.made.append((path, words))

    def choose(self):
        if len(self.made) < 3 or self.draws.random() < 0.08:
            self.make()
        return self.draws.choice(self.made) if self.made else self.choose()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nb_opt")
    parser.add_argument("nb_sim")
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    draws = random.Random(seed)
    failures, count, harmed, end = 0, 0, 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        programs, orders = Programs(draws, options.nb_sim, folder), Orders(draws, own_passes(options.nb_opt))
        while time.monotonic() < end:
            (path, flags), pipeline = programs.choose(), orders.pipeline()
            count += 1
            if draws.random() < 0.4:
                with open(path, encoding="utf-8") as file:
                    text = damaged(draws, file.read())
                path, flags = os.path.join(folder, "damaged.mlir"), flags + " (damaged)"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                harmed += 1
            if draws.random() < 0.1:  # a damaged schedule
                with open(os.path.join(EXAMPLES, draws.choice(SCHEDULES)), encoding="utf-8") as file:
                    text = damaged(draws, file.read())
                with open(os.path.join(folder, "schedule.mlir"), "w", encoding="utf-8") as file:
                    file.write(text)
                pipeline = pipeline.replace("builtin.module(", f"builtin.module(nb-apply-patterns{{files={folder}/schedule.mlir}},", 1)
            wrong = problem(options.nb_opt, path, pipeline)
            if wrong:
                failures += 1
                print(f"nb-sim {flags} --emit=nb | nb-opt --pass-pipeline='{pipeline}'\n  {wrong}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    shutil.copy(path, os.path.join(options.keep, f"{seed}-{count}.mlir"))
                    if "schedule.mlir" in pipeline:
                        shutil.copy(os.path.join(folder, "schedule.mlir"), os.path.join(options.keep, f"{seed}-{count}-schedule.mlir"))
    print(f"{count} orders on {len(programs.made)} experiments ({programs.refused} refused), {harmed} damaged, {failures} failures")
    return 1 if failures or not count or len(programs.made) < programs.refused else 0


if __name__ == "__main__":
    sys.exit(main())
