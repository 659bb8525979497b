"""A script as users write it, which mypy --strict passes: the test lint-mypy reads it and python-typed runs it."""

import numpy as np
from numpy.typing import NDArray

import nanobragg as nb
from nanobragg import compiler, plot

FLAGS = "-cell 70 80 90 90 90 90 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 16 -pixel 2 -fluence 1e24"

crystal = nb.Crystal(cell=(70e-10, 80e-10, 90e-10, 1.57, 1.57, 1.57), ncells=8, default_F=100, shape="gauss", mosaic_spread=0.3 * nb.degree,
                     mosaic_domains=5, rotation=nb.random_rotation(seed=3), average="sampled")
beam = nb.Beam(wavelength=1e-10, fluence=1e24, unpolarized=True, background=nb.Background(stol=[0.0, 1e9], factor=[2.0, 3.0], thickness=1e-4))
detector = nb.Detector(panels=[nb.Panel((-0.01, -0.01, 0.1), (1, 0, 0), (0, 1, 0), (16, 16))], pixel_size=np.float64(1e-3), curved=False)
plane = nb.Detector.plane((-0.01, -0.01, 0.1), (1, 0, 0), (0, 1, 0), (16, 16), 1e-3, oversample=1)
built = nb.Simulator(crystal, beam, plane, nb.Goniometer(osc=0.1 * nb.degree, phi_steps=2), precision="f64", cull=1e-9)
gradient: nb.Gradient = built.gradient("cell", loss=nb.Loss.sum())
pixels: NDArray[np.float64] = built.at_pixels(np.array([[3, 4], [5, 6]])).image()


def refused() -> None:
    """Mistakes that mypy finds."""
    nb.Crystal(shape="rond")  # type: ignore[arg-type]
    nb.Beam(wavelenght=1e-10)  # type: ignore[call-arg]
    nb.Detector(pixel_size="75 um")  # type: ignore[arg-type]


sim: nb.Simulator = nb.Simulator.from_flags(FLAGS, threads=1)
image: NDArray[np.float64] = sim.image()
sim["cell_a"] = 71 * nb.angstrom
function = nb.Function(sim, ["cell_a"])
theta: NDArray[np.float64] = function.theta
slope: NDArray[np.float64] = function.vjp(theta, image)
shots: NDArray[np.float64] = sim.images({"cell_a": theta * np.ones(2)})
counts = nb.counts(image, seed=1, flicker=0.01)
spread: NDArray[np.float64] = nb.point_spread(image, "gauss", width=1.5)
true: NDArray[np.float64] = nb.true_counts(counts, dead_time=1e-9, exposure=1.0)
picture: bytes = plot.png(image)
program: str = compiler.emit(FLAGS)
remarks: list[compiler.Remark] = compiler.run(program, "builtin.module(nb-hoist-invariants)").remarks
print(slope.shape, shots.shape, int(counts.sum()), spread.sum(), true.sum(), len(picture), [str(remark) for remark in remarks])
