"""pages_test.py BUILD: every command and every snippet of the pages that answer "how do I ...", run as they stand, page by
page, in a folder that has the files that they name. A block behind `<!-- not run: REASON -->` is left out.

Two things stand for the reader's own: `...` and FLAGS in a command for the flags of an experiment, and names of files (1abc.mtz).
The programs in front of which a launcher stands (mpirun, srun) are run alone. Detectors are made small."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sys.argv[2:] or """averages averages-methods background coming-from comparing data-sets derivatives judging-pipelines labels
    laboratory many-processes panels pixels python rewriting stills structure-factors structure-factors-by-energy
    torch-and-jax""".split()
BUILD = pathlib.Path(sys.argv[1]).resolve()

# Stands in front of the programs: fills in what the reader would and makes images small.
WRAPPER = r'''
import os, sys
PIPELINE = "builtin.module(func.func(nb-hoist-invariants,nb-fuse))"
program, arguments = os.path.basename(sys.argv[0]), [word for word in sys.argv[1:] if word != "--open"]
given = lambda *names: any(a == n or a.startswith(n + "=") for a in arguments for n in names)
crystal = [] if given("-hkl", "--hkl-channels") else ["-hkl", "P1.hkl", "-default_F", "100"]
if not given("-cell", "-mat", "--expt") and (crystal or given("--hkl-channels")):
    crystal += ["-cell", "40", "50", "60", "90", "90", "90"]
own = [*crystal, "-N", "5", "-lambda", "1", "-distance", "100", "-pixel", "1", "-oversample", "1"]
small = [] if given("--panels", "--expt") else ["-detpixels", "24"]
expanded, behind = [], []
for argument in arguments:
    if argument == "..." and program == "nb-run":
        behind = ["--", *own, *small]
    elif argument in ("...", "FLAGS"):
        expanded += own + small
    else:
        expanded.append(argument.replace("builtin.module(...)", PIPELINE).replace("--pipeline=...", "--pipeline=" + PIPELINE))
if program == "nb-sim":  # of a flag given twice the last counts
    expanded += small + (["--frames=2"] if given("--frames") else [])
if program == "nb-try":
    expanded += ["--repeat=1", "--timeout=60"] + (["--least-gain=0.9"] if given("--tune") else [])
os.execv(os.path.join(os.environ["NB_REAL_BIN"], program), [program, *expanded, *behind])
'''

FILES = {
    "P1.hkl": "0 0 1 10\n1 2 3 20\n", "list.hkl": "0 0 1 10\n1 2 3 20\n",
    "A.mat": "0.02 0 0\n0 0.018 0\n0 0 0.015\n",
    "pulse.lam": "0.99 1\n1.00 3\n1.01 1\n", "water.stol": "0 2.57\n0.18 7.3\n0.5 3.1\n",
    "sites.txt": "SE 0.1 0.2 0.3 1 20\n", "fpfdp.txt": "SE 12000 -3 0.5\nSE 13000 -4 3.8\n",
    "channels.txt": "12300 P1.hkl\n12500 P1.hkl\n", "shots.txt": "misset seed\n1 2 3 1\n4 5 6 2\n",
    "lattice.mlir": """func.func @lattice_factor(%hkl: !nb.vec3<f64> {nb.name = "hkl"},
                     %ncells: !nb.vec3<f64> {nb.name = "ncells"}) -> f64 {
      %L = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64>
      return %L : f64
    }""",
    "split.txt": "turn weight from to\n0 0 0 1 -1000 1000\n0 0.2 0 0.5 45 135\n",
}

PRELUDE = """
import numpy as np, os
import nanobragg as nb
flags = "-cell 40 50 60 90 90 90 -default_F 100 -N 5 -lambda 1 -distance 100 -pixel 1 -detpixels 24 -oversample 1"
made = nb.Simulator.from_flags
nb.Simulator.from_flags = lambda words, **k: made(words + " -detpixels 24 -pixel 1", **k)
sim = made(flags)
image = sim.image()
data, sigma, mask = image + 1, 2.0, np.ones(image.shape, bool)
rows = np.array([[3, 4], [5, 6]])
array, (hmin, kmin, lmin) = np.ones((5, 5, 5)), (-2, -2, -2)
width, dead_time, exposure = 1.0, 1e-7, 1.0
function = sim.function("cell", "misset")
theta = function.theta
thetas = np.stack([theta, theta])
v, vs, cotangent = np.ones(len(theta)), np.eye(len(theta))[:2], np.ones(image.shape)
loss = nb.Loss.chi_square(data, sigma, mask)
indices, amplitudes = np.array([[1, 0, 0], [0, 1, 0]]), np.array([5.0, 7.0])
pipeline = "builtin.module(func.func(nb-hoist-invariants,nb-fuse))"
"""


def blocks(page):
    """(language, text, why it is not run) of each block."""
    for match in re.finditer(r"(?:<!-- not run: ([^>]*) -->\n)?^( *)```(\w+)\n(.*?)^ *```", page, re.M | re.S):
        yield match[3], textwrap.dedent(match[4]), match[1]


class Page:
    def __init__(self, name, folder, environment):
        self.name, self.folder, self.environment = name, folder, environment
        self.run = 0

    def shell(self, text):
        text = re.sub(r"\b(?:mpirun|srun) -n \d+ ", "", text)
        return ["bash", "-e", "-o", "pipefail", "-c", text]

    def execute(self, language, text):
        if language == "sh":
            command = self.shell(text)
        else:
            text = text.replace("builtin.module(...)", "builtin.module(func.func(nb-hoist-invariants,nb-fuse))")
            command = [str(BUILD / "venv/bin/python"), "-c", PRELUDE + text]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"docs/{self.name}.md:\n{text}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        self.run += 1


def absent(text):
    """A package that a snippet imports and that the build's Python does not have."""
    for package in re.findall(r"^import .*?(torch|jax)", text, re.M):
        if subprocess.run([str(BUILD / "venv/bin/python"), "-c", f"import {package}"], capture_output=True, check=False).returncode:
            return package
    return None


