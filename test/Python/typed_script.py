"""A script as users write it, which mypy --strict passes: the test lint-mypy reads it and python-typed runs it."""

import numpy as np
from numpy.typing import NDArray

import nanobragg as nb
from nanobragg import compiler, plot

FLAGS = "-cell 70 80 90 90 90 90 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 16 -pixel 2 -fluence 1e24"

sim: nb.Simulator = nb.Simulator.from_flags(FLAGS, threads=1)
image: NDArray[np.float64] = sim.image()
sim["cell_a"] = 71 * nb.angstrom
function = nb.Function(sim, ["cell_a"])
theta: NDArray[np.float64] = function.theta
slope: NDArray[np.float64] = function.vjp(theta, image)
shots: NDArray[np.float64] = nb.render_batch(sim, {"cell_a": theta * np.ones(2)})
counts = nb.counts(image, seed=1, flicker=0.01)
spread: NDArray[np.float64] = nb.point_spread(image, "gauss", width=1.5)
true: NDArray[np.float64] = nb.true_counts(counts, dead_time=1e-9, exposure=1.0)
picture: bytes = plot.png(image)
program: str = compiler.emit(FLAGS)
remarks: list[compiler.Remark] = compiler.run(program, "builtin.module(nb-hoist-invariants)").remarks
print(slope.shape, shots.shape, int(counts.sum()), spread.sum(), true.sum(), len(picture), [str(remark) for remark in remarks])
