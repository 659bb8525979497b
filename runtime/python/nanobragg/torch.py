"""Images as PyTorch tensors that can be differentiated twice.

    from nanobragg.torch import image
    t = torch.tensor(71e-10, dtype=torch.float64, requires_grad=True)
    image(sim, cell_a=t).sum().backward()

Numbers are in SI units. The module uses ``torch.library`` custom operators where torch has them (2.4
and later), so that ``torch.compile(fullgraph=True)`` works. With older versions, within torch.func
and with dual numbers, it uses ``torch.autograd.Function``. Tensors on a GPU are copied to the host's
memory and images back.
"""

from collections.abc import Mapping
from typing import Any

import numpy
import torch
import torch.utils.data

from . import _snapshots, frames
from ._torch_functions import Image, array_of, is_transformed
from .reflections import columns_of, table_function, wanted_rows
from .simulator import Simulator

__all__ = ["Frames", "NBImage", "image", "reflections"]

if hasattr(torch.library, "custom_op"):
    from . import _torch_operators as _operators
else:
    _operators = None

def _describe(handle, names):
    return _snapshots.describe(_snapshots.simulator_of(handle), names)


if hasattr(torch, "compiler") and hasattr(torch.compiler, "assume_constant_result"):
    _describe = torch.compiler.assume_constant_result(_describe)


def image(sim: Simulator, **parameters: Any) -> torch.Tensor:
    """The image of a simulator as a tensor, (slow, fast) or (panel, slow, fast), differentiable
    twice.

    parameters: tensors by the names of parameters and groups of numbers, in SI units and in the
    parameter's shape: ``cell_a=t``, ``misset=t3``, ``F=grid``. All other numbers are those of the
    simulator, which does not change. The image is computed in the simulator's precision. Its type
    is the widest among those of the tensors. A tensor that is not floating point raises a
    TypeError, one of a wrong shape a ValueError.
    """
    members, theta, dtype = _numbers_of("image", sim, parameters)
    made = image_of_numbers(sim, members, theta)
    return made if dtype is torch.float64 else made.to(dtype)


def reflections(sim: Simulator, partiality: float = 1e-3, *, miller_index: Any = None, panel: Any = None, angle: Any = None,
                **parameters: Any) -> dict[str, torch.Tensor]:
    """The table of ``Simulator.reflections`` as tensors by column, differentiable once.

    parameters: as in ``image``. Columns are float64, miller_index and panel whole numbers. The
    selection of rows is not differentiated; within torch.func give miller_index.
    """
    members, theta, _ = _numbers_of("reflections", sim, parameters)
    known = None if is_transformed(theta) else array_of(theta)
    function, hkl = table_function(sim, members, wanted_rows(partiality, miller_index, panel, angle), known)
    table = Image.apply(function, theta)
    return {"miller_index": torch.from_numpy(hkl), "panel": table[-1].detach().to(torch.int64),
            **columns_of(table, lambda parts: torch.stack(parts, -1))}


def _numbers_of(function, sim, parameters):
    """Parameters that are not groups, their numbers concatenated in float64, and the type of
    what is made of them."""
    names = tuple(parameters)
    if not names:
        raise ValueError(f"{function}() needs at least one tensor by a parameter's name, as cell_a=t; sim.{function}() takes none")
    if not isinstance(sim, Simulator):
        raise TypeError(f"{function}() needs a nanobragg.Simulator, not {type(sim).__name__}")
    described = _describe(sim._handle, names)
    parts, members, dtype, device = [], [], None, None
    for name, (stands_for, shape) in zip(names, described):
        tensor = parameters[name]
        if not isinstance(tensor, torch.Tensor):
            if tensor is None or isinstance(tensor, str):
                raise TypeError(f"'{name}' is {tensor!r}; it has to be a tensor")
            tensor = torch.as_tensor(tensor, dtype=torch.float64)
        if name == "F" and tensor.is_complex():
            tensor = tensor.abs()
        if not tensor.is_floating_point():
            raise TypeError(f"'{name}' is a tensor of {tensor.dtype}; it has to contain floating-point numbers")
        if tensor.layout is not torch.strided:
            raise TypeError(f"'{name}' is a tensor of layout {tensor.layout}; give it dense, as .to_dense()")
        if tuple(tensor.shape) != shape:
            batch = "; torch.func.vmap renders a batch" if tuple(tensor.shape[1:]) == shape else ""
            raise ValueError(f"'{name}' has shape {shape}, but the tensor has shape {tuple(tensor.shape)}{batch}")
        if device is not None and tensor.device != device:
            raise ValueError(f"'{name}' is on {tensor.device} and '{names[0]}' on {device}; move them to one device")
        device = tensor.device
        dtype = tensor.dtype if dtype is None else torch.promote_types(dtype, tensor.dtype)
        tensor = tensor if tensor.dtype is torch.float64 else tensor.to(torch.float64)
        parts.append(tensor if len(shape) == 1 else tensor.reshape(-1))
        members.extend(stands_for)
    return tuple(members), parts[0] if len(parts) == 1 else torch.cat(parts), dtype


def image_of_numbers(sim, names, theta):
    """The image as a function of a float64 vector: parameters that are not groups, concatenated, in
    SI units."""
    if _operators and not is_transformed(theta):
        return _operators.image(sim, names, theta)
    return Image.apply(_snapshots.snapshot(sim, names)[1], theta)


