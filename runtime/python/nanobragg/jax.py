"""Images as JAX arrays that can be differentiated twice, in reverse mode.

    from nanobragg.jax import image
    jax.config.update("jax_enable_x64", True)
    gradient = jax.jit(jax.grad(lambda a: image(sim, cell_a=a).sum()))(71e-10)

Numbers are in SI units. ``jax.jit``, ``jax.grad``, ``jax.jacrev(jax.jacrev(...))`` and ``jax.vmap`` (one image after another)
work; forward mode (``jax.jvp``, ``jax.hessian``, which begins with it) does not, since these are custom derivatives in
reverse mode. On the processor. What is traced by ``jax.jit`` keeps the numbers that the simulator had then.
"""

import functools

import jax
import jax.numpy as jnp
import numpy

from . import _core, _snapshots

__all__ = ["image"]

if not hasattr(_core, "jax_targets"):
    raise ImportError("this nanobragg was built without jaxlib, whose headers nanobragg.jax needs; install jaxlib and build it again")

_ffi = jax.ffi if hasattr(jax, "ffi") else __import__("jax.extend.ffi", fromlist=["ffi"])
for _name, _capsule in _core.jax_targets().items():
    _ffi.register_ffi_target(_name, _capsule, platform="cpu")

# What is compiled knows functions by their address, so they stay.
_alive = {}


def _call(name, function, shape, dtype, *arrays):
    call = _ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, dtype), vmap_method="sequential")
    return call(*arrays, function=numpy.int64(function._core.address))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _image(function, theta):
    return _call("nanobragg_image", function, function.shape, theta.dtype, theta)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _vjp(function, theta, cotangent):
    return _call("nanobragg_vjp", function, theta.shape, theta.dtype, theta, cotangent)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _jvp(function, theta, v):
    return _call("nanobragg_jvp", function, function.shape, theta.dtype, theta, v)


def _hvp(function, theta, v, cotangent):
    return _call("nanobragg_hvp", function, theta.shape, theta.dtype, theta, v, cotangent)


_image.defvjp(lambda function, theta: (_image(function, theta), theta),
              lambda function, theta, cotangent: (_vjp(function, theta, cotangent),))
_vjp.defvjp(lambda function, theta, cotangent: (_vjp(function, theta, cotangent), (theta, cotangent)),
            lambda function, saved, v: (_hvp(function, saved[0], v, saved[1]), _jvp(function, saved[0], v)))
_jvp.defvjp(lambda function, theta, v: (_jvp(function, theta, v), (theta, v)),
            lambda function, saved, cotangent: (_hvp(function, *saved, cotangent), _vjp(function, saved[0], cotangent)))


def image(sim, **parameters):
    """The image of a simulator as an array, (slow, fast) or (panel, slow, fast).

    parameters: arrays by the names of parameters and groups of numbers, in SI units and in the parameter's shape. The
    image is float64 where JAX has that enabled and an array is float64, else float32.
    """
    names = tuple(parameters)
    if not names:
        raise ValueError("image() wants at least one array by a parameter's name, as cell_a=a; sim.image() takes none")
    parts, members = [], []
    for name, (stands_for, shape) in zip(names, _snapshots.describe(sim, names)):
        array = jnp.asarray(parameters[name])
        if not jnp.issubdtype(array.dtype, jnp.floating):
            raise TypeError(f"'{name}' is an array of {array.dtype}; it has to be one of floating-point numbers")
        if array.shape != shape:
            raise ValueError(f"'{name}' has the shape {shape} and is given an array of the shape {array.shape}")
        parts.append(array.reshape(-1))
        members.extend(stands_for)
    token, function = _snapshots.snapshot(sim, tuple(members))
    _alive[token] = function
    dtype = functools.reduce(jnp.promote_types, [p.dtype for p in parts], jnp.float32)
    return _image(function, jnp.concatenate([p.astype(dtype) for p in parts]))
