"""Images as PyTorch tensors that can be differentiated twice.

    from nanobragg.torch import image
    t = torch.tensor(71e-10, dtype=torch.float64, requires_grad=True)
    image(sim, cell_a=t).sum().backward()

Numbers are in SI units. Through ``torch.library`` custom operators where torch has them (2.4 and later), so that
``torch.compile(fullgraph=True)`` works, else through ``torch.autograd.Function``. Tensors on a GPU are copied to this
machine's memory and images back.
"""

import numpy
import torch

from . import _snapshots

__all__ = ["NBImage", "image"]

_third = "third derivatives of images are not available"


def _array(tensor):
    return numpy.ascontiguousarray(tensor.detach().to("cpu", torch.float64).numpy())


def _tensor(array, like):
    return torch.from_numpy(array).to(like.device)


# What each operator computes. `names` has commas between.

def _image(handle, names, theta):
    token, function = _snapshots.snapshot(_snapshots.simulator_of(handle), tuple(names.split(",")))
    return _tensor(function.image(_array(theta)), theta), torch.tensor(token, dtype=torch.int64)


def _vjp(token, theta, cotangent):
    function = _snapshots.snapshot_of(int(token))
    return _tensor(function.vjp(_array(theta), _array(cotangent)), theta)


def _jvp(token, theta, v):
    return _tensor(_snapshots.snapshot_of(int(token)).jvp(_array(theta), _array(v)), theta)


def _hvp(token, theta, v, cotangent):
    return _tensor(_snapshots.snapshot_of(int(token)).hvp(_array(theta), _array(v), _array(cotangent)), theta)


