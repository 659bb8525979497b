"""A crystal's reciprocal basis as a few numbers around where it started."""

import numpy
from scipy.spatial.transform import Rotation

# Which strains of the cell its system leaves free, in the crystal's Cartesian frame: x along a, z
# along c*.
_DIAGONAL = [numpy.diag(row).astype(float) for row in numpy.eye(3)]


def _shear(i, j):
    strain = numpy.zeros((3, 3))
    strain[i, j] = strain[j, i] = 1
    return strain


CELL_SYSTEMS = {
    "triclinic": [*_DIAGONAL, _shear(0, 1), _shear(0, 2), _shear(1, 2)],
    "monoclinic": [*_DIAGONAL, _shear(0, 2)],
    "orthorhombic": _DIAGONAL,
    "tetragonal": [_DIAGONAL[0] + _DIAGONAL[1], _DIAGONAL[2]],
    "hexagonal": [_DIAGONAL[0] + _DIAGONAL[1], _DIAGONAL[2]],
    "cubic": [sum(_DIAGONAL)],
}


# Edges that are alike, and angles, degrees, None where one is free.
_SHAPES = {
    "triclinic": ("", (None, None, None)),
    "monoclinic": ("", (90, None, 90)),
    "orthorhombic": ("", (90, 90, 90)),
    "tetragonal": ("ab", (90, 90, 90)),
    "hexagonal": ("ab", (90, 90, 120)),
    "cubic": ("abc", (90, 90, 90)),
}
_UNLIKE, _UNLIKE_ANGLE = 0.03, 2.0  # part of an edge, and degrees, from which on a cell is of no such system


def strains_of(system):
    """The strains that a crystal system leaves free; ValueError if there is no such system."""
    if system not in CELL_SYSTEMS:
        raise ValueError(f"there is no crystal system '{system}'; systems are {', '.join(CELL_SYSTEMS)}")
    return CELL_SYSTEMS[system]


CELL = ("a", "b", "c", "alpha", "beta", "gamma")  # names of what cell_of() returns


def cell_of(matrix):
    """a, b, c (the inverse of the matrix's unit) and alpha, beta, gamma (degrees) of the columns
    a*, b*, c*."""
    a, b, c = numpy.linalg.inv(matrix)
    lengths = [numpy.linalg.norm(v) for v in (a, b, c)]
    angle = lambda u, v: numpy.degrees(numpy.arccos(u @ v / numpy.linalg.norm(u) / numpy.linalg.norm(v)))
    return numpy.array([*lengths, angle(b, c), angle(c, a), angle(a, b)])


def check_system(matrix, system, of):
    """Refuses a crystal system that does not exist, or that the cell of a matrix does not belong to.
    of: whose cell it is, for the sentence. ValueError."""
    strains_of(system)
    cell, (alike, angles) = cell_of(matrix), _SHAPES[system]
    edges = cell[["abc".index(name) for name in alike]]
    if (len(edges) and numpy.ptp(edges) > _UNLIKE * edges.max()
            or any(angle and abs(angle - own) > _UNLIKE_ANGLE for angle, own in zip(angles, cell[3:]))):
        wanted = [*([" = ".join(alike)] if alike else []),
                  *(f"{name} = {angle}" for name, angle in zip(CELL[3:], angles) if angle)]
        raise ValueError(f"the system is {system}, where {', '.join(wanted)}, and the cell of {of} is "
                         f"{' '.join(f'{v:.2f}' for v in cell)}; give another --system, or reindex")


def rotation(vector):
    """The matrix of a rotation by |vector| rad about vector."""
    angle = numpy.linalg.norm(vector)
    x, y, z = vector
    cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    if angle < 1e-12:
        return numpy.eye(3) + cross
    return (numpy.eye(3) + numpy.sin(angle) / angle * cross
            + (1 - numpy.cos(angle)) / angle**2 * cross @ cross)


def turned_by(change):
    """The rotation vector (rad) in a change that strains, too."""
    left, _, right = numpy.linalg.svd(change)
    return Rotation.from_matrix(left @ right).as_rotvec()


class OrientedCell:
    """A(x) = R(w) U (1 + S(s)) B for x = (w, s): a rotation w (rad, about the laboratory's axes)
    and strains s.

    U and B are those of the matrix it starts from, columns a*, b*, c*, B that of the frame with x
    along a, z along c*. system: one of CELL_SYSTEMS, which decides how many strains there are.
    """

    def __init__(self, matrix, system="triclinic"):
        self.strains = strains_of(system)
        self.start = numpy.asarray(matrix, dtype=float)
        a = numpy.linalg.inv(self.start)[0]
        x = a / numpy.linalg.norm(a)
        z = self.start[:, 2] / numpy.linalg.norm(self.start[:, 2])
        self.frame = numpy.column_stack([x, numpy.cross(z, x), z])
        self.basis = self.frame.T @ self.start
        self.size = 3 + len(self.strains)

    def matrix(self, x):
        strain = sum((s * basis for s, basis in zip(x[3:], self.strains)), numpy.zeros((3, 3)))
        return rotation(x[:3]) @ self.frame @ (numpy.eye(3) + strain) @ self.basis

    def derivatives(self, x, step=1e-6):
        """dA/dx, (size, 3, 3): central differences, which are good to 1e-10 of numbers this smooth.
        """
        x = numpy.asarray(x, dtype=float)
        return numpy.array([(self.matrix(x + d) - self.matrix(x - d)) / (2 * step)
                            for d in step * numpy.eye(self.size)])

    def cell(self, x):
        return cell_of(self.matrix(x))

    def cell_derivatives(self, x, step=1e-6):
        """d cell/dx, (6, size)."""
        x = numpy.asarray(x, dtype=float)
        return numpy.column_stack([(self.cell(x + d) - self.cell(x - d)) / (2 * step)
                                   for d in step * numpy.eye(self.size)])
