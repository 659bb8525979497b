"""Refine cell and orientation against an image, by SciPy's least squares with exact derivatives."""

import numpy as np
from scipy.optimize import least_squares

import nanobragg as nb

flags = ("-cell 70 80 90 90 90 90 -misset 10 20 30 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 48 -pixel 0.5 "
         "-fluence 1e24 -oversample 1")
truth = nb.Simulator.from_flags(flags)
rng = np.random.default_rng(1)
data = rng.poisson(truth.image() * 1e5) / 1e5  # counting noise
sigma = np.sqrt(np.maximum(data, 1e-5) / 1e5)

start = truth.copy()
start.set(cell_a=70.05 * nb.angstrom, misset_z=30.03 * nb.degree)
f = start.function("cell_a", "cell_b", "misset")

# The optimizer's variables have similar sizes: changes of edges in units of 0.1 A, of angles in 0.1 degrees.
unit = np.array([0.1 * nb.angstrom, 0.1 * nb.angstrom, *[0.1 * nb.degree] * 3])


def residuals(x):
    return ((f.image(f.theta + unit * x) - data) / sigma).ravel()


def jacobian(x):
    theta = f.theta + unit * x
    columns = [f.jvp(theta, step) / sigma for step in np.diag(unit)]
    return np.stack([c.ravel() for c in columns], axis=1)


fit = least_squares(residuals, np.zeros(5), jac=jacobian)
found = f.unpack(f.theta + unit * fit.x)
errors = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac))) * unit
print(f"chi-square per pixel {2 * fit.cost / data.size:.3f} after {fit.nfev} images, {nb.counters()['compiles']} kernels compiled")
for name, error in zip(f.names, errors):
    print(f"{name:10} found {found[name]:.6e} +- {error:.1e}, true {truth[name]:.6e}")
    assert abs(found[name] - truth[name]) < 6 * error
