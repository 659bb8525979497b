"""Orientation and cell from where spots are: the start of a refinement against pixels."""

import numpy
from scipy import optimize

from ..labels import directions

_TRUSTED, _SPHERE = 0.5, 1e-3  # pixels that a position is trusted to; rad that a node may miss the sphere by


def placed(sim):
    """Corners (panels, 3), m, and axes fast, slow, normal (panels, 3, 3) of the panels; None of
    detectors that stand by distance and rotations.
    """
    names = sim.parameters
    if "close_distance" not in names or any(sim[n] != 0 for n in ("detector_rotx", "detector_roty", "detector_rotz")):
        return None
    axes = numpy.array([sim["fast_axis"], sim["slow_axis"], sim["normal_axis"]])
    corner = sim["close_distance"] * axes[2] - sim["beam_center_fast"] * axes[0] - sim["beam_center_slow"] * axes[1]
    if "panel_offset" not in names:
        return corner[None], axes[None]
    return corner + sim["panel_offset"], numpy.stack([sim["panel_fast_axis"], sim["panel_slow_axis"],
                                                      sim["panel_normal"]], axis=1)


def scattering_vectors(sim, panel, rows):
    """1/m, of the middles of pixels (slow, fast)."""
    return (directions(sim, numpy.column_stack([panel, rows])) - sim["beam_direction"]) / sim["wavelength"]


class Panels:
    """Where pixels stand, from a simulator: corners (m), fast and slow steps of a pixel (m),
    (panels, 3) each."""

    def __init__(self, sim):
        self.corner, fast, slow = numpy.moveaxis(numpy.asarray(sim._core.lab()[1]), 1, 0)
        self.fast, self.slow = sim["pixel_size"] * fast, sim["pixel_size"] * slow

    def move(self, corners, axes):
        """To corners (panels, 3), m, and axes fast, slow, normal (panels, 3, 3); pixels stay as
        large."""
        size = numpy.linalg.norm(self.fast, axis=1)[:, None]
        self.corner, self.fast, self.slow = corners, size * axes[:, 0], size * axes[:, 1]

    def meet(self, rays, panel):
        """Pixels (fast, slow) in which rays from the sample meet the planes of panels; whole
        numbers are edges."""
        fast, slow, corner = self.fast[panel], self.slow[panel], self.corner[panel]
        normal = numpy.cross(fast, slow)
        reach = numpy.einsum("ij,ij->i", corner, normal) / numpy.einsum("ij,ij->i", rays, normal)
        offset = reach[:, None] * rays - corner
        along = lambda axis: numpy.einsum("ij,ij->i", offset, axis) / numpy.einsum("ij,ij->i", axis, axis)
        return numpy.column_stack([along(fast), along(slow)])


def predict(matrix, hkl, panel, panels, beam, wavelength):
    """Pixels (fast, slow) of reflections on a still, and by how much (rad) their nodes miss the
    Ewald sphere.

    As DIALS predicts stills: the node is turned about the axis at a right angle to beam and node
    until it is on the sphere. matrix: columns a*, b*, c* in 1/A. beam: unit vector along the beam.
    wavelength: A.
    """
    s0 = beam / wavelength
    q = hkl @ matrix.T
    length = numpy.linalg.norm(q, axis=1)
    across = q - (q @ beam)[:, None] * beam
    across /= numpy.linalg.norm(across, axis=1)[:, None]
    # |s0 + q| = |s0|
    along = -length**2 * wavelength / 2
    on_sphere = along[:, None] * beam + numpy.sqrt(numpy.maximum(length**2 - along**2, 0))[:, None] * across
    cosine = numpy.einsum("ij,ij->i", q, on_sphere) / length**2
    missing = numpy.arccos(numpy.clip(cosine, -1, 1)) * numpy.sign(q @ beam - along)
    return panels.meet(s0 + on_sphere, panel), missing


def fit_positions(cell, hkl, panel, observed, panels, beam, wavelength, reach):
    """Numbers of an OrientedCell that put reflections where they were observed, and on the sphere.

    observed: pixels (fast, slow). reach: how far each number may go from 0. Robust against a fifth
    of reflections that are indexed wrongly.
    """
    def residuals(x):
        at, missing = predict(cell.matrix(x), hkl, panel, panels, beam, wavelength)
        return numpy.concatenate([((at - observed) / _TRUSTED).ravel(), missing / _SPHERE])

    x = numpy.zeros(cell.size)
    for width in (20.0, 5.0, 1.0):  # spots farther out are weighed less and less
        x = optimize.least_squares(residuals, x, bounds=(-reach, reach), loss="soft_l1", f_scale=width,
                                   x_scale=1e-3).x
    return x
