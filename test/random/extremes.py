"""Experiments at the extremes, on every engine and in every average: cells of 3 to 1000 Angstrom and skew ones, wavelengths
of 0.02 to 10 Angstrom, one to thousands of cells, spreads of nothing, of next to nothing and of everything.

    extremes.py NB_SIM [--seed S] [--experiments N] [--seconds S] [--gradients]
    NB_C_PROGRAM=PATH extremes.py NB_SIM --c-program ...     those without averages, -compat c beside the C program (c_program.py)

Most of the images have a reflection or the direct beam. Renderings of which beam and matrix differ in their last digits
show how far rounding moves a pixel; engines may differ by some times that besides the bounds that they promise."""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

import c_program
import numpy as np

# A part of a pixel and of the brightest one. Files are in f32.
F64, MIXED = (1e-6, 1e-9), (2e-5, 2e-7)
SINGLE, SINGLE_TURNS = (0.1, 0.01), 0.003  # f32 is for previews of crystals whose phases it knows as well as that
LISTS = (1e-6, 1e-3)  # --average-tolerance, of the lists of reflections too
LEAST_PEAK = 1e-9  # the tolerance is of a reflection's peak, which may lie beside the image
DRAWS = (0.03, 0.03)
DIGITS, TIMES_ROUNDING = 1e-15, 10


class Failed(Exception):
    pass


class TooWide(Exception):
    """Averages in closed form have too many reflections."""


def log_uniform(draws, low, high):
    return math.exp(draws.uniform(math.log(low), math.log(high)))


def unit(v):
    return v / np.linalg.norm(v)


def direction(draws):
    return unit(np.array([draws.gauss(0, 1) for _ in range(3)]))


