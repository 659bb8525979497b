"""Simulate a diffraction image, look at it, and ask how it depends on the crystal.

Run it: python simulate.py [PICTURE.png]
"""

import sys

import numpy as np

import nanobragg as nb
from nanobragg import plot

# Made-up structure factors of a protein: they fall off with resolution.
h = np.arange(-20, 21)
falloff = np.exp(-(h[:, None, None]**2 + h[None, :, None]**2 + h[None, None, :]**2) / 200)
factors = 300 * np.random.default_rng(1).rayleigh(size=(41, 41, 41)) * falloff

sim = nb.Simulator(
    nb.Crystal(cell=(70 * nb.angstrom, 80 * nb.angstrom, 90 * nb.angstrom, *[90 * nb.degree] * 3),
               misset=(10 * nb.degree, 20 * nb.degree, 30 * nb.degree), ncells=15,
               structure_factors=(factors, (-20, -20, -20)), mosaic_spread=0.2 * nb.degree, mosaic_domains=5),
    nb.Beam(wavelength=1 * nb.angstrom, fluence=1e24, polarization=0.99),
    nb.Detector(distance=150 * nb.millimeter, pixel_size=0.4 * nb.millimeter, shape=(256, 256)),
    nb.Goniometer(osc=0.5 * nb.degree, phi_steps=5))

image = sim.image()
print(f"{image.sum():.0f} photons, {image.max():.1f} in the brightest pixel")
slow, fast = np.unravel_index(image.argmax(), image.shape)
trace = sim.trace(slow, fast)
print("Miller index there:", next(v for name, v in trace.items() if name.startswith("hkl_frac")).round(2))

# How all photons together depend on the cell, per metre and radian.
for name, derivative in sim.gradient("cell").items():
    print(f"{name:12} {derivative: .3e} photons per {sim.parameters[name].unit}")

with open(sys.argv[1] if len(sys.argv) > 1 else "image.png", "wb") as file:
    file.write(plot.png(image))
# In a notebook or with matplotlib: sim.show()
