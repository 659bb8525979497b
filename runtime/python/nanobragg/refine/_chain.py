"""Stills of one crystal that was turned from each to the next: one cell and detector, and an
orientation of each."""

import dataclasses

import numpy
from scipy import optimize

from ._crystal import CELL_SYSTEMS, OrientedCell, rotation, turned_by
from ._geometry import PLACE, SPHERE, predict
from ._indices import by_choice, settings_of

_OWN = 4  # numbers of each still
_STEP = 1e-3  # units of a number, by which differences are taken
_WIDTHS = 3.0, 1.0  # widths of the loss, by which spots farther out are weighed less and less
_TILT = 0.01  # rad, sigma of the detector's tilts
_CURVE, _LIGHT = numpy.radians(0.15), 1.0  # where the rocking curve's half width starts, rad; logarithms of light err by this
_MOST = 40  # evaluations


@dataclasses.dataclass(frozen=True)
class Turn:
    """The rotation from one still to the next: degrees, their standard deviation, and the axis in
    the laboratory."""

    angle: float
    sigma: float
    axis: numpy.ndarray


def between(matrix, other):
    """The rotation vector (rad) that brings one lattice (1/A) nearest to another with the same
    indices."""
    return turned_by(other @ numpy.linalg.inv(matrix))


def next_matrix(matrices):
    """Where the next still's lattice is, by those of the last one or two."""
    return rotation(between(*matrices[-2:])) @ matrices[-1] if len(matrices) > 1 else matrices[-1]


def alike(lattices, spots, model):
    """The lattices of stills with indices by which each is turned least from the one before. spots:
    Spots of each."""
    turns, found = settings_of(model.cell), lattices[:1]
    for lattice, own in zip(lattices[1:], spots[1:]):
        away = [numpy.linalg.norm(between(found[-1].matrix, lattice.matrix @ numpy.linalg.inv(turn).T)) for turn in turns]
        best = int(numpy.argmin(away))
        found.append(by_choice(lattice, turns[best], own, model.system) if best else lattice)
    return found


