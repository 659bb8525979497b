"""Indexing of a still with a known cell: from places of spots to an orientation."""

import itertools

import numpy

from ._crystal import rotation

_STEP = 0.17  # step of the search, in periods of the shortest axis at the resolution of the search
_TIMES = (12, 24)  # periods of the shortest axis within the resolution of the search, at least and at most
_ENOUGH = 100  # spots
_PER_SHIFT = 8.0  # A: a shift by 1/A has to bring so many times all spots near nodes


def real_basis(cell):
    """Columns a, b, c of a cell (A, degrees): a along x, c* along z."""
    a, b, c = cell[:3]
    alpha, beta, gamma = numpy.radians(cell[3:])
    x, y = numpy.cos(beta), (numpy.cos(alpha) - numpy.cos(beta) * numpy.cos(gamma)) / numpy.sin(gamma)
    return numpy.array([[a, b * numpy.cos(gamma), c * x], [0, b * numpy.sin(gamma), c * y],
                        [0, 0, c * numpy.sqrt(1 - x**2 - y**2)]])


def _directions(step):
    """Directions of a hemisphere, about as far apart (rad)."""
    count = int(2 * numpy.pi / step**2)
    i = numpy.arange(count) + 0.5
    z, angle = i / count, numpy.pi * (1 + 5**0.5) * i
    radius = numpy.sqrt(1 - z * z)
    return numpy.column_stack([radius * numpy.cos(angle), radius * numpy.sin(angle), z])


def _periods(vectors, q, shifted=False):
    """How well each vector (n, 3) repeats the spots. shifted: wherever their origin is."""
    found = []
    for part in numpy.array_split(vectors, max(len(vectors) * len(q) // 10**6, 1)):
        angle = 2 * numpy.pi * part.astype("f4") @ q.T
        along = numpy.cos(angle).sum(axis=1)
        found.append(numpy.hypot(along, numpy.sin(angle).sum(axis=1)) if shifted else along)
    return numpy.concatenate(found)


def _shifts(real, q):
    """Shifts of q that put its origin on one of the lattice's nodes; real: the axes in the
    laboratory."""
    phases = 2 * numpy.pi * q @ real
    parts = numpy.arctan2(numpy.sin(phases).sum(axis=0), numpy.cos(phases).sum(axis=0)) / (2 * numpy.pi)
    # For a part near a half the other way round is as likely.
    several = [(p, p - numpy.sign(p)) if abs(p) > 0.3 else (p,) for p in parts]
    return [numpy.linalg.solve(real.T, chosen) for chosen in itertools.product(*several)]


def _apart(vectors, order, count, degrees=2.0):
    """The first of the order that are so far from each other, as axes."""
    chosen = []
    for i in order:
        if not chosen or numpy.abs(vectors[chosen] @ vectors[i]).max() < numpy.cos(numpy.radians(degrees)):
            chosen.append(i)
            if len(chosen) == count:
                break
    return chosen


def _orientations(q, real, times, shifted=False):
    """Rotations U, so that U real has the axes in the laboratory, with scores: best first. times:
    periods of the shortest axis that q has.

    The shortest axis is looked for among all directions; the others stand on a circle about it.
    """
    lengths = numpy.linalg.norm(real, axis=0)
    first = int(numpy.argmin(lengths))
    axes = _directions(_STEP / times)
    scores = _periods(lengths[first] * axes, q, shifted)
    turns = numpy.radians(numpy.arange(0, 360, 0.25))
    found = []
    start = real[:, first] / lengths[first]
    best = _apart(axes, numpy.argsort(-scores), 40)
    # Other axes that are not at right angles to the first tell its two ends apart.
    for axis, score in [(end * axes[i], scores[i]) for i in best for end in (1, -1)]:
        across = numpy.cross(start, axis)
        sine = numpy.linalg.norm(across)
        upright = rotation(across / max(sine, 1e-12) * numpy.arctan2(sine, start @ axis))
        total = numpy.full(len(turns), score)
        for j in {0, 1, 2} - {first}:
            vector = upright @ real[:, j]
            along = (vector @ axis) * axis
            circle = (along + numpy.cos(turns)[:, None] * (vector - along)
                      + numpy.sin(turns)[:, None] * numpy.cross(axis, vector))
            total += _periods(circle, q, shifted)
        found += [(total[j], rotation(turns[j] * axis) @ upright) for j in numpy.argsort(-total)[:3]]
    return sorted(found, key=lambda one: -one[0])


def _turned_onto(hkl, q, reciprocal, turn, scale):
    """Rotation and scale that bring nodes onto q best (Kabsch)."""
    nodes = hkl @ reciprocal.T
    weights = 1 / (numpy.linalg.norm(nodes, axis=1) + 0.02)**2
    left, _, right = numpy.linalg.svd((q * weights[:, None]).T @ nodes)
    turn = left @ numpy.diag([1, 1, numpy.linalg.det(left @ right)]) @ right
    return turn, (numpy.einsum("i,ij,ij", weights, q, nodes @ turn.T)
                  / numpy.einsum("i,ij,ij", weights, nodes, nodes))


def orient(q, light, cell, shifted=False):
    """The rotation U of a cell by which most spots are near nodes, the scale of q that they ask
    for, which part of the spots to 1/d = 25 / (shortest axis) that is, and what was taken off q:
    (U, scale, part, shift); None where there are too few spots.

    q: scattering vectors of spots, 1/A; a distance that is wrong by some per cent makes them too
    long or too short. shifted: looks for a shift, too, which the beam's place has where it is wrong
    by some pixels; else that is 0.
    """
    real = real_basis(cell)
    reciprocal = numpy.linalg.inv(real).T
    shortest = numpy.linalg.norm(real, axis=0).min()
    length = numpy.linalg.norm(q, axis=1)
    seen = length > 0.3 / numpy.linalg.norm(real, axis=0).max()
    if seen.sum() < 8:
        return None
    times = numpy.clip(numpy.sort(length[seen])[:_ENOUGH][-1] * shortest, *_TIMES)
    near = numpy.flatnonzero(seen & (length <= times / shortest))
    if len(near) < 8:
        return None
    brightest = near[numpy.argsort(-light[near])][:300]
    best, some = None, q[brightest].astype("f4")
    for _, start in _orientations(some, real, times, shifted)[:60]:
        for shift in _shifts(start @ real, some) if shifted else [numpy.zeros(3)]:
            turn, scale = start, 1.0
            for limit in (12, 14, 17, 20, 25):
                use = q[length < limit / shortest] - shift
                for _ in range(2):
                    indices = (use / scale) @ turn @ real
                    hkl = numpy.rint(indices)
                    close = (numpy.abs(indices - hkl).max(axis=1) < 0.3) & hkl.any(axis=1)
                    if close.sum() >= 6:
                        turn, scale = _turned_onto(hkl[close], use[close], reciprocal, turn, scale)
                        if shifted:
                            more = numpy.median(use[close] - scale * hkl[close] @ reciprocal.T @ turn.T, axis=0)
                            use, shift = use - more, shift + more
            indices = (use / scale) @ turn @ real
            part = float((numpy.abs(indices - numpy.rint(indices)).max(axis=1) < 0.2).mean())
            # By a node more or less the lattice is the same: the smallest shift is likeliest.
            if best is None or part - _PER_SHIFT * numpy.linalg.norm(shift) > best[2] - _PER_SHIFT * numpy.linalg.norm(best[3]):
                best = turn, scale, part, shift
    return best
