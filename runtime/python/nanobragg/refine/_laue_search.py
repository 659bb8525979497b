"""The orientation of a known cell by directions of scattering vectors, whose lengths a white beam does not tell."""

import itertools

import numpy
from scipy.spatial import cKDTree

from ._indexing import orient, real_basis
from ._indices import absent

NARROW = 1.15  # longest over shortest wavelength, up to which lengths of scattering vectors tell the orientation
_SPOTS, _FIRST = 60, 12  # brightest ones by which orientations are compared, and of these the ones that choose most of them
_SEEDS = 14  # brightest spots, pairs of which are tried
_PAIRED = 180  # rays of lowest indices that these may be on
_CHANCE = 0.1  # part of all directions within the tolerance of a ray: more rays would say nothing
_AT_ONCE = 20000  # orientations
_KEPT = 0.02  # part of the orientations that the first spots choose
_APART = numpy.radians(10), numpy.radians(170)  # angle between the spots of a pair


def indices_to(basis, finest):
    """All Miller indices but 0 0 0 with 1/d below a limit (1/A). basis: columns a*, b*, c*, 1/A."""
    most = (numpy.linalg.norm(numpy.linalg.inv(basis), axis=1) * finest).astype(int)
    hkl = numpy.stack(numpy.meshgrid(*(numpy.arange(-m, m + 1) for m in most), indexing="ij"), axis=-1).reshape(-1, 3)
    length = numpy.linalg.norm(hkl @ basis.T, axis=1)
    return hkl[(length > 0) & (length <= finest)]


def ray_of(hkl):
    """The lowest indices on the ray of each."""
    return hkl // numpy.gcd.reduce(hkl, axis=1)[:, None]


def _lowest_rays(basis, group, count):
    """Directions of about so many rays of lowest indices that the space group allows, the lowest first."""
    cells = 1 / numpy.linalg.det(basis)
    finest = (3 * count / (4 * numpy.pi * cells))**(1 / 3)
    while True:
        hkl = indices_to(basis, finest)
        hkl = hkl[~absent(group, hkl)] if len(hkl) else hkl
        rays = numpy.unique(ray_of(hkl), axis=0) if len(hkl) else hkl
        if len(rays) >= count:
            break
        finest *= 1.2
    length = numpy.linalg.norm(hkl @ basis.T, axis=1)
    order = numpy.argsort(length, kind="stable")
    _, first = numpy.unique(ray_of(hkl[order]), axis=0, return_index=True)
    vectors = hkl[order][numpy.sort(first)] @ basis.T
    return (vectors / numpy.linalg.norm(vectors, axis=1)[:, None])[:count]


def _frames(one, other):
    """Right-handed orthonormal bases (n, 3, 3), columns: a direction, the normal of its plane with another one, and the third."""
    normal = numpy.cross(one, other)
    normal = normal / numpy.linalg.norm(normal, axis=-1, keepdims=True)
    return numpy.stack([numpy.broadcast_to(one, normal.shape), normal, numpy.cross(one, normal)], axis=-1)


def by_rays(q, model, tolerance):
    """The rotations, from the crystal's frame to the laboratory, that bring most spots to rays: [(part of the spots, rotation)], best first.

    q: unit vectors of spots, the brightest first. tolerance: rad by which they may be off.
    """
    basis = numpy.linalg.inv(real_basis(model.cell)).T
    rays = _lowest_rays(basis, model.hall, int(_CHANCE * 4 / tolerance**2))
    low, tree, some = rays[:_PAIRED], cKDTree(rays), q[:_SPOTS]
    between = numpy.arccos(numpy.clip(low @ low.T, -1, 1))
    found = []
    for i, j in itertools.combinations(range(min(_SEEDS, len(some))), 2):
        angle = numpy.arccos(numpy.clip(some[i] @ some[j], -1, 1))
        if not _APART[0] < angle < _APART[1]:
            continue
        pairs = numpy.argwhere(numpy.abs(between - angle) < 2 * tolerance)
        if not len(pairs):
            continue
        seen = _frames(some[i], some[j])
        for part in numpy.array_split(pairs, len(pairs) // _AT_ONCE + 1):
            turns = seen @ _frames(low[part[:, 0]], low[part[:, 1]]).transpose(0, 2, 1)
            if len(some) > 2 * _FIRST and len(turns) > 100:
                few = _hits(tree, some[:_FIRST], turns, tolerance)
                turns = turns[numpy.argsort(-few)[:max(100, int(_KEPT * len(turns)))]]
            hits = _hits(tree, some, turns, tolerance)
            best = numpy.argsort(-hits)[:5]
            found += zip(hits[best].tolist(), turns[best])
    return _distinct(sorted(found, key=lambda one: -one[0]), tree, rays, some, tolerance)


def _hits(tree, q, turns, tolerance):
    """Part of the spots near a ray by each rotation."""
    there = (q @ turns).reshape(-1, 3)  # q in the crystal's frame
    return (tree.query(there)[0] < tolerance).reshape(len(turns), -1).mean(axis=1)


def _distinct(found, tree, rays, q, tolerance, count=4):
    """The first of these, each turned onto its rays, that differ in which spots they explain."""
    kept = []
    for part, turn in found:
        for reach in (tolerance, tolerance / 2):
            distance, ray = tree.query(q @ turn)
            near = distance < reach
            if near.sum() < 3:
                break
            left, _, right = numpy.linalg.svd(q[near].T @ rays[ray[near]])
            turn = left @ numpy.diag([1, 1, numpy.linalg.det(left @ right)]) @ right
        key = tuple(tree.query(q @ turn)[0] < tolerance)
        if key not in [k for k, *_ in kept]:
            kept.append((key, part, turn))
        if len(kept) == count:
            break
    return [(part, turn) for _, part, turn in kept]


def orientations(q, sines, light, model, band, tolerance):
    """Rotations of the cell, from its frame (real_basis) to the laboratory, likeliest first, with the factor by which the
    detector's distance is wrong.

    q: unit vectors along scattering vectors of spots. sines: of their Bragg angles. light: photons. band: shortest and longest
    wavelength, A.
    """
    order = numpy.argsort(-light)
    if band[1] < NARROW * band[0]:
        found = orient(q * (2 * sines / numpy.mean(band))[:, None], light, model.cell)
        if found:
            return [(found[2], found[0], found[1])]
    return [(part, turn, 1.0) for part, turn in by_rays(q[order], model, tolerance)]
