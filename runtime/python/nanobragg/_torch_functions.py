"""The image of a Function as functions of autograd: what torch.func and forward mode work with, and a torch without custom
operators.

    Image(theta)                  the image
    JVP(theta, v)                 its derivative along v
    VJP(theta, cotangent)         the derivative of sum(cotangent * image) with respect to theta
    HVP(theta, v, cotangent)      the derivative of VJP along v

theta, v and cotangents have leading axes, the same ones, where there are several shots.
"""

import numpy
import torch

THIRD = "third derivatives of images are not available"
_FORWARD_TWICE = ("forward mode over forward mode is not available for images: take torch.func.hessian, jacfwd(jacrev(f)) or "
                  "jacrev(jacrev(f)) in place of jacfwd(jacfwd(f)) and jvp of jvp")


def is_transformed(tensor):
    """Does torch.func or forward mode look on? They do not see through custom operators."""
    if _is_compiling():
        return False
    return bool(_interpreters()) or torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None


# An old torch lacks these functions, and the features behind them.
_interpreters = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", lambda: None)
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def array_of(tensor):
    if tensor.dtype is not torch.float64 or tensor.device.type != "cpu":
        tensor = tensor.to("cpu", torch.float64)
    return numpy.ascontiguousarray(tensor.detach().numpy())


def tensor_of(array, like):
    return torch.from_numpy(array).to(like.device)


def leading(size, axes, tensors):
    """The tensors with the axis of shots in front; those that all shots share are expanded."""
    return [t.expand(size, *t.shape) if axis is None else t.movedim(axis, 0) for t, axis in zip(tensors, axes)]


def _function(cls):
    """Completes a class with ``compute(function, *tensors)`` to a function of autograd."""

    def forward(function, *tensors):
        return tensor_of(cls.compute(function, *map(array_of, tensors)), tensors[0])

    def setup_context(ctx, inputs, output):
        ctx.function = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])
        ctx.set_materialize_grads(False)

    def forward_with_context(ctx, *inputs):
        setup_context(ctx, inputs, None)
        return forward(*inputs)

    def shots(info, axes, function, *tensors):
        return cls.apply(function, *leading(info.batch_size, axes[1:], tensors)), 0

    if hasattr(torch, "func"):
        cls.forward, cls.setup_context = staticmethod(forward), staticmethod(setup_context)
        cls.vmap = staticmethod(shots)
    else:
        cls.forward = staticmethod(forward_with_context)
    return cls


def _sum(*parts):
    parts = [p for p in parts if p is not None]
    return sum(parts[1:], parts[0]) if parts else None


@_function
class Image(torch.autograd.Function):
    @staticmethod
    def compute(function, theta):
        return function.image(theta)

    @staticmethod
    def backward(ctx, cotangent):
        return None, None if cotangent is None else VJP.apply(ctx.function, *ctx.saved_tensors, cotangent)

    @staticmethod
    def jvp(ctx, _, v):
        return JVP.apply(ctx.function, *ctx.saved_tensors, v)


@_function
class VJP(torch.autograd.Function):
    @staticmethod
    def compute(function, theta, cotangent):
        return function.vjp(theta, cotangent)

    @staticmethod
    def backward(ctx, v):
        if v is None:
            return None, None, None
        theta, cotangent = ctx.saved_tensors
        return (None, HVP.apply(ctx.function, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                JVP.apply(ctx.function, theta, v) if ctx.needs_input_grad[2] else None)

    @staticmethod
    def jvp(ctx, _, v, change):
        theta, cotangent = ctx.saved_tensors
        return _sum(None if v is None else HVP.apply(ctx.function, theta, v, cotangent),
                    None if change is None else VJP.apply(ctx.function, theta, change))


@_function
class JVP(torch.autograd.Function):
    @staticmethod
    def compute(function, theta, v):
        return function.jvp(theta, v)

    @staticmethod
    def backward(ctx, cotangent):
        if cotangent is None:
            return None, None, None
        theta, v = ctx.saved_tensors
        return (None, HVP.apply(ctx.function, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                VJP.apply(ctx.function, theta, cotangent) if ctx.needs_input_grad[2] else None)

    @staticmethod
    def jvp(ctx, _, w, change):
        if w is not None:
            raise NotImplementedError(_FORWARD_TWICE)
        return JVP.apply(ctx.function, ctx.saved_tensors[0], change)


@_function
class HVP(torch.autograd.Function):
    @staticmethod
    def compute(function, theta, v, cotangent):
        return function.hvp(theta, v, cotangent)

    @staticmethod
    def backward(ctx, _):
        raise NotImplementedError(THIRD)

    @staticmethod
    def jvp(ctx, _, w, dv, change):
        if w is not None:
            raise NotImplementedError(THIRD)
        theta, v, cotangent = ctx.saved_tensors
        return _sum(None if dv is None else HVP.apply(ctx.function, theta, dv, cotangent),
                    None if change is None else HVP.apply(ctx.function, theta, v, change))
