"""Batches: experiments that differ only in numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from . import _core
from ._arrays import Array, doubles
from ._deprecated import deprecated
from ._errors import Warning
from ._snapshots import snapshot

if TYPE_CHECKING:
    from .function import Function
    from .simulator import Simulator


def batch(sim: Simulator, parameters: Mapping[str, Any], wrt: Iterable[str] = ()) -> tuple[Function, Array]:
    """The function of these parameters and those of ``wrt``, by which it is differentiated, and a
    vector for each shot.

    parameters: a dict from names of parameters and groups to arrays (shots, ...), the rest in the
    parameter's shape.
    """
    columns: dict[str, Array] = {}
    shots = None
    for name, value in parameters.items():
        array = doubles(value, f"'{name}'")
        group, rows = sim._core.members(name)
        members = sim._members(name)
        wanted = (len(members),) if group else tuple(rows[0][1])
        if array.ndim == 0 or array.shape[1:] != wanted:
            raise ValueError(f"'{name}' has shape {array.shape}; in a batch it has to be {('shots', *wanted)}")
        if shots is not None and array.shape[0] != shots:
            raise ValueError(f"'{name}' has {array.shape[0]} shots and '{next(iter(parameters))}' {shots}")
        shots = array.shape[0]
        for i, member in enumerate(members):
            if member in columns:
                raise ValueError(f"'{member}' is given twice, also as a member of a group")
            columns[member] = array[:, i:i + 1] if group else array.reshape(shots, int(numpy.prod(wanted, dtype=int)))
    if shots is None:
        raise ValueError("a batch needs at least one parameter with an array of its values, such as {'cell_a': array}")
    for name, column in columns.items():
        sizes = numpy.abs(column.ravel())
        extremes = column.ravel()[[sizes.argmin(), sizes.argmax()]] if len(sizes) else sizes
        if doubt := _core.unusual(name, extremes.tolist()):
            warnings.warn(doubt, Warning, stacklevel=3)
    by = [member for name in wrt for member in sim._members(name)]
    function = snapshot(sim, (*columns, *(name for name in by if name not in columns)), tuple(by))[1]
    given = numpy.concatenate(list(columns.values()), axis=1)
    rest = numpy.broadcast_to(function.theta[given.shape[1]:], (shots, function.length - given.shape[1]))
    return function, numpy.concatenate([given, rest], axis=1)


def render_batch(sim: Simulator, parameters: Mapping[str, Any]) -> Array:
    """Use ``sim.images(parameters)``. The next minor version removes this function."""
    deprecated("render_batch", "Simulator.images")
    return sim.images(parameters)
