"""Compares nb-refine with DIALS on simulated stills with known structure factors.

The stills are of thaumatin. Orientation, cell, size and mosaicity of the blocks, fluence and distance
vary; the headers contain the nominal distance, and the model given to both programs has structure
factors with errors of 28 %. Finished stills are kept in the folder: the same command continues
after an interrupt, and can add stills. Needs gemmi, scipy, msgpack and DIALS.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import gemmi
import msgpack
import numpy as np

MODEL = pathlib.Path(__file__).parents[1] / "thaumatin/data/1rqw.pdb.gz"
SIZES = 50, 125, 250  # and all stills
SPOILT = 0.28  # standard deviation of errors of log F
CELL, GROUP, DISTANCE, DMIN, SHELLS = (57.9, 57.9, 150.2, 90, 90, 90), "P 41 21 2", 200, 1.9, 6
SHOTS = """misset random
cell 57.9+-0.1 = 150.2+-0.3 90 90 90
N 18:36
mosaic 0.05~0.2
fluence 1e25~4e26
distance 199.5..200.5
"""
FLAGS = ("--k-sol=0.35 -gauss_xtal --average=closed --bandwidth-sigma=0.05 -divergence_sigma 0.2 "
         "-water 0.29 -lambda 1 -polar 0.99 -detpixels 1000 -pixel 0.172 -nopgm --quiet")
BATCH = 25  # stills in a run of DIALS
LEAST_PARTIALITY = 0.4  # DIALS' own


def run(words, folder, log, **environment):
    """Runs a command in a folder, with its output in a file; returns its processor time (s)."""
    def spent():
        return os.times().children_user + os.times().children_system

    before = spent()
    with open(folder / log, "a") as file:
        done = subprocess.run([str(word) for word in words], cwd=folder, stdout=file, stderr=file,
                              env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{words[0]} failed; {folder / log} says why")
    return spent() - before


def simulate(folder, stills):
    """still_0001.cbf and so on, and the true structure factors."""
    done = len(list(folder.glob("still_*.cbf")))
    if done < stills:
        (folder / "shots.txt").write_text(f"draw {stills} 23\n{SHOTS}")
        shutil.rmtree(folder / "new", ignore_errors=True)
        (folder / "new").mkdir()
        print(f"simulates {stills - done} stills", flush=True)
        run([sys.executable, "-m", "nanobragg.simulate", "-hkl", MODEL, *FLAGS.split(),
             "--shots=../shots.txt", "--write-shots=drawn.txt", "--write-mtz=true.mtz",
             "--cbf=still.cbf"], folder / "new", "simulate.log")
        for image in sorted((folder / "new").glob("still_*.cbf"))[done:]:
            content = image.read_bytes()
            header, rest = content.split(b"--CIF-BINARY-FORMAT-SECTION--", 1)
            header = re.sub(rb"Detector_distance \S+ m",
                            b"Detector_distance %.5f m" % (DISTANCE / 1000), header)
            image.write_bytes(header + b"--CIF-BINARY-FORMAT-SECTION--" + rest)
            image.rename(folder / image.name)
        (folder / "new/true.mtz").rename(folder / "true.mtz")
    return sorted(folder.glob("still_*.cbf"))[:stills]


def amplitudes(path):
    """Miller indices and F of an MTZ file, without reflections that have no F."""
    mtz = gemmi.read_mtz_file(str(path))
    F = mtz.column_with_label("F").array
    return mtz.make_miller_array()[F > 0], F[F > 0]


def spoil(true, path):
    """A model with errors, of the same reflections."""
    hkl, F = amplitudes(true)
    mtz = gemmi.Mtz(with_base=True)
    mtz.spacegroup = gemmi.SpaceGroup(GROUP)
    mtz.set_cell_for_all(gemmi.UnitCell(*CELL))
    mtz.add_dataset("model")
    mtz.add_column("F", "F")
    mtz.add_column("SIGF", "Q")
    F = F * np.exp(np.random.default_rng(0).normal(scale=SPOILT, size=len(F)))
    mtz.set_data(np.column_stack([hkl, F, 0.01 * F]).astype("f4"))
    mtz.write_to_file(str(path))


def refine(folder, images):
    """Runs nb-refine; returns the folder of its files."""
    out = folder / f"refined_{len(images)}"
    if not (out / "structure_factors.mtz").exists():
        print(f"nb-refine refines {len(images)} stills ({folder}/nb-refine.log)", flush=True)
        seconds = run([sys.executable, "-m", "nanobragg.refine", "index", *images, f"--out={out}",
                       f"--model={folder / 'model.mtz'}", "--workers=2", "--resume"],
                      folder, "nb-refine.log")
        print(f"{seconds / len(images):.1f} s of processor time a still", flush=True)
    return out


def integrate(folder, images):
    """Runs DIALS; returns the integrated tables of all batches."""
    tables, cell = [], ",".join(map(str, CELL))
    # Debian's cctbx lacks this module, of which DIALS uses only the Python part.
    stand_in = folder / "stand-in"
    stand_in.mkdir(exist_ok=True)
    (stand_in / "xfel_mono_sim_ext.py").touch()
    for begin in range(0, len(images), BATCH):
        batch = images[begin:begin + BATCH]
        at = folder / "dials" / f"{begin:04}_{len(batch)}"
        if not (at / "done").exists():
            shutil.rmtree(at, ignore_errors=True)
            at.mkdir(parents=True)
            print(f"DIALS integrates stills {begin + 1} to {begin + len(batch)} of {len(images)}",
                  flush=True)
            seconds = sum(run(words, at, "log.txt", PYTHONPATH=str(stand_in)) for words in (
                ["dials.import", *batch],
                ["dials.find_spots", "imported.expt", "nproc=1"],
                ["dials.ssx_index", "imported.expt", "strong.refl", f"unit_cell={cell}",
                 f"space_group={GROUP.replace(' ', '')}", "nproc=1"],
                ["dials.ssx_integrate", "indexed.expt", "indexed.refl", "nproc=1"]))
            print(f"{seconds / len(batch):.1f} s of processor time a still", flush=True)
            (at / "done").touch()
        tables += sorted(at.glob("integrated_*.refl"))
    return tables


def observations(tables, known):
    """Reflections, intensities and sigmas of DIALS' tables, each crystal scaled to the model."""
    rows = []
    for path in tables:
        table = msgpack.unpackb(path.read_bytes(), raw=False, strict_map_key=False)[2]["data"]
        column = {name: np.frombuffer(table[name][1][1], kind) for name, kind in (
            ("id", "<i4"), ("miller_index", "<i4"), ("partiality", "<f8"), ("lp", "<f8"),
            ("intensity.sum.value", "<f8"), ("intensity.sum.variance", "<f8"))}
        hkl = column["miller_index"].reshape(-1, 3)
        part, variance = column["partiality"], column["intensity.sum.variance"]
        factor = column["lp"] / np.maximum(part, 1e-9)
        for crystal in np.unique(column["id"]):
            use = (column["id"] == crystal) & (part > LEAST_PARTIALITY) & (variance > 0)
            I, sigma = factor * column["intensity.sum.value"], factor * np.sqrt(variance)
            index = known.rows(hkl[use])
            index, I, sigma = (v[index >= 0] for v in (index, I[use], sigma[use]))
            level = scale_of(I, sigma, known.model[index]**2, known.s2[index])
            rows.append((index, I / level, sigma / level))
    return [np.concatenate(column) for column in zip(*rows)]


