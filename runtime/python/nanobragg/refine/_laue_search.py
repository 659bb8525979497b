"""The orientation of a known cell by directions of scattering vectors, whose lengths a white beam
does not tell."""

import itertools

import numpy
from scipy.spatial import cKDTree

from .._arrays import distinct
from ._indexing import orient, real_basis
from ._indices import absent

NARROW = 1.15  # longest over shortest wavelength, up to which lengths of scattering vectors tell the orientation
_SPOTS, _FIRST = 60, 12  # brightest ones by which orientations are compared, and of these the ones that choose most of them
_SEEDS = 14  # surest spots, pairs of which are tried
_PAIRED = 300  # rays of lowest indices that these may be on
_CHANCE = 0.1  # part of all directions within the tolerance of a ray: more rays would say nothing
_PART = 0.1  # least part of the rays that spots are on, with which a search is worth while
_GROUPS = 5  # groups of spots that may be on as many rays
_WIDE = 1.5  # tolerances by which the rotation of a pair may be off
_BEST = 100  # rotations of a pair of spots
_AT_ONCE = 20000  # orientations
_KEPT = 0.02  # part of the orientations that the first spots choose
_APART = numpy.radians(10), numpy.radians(170)  # angle between the spots of a pair
_OBLIQUE = numpy.radians(88)  # angle between rays of a pair and a right one, at most


def indices_to(basis, finest):
    """All Miller indices but 0 0 0 with 1/d below a limit (1/A). basis: columns a*, b*, c*, 1/A."""
    most = (numpy.linalg.norm(numpy.linalg.inv(basis), axis=1) * finest).astype(int)
    hkl = numpy.stack(numpy.meshgrid(*(numpy.arange(-m, m + 1) for m in most), indexing="ij"), axis=-1).reshape(-1, 3)
    length = numpy.linalg.norm(hkl @ basis.T, axis=1)
    return hkl[(length > 0) & (length <= finest)]


def ray_of(hkl):
    """The lowest indices on the ray of each."""
    return hkl // numpy.gcd.reduce(hkl, axis=1)[:, None]


def _lowest_rays(basis, group, finest):
    """Directions of the rays of reflections that the space group allows to a limit of 1/d (1/A),
    the lowest indices first, and the length of these."""
    hkl = indices_to(basis, finest)
    hkl = hkl[~absent(group, hkl)] if len(hkl) else hkl
    length = numpy.linalg.norm(hkl @ basis.T, axis=1)
    order = numpy.argsort(length, kind="stable")
    _, first, _ = distinct(ray_of(hkl[order]))
    lowest = order[numpy.sort(first)]
    return (hkl @ basis.T / length[:, None])[lowest], length[lowest]


class _Rays:
    """Rays that spots may be on: those of low indices, more of them for spots whose direction is
    known better.

    q: unit vectors of spots. sines: of their Bragg angles. tolerance: rad by which the light of a
    spot may be off. ``off``: by which its scattering vector then is.
    """

    def __init__(self, q, sines, model, band, tolerance):
        basis = numpy.linalg.inv(real_basis(model.cell)).T
        self.q, self.off = q, tolerance / (2 * sines)
        most = _CHANCE * 4 / self.off**2
        volume = 1 / numpy.linalg.det(basis)
        finest = min(2 * sines.max() / band[0], (3 * most.max() / (2 * numpy.pi * volume))**(1 / 3))
        self.rays, length = _lowest_rays(basis, model.hall, max(finest, 2 * numpy.linalg.norm(basis, axis=0).max()))
        possible = numpy.maximum(4 * numpy.pi / 3 * volume * (2 * sines / band[0])**3, 1)
        self.count = numpy.maximum(numpy.minimum(most, numpy.searchsorted(length, 2 * sines / band[0])), 1).astype(int)
        self.part = float(numpy.mean(numpy.minimum(1, most / possible)))  # as many of the rays that spots are on
        self.chance = self.count * self.off**2 / 4
        self.groups = []
        for members in numpy.array_split(numpy.argsort(self.count, kind="stable"), _GROUPS):
            if len(members):
                rays = self.rays[:self.count[members].max()]
                self.groups.append((members, rays, cKDTree(rays)))

    def nearest(self, turns, spots=None):
        """How far each spot is from its nearest ray by each rotation, in parts of ``off``, and this
        ray. spots: of these alone, others are infinitely far."""
        distance, rays = numpy.full((len(turns), len(self.q)), numpy.inf), numpy.zeros((len(turns), len(self.q), 3))
        for members, directions, tree in self.groups:
            if spots is not None:
                members = members[numpy.isin(members, spots)]
            if len(members):
                far, which = tree.query((self.q[members] @ turns).reshape(-1, 3))  # q in the crystal's frame
                distance[:, members] = far.reshape(len(turns), -1) / self.off[members]
                rays[:, members] = directions[which].reshape(len(turns), -1, 3)
        return distance, rays

    def turned(self, turns, reach, spots=None):
        """Rotations that bring the spots near rays onto these."""
        distance, rays = self.nearest(turns, spots)
        weight = (distance < reach) / self.off**2
        left, _, right = numpy.linalg.svd(numpy.einsum("nk,ki,nkj->nij", weight, self.q, rays))
        left[:, :, 2] *= numpy.linalg.det(left @ right)[:, None]
        enough = (weight > 0).sum(axis=1) > 2
        return numpy.where(enough[:, None, None], left @ right, turns)


