"""Images as JAX arrays that can be differentiated twice.

    from nanobragg.jax import image
    jax.config.update("jax_enable_x64", True)
    gradient = jax.jit(jax.grad(lambda a: image(sim, cell_a=a).sum()))(71e-10)

Numbers are in SI units. ``jax.jit``, ``jax.grad``, ``jax.jvp``, ``jax.jacfwd``, ``jax.jacrev``,
``jax.hessian`` and ``jax.vmap`` (one call for all images) work; forward mode over forward mode and
third derivatives are refused with a NotImplementedError. Images are computed on the processor. A
function traced by ``jax.jit`` keeps the numbers that the simulator had when it was traced.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from . import _jax_primitives, _snapshots
from .reflections import columns_of, table_function, wanted_rows
from .simulator import Simulator

__all__ = ["image", "reflections"]


def image(sim: Simulator, **parameters: Any) -> jax.Array:
    """The image of a simulator as an array, (slow, fast) or (panel, slow, fast).

    parameters: arrays by the names of parameters and groups of numbers, in SI units and in the
    parameter's shape. The image is float64 if JAX has that enabled and one of the arrays is
    float64; otherwise it is float32.
    """
    members, theta = _numbers_of("image", sim, parameters)
    return _jax_primitives.image.bind(theta, function=_snapshots.snapshot(sim, members)[1])


def reflections(sim: Simulator, partiality: float = 1e-3, *, miller_index: Any = None, panel: Any = None, angle: Any = None,
                **parameters: Any) -> dict[str, jax.Array]:
    """The table of ``Simulator.reflections`` as arrays by column, differentiable once.

    parameters: as in ``image``. The selection of rows is not differentiated; within jit, grad and
    vmap give miller_index.
    """
    members, theta = _numbers_of("reflections", sim, parameters)
    known = None if isinstance(theta, jax.core.Tracer) else numpy.asarray(theta, numpy.float64)
    function, hkl = table_function(sim, members, wanted_rows(partiality, miller_index, panel, angle), known)
    table = _jax_primitives.image.bind(theta, function=function)
    return {"miller_index": jnp.asarray(hkl), "panel": table[-1].astype(int),
            **columns_of(table, lambda parts: jnp.stack(parts, -1))}


def _numbers_of(function: str, sim: Simulator, parameters: dict[str, Any]) -> "tuple[tuple[str, ...], jax.Array]":
    """Parameters that are not groups, and their concatenated numbers."""
    names = tuple(parameters)
    if not names:
        raise ValueError(f"{function}() needs at least one array by a parameter's name, as cell_a=a; sim.{function}() takes none")
    if not isinstance(sim, Simulator):
        raise TypeError(f"{function}() needs a nanobragg.Simulator, not {type(sim).__name__}")
    parts, members = [], []
    for name, (stands_for, shape) in zip(names, _snapshots.describe(sim, names)):
        array = jnp.asarray(parameters[name])
        if name == "F" and jnp.iscomplexobj(array):
            array = jnp.abs(array)
        if not jnp.issubdtype(array.dtype, jnp.floating):
            raise TypeError(f"'{name}' is an array of {array.dtype}; it has to contain floating-point numbers")
        if array.shape != shape:
            batch = "; jax.vmap renders a batch" if array.shape[1:] == shape else ""
            raise ValueError(f"'{name}' has shape {shape}, but the array has shape {array.shape}{batch}")
        parts.append(array.reshape(-1))
        members.extend(stands_for)
    dtype = functools.reduce(jnp.promote_types, [p.dtype for p in parts], jnp.float32)
    return tuple(members), jnp.concatenate([p.astype(dtype) for p in parts])
