"""The crystal's form, read from a file."""

import dataclasses
import hashlib
import os
import re

import numpy

from .. import _core
from .._errors import FileError
from ._indices import OBLIQUITY


def is_macromolecular(cell):
    """Whether a cell, A, is large enough for bulk solvent, which small molecules and metals have
    none of."""
    return numpy.prod(cell[:3]) > 1e4


@dataclasses.dataclass
class Model:
    """The crystal's form in a file: cell (A, degrees), space group, structure factors."""

    path: str
    cell: numpy.ndarray
    hall: str
    grid: numpy.ndarray = None  # structure factors [h, k, l], electrons
    lowest: tuple = ()  # Miller indices where the grid begins

    @staticmethod
    def read(path, resolution=8.0, wavelength=1.0, solvent=None):
        """With structure factors to a resolution, A, at a wavelength, A, and bulk solvent of a
        density, electrons/A^3 (None: as the cell is large enough for). path: a file, or the numbers
        of the cell and the space group in place of one, without structure factors."""
        said = re.fullmatch(r"\s*" + r"([0-9.]+)[\s,]+" * 6 + r"(\S.*)", str(path))
        if said and not os.path.exists(path):
            cell = numpy.array([float(text) for text in said.groups()[:6]])
            cosines = numpy.cos(numpy.radians(cell[3:]))
            if not (cell > 0).all() or not (cell[3:] < 180).all() or not 1 + 2 * cosines.prod() > (cosines**2).sum():
                raise ValueError(f"the cell {' '.join(said.groups()[:6])} has no volume; give a, b, c (A) and three angles (degrees) above 0")
            return Model(str(path), cell, _core.indexing_choices(said[7], cell.tolist(), 0.0)[0])
        if not os.path.exists(path) and re.match(r"\s*[0-9.]+[\s,]+[0-9.]+[\s,]", str(path)):
            raise ValueError(f"the model '{path}' is neither a file nor six numbers of a cell (A, degrees) and a space group, such as "
                             "'58 58 150 90 90 90 P 41 21 2'")
        if solvent is None:
            cell = _core.structure_factors(str(path), 8.0, wavelength, 0.0, 46.0)[2]
            solvent = 0.35 if cell is None or is_macromolecular(cell) else 0.0
        grid, lowest, cell, hall = _core.structure_factors(str(path), resolution, wavelength, solvent, 46.0)
        if cell is None or not hall:
            raise FileError(f"{path}: does not say the crystal's cell and space group; give a file with both (CRYST1)")
        return Model(str(path), numpy.array(cell), hall, grid, tuple(lowest))

    def choices(self):
        """Matrices by which rows of Miller indices are multiplied: those that the lattice allows,
        up to equivalents, the identity first."""
        return [numpy.eye(3), *_core.indexing_choices(self.hall, self.cell.tolist(), OBLIQUITY)[1]]

    def digest(self):
        """A text that changes with its numbers."""
        grid = b"" if self.grid is None else numpy.ascontiguousarray(self.grid).tobytes()
        return hashlib.sha256(repr((self.cell.tolist(), self.hall, self.lowest)).encode() + grid).hexdigest()

    @property
    def system(self):
        """One of CELL_SYSTEMS: which of the cell's edges and angles are equal."""
        a, b, c, alpha, beta, gamma = numpy.round(self.cell, 3)
        if alpha == gamma == 90:
            if beta != 90:
                return "monoclinic"
            return {1: "cubic"}.get(len({a, b, c})) or ("tetragonal" if a == b else "orthorhombic")
        return "hexagonal" if a == b and (alpha, beta, gamma) == (90, 90, 120) else "triclinic"