def rotation(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def numbers(values):
    return [f"{value:.17g}" for value in np.ravel(values)]


class Experiment:
    """The words of an experiment but for the beam's direction, the matrix (a*, b* and c* as rows, times the wavelength) and the
    numbers of cells."""

    def __init__(self, seed, like_c):
        """like_c: one that the C program has digits for; its formula for round crystals has none where the index is whole."""
        self.draws = random.Random(seed)
        self.wavelength = log_uniform(self.draws, 0.02, 10)
        cell = self.cell()
        self.shape = self.draws.choice(["-square_xtal", "-gauss_xtal", "-tophat_spots", "-round_xtal"][:3 if like_c else 4])
        self.average = self.draws.choice(["sampled", "closed"]) if self.shape == "-gauss_xtal" and not like_c else "sampled"
        self.closed = self.average == "closed"
        fewest = 4 if self.closed else 1
        self.cells = [max(fewest, round(self.log(0.7, 3000))) for _ in range(3)]
        if self.draws.random() < 0.5:
            self.cells = self.cells[:1] * 3
        seen = self.orient(cell)
        self.words = ["-lambda", repr(self.wavelength), self.shape, "-default_F", "100", "-fluence", "1e24", *self.camera(seen),
                      *self.spreads()]

    def turns(self):
        """The largest phase of an axis."""
        return max(n * 2 / np.linalg.norm(star) for n, star in zip(self.cells, self.reciprocal))

    def log(self, low, high):
        return log_uniform(self.draws, low, high)

    def maybe(self, chance, *words):
        return list(words) if self.draws.random() < chance else []

    def cell(self):
        """a, b and c as rows."""
        while True:
            lengths = [self.log(3, 1000) for _ in range(3)]
            if self.draws.random() < 0.3:
                lengths = lengths[:1] * 3
            skew = self.draws.choice([0, 10, 69])
            alpha, beta, gamma = (math.radians(90 + self.draws.uniform(-skew, skew)) for _ in range(3))
            metric = np.array([[1, math.cos(gamma), math.cos(beta)], [math.cos(gamma), 1, math.cos(alpha)],
                               [math.cos(beta), math.cos(alpha), 1]])
            if np.linalg.eigvalsh(metric)[0] > 1e-3:
                return np.array(lengths)[:, None] * np.linalg.cholesky(metric)

    def orient(self, cell):
        """Turns the cell so that a reflection is in its best orientation, or nearly; the beam and the direction of its
        light."""
        draws = self.draws
        beam, reciprocal = direction(draws), np.linalg.inv(cell).T
        wanted = direction(draws) * 2 / self.wavelength * draws.choice([0, draws.random(), self.log(1e-3, 1)])
        index = np.rint(cell @ wanted)
        q = index @ reciprocal
        length = np.linalg.norm(q)
        turn = rotation(direction(draws), draws.uniform(-3, 3))
        seen = beam
        if 0 < length < 1.99 / self.wavelength:
            sine = length * self.wavelength / 2
            across = unit(np.cross(beam, direction(draws)))
            target = -sine * beam + math.sqrt(1 - sine ** 2) * across
            axis = np.cross(q / length, target)
            turn = rotation(target, draws.uniform(-3, 3)) @ rotation(
                unit(axis), math.atan2(np.linalg.norm(axis), q @ target / length))
            seen = unit(beam / self.wavelength + length * target)
        # Off by a part of the spot.
        width = 1 / max(np.linalg.norm(cell, axis=1) * self.cells)
        off = rotation(direction(draws), draws.uniform(-1, 1) * width / max(length, width))
        self.beam, self.reciprocal = beam, reciprocal @ (off @ turn).T * self.wavelength
        return seen

    def camera(self, seen):
        draws = self.draws
        pixels, width = draws.randint(4, 12), self.log(1e-7, 0.05 if self.closed else 0.5)
        distance = self.log(max(1, 1e-3 / width), min(5e4, 10 / width))
        pixel = distance * width
        normal = unit(seen + draws.choice([0, 0.01, 0.5]) * direction(draws))
        fast = unit(np.cross(normal, direction(draws)))
        slow = np.cross(normal, fast)
        center = [1 + draws.uniform(0, pixels - 1) - seen @ axis / (seen @ normal) * distance / pixel for axis in (fast, slow)]
        words = ["-polar_vector", *numbers(unit(np.cross(self.beam, direction(draws)))),
                 "-spindle_axis", *numbers(direction(draws)), "-fdet_vector", *numbers(fast), "-sdet_vector", *numbers(slow),
                 "-odet_vector", *numbers(normal), "-pivot", "sample", "-close_distance", repr(distance), "-pixel", repr(pixel),
                 "-detpixels", str(pixels), "-ORGX", repr(float(center[0])), "-ORGY", repr(float(center[1]))]
        if draws.random() < 0.3:
            depth = self.log(2, 1e5)
            words += ["-detector_thick", repr(depth), "-detector_abs", repr(min(1e6, depth * self.log(1e-3, 1e3))),
                      "-detector_thicksteps", str(draws.randint(1, 4)), *self.maybe(0.5, "-oversample_thick")]
        words += self.maybe(0.15, "-curved_det") + self.maybe(0.15, "-oversample_omega") + self.maybe(0.2, "-nopolar")
        return words

    def spreads(self):
        if self.closed:
            return self.closed_spreads()
        draws, words = self.draws, ["-oversample", str(self.draws.randint(1, 3))]
        if draws.random() < 0.5:
            words += ["-mosaic", repr(draws.choice([0.0, 1e-6, 90.0, self.log(1e-4, 90)])), "-mosaic_domains", str(draws.randint(1, 4))]
        if draws.random() < 0.5:
            words += ["-osc", repr(draws.choice([1e-8, 360.0, self.log(1e-4, 90)])), "-phi", repr(draws.uniform(-360, 360)),
                      "-phisteps", str(draws.randint(1, 4))]
        if draws.random() < 0.4:
            words += ["-dispersion", repr(draws.choice([1e-10, self.log(1e-4, 100)])), "-dispsteps", str(draws.randint(1, 4))]
        if draws.random() < 0.4:
            words += ["-hdivrange", repr(self.log(1e-6, 1500)), "-hdivsteps", str(draws.randint(1, 3)),
                      "-vdivrange", repr(self.log(1e-6, 1500)), "-vdivsteps", str(draws.randint(1, 3))]
        return words

    def closed_spreads(self):
        """None so wide that nearly every reflection lights every pixel."""
        draws, words = self.draws, self.maybe(0.2, "-oversample", "2")
        if draws.random() < 0.5:
            words += ["-mosaic", repr(draws.choice([1e-6, self.log(1e-4, 1)]))]
        if draws.random() < 0.5:
            words += ["-osc", repr(draws.choice([1e-8, self.log(1e-4, 3)])), "-phi", repr(draws.uniform(-360, 360))]
        if draws.random() < 0.3:
            words += ["-dispersion", repr(draws.choice([1e-10, self.log(1e-4, 30)])), "-dispsteps", str(draws.randint(1, 3))]
        if draws.random() < 0.4:
            words += ["-divergence_sigma", repr(self.log(1e-6, 10)), repr(self.log(1e-6, 10))]
        if draws.random() < 0.5:
            words += [f"--bandwidth-sigma={self.log(1e-6, 0.3)!r}"]
        return words


class Trial:
    def __init__(self, nb_sim, seed, folder, like_c=False):
        self.nb_sim, self.folder, self.experiment, self.lit = nb_sim, folder, Experiment(seed, like_c), False

    def words(self, *more, off=0.0, seed=0, cells=None):
        """Beam and matrix are off by a part of them."""
        e, error = self.experiment, np.random.default_rng(seed).uniform(-off, off, (4, 3))
        axes = [word for name, n in zip("abc", cells or e.cells) for word in (f"-N{name}", str(n))]
        matrix = os.path.join(self.folder, f"{off}_{seed}.mat")
        with open(matrix, "w") as file:
            file.writelines(" ".join(numbers(row)) + "\n" for row in (e.reciprocal * (1 + error[:3])).T)
        return ["-mat", matrix, "-beam_vector", *numbers(e.beam + error[3]), *e.words, *axes, f"--average={e.average}", *more]

    def run(self, *more, **changes):
        """The image, and what was said."""
        self.last = self.words(*more, **changes)
        output = os.path.join(self.folder, "image.bin")
        done = self.start("-floatfile", output, "-nonoise", "-nopgm", "-noprogress")
        image = np.fromfile(output, np.float32).astype(float)
        os.remove(output)
        return image, done.stderr

    def start(self, *more):
        closed = self.experiment.closed and "--average=draws" not in self.last
        try:
            done = subprocess.run([self.nb_sim, *self.last, *more, "--no-fallback"], cwd=self.folder, capture_output=True, text=True,
                                  timeout=40 if closed else 300)
        except subprocess.TimeoutExpired:
            if closed:
                raise TooWide from None
            raise
        if "averages in closed form would take longer" in done.stderr:
            raise TooWide
        if done.returncode != 0:
            raise Failed(f"ends with {done.returncode}: {done.stderr[-500:]}")
        return done

    def gradient(self, *more, **changes):
        """Derivatives of the sum of all pixels with respect to all numbers, by their names."""
        self.last = self.words(*more, **changes)
        found = json.loads(self.start("--grad=all", "--json").stdout)
        sizes = {entry["parameter"]: np.abs(np.array(entry["value"], float)).max() for entry in found["gradient"]}
        # Where terms cancel: a sum of what is of the size of the loss over that of the number.
        self.zero = {name: 1e-11 * abs(found["loss"]) / (size or 1) for name, size in sizes.items()}
        return {entry["parameter"]: np.ravel(np.array(entry["gradient"], float)) for entry in found["gradient"]}

    def compare(self, image, reference, tolerance, spread, more):
        relative, of_largest = tolerance
        if not (np.isfinite(image).all() and (image >= 0).all()):
            raise Failed(f"{more}: not finite, or negative: {image[~(np.isfinite(image) & (image >= 0))][:3]}")
        allowed = relative * reference + of_largest * reference.max() + spread + 1e-37
        off = np.abs(image - reference) / allowed
        worst = off.argmax()
        if off[worst] > 1:
            raise Failed(f"{more}: pixel {worst} is {image[worst]:.9g} instead of {reference[worst]:.9g}, {off[worst]:.3g} times what is "
                         f"allowed; the brightest is {reference.max():.3g}")

    def rounding(self, reference):
        return TIMES_ROUNDING * np.max([np.abs(self.run("--cull=off", off=DIGITS, seed=i)[0] - reference) for i in range(4)], axis=0)

    def check(self):
        if self.experiment.closed:
            lists, said = self.run()
        reference, _ = self.run("--cull=off")
        self.lit = reference.max() > 0
        spread = self.rounding(reference)
        for more in (["--no-fuse"], ["--cull=exact"], ["--device=gpu-on-cpu"]):
            image, _ = self.run(*more)
            self.compare(image, reference, F64, spread, more)
        if self.experiment.closed:
            self.compare(lists, reference, LISTS, spread + LEAST_PEAK, "lists")
            if " too wide" not in said:
                self.check_draws(reference, spread)
        # Between fringes all of an image may be darker than what mixed is measured by.
        fringes = max(self.run("--cull=off", cells=[max(1, n - less) for n in self.experiment.cells])[0].max() for less in (0, 1, 2))
        mixed, _ = self.run("--precision=mixed")
        self.compare(mixed, reference, MIXED, spread + MIXED[1] * fringes, "mixed")
        single, _ = self.run("--precision=f32")
        known = self.experiment.turns() * 1e-7 < SINGLE_TURNS
        self.compare(single, reference if known else single, SINGLE, spread, "f32")

    def check_c_program(self, program):
        """Light on the back of the detector is negative in it."""
        self.last = self.words()
        reference, problem = c_program.image_of([program], [word for word in self.last if not word.startswith("--")], 0, self.folder)
        if reference is None:
            raise Failed(f"the C program: {problem}")
        if not np.isfinite(reference).all():
            return
        reference, image = np.abs(reference.astype(float)), np.abs(self.run("--compat=c")[0])
        self.lit = reference.max() > 0
        near = [np.abs(self.run("--compat=c", off=DIGITS, seed=i)[0]) for i in range(4)]
        self.compare(image, reference, F64, TIMES_ROUNDING * np.max(np.abs(np.array(near) - image), axis=0), "-compat c")

    def check_draws(self, reference, spread):
        """Where few draws have light they prove nothing: as many others have to agree."""
        few, _ = self.run("--average=draws", "--average-draws=16384")
        many, _ = self.run("--average=draws", "--average-draws=65536")
        if 5 * np.abs(many - few).max() < many.max():
            self.compare(reference, many, DRAWS, spread + 10 * np.abs(many - few) + 5 * np.abs(many - few).max(), "closed and drawn")

    def check_gradient(self):
        reference = self.gradient("--cull=off")
        self.lit = any(by.any() for by in reference.values())
        near = [self.gradient("--cull=off", off=DIGITS, seed=i) for i in range(3)]
        for more, tolerance in ((["--no-fuse"], 1e-8), (["--device=gpu-on-cpu"], 1e-8)):
            for name, got in self.gradient(*more).items():
                by = reference[name]
                spread = TIMES_ROUNDING * np.max([np.abs(other[name] - by) for other in near], axis=0)
                wrong = ~(np.abs(got - by) <= tolerance * np.abs(by).max() + spread + self.zero[name])
                if wrong.any():
                    i = wrong.argmax()
                    raise Failed(f"{more}: derivative {i} by {name} is {got[i]:.9g} instead of {by[i]:.9g}; rounding makes {spread[i]:.2g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nb_sim", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--experiments", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--gradients", action="store_true", help="in place of images")
    parser.add_argument("--c-program", action="store_true", help="images beside those of the C program")
    options = parser.parse_args()
    program = os.environ.get("NB_C_PROGRAM")
    if options.c_program and not program:
        print("skipped: NB_C_PROGRAM does not say where the C program is")
        return c_program.SKIPPED
    print(f"first seed {options.seed}", flush=True)
    end, failed, lit, number = time.monotonic() + options.seconds, 0, 0, 0
    while number < options.experiments and time.monotonic() < end:
        seed = options.seed + number
        number += 1
        with tempfile.TemporaryDirectory(prefix="nb-extremes-") as folder:
            trial = Trial(options.nb_sim, seed, folder, options.c_program)
            try:
                trial.check_c_program(os.path.abspath(program)) if options.c_program else trial.check_gradient() if options.gradients else trial.check()
            except TooWide:
                pass
            except (Failed, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAILED with --seed {seed} --experiments 1: {error}\n  {' '.join(trial.last)}", flush=True)
            lit += trial.lit
    print(f"{number} experiments, {lit} of them with light, {failed} failed")
    return 1 if failed or lit < number / 3 else 0


if __name__ == "__main__":
    sys.exit(main())
