"""A script that uses the public interface as its pages show it; mypy --strict accepts it, and refuses the lines marked with an error."""

import nanobragg as nb
import numpy as np

crystal = nb.Crystal(cell=(70e-10, 80e-10, 90e-10, 1.57, 1.57, 1.57), ncells=8, default_F=100, shape="gauss", misset="random",
                     mosaic_spread=0.3 * nb.degree)
crystal.rotation = nb.random_rotation(seed=3)
beam = nb.Beam(wavelength=1e-10, fluence=1e24, divergence_sigma=(1e-4, 2e-4), unpolarized=True,
               background=nb.Background(stol=[0.0, 1e9], factor=[2.0, 3.0], thickness=1e-4))
detector = nb.Detector(panels=[nb.Panel((0, 0, 0.1), (1, 0, 0), (0, 1, 0), (64, 64))], pixel_size=np.float64(75e-6), curved=False)
plane = nb.Detector.plane((0, 0, 0.1), (1, 0, 0), (0, 1, 0), (64, 64), 75e-6)
goniometer = nb.Goniometer(osc=0.1 * nb.degree, phi_steps=3)

nb.Crystal(shape="rond")  # error: arg-type
nb.Beam(wavelenght=1e-10)  # error: call-arg
nb.Detector(pixel_size="75 um")  # error: arg-type
