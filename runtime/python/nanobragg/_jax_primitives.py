"""The image of a Function, and its derivatives, as primitives of JAX.

theta, v and cotangents have leading axes, the same ones, where there are several shots. Each has rules for forward mode (what it changes by, when an argument changes) and, in the arguments that it is linear in, for
transposition; JAX makes jvp, grad, jacfwd, jacrev and hessian of them.

    image(theta)                  the image
    jvp(theta, v)                 its derivative along v                                   linear in v
    vjp(theta, cotangent)         the derivative of sum(cotangent * image) with respect to theta
                                                                                           linear in the cotangent
    hvp(theta, v, cotangent)      the derivative of vjp along v                            linear in v and the cotangent
    second(theta, v, w)           the derivative of jvp along w: is only transposed, since no kernel computes it
"""

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _core

if not hasattr(_core, "jax_targets"):
    raise ImportError("this nanobragg was built without jaxlib, whose headers nanobragg.jax needs; install jaxlib and build it again")

for _name, _capsule in _core.jax_targets().items():
    jax.ffi.register_ffi_target(_name, _capsule, platform="cpu")

_third = "third derivatives of images are not available"
_forward_twice = ("forward mode over forward mode is not available for images: take jax.hessian, jax.jacfwd(jax.jacrev(f)) or "
                  "jax.jacrev(jax.jacrev(f)) in place of jax.jacfwd(jax.jacfwd(f)) and jax.jvp of jax.jvp")


def _primitive(name, pixels, compute=None):
    """A primitive whose result is of pixels, or else as long as theta; leading axes are shots.

    compute: of NumPy arrays, by a Function; None: no kernel does.
    """
    primitive = Primitive(f"nanobragg_{name}")

    @primitive.def_abstract_eval
    def _(theta, *others, function):
        return theta.update(shape=(*theta.shape[:-1], *function.shape) if pixels else theta.shape)

    @primitive.def_impl
    def _(theta, *others, function):
        if compute is None:
            raise NotImplementedError(_forward_twice)
        result = compute(function, *(numpy.asarray(a, numpy.float64) for a in (theta, *others)))
        return jnp.asarray(result, theta.dtype)

    def lower(context, *arguments, function):
        if compute is None:
            raise NotImplementedError(_forward_twice)
        # Compiled code holds the address of the function, which has to live as long.
        context.module_context.add_keepalive(function)
        rule = jax.ffi.ffi_lowering(primitive.name)
        return rule(context, *arguments, function=numpy.int64(function._core.address))

    mlir.register_lowering(primitive, lower, platform="cpu")

    def shots(arguments, axes, *, function):
        size = next(a.shape[axis] for a, axis in zip(arguments, axes) if axis is not None)
        moved = [jnp.broadcast_to(a, (size, *a.shape)) if axis is None else jnp.moveaxis(a, axis, 0) for a, axis in zip(arguments, axes)]
        return primitive.bind(*moved, function=function), 0

    batching.primitive_batchers[primitive] = shots
    return primitive


image = _primitive("image", True, lambda f, theta: f.image(theta))
jvp = _primitive("jvp", True, lambda f, theta, v: f.jvp(theta, v))
vjp = _primitive("vjp", False, lambda f, theta, cotangent: f.vjp(theta, cotangent))
hvp = _primitive("hvp", False, lambda f, theta, v, cotangent: f.hvp(theta, v, cotangent))
second = _primitive("second", True)


def _changes(primitive, *rules):
    """How it changes with each argument: rule(arguments, change, function), of which the sum is
    taken."""

    def rule(arguments, changes, *, function):
        parts = [r(arguments, change, function) for r, change in zip(rules, changes) if type(change) is not ad.Zero]
        value = primitive.bind(*arguments, function=function)
        return value, sum(parts[1:], parts[0]) if parts else ad.Zero.from_primal_value(value)

    ad.primitive_jvps[primitive] = rule


def _refuse(arguments, change, function):
    raise NotImplementedError(_third)


_changes(image, lambda a, change, f: jvp.bind(a[0], change, function=f))
_changes(jvp, lambda a, change, f: second.bind(a[0], a[1], change, function=f),
         lambda a, change, f: jvp.bind(a[0], change, function=f))
_changes(vjp, lambda a, change, f: hvp.bind(a[0], change, a[1], function=f),
         lambda a, change, f: vjp.bind(a[0], change, function=f))
_changes(hvp, _refuse, lambda a, change, f: hvp.bind(a[0], change, a[2], function=f),
         lambda a, change, f: hvp.bind(a[0], a[1], change, function=f))
_changes(second, _refuse, lambda a, change, f: second.bind(a[0], change, a[2], function=f),
         lambda a, change, f: second.bind(a[0], a[1], change, function=f))


def _transposes(primitive, **rules):
    """By the position of the argument that it is linear in and that is not known."""

    def rule(cotangent, *arguments, function):
        (at,) = (i for i, a in enumerate(arguments) if ad.is_undefined_primal(a))
        if type(cotangent) is ad.Zero:
            return [None] * len(arguments)
        result = rules[f"at{at}"](arguments, cotangent, function)
        return [result if i == at else None for i in range(len(arguments))]

    ad.primitive_transposes[primitive] = rule


_transposes(jvp, at1=lambda a, ct, f: vjp.bind(a[0], ct, function=f))
_transposes(vjp, at1=lambda a, ct, f: jvp.bind(a[0], ct, function=f))
_transposes(hvp, at1=lambda a, ct, f: hvp.bind(a[0], ct, a[2], function=f),
            at2=lambda a, ct, f: second.bind(a[0], a[1], ct, function=f))
_transposes(second, at1=lambda a, ct, f: hvp.bind(a[0], a[2], ct, function=f),
            at2=lambda a, ct, f: hvp.bind(a[0], a[1], ct, function=f))
