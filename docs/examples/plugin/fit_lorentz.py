"""Fit orientation and numbers of cells with the plugin's lattice factor: fit_lorentz.py LorentzFactor.so

Images and exact derivatives come from kernels that contain the plugin's op.
"""

import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares

import nanobragg as nb

own = {"plugins": sys.argv[1], "patterns": str(pathlib.Path(__file__).with_name("lorentz.pdll"))}
flags = ("-cell 70 80 90 90 90 90 -misset 10 20 30 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 48 -pixel 0.5 "
         "-fluence 1e24 -oversample 4")
truth = nb.Simulator.from_flags(flags, **own)
expected = truth.image()
data = np.random.default_rng(1).poisson(expected * 1e5) / 1e5
sigma = np.sqrt(expected / 1e5)

start = truth.copy()
start.set(misset_z=30.03 * nb.degree, ncells_a=7.5)
f = start.function("misset", "ncells_a")
unit = np.array([*[0.1 * nb.degree] * 3, 1.0])


def residuals(x):
    return ((f.image(f.theta + unit * x) - data) / sigma).ravel()


def jacobian(x):
    return np.stack([(f.jvp(f.theta + unit * x, step) / sigma).ravel() for step in np.diag(unit)], axis=1)


fit = least_squares(residuals, np.zeros(4), jac=jacobian)
found = f.unpack(f.theta + unit * fit.x)
errors = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac))) * unit
print(f"chi-square per pixel {2 * fit.cost / data.size:.3f} after {fit.nfev} images")
for name, error in zip(f.names, errors):
    print(f"{name:10} found {found[name]:.6e} +- {error:.1e}, true {truth[name]:.6e}")
    assert abs(found[name] - truth[name]) < 4 * error
square = nb.Simulator.from_flags(flags).image()
print(f"photons: {expected.sum():.3e} in Lorentzian spots, {square.sum():.3e} in those of a block")
