"""A small independent model of what a still image should be, in NumPy.

Knows the MOSFLM convention with a flat, unrotated detector, one wavelength and one orientation:
enough to say what each disputed quantity must be. Lengths in m, angles in rad, cell in A."""

from dataclasses import dataclass

import numpy as np

R_E_SQUARED = 7.94079248018965e-30  # classical electron radius squared, m^2
AVOGADRO = 6.02214179e23

BEAM = np.array([1.0, 0.0, 0.0])
FAST = np.array([0.0, 0.0, 1.0])
SLOW = np.array([0.0, -1.0, 0.0])
POLARIZATION = np.array([0.0, 0.0, 1.0])


def rotation(axis, angle):
    """Right-handed rotation matrix about a unit axis."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def misset_rotation(degrees):
    """About lab X, then Y, then Z."""
    rx, ry, rz = np.radians(degrees)
    x, y, z = np.eye(3)
    return rotation(z, rz) @ rotation(y, ry) @ rotation(x, rx)


def metric(cell):
    """Metric tensor of (a, b, c, alpha, beta, gamma) in degrees."""
    lengths, cosines = np.array(cell[:3]), np.cos(np.radians(cell[3:]))
    angles = np.array([[1, cosines[2], cosines[1]], [cosines[2], 1, cosines[0]],
                       [cosines[1], cosines[0], 1]])
    return angles * np.outer(lengths, lengths)


def real_vectors(cell):
    """Rows a, b, c in A with a* along X and b* in the XY plane. The reciprocal vectors are a
    Cholesky factor of the reciprocal metric, so that nothing but the metric is used."""
    return np.linalg.inv(np.linalg.cholesky(np.linalg.inv(metric(cell)))).T


def real_vectors_c(cell):
    """The C program's: c*_z is built from V/(a b c sin gamma*)."""
    reciprocal = np.linalg.cholesky(np.linalg.inv(metric(cell)))
    lengths = np.linalg.norm(reciprocal, axis=1)
    cos_gamma = reciprocal[0] @ reciprocal[1] / (lengths[0] * lengths[1])
    volume = np.sqrt(np.linalg.det(metric(cell)))
    reciprocal[2, 2] = lengths[2] * volume / (np.prod(cell[:3]) * np.sqrt(1 - cos_gamma**2))
    crosses = np.array([np.cross(reciprocal[i - 2], reciprocal[i - 1]) for i in range(3)])
    return crosses / np.linalg.norm(crosses, axis=1)[:, None] * np.array(cell[:3])[:, None]


def angles_of(vectors):
    """Degrees between b and c, a and c, a and b."""
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return np.degrees(np.arccos([unit[1] @ unit[2], unit[0] @ unit[2], unit[0] @ unit[1]]))


@dataclass
class Camera:
    """A square detector behind the sample, beam on its MOSFLM default centre."""
    pixels: int = 48
    pixel: float = 0.4e-3
    distance: float = 0.08
    wavelength: float = 1e-10

    def arguments(self):
        return ["-lambda", f"{self.wavelength * 1e10:.10g}", "-distance", f"{self.distance * 1e3:.10g}",
                "-pixel", f"{self.pixel * 1e3:.10g}", "-detpixels", str(self.pixels)]

    @property
    def beam_centre(self):
        """Where the beam meets the detector, along fast and along slow."""
        return (self.pixels * self.pixel + self.pixel) / 2 + self.pixel / 2

    def offsets(self):
        """Distances of the pixel centres from the beam along fast and slow, each [slow, fast]."""
        edge = (np.arange(self.pixels) + 0.5) * self.pixel - self.beam_centre
        slow, fast = np.meshgrid(edge, edge, indexing="ij")
        return fast, slow

    def positions(self, depth=0.0):
        """Pixel centres at this depth in the sensor."""
        fast, slow = self.offsets()
        return ((self.distance + depth) * BEAM + fast[..., None] * FAST + slow[..., None] * SLOW)

    def positions_curved(self):
        """On a sphere about the sample: bent about slow by the fast offset, and the reverse."""
        fast, slow = self.offsets()
        out = np.empty(fast.shape + (3,))
        for index in np.ndindex(fast.shape):
            about_slow = rotation(SLOW, fast[index] / self.distance)
            about_fast = rotation(FAST, -slow[index] / self.distance)
            out[index] = about_fast @ about_slow @ (self.distance * BEAM)
        return out

    def directions(self, positions=None):
        positions = self.positions() if positions is None else positions
        return positions / np.linalg.norm(positions, axis=-1, keepdims=True)

    def solid_angle(self, positions=None):
        positions = self.positions() if positions is None else positions
        airpath = np.linalg.norm(positions, axis=-1)
        return self.pixel**2 * self.distance / airpath**3

    def miller_indices(self, vectors, positions=None):
        """vectors: rows a, b, c in A, oriented."""
        q = (self.directions(positions) - BEAM) / (self.wavelength * 1e10)
        return q @ vectors.T


def unpolarized(directions):
    return 0.5 * (1 + (directions @ BEAM)**2)


def square_lattice(indices, cells):
    """|F_latt| of a parallelepiped; finite at the Bragg condition."""
    out = np.ones(indices.shape[:-1])
    for axis, n in enumerate(cells):
        delta = indices[..., axis] - np.rint(indices[..., axis])
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.sin(np.pi * n * delta) / np.sin(np.pi * delta)
        out *= np.where(delta == 0, n, ratio)
    return out


def nearest(indices):
    """Nearest Miller index, halves downwards."""
    return np.ceil(indices - 0.5)


def tricubic(grid, indices):
    """Four-point Lagrange interpolation per axis of grid[(h, k, l)] -> F."""
    floor = np.floor(indices).astype(int)
    t = indices - floor
    weights = np.array([-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2,
                        -(t + 1) * t * (t - 2) / 2, (t + 1) * t * (t - 1) / 6])
    total = 0.0
    for i in range(4):
        for j in range(4):
            for k in range(4):
                node = tuple(floor + np.array([i, j, k]) - 1)
                total += weights[i, 0] * weights[j, 1] * weights[k, 2] * grid[node]
    return total


class Ran1:
    """Park and Miller's generator, shuffled by Bays and Durham (Numerical Recipes, ran1)."""

    def __init__(self, seed):
        self.state, first = seed, []
        for _ in range(40):
            first.append(self.step())
        self.table = first[:7:-1]
        self.last = self.table[0]

    def step(self):
        self.state = self.state * 16807 % 2147483647
        return self.state

    def __call__(self):
        place = self.last // 67108864
        self.last, self.table[place] = self.table[place], self.step()
        return self.last / 2147483647


def mosaic_rotations(spread, count, seed=12345678):
    """The largest angle of each domain as the C program draws them, in rad: the first stays."""
    draw, rotations = Ran1(seed), []
    for _ in range(count):
        r1, r2, r3 = (2 * draw() - 1 for _ in range(3))
        flat = np.sqrt(1 - r2**2)
        axis = np.array([flat * np.sin(np.pi * r1), flat * np.cos(np.pi * r1), r2])
        rotations.append(rotation(axis, spread * (1 - r3**2)**(1 / 3)))
    return [np.eye(3)] + rotations[1:]