def scale_of(I, sigma, model, s2):
    """Scale of each intensity relative to the model: a factor and a B factor, fitted to strong reflections."""
    strong = (I > 3 * sigma) & (model > 0)
    if strong.sum() < 10:
        return np.full(len(I), max(np.median(I / np.maximum(model, 1e-9)), 1e-30))
    slope, start = np.polyfit(s2[strong], np.log(I[strong] / model[strong]), 1)
    return np.exp(start + slope * s2)


class Known:
    """The reflections of the asymmetric unit with their true and their spoilt F."""

    def __init__(self, folder):
        self.hkl, self.true = amplitudes(folder / "true.mtz")
        self.model = amplitudes(folder / "model.mtz")[1]
        self.s2 = gemmi.UnitCell(*CELL).calculate_1_d2_array(self.hkl)
        self.row = {tuple(h): i for i, h in enumerate(self.hkl.tolist())}
        group = gemmi.SpaceGroup(GROUP)
        self.asu, self.operations = gemmi.ReciprocalAsu(group), group.operations()

    def rows(self, hkl):
        """The row of each Miller index; -1 where there is none."""
        inside = [self.asu.to_asu(h, self.operations)[0] for h in hkl.tolist()]
        return np.array([self.row.get(tuple(h), -1) for h in inside], int)