def _define_operators():
    """image as custom operators; their derivatives are operators too."""
    from torch.library import custom_op

    @custom_op("nanobragg::image", mutates_args=(), schema="(str handle, str names, Tensor theta) -> (Tensor, Tensor)")
    def image_op(handle, names, theta):
        return _image(handle, names, theta)

    @image_op.register_fake
    def _(handle, names, theta):
        shape = _snapshots.simulator_of(handle).shape
        return theta.new_empty(shape), torch.empty((), dtype=torch.int64)

    @custom_op("nanobragg::image_vjp", mutates_args=(), schema="(Tensor token, Tensor theta, Tensor cotangent) -> Tensor")
    def vjp_op(token, theta, cotangent):
        return _vjp(token, theta, cotangent)

    @vjp_op.register_fake
    def _(token, theta, cotangent):
        return torch.empty_like(theta, memory_format=torch.contiguous_format)

    # The shape of the image is that of `like`.
    @custom_op("nanobragg::image_jvp", mutates_args=(), schema="(Tensor token, Tensor theta, Tensor v, Tensor like) -> Tensor")
    def jvp_op(token, theta, v, like):
        return _jvp(token, theta, v)

    @jvp_op.register_fake
    def _(token, theta, v, like):
        return torch.empty_like(like, memory_format=torch.contiguous_format)

    @custom_op("nanobragg::image_hvp", mutates_args=(),
               schema="(Tensor token, Tensor theta, Tensor v, Tensor cotangent) -> Tensor")
    def hvp_op(token, theta, v, cotangent):
        return _hvp(token, theta, v, cotangent)

    @hvp_op.register_fake
    def _(token, theta, v, cotangent):
        return torch.empty_like(theta, memory_format=torch.contiguous_format)

    def image_context(ctx, inputs, output):
        token = output[1]
        ctx.save_for_backward(token, inputs[2])
        ctx.mark_non_differentiable(token)
        ctx.set_materialize_grads(True)
        ctx.function = _keep(token)

    def image_backward(ctx, cotangent, _):
        token, theta = ctx.saved_tensors
        return None, None, vjp_op(token, theta, cotangent)

    def vjp_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.function = _keep(inputs[0])

    def vjp_backward(ctx, v):
        token, theta, cotangent = ctx.saved_tensors
        return (None, hvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                jvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[2] else None)

    def jvp_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.function = _keep(inputs[0])

    def jvp_backward(ctx, cotangent):
        token, theta, v, _ = ctx.saved_tensors
        return (None, hvp_op(token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                vjp_op(token, theta, cotangent) if ctx.needs_input_grad[2] else None, None)

    def hvp_backward(ctx, _):
        raise NotImplementedError(_third)

    image_op.register_autograd(image_backward, setup_context=image_context)
    vjp_op.register_autograd(vjp_backward, setup_context=vjp_context)
    jvp_op.register_autograd(jvp_backward, setup_context=jvp_context)
    hvp_op.register_autograd(hvp_backward, setup_context=lambda ctx, inputs, output: None)

    for op in (image_op, vjp_op, jvp_op, hvp_op):
        if hasattr(op, "register_vmap"):
            op.register_vmap(_one_after_another(op))
    return lambda handle, names, theta: image_op(handle, names, theta)[0]


def _keep(token):
    """The snapshot itself, to keep it alive, where the token is a number and not a tracer's stand-in."""
    return _snapshots._snapshots.get(int(token)) if type(token) is torch.Tensor else None


def _one_after_another(op):
    def mapped(info, in_dims, *args):
        def at(i):
            return op(*(a if d is None else a.select(d, i) for a, d in zip(args, in_dims)))
        results = [at(i) for i in range(info.batch_size)]
        if isinstance(results[0], tuple):
            return tuple(torch.stack(r) for r in zip(*results)), tuple(0 for _ in results[0])
        return torch.stack(results), 0
    return mapped


def _define_functions():
    """The same for a torch that has no custom operators."""

    class Image(torch.autograd.Function):
        @staticmethod
        def forward(ctx, handle, names, theta):
            result, token = _image(handle, names, theta)
            ctx.token, ctx.function = int(token), _keep(token)
            ctx.save_for_backward(theta)
            return result

        @staticmethod
        def backward(ctx, cotangent):
            return None, None, VJP.apply(ctx.token, ctx.saved_tensors[0], cotangent)

    class VJP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, theta, cotangent):
            ctx.token, ctx.function = token, _keep(token)
            ctx.save_for_backward(theta, cotangent)
            return _vjp(token, theta, cotangent)

        @staticmethod
        def backward(ctx, v):
            theta, cotangent = ctx.saved_tensors
            return (None, HVP.apply(ctx.token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                    JVP.apply(ctx.token, theta, v) if ctx.needs_input_grad[2] else None)

    class JVP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, theta, v):
            ctx.token, ctx.function = token, _keep(token)
            ctx.save_for_backward(theta, v)
            return _jvp(token, theta, v)

        @staticmethod
        def backward(ctx, cotangent):
            theta, v = ctx.saved_tensors
            return (None, HVP.apply(ctx.token, theta, v, cotangent) if ctx.needs_input_grad[1] else None,
                    VJP.apply(ctx.token, theta, cotangent) if ctx.needs_input_grad[2] else None)

    class HVP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, theta, v, cotangent):
            return _hvp(token, theta, v, cotangent)

        @staticmethod
        def backward(ctx, _):
            raise NotImplementedError(_third)

    return Image.apply


_apply = _define_operators() if hasattr(torch.library, "custom_op") else _define_functions()


def _describe(handle, names):
    return _snapshots.describe(_snapshots.simulator_of(handle), names)


if hasattr(torch, "compiler") and hasattr(torch.compiler, "assume_constant_result"):
    _describe = torch.compiler.assume_constant_result(_describe)


