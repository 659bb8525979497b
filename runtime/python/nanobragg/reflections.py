"""Tables of reflections and their derivatives."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import ArrayLike, NDArray

from ._arrays import doubles, names
from ._snapshots import snapshot

if TYPE_CHECKING:
    from .function import Function
    from .simulator import Simulator

COVARIANCE = ("covariance_ff", "covariance_fs", "covariance_ss")
_COLUMNS = ("photons", "partiality", "fast", "slow", "angle", *COVARIANCE, "wavelength", "wavelength_sigma")

Rows = tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64]]


def rows_of(miller_index: ArrayLike, panel: ArrayLike = None, angle: ArrayLike = None) -> Rows:
    """The rows of a table as the compiled part takes them: indices, panels or -1, and angles in
    degrees or NaN."""
    hkl = numpy.asarray(miller_index)
    if hkl.ndim != 2 or hkl.shape[1] != 3 or hkl.dtype.kind not in "iu":
        raise ValueError(f"miller_index is an array {hkl.shape} of {hkl.dtype}; it has to be (reflections, 3), whole numbers")
    if hkl.size and max(-int(hkl.min()), int(hkl.max())) >= 2**31:
        raise ValueError("miller_index has indices beyond 2^31")
    panels = numpy.full(len(hkl), -1) if panel is None else numpy.asarray(panel)
    angles = numpy.full(len(hkl), numpy.nan) if angle is None else doubles(angle, "angle")
    for name, value in (("panel", panels), ("angle", angles)):
        if value.shape != (len(hkl),):
            raise ValueError(f"{name} has shape {value.shape}, and miller_index has {len(hkl)} rows; give one {name} for each row")
    if panels.dtype.kind not in "iu":
        raise ValueError(f"panel is an array of {panels.dtype}; it has to be whole numbers")
    return numpy.ascontiguousarray(hkl, numpy.int64), numpy.ascontiguousarray(panels, numpy.int64), angles


def wanted_rows(partiality: float, miller_index: ArrayLike, panel: ArrayLike, angle: ArrayLike) -> "float | Rows":
    """The rows requested from ``Simulator.reflections``: a least partiality, or a list."""
    if miller_index is not None:
        return rows_of(miller_index, panel, angle)
    if panel is not None or angle is not None:
        raise ValueError("panel and angle belong to the rows of miller_index; give that, too")
    return float(partiality)


def table_function(sim: "Simulator", members: tuple[str, ...], rows: "float | Rows", theta: Any) -> "tuple[Function, NDArray]":
    """The rows of a table as a function of the numbers of ``members``, and the rows' indices.

    rows: a list of rows, or the least partiality of the rows that are selected. theta: the numbers
    with which they are selected, or None if these are not known yet.
    """
    if not isinstance(rows, tuple):
        if theta is None:
            raise ValueError("which reflections there are depends on numbers that are not known while the function is traced or "
                             "transformed; give miller_index=")
        found = snapshot(sim, members)[1]._core.tables(1, theta, rows)[0]
        rows = rows_of(found["miller_index"], found["panel"], found["angle"])
    return snapshot(sim, members, rows=rows)[1], rows[0]


def columns_of(table: Any, stack: Any) -> dict[str, Any]:
    """The columns by name in the result of a ``table_function``. stack: stacks arrays of the
    framework along a new last axis."""
    return _with_matrices({name: table[i] for i, name in enumerate(_COLUMNS)}, stack)


def _with_matrices(columns, stack=lambda parts: numpy.stack(parts, -1)):
    """The same columns with the three numbers of the covariance as matrices (fast, slow)."""
    ff, fs, ss = (columns.pop(name) for name in COVARIANCE)
    columns["covariance"] = stack([stack([ff, fs]), stack([fs, ss])])
    return columns


class Reflections(dict[str, NDArray]):
    """A row for each reflection of an image; columns are arrays, by name and as attributes.
    ``len(table)`` counts the rows.

    ``miller_index``
        (n, 3) integers.
    ``photons``
        Light on the whole spot, before the detector's response.
    ``partiality``
        Photons as a fraction of those of a lattice point on the Ewald sphere; in a rotation, of
        those of a complete crossing.
    ``panel``
        Number of the panel, from 0.
    ``fast``, ``slow``
        Mean position in pixels; (0, 0) is the outer corner of the first pixel.
    ``angle``
        Mean angle of the spindle in degrees.
    ``covariance``
        (n, 2, 2) of fast and slow, in pixels².
    ``wavelength``, ``wavelength_sigma``
        Mean and standard deviation of the light in the spot, in Å.

    Derivatives are those at the numbers with which the table was made. They are available until the
    simulator makes another table.
    """

    def __init__(self, simulator: "Simulator | None", columns: dict[str, NDArray]) -> None:
        super().__init__(_with_matrices(columns))
        self._simulator, self._made = simulator, object()
        if simulator is not None:
            simulator._reflections = self._made

    def __missing__(self, name: str) -> NDArray:
        raise KeyError(f"a table of reflections has no {name!r}; it has {', '.join(self)}")

    def __getattr__(self, name: str) -> NDArray:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __len__(self) -> int:
        return len(self["photons"])

    def __repr__(self) -> str:
        return f"<{len(self)} reflections, with the columns {', '.join(self)}>"

    def _core(self):
        if self._simulator is None:
            raise ValueError("tables of many experiments have no derivatives; make each by Simulator.reflections")
        if self._simulator._reflections is not self._made:
            raise ValueError("the simulator has made another table of reflections since; ask that one for derivatives")
        return self._simulator._core

    def jvp(self, direction: Mapping[str, ArrayLike], wrt: str | Iterable[str] | None = None) -> dict[str, NDArray]:
        """How the columns change along a direction (see ``Simulator.jvp``), in their units."""
        return self.jvps([direction], wrt)[0]

    def jvps(self, directions: Iterable[Mapping[str, ArrayLike]],
             wrt: str | Iterable[str] | None = None) -> list[dict[str, NDArray]]:
        """The same along several directions in one sweep."""
        return [_with_matrices(columns) for columns in self._jvps(directions, wrt)]

    def _jvps(self, directions: Iterable[Mapping[str, ArrayLike]], wrt: str | Iterable[str] | None = None) -> list[dict[str, NDArray]]:
        """The same, with the three numbers of the covariance as columns."""
        core = self._core()
        given = [self._simulator._direction(direction) for direction in directions]
        every = list(dict.fromkeys(name for direction in given for name in direction))
        return core.reflection_jvps(names(wrt if wrt is not None else every), given)

    def vjp(self, wrt: str | Iterable[str], **cotangents: ArrayLike) -> dict[str, Any]:
        """The gradient of a number with respect to parameters, from its derivatives with respect to
        columns: ``table.vjp("cell", photons=p)``."""
        given = {}
        for name, value in cotangents.items():
            if name not in self or name in ("miller_index", "panel"):
                raise ValueError(f"{name!r} is not a differentiable column; use one of "
                                 + ", ".join(n for n in self if n not in ("miller_index", "panel")))
            array = doubles(value, f"the cotangent of {name}")
            if array.shape != self[name].shape:
                raise ValueError(f"the cotangent of {name} has shape {array.shape}, but the column has {self[name].shape}")
            given[name] = array
        if (matrices := given.pop("covariance", None)) is not None:
            parts = matrices[:, 0, 0], matrices[:, 0, 1] + matrices[:, 1, 0], matrices[:, 1, 1]
            given |= {name: numpy.ascontiguousarray(part) for name, part in zip(COVARIANCE, parts)}
        return dict(self._core().reflection_gradient(names(wrt), given))
