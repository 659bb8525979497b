"""Images as JAX arrays that can be differentiated twice.

    from nanobragg.jax import image
    jax.config.update("jax_enable_x64", True)
    gradient = jax.jit(jax.grad(lambda a: image(sim, cell_a=a).sum()))(71e-10)

Numbers are in SI units. ``jax.jit``, ``jax.grad``, ``jax.jvp``, ``jax.jacfwd``, ``jax.jacrev``, ``jax.hessian`` and ``jax.vmap`` (one image
after another) work; forward mode over forward mode and third derivatives are refused with a NotImplementedError. On the
processor. A function traced by ``jax.jit`` keeps the numbers that the simulator had then.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from . import _jax_primitives, _snapshots
from .simulator import Simulator

__all__ = ["image"]


def image(sim: Simulator, **parameters: Any) -> jax.Array:
    """The image of a simulator as an array, (slow, fast) or (panel, slow, fast).

    parameters: arrays by the names of parameters and groups of numbers, in SI units and in the parameter's shape. The
    image is float64 where JAX has that enabled and an array is float64, else float32.
    """
    names = tuple(parameters)
    if not names:
        raise ValueError("image() needs at least one array by a parameter's name, as cell_a=a; sim.image() takes none")
    if not isinstance(sim, Simulator):
        raise TypeError(f"image() needs a nanobragg.Simulator, not {type(sim).__name__}")
    parts, members = [], []
    for name, (stands_for, shape) in zip(names, _snapshots.describe(sim, names)):
        array = jnp.asarray(parameters[name])
        if not jnp.issubdtype(array.dtype, jnp.floating):
            raise TypeError(f"'{name}' is an array of {array.dtype}; it has to be one of floating-point numbers")
        if array.shape != shape:
            raise ValueError(f"'{name}' has the shape {shape} and is given an array of the shape {array.shape}")
        parts.append(array.reshape(-1))
        members.extend(stands_for)
    _, function = _snapshots.snapshot(sim, tuple(members))
    dtype = functools.reduce(jnp.promote_types, [p.dtype for p in parts], jnp.float32)
    return _jax_primitives.image.bind(jnp.concatenate([p.astype(dtype) for p in parts]), function=function)