def prepare(folder, cache):
    for name, text in FILES.items():
        (folder / name).write_text(text)
    model = (ROOT / "docs/examples/data-set/helices.pdb").read_text()
    selenium = "HETATM 9999 SE   MSE A 999      10.000  10.000  10.000  1.00 20.00          SE\n"
    (folder / "1abc.pdb").write_text(model.replace("END", selenium + "END", 1))
    cell = re.search(r"CRYST1\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)", model).groups()
    # The content says what a file is: this one has phases.
    keys = "length_a length_b length_c angle_alpha angle_beta angle_gamma".split()
    phased = "".join(f"_cell.{key} {value}\n" for key, value in zip(keys, cell))
    (folder / "1abc.mtz").write_text("data_1abc\n" + phased + "_symmetry.space_group_name_H-M 'P 21 21 21'\nloop_\n"
                                     "_refln.index_h\n_refln.index_k\n_refln.index_l\n_refln.F_calc\n_refln.phase_calc\n"
                                     "1 2 3 100 30\n2 1 1 80 60\n")
    for name in ("docs", "test"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("domains-outside.mlir", "knobs.mlir"):
        (folder / name).symlink_to(ROOT / "docs/examples/schedules" / name)
    (folder / "LIB").symlink_to(BUILD / "lib")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for program in ("nb-sim", "nb-try", "nb-run", "nb-opt", "nb-reduce", "nb-explore", "nb-compare", "nb-gradcheck", "nb-compile",
                    "nb-cache"):
        wrapper = bin_folder / program
        wrapper.write_text(f"#!{sys.executable}{WRAPPER}")
        wrapper.chmod(0o755)
    environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", NB_REAL_BIN=str(BUILD / "bin"),
                       PYTHONPATH=str(BUILD / "python"), NB_CACHE_DIR=cache,
                       SLURM_ARRAY_TASK_ID="0", OMP_NUM_THREADS="2")
    subprocess.run("nb-sim -hkl 1abc.pdb --hkl-dmin=4 -lambda 1 -distance 100 -N 5 --quiet --write-mtz=model.mtz", shell=True,
                   cwd=folder, env=environment, check=True, capture_output=True)
    subprocess.run("nb-sim FLAGS -floatfile IMAGE --quiet && cp IMAGE TEST && cp IMAGE REFERENCE && nb-sim FLAGS --emit=nb > program.mlir",
                   shell=True, cwd=folder, env=environment, check=True, capture_output=True)
    return environment


def main():
    if not (BUILD / "venv/bin/python").exists():
        print("skipped: there is no Python package")
        return
    total, left = 0, []
    common = tempfile.TemporaryDirectory()  # Kernels of all pages.
    for name in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, pathlib.Path(folder), prepare(pathlib.Path(folder), common.name))
            for language, text, reason in blocks((ROOT / f"docs/{name}.md").read_text()):
                if reason:
                    left.append(f"{name}: {reason}")
                elif language in ("sh", "python"):
                    missing = absent(text) if language == "python" else None
                    if missing:
                        left.append(f"{name}: {missing} is not installed")
                    else:
                        page.execute(language, text)
            if not page.run:
                raise SystemExit(f"docs/{name}.md has no command that is run")
            print(f"{name}: {page.run} blocks")
            total += page.run
    print(f"{total} blocks of {len(PAGES)} pages; not run:", *left, sep="\n  ")


main()
