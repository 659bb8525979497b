"""Images as functions of flat vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from . import _core
from ._arrays import Array, doubles

if TYPE_CHECKING:
    from .simulator import Simulator


class Function:
    """The image of an experiment as a function of some of its numbers in one flat vector.

    names: parameters, in the order of the vector. shapes: of each. theta: the vector of the simulator's numbers when the
    function was made. Other numbers stay what they were then. Safe to use from several threads, which wait for each
    other. All arrays are float64, in this machine's memory.
    """

    def __init__(self, simulator: Simulator, names: Iterable[str]) -> None:
        self.names = tuple(names)
        core = simulator._core
        rows = {name: tuple(core.members(name)[1][0][1]) for name in self.names}
        self.shapes = tuple(rows[name] for name in self.names)
        self._core = _core.Function(core, list(self.names))
        self.shape = self._core.shape
        self.length = self._core.length
        self.theta = (numpy.concatenate([numpy.ravel(core.get(name) if name != "F" else core.structure_factors()[0])
                                         for name in self.names]) if self.names else numpy.empty(0))

    def _vector(self, value: Any, what: str) -> Array:
        array = doubles(value, what)
        if array.shape != (self.length,):
            raise ValueError(f"{what} has the shape {array.shape}; the function takes {(self.length,)}: "
                             + ", ".join(self.names))
        return array

    def _pixels(self, value: Any) -> Array:
        array = doubles(value, "the cotangent")
        if array.shape != self.shape:
            raise ValueError(f"the cotangent has the shape {array.shape} and the image {self.shape}")
        return array

    def image(self, theta: Any) -> Array:
        """The image, in ``.shape``."""
        return self._core.image(self._vector(theta, "theta"))

    __call__ = image

    def vjp(self, theta: Any, cotangent: Any) -> Array:
        """The derivative of ``sum(cotangent * image)`` by theta, (length,)."""
        return self._core.vjp(self._vector(theta, "theta"), self._pixels(cotangent))

    def jvp(self, theta: Any, v: Any) -> Array:
        """The derivative of the image along v, in ``.shape``."""
        return self._core.jvp(self._vector(theta, "theta"), self._vector(v, "v"))

    def jvps(self, theta: Any, vs: Any) -> Array:
        """The derivatives of the image along the rows of vs, (directions, length): (directions, ...), in one sweep.

        There is a kernel for each number of directions; 16 at once are as many as pay.
        """
        vs = doubles(vs, "vs")
        if vs.ndim != 2 or vs.shape[1] != self.length:
            raise ValueError(f"vs has the shape {vs.shape}; the function takes (directions, {self.length})")
        return self._core.jvps(self._vector(theta, "theta"), vs)

    def hvp(self, theta: Any, v: Any, cotangent: Any) -> Array:
        """The derivative of ``vjp`` along v, (length,)."""
        return self._core.hvp(self._vector(theta, "theta"), self._vector(v, "v"), self._pixels(cotangent))

    def images(self, thetas: Any) -> Array:
        """Many images, (shots, ...), from (shots, length); small ones in several threads."""
        array = doubles(thetas, "thetas")
        if array.ndim != 2 or array.shape[1] != self.length:
            raise ValueError(f"thetas has the shape {array.shape}; the function takes (shots, {self.length})")
        return self._core.images(array)

    def pack(self, **values: Any) -> Array:
        """A flat vector of these values by name; what is not named stays as in ``theta``."""
        theta, at = self.theta.copy(), 0
        for name, shape in zip(self.names, self.shapes):
            size = int(numpy.prod(shape, dtype=int))
            if name in values:
                array = doubles(values.pop(name), f"'{name}'")
                if array.shape != shape:
                    raise ValueError(f"'{name}' has the shape {shape} and is given an array of the shape {array.shape}")
                theta[at:at + size] = array.reshape(-1)
            at += size
        if values:
            from ._errors import unknown
            raise TypeError(unknown("the function", next(iter(values)), self.names))
        return theta

    def unpack(self, theta: Any) -> dict[str, Any]:
        """A flat vector as a dict from names to arrays in the parameters' shapes."""
        theta, at, values = numpy.asarray(theta), 0, dict[str, Any]()
        for name, shape in zip(self.names, self.shapes):
            size = int(numpy.prod(shape, dtype=int))
            values[name] = theta[at:at + size].reshape(shape) if shape else theta[at]
            at += size
        return values


def render_batch(sim: Simulator, parameters: Mapping[str, Any]) -> Array:
    """Many images at once: (shots, ...) photons per pixel.

    parameters: a dict from names of parameters and groups to arrays (shots, ...), the rest in the parameter's shape.
    One call, without Python between shots; where images are small, shots are spread over threads.
    """
    names: list[str] = []
    columns: list[Array] = []
    shots = None
    for name, value in parameters.items():
        array = doubles(value, f"'{name}'")
        members = sim._members(name)
        group, rows = sim._core.members(name)
        wanted = (len(members),) if group else tuple(rows[0][1])
        if array.ndim == 0 or array.shape[1:] != wanted:
            raise ValueError(f"'{name}' of a batch has the shape {('shots', *wanted)} and is given an array of the shape "
                             f"{array.shape}")
        if shots is not None and array.shape[0] != shots:
            raise ValueError(f"'{name}' has {array.shape[0]} shots and '{next(iter(parameters))}' {shots}")
        shots = array.shape[0]
        names += members
        columns.append(array.reshape(shots, len(members) if group else int(numpy.prod(wanted, dtype=int))))
    if not names:
        raise ValueError("a batch has at least one parameter")
    return Function(sim, names).images(numpy.concatenate(columns, axis=1))