def merged(index, I, sigma, count):
    """Weighted means; nan where there is no observation."""
    weight = np.bincount(index, sigma**-2, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(index, I * sigma**-2, count) / weight, weight**-0.5


def read_merged(path, known, labels):
    """Intensities and sigmas of a merged MTZ file, in the order of the known reflections."""
    mtz = gemmi.read_mtz_file(str(path))
    rows = known.rows(mtz.make_miller_array())
    found = [np.full(len(known.true), np.nan) for _ in labels]
    for of, label in zip(found, labels):
        of[rows[rows >= 0]] = mtz.column_with_label(label).array[rows >= 0]
    return found


def report(name, I, sigma, known, shells):
    """Prints R and CC of F by shell, after one scale and B, and pulls of I. Returns R of all."""
    seen = np.isfinite(I) & np.isfinite(sigma)
    level = np.ones(len(I))
    level[seen] = scale_of(I[seen], sigma[seen], known.true[seen]**2, known.s2[seen])
    F, pull = np.sqrt(np.maximum(I / level, 0)), (I - level * known.true**2) / sigma
    values = []
    for shell in [*range(SHELLS), None]:
        use = seen & (shells >= 0 if shell is None else shells == shell)
        truth = known.true[use]
        R = np.abs(F[use] - truth).sum() / truth.sum()
        CC = np.corrcoef(F[use], truth)[0, 1] if use.sum() > 2 else np.nan
        values.append(f"{use.sum():5} {R:.3f} {CC:.3f}")
    pull = pull[seen & (shells >= 0)]
    robust, rms = 1.4826 * np.median(np.abs(pull)), np.sqrt(np.mean(pull**2))
    print(f"| {name} | " + " | ".join(values) + f" | {robust:.2f} {rms:.2f} |", flush=True)
    return R


def main(words=None):
    """Prints the table, and returns R of all reflections by number of stills and program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stills", type=int, default=500)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("judged"))
    parser.add_argument("--without-dials", action="store_true")
    given = parser.parse_args(words)
    folder = given.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    images = simulate(folder, given.stills)
    spoil(folder / "true.mtz", folder / "model.mtz")
    known = Known(folder)
    ends = np.linspace(0, DMIN**-3, SHELLS + 1)[1:]  # shells of equal volume
    shells = np.searchsorted(ends, known.s2**1.5)
    shells[shells >= SHELLS] = -1
    found = {}
    for size in [*(size for size in SIZES if size < given.stills), given.stills]:
        out = refine(folder, images[:size])
        found[size, "nb-refine"] = read_merged(out / "structure_factors.mtz", known, ("I", "SIGI"))
        if not given.without_dials:
            rows = observations(integrate(folder, images[:size]), known)
            found[size, "DIALS"] = merged(*rows, len(known.true))
    print("\nReflections, R and CC of F; pulls of I, robust and rms:\n")
    limits = " | ".join(f"to {d:.2f} Å" for d in ends**(-1 / 3))
    print(f"| stills, program | {limits} | all | pulls |\n|" + "---|" * (SHELLS + 3))
    return {who: report(f"{who[0]}, {who[1]}", *values, known, shells)
            for who, values in found.items()}


if __name__ == "__main__":
    main()
