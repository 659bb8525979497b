"""Displacements of a detector's light that vary smoothly over it, as distortion corrections of CCDs
leave them."""

import dataclasses
import itertools

import numpy
from numpy.polynomial import legendre

_DEGREES = (3, 4, 5, 6)  # degrees that are tried
_SPREAD, _PRIOR = 0.5, 1.0  # pixels that spots are off their reflections by, and sigma of coefficients
_PAYS = 0.03  # part of the cost of left-out stills by which a higher degree has to make it less
_WORTH = 0.02  # cost that any distortion has to take away at least, as displacements of 0.1 pixels have
_SPOTS = 10  # for each coefficient, at least
_ROUNDS = 10  # solutions, each with the weights of the one before
_TILE, _STEP = 16, 0.25  # pixels within which displacements are one for the fit to pixels, and to which they are rounded there


@dataclasses.dataclass(frozen=True)
class Distortion:
    """Displacements (pixels, fast and slow) as sums of products of Legendre polynomials along fast
    and slow, without what the crystal's orientation, the distance and the place of the beam
    explain. shape: slow and fast pixels of the image."""

    shape: tuple
    degree: int = 0
    coefficients: numpy.ndarray = dataclasses.field(default=None, repr=False)

    def __bool__(self):
        return bool(self.degree)

    def off(self, at):
        """(n, 2) at pixels (fast, slow)."""
        return numpy.stack([part @ self.coefficients for part in _fields(at, self.shape, self.degree)], axis=1)

    def fitted(self, at, off, photons, still):
        """The Distortion by displacements ``off`` of spots at pixels ``at`` (fast, slow), of the
        degree that foretells those of stills which were left out. still: the number of that of each
        spot."""
        best, cost = Distortion(self.shape), _cost(off, photons)
        for degree in _DEGREES:
            fields = _fields(at, self.shape, degree)
            if _SPOTS * fields[0].shape[1] > len(at):
                break
            left = off.copy()
            for fold in range(3):
                out = still % 3 == fold
                solved = _solved([part[~out] for part in fields], off[~out], photons[~out])
                left[out] -= numpy.stack([part[out] @ solved for part in fields], axis=1)
            if _cost(left, photons) < (1 - _PAYS) * cost - (0 if best else _WORTH):
                best, cost = Distortion(self.shape, degree, _solved(fields, off, photons)), _cost(left, photons)
        return best

    def steps(self, off):
        """Distinct displacements, (n, 2), and which of them each tile of the image has; off:
        displacements of pixels (fast, slow)."""
        tiles = [numpy.arange(0, size, _TILE) + _TILE / 2 for size in self.shape]
        at = numpy.stack(numpy.meshgrid(*tiles, indexing="ij"), axis=-1).reshape(-1, 2)[:, ::-1]
        found, number = numpy.unique(numpy.round(off(at) / _STEP), axis=0, return_inverse=True)
        return _STEP * found, number.reshape([len(axis) for axis in tiles])


def tile(at):
    """Slow and fast numbers of the tiles of pixels (fast, slow)."""
    return tuple((at[:, ::-1] // _TILE).astype(int).T)


def _fields(at, shape, degree):
    """Displacements along fast and along slow of each coefficient, (n, coefficients)."""
    x, y = (2 * at[:, i] / shape[1 - i] - 1 for i in (0, 1))
    along = [legendre.legvander(axis, degree) for axis in (x, y)]
    terms = [along[0][:, i] * along[1][:, j] for i, j in itertools.product(range(degree + 1), repeat=2) if 2 <= i + j <= degree]
    none = numpy.zeros_like(terms)
    # The first two are linear: one axis is stretched and the other shortened; the image is sheared.
    return (numpy.concatenate([[x, y], terms, none]).T, numpy.concatenate([[-y, x], none, terms]).T)


def _weights(photons):
    return 1 / (_SPREAD**2 + 30 / photons)


def _solved(fields, off, photons):
    """Coefficients, robustly."""
    weights = _weights(photons)
    for _ in range(_ROUNDS):
        normal = sum(part.T @ (part * weights[:, None]) for part in fields)
        solved = numpy.linalg.solve(normal + numpy.eye(len(normal)) / _PRIOR**2,
                                    sum(part.T @ (weights * off[:, i]) for i, part in enumerate(fields)))
        left = off - numpy.stack([part @ solved for part in fields], axis=1)
        weights = _weights(photons) / (1 + (left**2).sum(axis=1) / _SPREAD**2)
    return solved


def _cost(off, photons):
    return float((numpy.sqrt(1 + (off**2).sum(axis=1) * _weights(photons)) - 1).mean())
