"""Structure factors of other packages, and of an asymmetric unit, on the box of Miller indices that
simulators take."""

import operator
import os
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import Array, doubles

Box = tuple[Array, tuple[int, int, int]]


def amplitudes(value: Any, what: str) -> Array:
    """Structure factors as real numbers. Complex ones are replaced by their absolute values, since
    images do not depend on phases."""
    array = numpy.asarray(value) if not type(value).__module__.startswith("torch") else value.detach().cpu().numpy()
    return doubles(abs(array) if numpy.iscomplexobj(array) else value, what)


def box_rows(hkl: ArrayLike, space_group: str) -> tuple[NDArray[numpy.int64], tuple[int, int, int]]:
    """Expands reflections to a box of Miller indices: (rows, lowest indices of the box).

    rows: for each index of the smallest box around the reflections and their equivalents, the row
    of ``hkl`` with its structure factor; -1: none. ``torch.where(rows >= 0, F[rows], 0)`` makes the
    box of F differentiably, for ``image(sim, F=box)``. hkl: (n, 3). space_group: a name of gemmi
    ("P 21 21 21") or a number.
    """
    unique = numpy.asarray(hkl)
    if unique.ndim != 2 or unique.shape[1] != 3 or len(unique) == 0 or not (unique == numpy.rint(unique)).all():
        raise ValueError(f"hkl has shape {unique.shape}; it has to be (n, 3), Miller indices")
    unique = unique.astype(numpy.int64)
    own = _asu(space_group, unique)[0]
    # A rotation of the group moves an index along an axis to all others that it mixes: the largest
    # index may be any of the three.
    most = numpy.full(3, abs(unique).max())
    size = 2 * most + 1
    everything = numpy.stack(numpy.meshgrid(*(numpy.arange(-m, m + 1) for m in most), indexing="ij"), axis=-1).reshape(-1, 3)
    in_unit, absent = _asu(space_group, everything)

    def keys(indices):
        shifted = indices + 2 * most
        return (shifted[:, 0] * (4 * most[1] + 1) + shifted[:, 1]) * (4 * most[2] + 1) + shifted[:, 2]

    order = numpy.argsort(keys(own), kind="stable")
    ordered = keys(own)[order]
    if (ordered[1:] == ordered[:-1]).any():
        twice = unique[order[1:][ordered[1:] == ordered[:-1]][0]]
        raise ValueError(f"the reflection {tuple(twice.tolist())} or an equivalent of it is listed twice; merge them")
    wanted = keys(in_unit)
    at = numpy.minimum(numpy.searchsorted(ordered, wanted), len(ordered) - 1)
    rows = numpy.where((ordered[at] == wanted) & ~absent, order[at], -1).reshape(size)
    used = numpy.argwhere(rows >= 0)
    low, high = used.min(axis=0), used.max(axis=0) + 1
    h, k, l = (low - most).tolist()
    return rows[low[0]:high[0], low[1]:high[1], low[2]:high[2]], (h, k, l)


def _asu(space_group, hkl):
    _, unit, _, _, absent = _core.to_asymmetric_unit(str(space_group), numpy.ascontiguousarray(hkl))
    return numpy.asarray(unit), numpy.asarray(absent) != 0


def box(value: Any, column: str | None = None) -> Box:
    """Structure factors as ``Crystal.structure_factors`` and ``Simulator.structure_factors`` take
    them.

    value: a pair (array[h, k, l], (hmin, kmin, lmin)), real or complex; gemmi's Mtz, FloatAsuData
    or ComplexAsuData; or a DataSet of reciprocalspaceship. column: of an Mtz or DataSet; None: the
    first of amplitudes. Equivalents and Friedel mates are filled in.
    """
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if isinstance(value, (tuple, list)) and len(value) == 2:
        array, lowest = value
        try:
            h, k, l = (operator.index(i) for i in lowest)
        except (TypeError, ValueError):
            raise TypeError("structure factors are a pair (array[h, k, l], (hmin, kmin, lmin)), the latter three integers") from None
        return amplitudes(array, "structure factors"), (h, k, l)
    if hasattr(value, "miller_array") and hasattr(value, "value_array"):  # gemmi.FloatAsuData
        hkl, group, numbers = value.miller_array, value.spacegroup, value.value_array
    elif hasattr(value, "make_miller_array"):  # gemmi.Mtz
        hkl, group = value.make_miller_array(), value.spacegroup
        label = column or next((c.label for c in value.columns if c.type == "F"), None)
        numbers = value.column_with_label(label).array if label in value.column_labels() else None
    elif hasattr(value, "get_hkls"):  # reciprocalspaceship.DataSet
        hkl, group = value.get_hkls(), value.spacegroup
        label = column or next((c for c in value.columns if str(value[c].dtype) == "SFAmplitude"), None)
        numbers = value[label].to_numpy() if label in value.columns else None
    else:
        given = f"a file; use Crystal(hkl={str(value)!r})" if isinstance(value, (str, os.PathLike)) else kind
        raise TypeError("structure factors are a pair (array[h, k, l], (hmin, kmin, lmin)), gemmi's Mtz or AsuData, or a DataSet of "
                        f"reciprocalspaceship, not {given}")
    if numbers is None:
        raise ValueError(f"{kind} has no column {column!r} of structure factors" if column else
                         f"{kind} has no column of amplitudes; name one: nanobragg.factors.box(data, 'F')")
    if group is None:
        raise ValueError(f"{kind} has no space group; set its spacegroup")
    numbers = amplitudes(numbers, "structure factors")
    known = numpy.isfinite(numbers)
    rows, lowest = box_rows(numpy.asarray(hkl)[known], group.xhm())
    return numpy.where(rows >= 0, numbers[known][rows], 0.0), lowest