def _frames(one, other):
    """Right-handed orthonormal bases (n, 3, 3), columns: a direction, the normal of its plane with
    another one, and the third."""
    normal = numpy.cross(one, other)
    normal = normal / numpy.linalg.norm(normal, axis=-1, keepdims=True)
    return numpy.stack([numpy.broadcast_to(one, normal.shape), normal, numpy.cross(one, normal)], axis=-1)


def by_rays(q, sines, model, band, tolerance):
    """The rotations, from the crystal's frame to the laboratory, that bring most spots to rays:
    [(part of the spots, rotation)], best first.

    q: unit vectors of spots, the brightest first. sines, band: as of ``orientations``. tolerance:
    rad by which light may be off. Empty where that is too much for a crystal with so many rays.
    """
    known = _Rays(q[:_SPOTS], sines[:_SPOTS], model, band, tolerance)
    if known.part < _PART:
        return []
    surest = numpy.argsort(known.chance, kind="stable")
    between = numpy.arccos(numpy.clip(known.rays[:_PAIRED] @ known.rays[:_PAIRED].T, -1, 1))
    found = []
    for i, j in itertools.combinations(surest[:_SEEDS], 2):
        angle = numpy.arccos(numpy.clip(q[i] @ q[j], -1, 1))
        if not _APART[0] < angle < _APART[1]:
            continue
        there = between[:known.count[i], :known.count[j]]
        pairs = numpy.argwhere((numpy.abs(there - angle) < known.off[i] + known.off[j]) & (numpy.abs(there - numpy.pi / 2) < _OBLIQUE))
        if not len(pairs):
            continue
        seen = _frames(q[i], q[j])
        for part in numpy.array_split(pairs, len(pairs) // _AT_ONCE + 1):
            turns = seen @ _frames(known.rays[part[:, 0]], known.rays[part[:, 1]]).transpose(0, 2, 1)
            if len(turns) > _BEST:
                few = (known.nearest(turns, surest[:_FIRST])[0] < _WIDE).sum(axis=1)
                turns = turns[numpy.argsort(-few, kind="stable")[:max(_BEST, int(_KEPT * len(turns)))]]
            turns = known.turned(turns, _WIDE, surest[:2 * _FIRST])
            hits = (known.nearest(turns)[0] < 1).mean(axis=1)
            best = numpy.argsort(-hits, kind="stable")[:5]
            found += zip(hits[best].tolist(), turns[best])
    return _distinct(sorted(found, key=lambda one: -one[0]), known)


def _distinct(found, known, count=4):
    """The first of these, each turned onto its rays, that differ in which spots they explain."""
    kept = []
    for part, turn in found:
        turn = known.turned(turn[None], 1.0)
        turn = known.turned(turn, 0.5)
        key = tuple(known.nearest(turn)[0][0] < 1)
        if key not in [k for k, *_ in kept]:
            kept.append((key, part, turn[0]))
        if len(kept) == count:
            break
    return [(part, turn) for _, part, turn in kept]


def orientations(q, sines, light, model, band, tolerance):
    """Rotations of the cell, from its frame (real_basis) to the laboratory, likeliest first, with
    the factor by which the detector's distance is wrong.

    q: unit vectors along scattering vectors of spots. sines: of their Bragg angles. light: photons.
    band: shortest and longest wavelength, A. tolerance: rad by which light may be off in a white
    beam.
    """
    order = numpy.argsort(-light)
    if band[1] < NARROW * band[0]:
        found = orient(q * (2 * sines / numpy.mean(band))[:, None], light, model.cell)
        if found:
            return [(found[2], found[0], found[1])]
    return [(part, turn, 1.0) for part, turn in by_rays(q[order], sines[order], model, band, tolerance)]
