"""A pixel's photons for one draw of all that is spread, in NumPy, from the formulas alone.

A draw is a row of nine numbers: place in the pixel along fast and slow and in the rotation step,
each from -1/2 to 1/2, and six normal deviates: rotation vector of the mosaic block (three),
relative wavelength, divergence about the vertical and about the polarization axis."""

import numpy as np

R_E_SQUARED = 7.94079248018965e-30  # m^2
UNIFORM, NORMAL = 3, 6              # the kinds of numbers of a draw


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def rotated(turn, v):
    """v about the rotation vector `turn`."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    axis = turn / np.maximum(angle, 1e-300)
    along = axis * (axis * v).sum(-1, keepdims=True)
    return along + (v - along) * np.cos(angle) + np.cross(axis, v) * np.sin(angle)


def about_lab_axes(degrees, v):
    for axis, angle in zip(np.eye(3), np.radians(degrees)):
        v = rotated(axis * angle, v)
    return v


def reciprocal_basis(cell):
    """Columns a*, b*, c* in 1/A: a* along x, b* in the xy plane."""
    lengths, (ca, cb, cg) = np.array(cell[:3]), np.cos(np.radians(cell[3:]))
    metric = np.array([[1, cg, cb], [cg, 1, ca], [cb, ca, 1]]) * np.outer(lengths, lengths)
    return np.linalg.cholesky(np.linalg.inv(metric)).T


def amplitude(hkl):
    """Structure factors without a pattern, from 50 to 150; none for the direct beam."""
    h, k, l = np.moveaxis(np.asarray(hkl).astype(int), -1, 0)
    noise = ((h * 73856093) ^ (k * 19349663) ^ (l * 83492791)) % 101
    return np.where((h == 0) & (k == 0) & (l == 0), 0.0, 50.0 + noise)


class Model:
    """The geometry of an experiment (experiment.py)."""

    def __init__(self, e):
        self.e = e
        x, y, z = np.eye(3)
        if e.convention == "mosflm":
            beam, fast, slow, swing, self.polar, self.spindle = x, z, -y, -z, z, z
        else:
            beam, fast, slow, swing, self.polar, self.spindle = z, x, y, x, x, x
        normal = np.cross(fast, slow) if e.convention == "xds" else beam
        self.beam, self.vertical = beam, unit(np.cross(beam, self.polar))

        def turned(v):
            return rotated(swing * np.radians(e.twotheta), about_lab_axes(e.tilt, v))
        self.fast, self.slow, self.normal = turned(fast), turned(slow), turned(normal)
        centre_fast, centre_slow = (np.array(e.beam_centre) * e.pixel)
        if e.convention == "mosflm":  # the beam's place stays where it is
            self.corner = -centre_fast * self.fast - centre_slow * self.slow + e.distance * beam
        else:                         # the whole detector turns about the sample
            close = abs(about_lab_axes(e.tilt, normal) @ beam) * e.distance
            self.corner = turned(-centre_fast * fast - centre_slow * slow + close * normal)
        self.reciprocal = about_lab_axes(e.misset, reciprocal_basis(e.cell).T).T
        self.direct = np.linalg.inv(self.reciprocal)  # rows a, b, c in A
        self.deviations = np.concatenate([np.radians([e.mosaic] * 3), [e.bandwidth / 100],
                                          np.array(e.divergence) / 1000])

    def positions(self, pixels, along_fast=0.0, along_slow=0.0):
        """Positions of pixels (fast, slow), a draw's or the middle's; m."""
        fast = (pixels[..., 0] + 0.5 + along_fast) * self.e.pixel
        slow = (pixels[..., 1] + 0.5 + along_slow) * self.e.pixel
        return self.corner + fast[..., None] * self.fast + slow[..., None] * self.slow

    def spindle_angle(self, part):
        return np.radians(self.e.phi + self.e.osc * (part + 0.5))

    def incident(self, horizontal, vertical):
        tilted = rotated(self.polar * np.asarray(vertical)[..., None], self.beam)
        return rotated(self.vertical * np.asarray(horizontal)[..., None], tilted)

    def miller_index(self, pixels, draw):
        """pixels [..., 2] and draw [..., 9] give h k l [..., 3]."""
        turn = self.deviations[:3] * draw[..., 3:6]
        wavelength = self.e.wavelength * (1 + self.deviations[3] * draw[..., 6])
        beam = self.incident(self.deviations[4] * draw[..., 7], self.deviations[5] * draw[..., 8])
        diffracted = unit(self.positions(pixels, draw[..., 0], draw[..., 1]))
        q = (diffracted - beam) / wavelength[..., None]
        q = rotated(-turn, q)
        q = rotated(-self.spindle * self.spindle_angle(draw[..., 2])[..., None], q)
        return q @ self.direct.T

    def factor(self, pixels, along_fast=0.0, along_slow=0.0):
        """The factor of F^2 L^2: photons, polarization and solid angle of the pixel."""
        position = self.positions(pixels, along_fast, along_slow)
        distance = np.linalg.norm(position, axis=-1)
        solid = self.e.pixel**2 / distance**3 * (self.corner @ self.normal)
        diffracted, kahn = unit(position), self.e.kahn
        across = unit(np.cross(self.polar, self.beam))
        plane = unit(np.cross(self.beam, across))
        psi = -np.arctan2(diffracted @ across, diffracted @ plane)
        cosine2 = (diffracted @ self.beam)**2
        polarization = 0.5 * (1 + cosine2 - kahn * np.cos(2 * psi) * (1 - cosine2))
        return R_E_SQUARED * self.e.fluence * polarization * solid

    def shape(self, hkl, node):
        """L^2 of a Gaussian crystal."""
        ncells = np.array(self.e.ncells, float)
        y = ncells * (hkl - node)
        return ncells.prod()**2 * np.exp(-2 / 0.63 * self.e.fudge * (y**2).sum(-1))