def fit_chain(lattices, spots, system, known=None):
    """Fitted lattices of stills with one cell and one detector, whose distance stays, and the Turn
    from each to the next.

    Residuals are those of places, of angles off the sphere and, with structure factors, of the
    light of spots: its logarithm without that of F^2, a scale of the still, a B factor and a
    rocking curve, a Lorentzian in the angle off the sphere.

    lattices: Fitted of each still, with the same indices for the same directions. spots: Spots of
    each. known: logarithms of intensities by Miller indices, nan where they are not known.
    """
    stills = [_Still(one, own, known) for one, own in zip(lattices, spots)]
    count, strains, first = len(lattices), len(CELL_SYSTEMS[system]), lattices[0].detector
    cells = [OrientedCell(one.matrix, system) for one in lattices]
    basis = numpy.mean([cell.basis for cell in cells], axis=0)
    cells = [OrientedCell(cell.frame @ basis, system) for cell in cells]
    mosaic = numpy.mean([one.mosaic for one in lattices], axis=0)
    # Each still has a rotation and the logarithm of a scale; the rest is common.
    about = numpy.concatenate([numpy.mean([one.detector.centre for one in lattices], axis=0), first.tilts, numpy.zeros(strains),
                               mosaic[:4], [0.0, numpy.log(_CURVE)]])
    sigma = numpy.concatenate([[numpy.inf] * 2, [_TILT] * 2, [numpy.inf] * strains, [0.5] * 4, [30.0, 1.0]])
    unit = numpy.concatenate([[1e-3, 1e-3, 1e-3, 0.3] * count, [1.0] * 2, [1e-3] * (2 + strains), [0.1] * 4, [3.0, 0.3]])
    own, spread = _OWN * count, slice(4 + strains, 8 + strains)
    reach = numpy.full(len(unit), numpy.inf)
    reach[own:][spread] = 0.95

    def unpacked(y):
        each, shared = y[:own].reshape(count, _OWN), y[own:]
        detector = dataclasses.replace(first, centre=tuple(shared[:2].tolist()), tilts=tuple(shared[2:4].tolist()))
        return [cell.matrix(numpy.concatenate([one[:3], shared[4:4 + strains]])) for cell, one in zip(cells, each)], detector, each[:, 3], shared

    def of_stills(y):
        matrices, detector, scales, shared = unpacked(y)
        own = numpy.append(shared[spread], mosaic[4])
        return [still.left(matrix, detector, own, scale, *shared[-2:]) for still, matrix, scale in zip(stills, matrices, scales)]

    def residuals(y):
        return numpy.concatenate([*of_stills(y), (y[own:] - about) / sigma])

    def jacobian(y):
        """Differences; a number of one still changes its own residuals alone, so that those of all
        stills are moved together."""
        before = of_stills(y)
        ends = numpy.cumsum([0, *map(len, before)])
        whole = numpy.zeros((ends[-1] + len(about), len(y)))
        for i in [*range(_OWN), *range(own, len(y))]:
            alone, moved, step = i < _OWN, y.copy(), _STEP * unit[i]
            moved[slice(i, own, _OWN) if alone else i] += step
            for k, (new, old) in enumerate(zip(of_stills(moved), before)):
                whole[ends[k]:ends[k + 1], _OWN * k + i if alone else i] = (new - old) / step
        whole[ends[-1]:, own:] = numpy.diag(1 / sigma)
        return whole

    y = numpy.concatenate([*([0.0, 0.0, 0.0, still.scale] for still in stills), about])
    y = numpy.clip(y, -0.9 * reach, 0.9 * reach)
    for width in _WIDTHS:
        found = optimize.least_squares(residuals, y, jacobian, bounds=(-reach, reach), loss="soft_l1", f_scale=width, x_scale=unit,
                                       max_nfev=_MOST)
        y = found.x
    matrices, detector, _, shared = unpacked(y)
    covariance = numpy.linalg.pinv(found.jac.T @ found.jac)
    covariance *= max(2 * found.cost / (len(found.fun) - len(y)), 1.0)
    rotations = [slice(_OWN * k, _OWN * k + 3) for k in range(count)]
    turns = [_turn(between(*pair), *(covariance[a, b] for a, b in ((one, one), (other, other), (one, other))))
             for pair, one, other in zip(zip(matrices, matrices[1:]), rotations, rotations[1:])]
    return [dataclasses.replace(one, matrix=matrix, detector=detector, mosaic=numpy.append(shared[spread], mosaic[4]))
            for one, matrix in zip(lattices, matrices)], turns


class _Still:
    """The spots of a still that are indexed."""

    def __init__(self, lattice, spots, known):
        use = lattice.indexed
        self.at, self.hkl = spots.at[use], lattice.hkl[use]
        self.panel = lattice.detector.panels.number(self.at)
        logs = numpy.full(len(self.hkl), numpy.nan) if known is None else numpy.log(spots.light[use]) - known(self.hkl)
        self.sure = numpy.isfinite(logs)
        self.logs = logs[self.sure]
        self.scale = float(numpy.median(self.logs)) + 1 if len(self.logs) else 0.0

    def left(self, matrix, detector, spread, scale, B, curve):
        """Residuals. scale, curve: logarithms, of light over F^2 on the sphere and of the rocking
        curve's half width (rad)."""
        places, missing = predict(matrix, self.hkl, detector, spread, self.panel)
        hkl, off = self.hkl[self.sure], missing[self.sure]
        squares = ((hkl @ matrix.T)**2).sum(axis=1)
        light = scale - B / 2 * squares - numpy.log1p((off / numpy.exp(curve))**2)
        return numpy.concatenate([((places - self.at) / PLACE).ravel(), missing / SPHERE, (self.logs - light) / _LIGHT])


def _turn(vector, one, other, both):
    """The Turn by a rotation vector (rad) and the covariances of the rotations of two stills."""
    angle = numpy.linalg.norm(vector)
    axis = vector / max(angle, 1e-12)
    variance = axis @ (one + other - both - both.T) @ axis
    return Turn(float(numpy.degrees(angle)), float(numpy.degrees(numpy.sqrt(max(variance, 0.0)))), axis)
