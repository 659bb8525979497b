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
    # Its two ends are alike if the other axes are at right angles to it and make a rectangle or a rhombus.
    one, other = numpy.delete(real, first, axis=1).T
    square = max(abs(one @ start), abs(other @ start)) < 1e-9 * lengths[first]
    even = min(abs(one @ other), abs(one @ one - other @ other)) < 1e-9 * (one @ one)
    ends = (1,) if square and even else (1, -1)
    for axis, score in [(end * axes[i], scores[i]) for i in best for end in ends]:
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


def _turned_onto(hkl, q, close, reciprocal):
    """Rotations and scales that bring nodes (starts, n, 3) onto q best, of those that are close
    (Kabsch)."""
    nodes = hkl @ reciprocal.T
    weights = close / (numpy.linalg.norm(nodes, axis=-1) + 0.02)**2
    left, _, right = numpy.linalg.svd((q * weights[..., None]).swapaxes(1, 2) @ nodes)
    left[:, :, 2] *= numpy.linalg.det(left @ right)[:, None]
    turns = left @ right
    turned = nodes @ turns.swapaxes(1, 2)
    along, squares = (numpy.einsum("sn,snc,snc->s", weights, *pair) for pair in ((q, turned), (nodes, nodes)))
    return turns, along / numpy.maximum(squares, 1e-300)


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
    some = q[brightest].astype("f4")
    starts = [start for _, start in _orientations(some, real, times, shifted)[:60]]
    every = [(start, shift) for start in starts
             for shift in (_shifts(start @ real, some) if shifted else [numpy.zeros(3)])]
    turns, shifts = map(numpy.array, zip(*every))
    scales = numpy.ones(len(every))
    for limit in (12, 14, 17, 20, 25):
        use = q[length < limit / shortest] - shifts[:, None]
        for _ in range(2):
            indices = (use / scales[:, None, None]) @ turns @ real
            hkl = numpy.rint(indices)
            close = (numpy.abs(indices - hkl).max(axis=2) < 0.3) & hkl.any(axis=2)
            several = close.sum(axis=1) >= 6
            better = _turned_onto(hkl, use, close, reciprocal)
            turns = numpy.where(several[:, None, None], better[0], turns)
            scales = numpy.where(several, better[1], scales)
            if shifted and close.size:
                left = use - scales[:, None, None] * (hkl @ reciprocal.T @ turns.swapaxes(1, 2))
                left[~close] = numpy.nan
                left[~several] = 0
                more = numpy.nanmedian(left, axis=1)
                use, shifts = use - more[:, None], shifts + more
    indices = (use / scales[:, None, None]) @ turns @ real
    parts = (numpy.abs(indices - numpy.rint(indices)).max(axis=2) < 0.2).mean(axis=1)
    # By a node more or less the lattice is the same: the smallest shift is likeliest.
    best = numpy.argmax(parts - _PER_SHIFT * numpy.linalg.norm(shifts, axis=1))
    return turns[best], float(scales[best]), float(parts[best]), shifts[best]
