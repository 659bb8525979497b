"""The image as custom operators of PyTorch, whose derivatives are operators too: what
torch.compile, torch.export and fake tensors work with. Operators know the simulator by its handle,
and the snapshot that an image was made of by a token."""

import torch
from torch.library import custom_op

from . import _snapshots
from ._torch_functions import THIRD, VJP, array_of, is_transformed, leading, tensor_of


@custom_op("nanobragg::image", mutates_args=(), schema="(str handle, str names, Tensor theta) -> (Tensor, Tensor)")
def image_op(handle, names, theta):
    token, function = _snapshots.snapshot(_snapshots.simulator_of(handle), tuple(names.split(",")))
    return tensor_of(function.image(array_of(theta)), theta), torch.tensor(token, dtype=torch.int64)


@image_op.register_fake
def _(handle, names, theta):
    shape = _snapshots.simulator_of(handle).shape
    return theta.new_empty((*theta.shape[:-1], *shape)), torch.empty((), dtype=torch.int64)


@custom_op("nanobragg::image_vjp", mutates_args=(), schema="(Tensor token, Tensor theta, Tensor cotangent) -> Tensor")
def vjp_op(token, theta, cotangent):
    function = _snapshots.snapshot_of(int(token))
    return tensor_of(function.vjp(array_of(theta), array_of(cotangent)), theta)


@vjp_op.register_fake
def _(token, theta, cotangent):
    return torch.empty_like(theta, memory_format=torch.contiguous_format)


# The shape of the image is that of `like`.
@custom_op("nanobragg::image_jvp", mutates_args=(), schema="(Tensor token, Tensor theta, Tensor v, Tensor like) -> Tensor")
def jvp_op(token, theta, v, like):
    return tensor_of(_snapshots.snapshot_of(int(token)).jvp(array_of(theta), array_of(v)), theta)


@jvp_op.register_fake
def _(token, theta, v, like):
    return torch.empty_like(like, memory_format=torch.contiguous_format)


@custom_op("nanobragg::image_hvp", mutates_args=(),
           schema="(Tensor token, Tensor theta, Tensor v, Tensor cotangent) -> Tensor")
def hvp_op(token, theta, v, cotangent):
    function = _snapshots.snapshot_of(int(token))
    return tensor_of(function.hvp(array_of(theta), array_of(v), array_of(cotangent)), theta)


@hvp_op.register_fake
def _(token, theta, v, cotangent):
    return torch.empty_like(theta, memory_format=torch.contiguous_format)


# Derivatives.

def _keep(ctx, token):
    """Keeps the snapshot alive, where the token is a number and not a tracer's stand-in."""
    ctx.function = _snapshots.find(int(token)) if type(token) is torch.Tensor else None


def _image_context(ctx, inputs, output):
    token = output[1]
    ctx.save_for_backward(token, inputs[2])
    ctx.mark_non_differentiable(token)
    ctx.set_materialize_grads(True)
    _keep(ctx, token)


def _image_backward(ctx, cotangent, _):
    token, theta = ctx.saved_tensors
    return None, None, vjp_op(token, theta, cotangent)


def _context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)
    _keep(ctx, inputs[0])


def _vjp_backward(ctx, v):
    token, theta, cotangent = ctx.saved_tensors
    return (None, hvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
            jvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[2] else None)


def _jvp_backward(ctx, cotangent):
    token, theta, v, _ = ctx.saved_tensors
    return (None, hvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
            vjp_op(token, theta, cotangent) if ctx.needs_input_grad[2] else None, None)


def _hvp_backward(ctx, _):
    raise NotImplementedError(THIRD)


def _image_shots(info, in_dims, handle, names, theta):
    return image_op(handle, names, *leading(info.batch_size, in_dims[2:], [theta])), (0, None)


def _shots(op):
    def mapped(info, in_dims, token, *tensors):
        token = token if in_dims[0] is None else token.select(in_dims[0], 0)  # all shots are of one snapshot
        return op(token, *leading(info.batch_size, in_dims[1:], tensors)), 0
    return mapped


image_op.register_autograd(_image_backward, setup_context=_image_context)
vjp_op.register_autograd(_vjp_backward, setup_context=_context)
jvp_op.register_autograd(_jvp_backward, setup_context=_context)
hvp_op.register_autograd(_hvp_backward, setup_context=lambda ctx, inputs, output: None)
if hasattr(image_op, "register_vmap"):
    image_op.register_vmap(_image_shots)
    for _op in (vjp_op, jvp_op, hvp_op):
        _op.register_vmap(_shots(_op))


class _PlainImage(torch.autograd.Function):
    """The operator without tracer, batch or compiler, in half the time."""

    @staticmethod
    def forward(ctx, token, function, theta):
        ctx.token, ctx.function = token, function
        ctx.save_for_backward(theta)
        ctx.set_materialize_grads(False)
        return tensor_of(function.image(array_of(theta)), theta)

    @staticmethod
    def backward(ctx, cotangent):
        if cotangent is None:
            return None, None, None
        theta, = ctx.saved_tensors
        if is_transformed(cotangent):
            return None, None, VJP.apply(ctx.function, theta, cotangent)
        if not torch.is_grad_enabled() and _is_plain(cotangent):
            return None, None, tensor_of(ctx.function.vjp(array_of(theta), array_of(cotangent)), theta)
        return None, None, vjp_op(torch.tensor(ctx.token), theta, cotangent)


def _is_plain(tensor):
    """Are these numbers, that no tracer and no batch looks at?"""
    return (not torch.compiler.is_compiling() and type(tensor) in (torch.Tensor, torch.nn.Parameter) and not tensor.is_meta
            and not torch._C._len_torch_dispatch_stack() and not torch._C._functorch.is_legacy_batchedtensor(tensor))


def image(simulator, names, theta):
    """The image of a simulator as it is now."""
    if _is_plain(theta):
        return _PlainImage.apply(*_snapshots.snapshot(simulator, names), theta)
    return image_op(simulator._handle, ",".join(names), theta)[0]