def image(sim, **parameters):
    """The image of a simulator as a tensor, (slow, fast) or (panel, slow, fast), differentiable twice.

    parameters: tensors by the names of parameters and groups of numbers, in SI units and in the parameter's shape:
    ``cell_a=t``, ``misset=t3``, ``F=grid``. All other numbers are those of the simulator, which does not change.
    The image is float64, or where all tensors are of less precision in the widest of theirs; it is computed in the
    simulator's. A tensor that is not floating point, or of a wrong shape, is a TypeError or ValueError that names it.
    """
    names = tuple(parameters)
    if not names:
        raise ValueError("image() wants at least one tensor by a parameter's name, as cell_a=t; sim.image() takes none")
    described = _describe(sim._handle, names)
    parts, members, dtype, device = [], [], None, None
    for name, (stands_for, shape) in zip(names, described):
        tensor = parameters[name]
        if not isinstance(tensor, torch.Tensor):
            tensor = torch.as_tensor(tensor, dtype=torch.float64)
        if not tensor.is_floating_point():
            raise TypeError(f"'{name}' is a tensor of {tensor.dtype}; it has to be one of floating-point numbers")
        if tuple(tensor.shape) != shape:
            raise ValueError(f"'{name}' has the shape {shape} and is given a tensor of the shape {tuple(tensor.shape)}")
        if device is not None and tensor.device != device:
            raise ValueError(f"'{name}' is on {tensor.device} and '{names[0]}' on {device}; move them to one device")
        device = tensor.device
        dtype = tensor.dtype if dtype is None else torch.promote_types(dtype, tensor.dtype)
        parts.append(tensor.to(torch.float64).reshape(-1))
        members.extend(stands_for)
    result = _apply(sim._handle, ",".join(members), parts[0] if len(parts) == 1 else torch.cat(parts))
    return result.to(dtype)


class NBImage(torch.nn.Module):
    """An image with parameters that can be fitted.

    wrt: names of parameters and groups of numbers, "cell,misset" or a list.
    bounds: name -> (lowest, highest) in SI units; the value stays between them.
    scale: name -> how much of a parameter one unit of ours is, in SI units; without it the start value, or 1 where
    that is 0.

    Each name has an nn.Parameter of the same name, float64 and without a unit, which begins with 0 where the
    simulator's value is: value = start + scale * parameter, or between bounds a sigmoid through the start value.
    ``values()`` are in SI units; ``update()`` writes them into the simulator. Call it for the image.
    """

    def __init__(self, sim, wrt, bounds=None, scale=None):
        super().__init__()
        from ._arrays import names
        from ._errors import unknown
        self.sim = sim
        self.names = tuple(names(wrt).split(","))
        for given in (bounds or {}, scale or {}):
            for name in given:
                if name not in self.names:
                    raise ValueError(unknown("wrt", name, self.names))
        self._bounds = {}
        for name, (_, shape) in zip(self.names, _describe(sim._handle, self.names)):
            start = torch.as_tensor(numpy.array(sim[name]), dtype=torch.float64)
            self.register_parameter(name, torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)))
            self.register_buffer(f"_start_{name}", start)
            if bounds and name in bounds:
                low, high = (torch.as_tensor(b, dtype=torch.float64) for b in bounds[name])
                if not ((low < start) & (start < high)).all():
                    raise ValueError(f"the bounds of '{name}' do not have its value {sim[name]} between them")
                self._bounds[name] = float(low), float(high)
            elif scale and name in scale:
                self.register_buffer(f"_scale_{name}", torch.as_tensor(scale[name], dtype=torch.float64).expand(shape))
            else:
                self.register_buffer(f"_scale_{name}", torch.where(start == 0, torch.ones_like(start), start.abs()))

    def values(self):
        """The parameters in SI units, by name, as tensors that can be differentiated."""
        values = {}
        for name in self.names:
            start, own = getattr(self, f"_start_{name}"), getattr(self, name)
            if name in self._bounds:
                low, high = self._bounds[name]
                values[name] = low + (high - low) * torch.sigmoid(own + torch.logit((start - low) / (high - low)))
            else:
                values[name] = start + getattr(self, f"_scale_{name}") * own
        return values

    def forward(self):
        return image(self.sim, **self.values())

    def update(self):
        """Sets the simulator's numbers to these."""
        self.sim.set(**{name: value.detach() for name, value in self.values().items()})
        return self.sim
