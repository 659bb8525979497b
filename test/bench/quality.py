#!/usr/bin/env python3
"""How well nb-refine explains three measured sets: lines of a history, one for each image, and its picture.

usage: quality.py FOLDER HISTORY.csv OUT.svg, with the package nanobragg in PYTHONPATH

FOLDER has thaumatin (stills of a Pilatus), snase (stills of a CCD), l_cysteine (a sweep) and models/thaumatin_dimple.pdb, from the data
repositories of DIALS and lunus. chi-square is that per pixel of spots, where each has an intensity of its own. R is the sum of |F - F'|
over that of F, of reflections above 3 sigmas: of F of the merged stills and of the model's F', and for the sweep of the
roots of photons that DIALS sums and of those that the fit has in the same pixels."""

import csv
import datetime
import pathlib
import subprocess
import sys
import tempfile

import gemmi
import matplotlib
import numpy
from nanobragg import _core
from nanobragg.refine import _files
from nanobragg.refine._model import Model

STILLS = {"thaumatin": ("thau_3_2_0003.cbf.bz2 thau_3_2_0007.cbf.bz2 thau_3_2_0013.cbf.bz2", "../models/thaumatin_dimple.pdb"),
          "snase": ("snc_newhead_00001.img.bz2 snc_newhead_00013.img.bz2 snc_newhead_00017.img.bz2", "1stn_atoms.pdb")}
SWEEP = "l_cysteine", "l_cysteine_narrow_wedge_11_integrated"
COLUMNS = ("commit", "date", "version", "set", "image", "chi2", "R")
SURE = 3.0  # sigmas


def refined(table, *words):
    """Rows of a table that nb-refine writes, and its folder."""
    out = pathlib.Path(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-m", "nanobragg.refine", *map(str, words), f"--out={out}"], check=True)
    with open(out / table) as file:
        return list(csv.DictReader(file)), out


def r_factor(F, model):
    """With the scale by which half of the amplitudes are larger."""
    return numpy.abs(F - numpy.median(F / model) * model).sum() / F.sum()


def of_stills(folder, images, model):
    """(image, chi-square) of each, and R of all."""
    rows, out = refined("shots.csv", "index", *(folder / image for image in images.split()), f"--model={folder / model}")
    merged = gemmi.read_mtz_file(str(out / "structure_factors.mtz"))
    F, sigma = (numpy.array(merged.column_with_label(name)) for name in ("F", "SIGF"))
    known = Model.read(folder / model, merged.resolution_high())
    of_model = known.grid[tuple((merged.make_miller_array() - known.lowest).T)]
    use = (F > SURE * sigma) & (of_model > 0)
    return [(row["image"], row["chi2_profiles"]) for row in rows], r_factor(F[use], of_model[use])


def of_sweep(folder, name):
    """The same of a sweep."""
    row, out = refined("sweeps.csv", "sweep", folder / f"{name}.expt", folder / f"{name}.refl")
    table = _files.read_reflections(out / "refined.refl")
    data, variance, model = (table[f"intensity.foreground.{name}"] for name in ("value", "variance", "model"))
    use = (data > SURE * numpy.sqrt(variance)) & (model > 0)
    return [(name, row[0]["chi2_poisson"])], r_factor(numpy.sqrt(data[use]), numpy.sqrt(model[use]))


def measured(folder):
    """Lines of the history, without commit and date."""
    for name, said in STILLS.items():
        rows, R = of_stills(folder / name, *said)
        yield from ((_core.version, name, pathlib.Path(image).name, chi2, f"{R:.4f}") for image, chi2 in rows)
    rows, R = of_sweep(folder / SWEEP[0], SWEEP[1])
    yield from ((_core.version, SWEEP[0], image, chi2, f"{R:.4f}") for image, chi2 in rows)


def draw(history, path):
    """Chi-square and R by release: the median of the images of a set, and a band from the least to the greatest."""
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "nanobragg"
    releases = list(dict.fromkeys(row["version"] for row in history))
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3), constrained_layout=True)
    for axes, column, title in zip(panels, ("chi2", "R"), ("chi-square per pixel of spots", "R of F")):
        for name in dict.fromkeys(row["set"] for row in history):
            values = [[float(row[column]) for row in history if (row["set"], row["version"]) == (name, one)] or [numpy.nan] for one in releases]
            least, middle, most = ([of(one) for one in values] for of in (min, numpy.median, max))
            axes.errorbar(range(len(releases)), middle, [numpy.subtract(middle, least), numpy.subtract(most, middle)], fmt="o-", capsize=3, label=name)
            axes.fill_between(range(len(releases)), least, most, alpha=0.2)
        axes.set(title=title, yscale="log", xticks=range(len(releases)), xticklabels=releases)
        axes.margins(x=0.3)
    panels[0].legend()
    figure.savefig(path, metadata={"Date": None})


def main(folder, path, picture):
    commit = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent).stdout.strip()
    lines = [(commit, datetime.date.today().isoformat(), *line) for line in measured(pathlib.Path(folder))]
    fresh = not pathlib.Path(path).exists()
    with open(path, "a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS] * fresh + lines)
    with open(path) as file:
        draw(list(csv.DictReader(file)), picture)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
