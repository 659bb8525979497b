"""Chains of axes, by which image files say where a detector stands: NXmx's transformations, and
imgCIF's axes."""

import dataclasses

import numpy

from .._errors import FileError
from ._crystal import rotation


class Unplaced(FileError):
    """A file does not say where its detector stands, or not in a way that is known here."""


@dataclasses.dataclass
class Axis:
    """A rotation by ``value`` (rad) about a vector, or a translation by ``value`` (mm) along it,
    after an offset (mm); in the frame of the axis ``depends_on``, where there is one."""

    vector: numpy.ndarray
    value: float = 0.0
    rotates: bool = False
    offset: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.zeros(3))
    depends_on: str = None


def frame(path, axes, name):
    """Rotation and translation (mm) of the frame of axis ``name`` in the laboratory. axes: by
    names; path: the file's, for what is wrong with it."""
    turn, shift, seen = numpy.eye(3), numpy.zeros(3), set()
    while name:
        if name in seen or name not in axes:
            raise FileError(f"{path}: its axis {name} " + ("depends on itself" if name in seen else "is nowhere described"))
        seen.add(name)
        axis = axes[name]
        length = numpy.linalg.norm(axis.vector)
        unit = axis.vector / length if length > 0 else axis.vector
        if axis.rotates:
            own = rotation(axis.value * unit)
            turn, shift = own @ turn, own @ shift + axis.offset
        else:
            shift = shift + axis.value * unit + axis.offset
        name = axis.depends_on
    return turn, shift


def flat(path, fast, slow, corner, beam):
    """Where the beam meets a flat detector: the axes fast, slow, normal (columns), the distance
    along the beam (mm), the place on fast and slow (mm). corner: mm; beam: its direction."""
    normal = numpy.cross(fast, slow)
    if abs(numpy.linalg.norm(normal) - 1) > 1e-3:
        raise FileError(f"{path}: the directions of its pixels are at no right angle: {fast}, {slow}")
    if not abs(normal @ beam) > 1e-3:
        raise FileError(f"{path}: its detector is along the beam, which does not meet it")
    distance = (corner @ normal) / (normal @ beam)
    if not distance > 0:
        raise FileError(f"{path}: its detector is behind the source: the beam meets it {distance:.4g} mm after the sample")
    away = distance * beam - corner
    return numpy.column_stack([fast, slow, normal]), distance, (away @ fast, away @ slow)
