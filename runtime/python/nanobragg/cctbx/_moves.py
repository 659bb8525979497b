"""The numbers that diffBragg refines, as curves through the numbers of the model."""

import numpy

from ..compat._simtbx_state import axes_and_angles


class Numbers:
    """Numbers of the model, or their changes: direct (3, 3), columns a, b, c in m before mosaic
    rotations; blocks (domains, 3, 3); spread, a factor of the angles of their rotations; spindle;
    width (3, 3), of the spots; wave, offset (m) and scale of wavelengths; panels; F, added to all
    structure factors; gamma, sigma: of diffuse scattering, m."""
    FIELDS = ("direct", "blocks", "spread", "spindle", "width", "wave", "panels", "F", "gamma", "sigma")

    def __init__(self, **values):
        for field in self.FIELDS:
            setattr(self, field, values.get(field))

    def with_(self, **values):
        return Numbers(**{field: values.get(field, getattr(self, field)) for field in self.FIELDS})


class Move:
    """A curve: at(t) are the numbers at a distance from now, slope(t) their change there, with None
    for what stays."""

    def __init__(self, at, slope):
        self.at, self.slope = at, slope


def line(numbers, **change):
    """Along a straight line."""
    return Move(lambda t: numbers.with_(**{field: getattr(numbers, field) + by * t for field, by in change.items()}),
                lambda t: Numbers(**change))


def rotation(i, angle):
    """simtbx's matrix about an axis, its first derivative, by the angle: what turns vectors the
    other way."""
    j, k = (i + 1) % 3, (i + 2) % 3
    c, s = numpy.cos(angle), numpy.sin(angle)
    turn, slope = numpy.eye(3), numpy.zeros((3, 3))
    turn[j, j] = turn[k, k] = c
    turn[j, k], turn[k, j] = s, -s
    slope[j, j] = slope[k, k] = -s
    slope[j, k], slope[k, j] = c, -c
    return turn, slope


def misset(numbers, i, angles, frame, spindle):
    """The rotation about laboratory axis i. frame, spindle: direct basis and spindle before the
    three rotations."""
    def turned(t, part):
        matrices = [rotation(n, angle + (t if n == i else 0))[part if n == i else 0] for n, angle in enumerate(angles)]
        whole = numpy.linalg.multi_dot(matrices)
        return {"direct": whole @ frame, "spindle": whole @ spindle}

    return Move(lambda t: numbers.with_(**turned(t, 0)), lambda t: Numbers(**turned(t, 1)))


def cell(numbers, before, first, second, after):
    """A cell parameter by which the direct basis B in before @ B @ after has these derivatives."""
    return Move(lambda t: numbers.with_(direct=numbers.direct + before @ (first * t + second * (t * t / 2)) @ after),
                lambda t: Numbers(direct=before @ (first + second * t) @ after))


def one_spread(blocks, first):
    """By how much a spread changes the angles of all rotations, over the angles, where these
    derivatives say the same for all of them about their own axes; None elsewhere."""
    axes, angles = axes_and_angles(blocks)
    turning = first @ blocks.transpose(0, 2, 1)
    vectors = numpy.stack([turning[:, 2, 1] - turning[:, 1, 2], turning[:, 0, 2] - turning[:, 2, 0], turning[:, 1, 0] - turning[:, 0, 1]], axis=1) / 2
    total = angles @ angles
    if total == 0:
        return None
    factor = numpy.einsum("ij,ij,i", vectors, axes, angles) / total
    apart = numpy.abs(vectors - factor * angles[:, None] * axes).max()
    return factor if apart <= 1e-9 * numpy.abs(vectors).max() else None


def mosaic(numbers, first, second):
    """A spread by which the mosaic rotations have these derivatives."""
    return Move(lambda t: numbers.with_(blocks=numbers.blocks + first * t + second * (t * t / 2)), lambda t: Numbers(blocks=first + second * t))
