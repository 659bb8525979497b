"""Images as functions of flat vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from . import _core
from ._arrays import Array, doubles
from ._deprecated import deprecated

if TYPE_CHECKING:
    from .simulator import Simulator


class Function:
    """The image of an experiment as a function of some of its numbers in one flat vector.

    names: parameters, in the order of the vector. shapes: the shape of each. theta: the simulator's
    numbers when the function was made, as such a vector. Other parameters keep the values that they
    had then. Several threads may use a function; they wait for each other. All arrays are float64,
    in this machine's memory.

    Vectors are (..., length) and cotangents ``(..., *shape)``; leading axes are shots, which
    broadcast and come first in the result. All shots are computed in one call, those of small
    images in several threads.
    """

    def __init__(self, simulator: Simulator, names: Iterable[str], wrt: Iterable[str] | None = None, rows: Any = None) -> None:
        """wrt: names of the parameters with respect to which derivatives are taken (default: all);
        derivatives with respect to the others are 0. rows: rows of a table of reflections
        (reflections.rows_of); the table's columns then take the place of the image."""
        self.names = tuple(names)
        core = simulator._core
        self.shapes = tuple(tuple(core.members(name)[1][0][1]) for name in self.names)
        self._core = _core.Function(core, list(self.names), list(self.names if wrt is None else wrt), rows)
        self.shape = self._core.shape
        self.length = self._core.length
        self.theta = (numpy.concatenate([numpy.ravel(core.get(name) if name != "F" else core.structure_factors()[0])
                                         for name in self.names]) if self.names else numpy.empty(0))

    def __repr__(self) -> str:
        return f"<nanobragg.Function of {', '.join(self.names)} ({self.length} numbers)>"

    def _shots(self, *vectors: Any, cotangent: Any = None) -> tuple[tuple[int, ...], int, list[Array]]:
        """The leading axes, how many shots they have, and arrays with one row or as many as there
        are shots."""
        given = [(doubles(v, what), what, (self.length,)) for v, what in zip(vectors, ("theta", "v"))]
        if cotangent is not None:
            given.append((doubles(cotangent, "the cotangent"), "the cotangent", self.shape))
        leads = []
        for array, what, shape in given:
            lead = array.shape[:array.ndim - len(shape)]
            if array.shape[len(lead):] != shape:
                raise ValueError(f"{what} has shape {array.shape}; it has to be {shape}, after axes of shots if there are several"
                                 + ("" if what == "the cotangent" else ": " + ", ".join(self.names)))
            leads.append(lead)
        try:
            lead = numpy.broadcast_shapes(*leads)
        except ValueError:
            shots = ", ".join(f"{what} {lead}" for (_, what, _), lead in zip(given, leads))
            raise ValueError(f"the axes of shots do not broadcast: {shots}") from None
        rows = [array if len(shape) == array.ndim else numpy.ascontiguousarray(numpy.broadcast_to(array, lead + shape))
                for array, _, shape in given]
        return lead, int(numpy.prod(lead, dtype=int)), rows

    def image(self, theta: Any) -> Array:
        """The image, ``(..., *shape)``."""
        lead, shots, rows = self._shots(theta)
        return self._core.image(shots, *rows).reshape(lead + self.shape)

    __call__ = image

    def vjp(self, theta: Any, cotangent: Any) -> Array:
        """The derivative of ``sum(cotangent * image)`` with respect to theta, (..., length)."""
        lead, shots, rows = self._shots(theta, cotangent=cotangent)
        return self._core.vjp(shots, *rows).reshape(*lead, self.length)

    def jvp(self, theta: Any, v: Any) -> Array:
        """The derivative of the image along v, ``(..., *shape)``.

        Several v at one theta take one sweep. Kernels compute an even number of directions at a
        time, up to 8, or up to 24 for averages in closed form.
        """
        lead, shots, rows = self._shots(theta, v)
        return self._core.jvp(shots, *rows).reshape(lead + self.shape)

    def hvp(self, theta: Any, v: Any, cotangent: Any) -> Array:
        """The derivative of ``vjp`` along v, (..., length)."""
        lead, shots, rows = self._shots(theta, v, cotangent=cotangent)
        return self._core.hvp(shots, *rows).reshape(*lead, self.length)

    def jvps(self, theta: Any, vs: Any) -> Array:
        """Use ``jvp``, which takes several directions itself. The next minor version removes this
        function."""
        deprecated("Function.jvps", "Function.jvp")
        return self.jvp(theta, vs)

    def images(self, thetas: Any) -> Array:
        """Use ``image``, which takes several vectors itself. The next minor version removes this
        function."""
        deprecated("Function.images", "Function.image")
        return self.image(thetas)

    def pack(self, **values: Any) -> Array:
        """A flat vector of these values by name; others as in ``theta``."""
        theta, at = self.theta.copy(), 0
        for name, shape in zip(self.names, self.shapes):
            size = int(numpy.prod(shape, dtype=int))
            if name in values:
                array = doubles(values.pop(name), f"'{name}'")
                if array.shape != shape:
                    raise ValueError(f"'{name}' has shape {shape}, but the array has shape {array.shape}")
                theta[at:at + size] = array.reshape(-1)
            at += size
        if values:
            from ._errors import unknown
            raise TypeError(unknown("the function", next(iter(values)), self.names))
        return theta

    def unpack(self, theta: Any) -> dict[str, Any]:
        """Vectors (..., length) as a dict from names to arrays in the parameters' shapes."""
        theta, at, values = numpy.asarray(theta), 0, dict[str, Any]()
        for name, shape in zip(self.names, self.shapes):
            size = int(numpy.prod(shape, dtype=int))
            values[name] = theta[..., at:at + size].reshape(theta.shape[:-1] + shape) if shape else theta[..., at]
            at += size
        return values