class Frames(torch.utils.data.IterableDataset):
    """The frames of ``nanobragg.frames.Frames``, with its arguments, as tensors for a DataLoader.

    An item has ``counts`` and ``labels``, int32 in the image's shape, and ``parameters``; with
    batch=n it has n frames, so give the DataLoader batch_size=None. Worker w of n makes items w,
    w + n, ..., so the set of frames does not depend on n. Give a simulator with threads=1 to a
    DataLoader of several workers. device: where counts and labels are; the noise is drawn there.
    The image of a simulator with device="cuda" stays in the GPU's memory, and a copy of it is
    labelled."""

    def __init__(self, sim: Simulator, draw: Any, *, device: Any = None, **options: Any) -> None:
        super().__init__()
        self.frames = frames.Frames(sim, draw, **options)
        self.device = None if device is None else torch.device(device)
        if self.device is not None and self.device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"device is {device!r}, and PyTorch finds no GPU here; leave it out, or use 'cpu'")

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self._tensors(self.frames[number] if self.device is None else self._on_device(number))

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Any:
        worker = torch.utils.data.get_worker_info()
        numbers = self.frames.numbers(worker.id if worker else 0, worker.num_workers if worker else 1)
        if self.device is None:
            return map(self._tensors, self.frames.these(numbers))
        return map(self.__getitem__ if self.frames.batch is None else self._batch_on_device, numbers)

    def _tensors(self, frame: dict[str, Any]) -> dict[str, Any]:
        return {"counts": torch.as_tensor(frame["counts"]), "labels": torch.as_tensor(frame["labels"], device=self.device),
                "parameters": {name: torch.as_tensor(value) for name, value in frame["parameters"].items()}}

    def _on_device(self, number):
        rng, parameters = self.frames.drawn(number)
        light = torch.from_dlpack(self.frames.sim.image(out="device")).to(self.device)
        generator = torch.Generator(self.device).manual_seed(int(rng.integers(2**63)))
        counts = torch.poisson(light + torch.as_tensor(self.frames.background, device=self.device), generator).to(torch.int32)
        labels = self.frames.sim.spots(self.frames.least, light.cpu().numpy()).labels
        return {"counts": counts, "labels": labels, "parameters": parameters}

    def _batch_on_device(self, number):
        return torch.utils.data.default_collate([self[i] for i in self.frames.members(number)])


class NBImage(torch.nn.Module):
    """An image with parameters that can be fitted.

    wrt: names of parameters and groups of numbers, "cell,misset" or a list. bounds: name ->
    (lowest, highest) in SI units, limits of the value; for a group, each limit is one number, or an
    array with a number for each member. scale: name -> the change of the value, in SI units, for a
    change of the nn.Parameter by 1; default: the start value, or 1 where that is 0.

    Each name has an nn.Parameter of the same name, float64 and without a unit. It is 0 at the
    start: value = start + scale * parameter, or with bounds a sigmoid through the start value.
    ``values()`` are in SI units; ``update()`` writes them into the simulator. Call it for the
    image.
    """

    def __init__(self, sim, wrt, bounds=None, scale=None):
        super().__init__()
        from ._arrays import names
        from ._errors import unknown
        self.sim = sim
        self.names = tuple(names(wrt).split(","))
        for what, given in (("bounds", bounds or {}), ("scale", scale or {})):
            if not isinstance(given, Mapping):
                raise TypeError(f"{what} is {given!r}; it has to be a dict from names of parameters, such as {{'cell_a': ...}}")
            for name in given:
                if name not in self.names:
                    raise ValueError(unknown("wrt", name, self.names))
        self._bounded = set(bounds or {})
        for name, (_, shape) in zip(self.names, _describe(sim._handle, self.names)):
            start = torch.as_tensor(numpy.array(sim[name]), dtype=torch.float64)
            self.register_parameter(name, torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)))
            self.register_buffer(f"_start_{name}", start)
            if bounds and name in bounds:
                self._bound(name, start, bounds[name])
            elif scale and name in scale:
                self.register_buffer(f"_scale_{name}", torch.as_tensor(scale[name], dtype=torch.float64).expand(shape).clone())
            else:
                self.register_buffer(f"_scale_{name}", torch.where(start == 0, torch.ones_like(start), start.abs()))

    def _bound(self, name, start, bounds):
        try:
            low, high = bounds
            low, high = (torch.as_tensor(b, dtype=torch.float64).expand(start.shape).clone() for b in (low, high))
        except (RuntimeError, TypeError, ValueError):
            raise ValueError(f"the bounds of '{name}' are two numbers, or two arrays of the shape {tuple(start.shape)}") from None
        if not ((low < start) & (start < high)).all():
            raise ValueError(f"the bounds of '{name}' do not contain its value {self.sim[name]}")
        self.register_buffer(f"_low_{name}", low)
        self.register_buffer(f"_high_{name}", high)

    def values(self):
        """The parameters in SI units, by name, as tensors that can be differentiated."""
        values = {}
        for name in self.names:
            start, own = getattr(self, f"_start_{name}"), getattr(self, name)
            if name in self._bounded:
                low, high = getattr(self, f"_low_{name}"), getattr(self, f"_high_{name}")
                values[name] = low + (high - low) * torch.sigmoid(own + torch.logit((start - low) / (high - low)))
            else:
                values[name] = start + getattr(self, f"_scale_{name}") * own
        return values

    def extra_repr(self):
        return f"{self.sim!r}, {', '.join(self.names)}"

    def forward(self):
        return image(self.sim, **self.values())

    def update(self):
        """Sets the simulator's numbers to these."""
        self.sim.set(**{name: value.detach() for name, value in self.values().items()})
        return self.sim
