"""The simulator: images and their derivatives."""

import bz2
import collections.abc
import gzip
import itertools
import operator
import os
import warnings
import zlib

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _core, _snapshots
from ._arrays import doubles, names, pixel_rows
from ._batches import batch
from ._on_device import Handed, is_on_device, ordered
from ._arrays import words as words_of
from ._errors import FileError, UnknownName, Warning, unknown
from .factors import box
from .experiment import Beam, Crystal, Detector, Expt, Goniometer, _Part
from .reflections import Reflections, wanted_rows


if TYPE_CHECKING:
    from .function import Function
    from .labels import Spots

Flags = str | Iterable[object]
Names = str | Iterable[str]
_handles = itertools.count(1)
_ORDER = (Expt, Crystal, Beam, Detector, Goniometer)
_SETTINGS = ("threads", "precision", "device", "engine", "pixels", "cull", "specialize", "fallback", "kernel_file", "pipeline",
             "plugins", "patterns")


class Loss:
    """A loss: a number computed from an image as a sum over pixels; see ``Simulator.gradient``.

    Pixels outside of the region of interest, or masked, contribute nothing.
    """

    def __init__(self, core, arrays=()):
        self._core, self._arrays = core, arrays

    @staticmethod
    def sum() -> "Loss":
        """The sum of all photons."""
        return Loss(_core.Loss.sum())

    @staticmethod
    def linear(weights: ArrayLike) -> "Loss":
        """``sum(weights * image)``; weights in the image's shape."""
        array = doubles(weights, "weights")
        return Loss(_core.Loss.linear(array), (("weights", array.shape),))

    @staticmethod
    def chi_square(data: ArrayLike, sigma: ArrayLike = 1.0, mask: ArrayLike = None) -> "Loss":
        """``sum(((image - data) / sigma)**2)``.

        data: in the image's shape; non-finite pixels are ignored. sigma: one number, or in the
        image's shape; pixels where it is not positive and finite are ignored. mask: in the image's
        shape; pixels of 0 or False are ignored.
        """
        data, sigma = doubles(data, "data"), doubles(sigma, "sigma")
        arrays = [("data", data.shape)]
        if sigma.shape not in ((), (1,)):
            arrays.append(("sigma", sigma.shape))
        elif not (numpy.isfinite(sigma) & (sigma > 0)).all():
            raise ValueError(f"sigma is {sigma.item()}; it has to be greater than 0")
        return Loss(_core.Loss._chi_square(data, sigma.reshape(-1), Loss._mask(mask, arrays)), tuple(arrays))

    @staticmethod
    def poisson(data: ArrayLike, background: ArrayLike = 0.0, mask: ArrayLike = None, gain: ArrayLike = 1.0) -> "Loss":
        """The negative log-likelihood of counted photons: ``sum(m - n * log(m) + log(n!))``.

        n = data / gain are the counts and m = (image + background) / gain the expected ones.
        Infinite where counts are observed and none expected; give a background. data: in the
        image's shape; non-finite and negative pixels are ignored. background, gain: one number, or
        in the image's shape. The unit of gain is ADU per photon; leave it out if images are in
        photons. mask: in the image's shape; pixels of 0 or False are ignored.
        """
        return Loss._likelihood(False, data, background, 0.0, mask, gain)

    @staticmethod
    def gaussian(data: ArrayLike, readout_noise: float = 0.0, background: ArrayLike = 0.0, mask: ArrayLike = None,
                 gain: ArrayLike = 1.0) -> "Loss":
        """The negative log-likelihood of photons with read-out noise: ``sum(log(2 pi V) + (n -
        m)**2 / V) / 2``, V = m + R**2.

        R = readout_noise / gain, a standard deviation in units of the image; all else as in
        ``poisson``.
        """
        return Loss._likelihood(True, data, background, readout_noise, mask, gain)

    @staticmethod
    def _likelihood(gaussian, data, background, readout_noise, mask, gain):
        data = doubles(data, "data")
        arrays = [("data", data.shape)]
        of_pixels = []
        for name, value in (("background", background), ("gain", gain)):
            value = doubles(value, name)
            if value.shape not in ((), (1,)):
                arrays.append((name, value.shape))
            elif not numpy.isfinite(value).all() or (name == "gain" and not (value > 0).all()):
                raise ValueError(f"the {name} of the loss is {value.item()}; it has to be {'greater than 0' if name == 'gain' else 'finite'}")
            of_pixels.append(value.reshape(-1))
        core = _core.Loss._likelihood(gaussian, data, of_pixels[0], float(readout_noise), of_pixels[1],
                                      Loss._mask(mask, arrays))
        return Loss(core, tuple(arrays))

    @staticmethod
    def _mask(mask, arrays):
        if mask is None:
            return None
        mask = numpy.ascontiguousarray(doubles(mask, "mask") != 0, dtype=numpy.uint8)
        arrays.append(("mask", mask.shape))
        return mask

    def _for(self, shape):
        for what, given in self._arrays:
            if given != shape:
                raise ValueError(f"{what} of the loss has shape {given}, but the image has {shape}")
        return self._core


class Gradient(dict[str, Any]):
    """Derivatives by name, numbers or arrays in the parameters' shapes. ``.loss`` is the value of
    the loss, if there is one; ``.of_loss`` contains its derivatives with respect to "background"
    and "readout_noise", if it has these."""

    loss: float = None
    of_loss: dict[str, Any] = None


class Parameter:
    """A row of ``Simulator.parameters``."""

    __slots__ = ("name", "value", "unit", "meaning", "differentiable", "shape", "groups")

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)

    def __repr__(self):
        return f"Parameter({self.name} = {_brief(self.value)} {self.unit}, {self.meaning})"


def _brief(value):
    if isinstance(value, numpy.ndarray):
        return f"array{value.shape}"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


class ParameterTable(collections.abc.Mapping):
    """A mapping from names to Parameters with their current values; ``groups`` maps names of groups
    to (meaning, members)."""

    def __init__(self, rows, groups):
        self._rows = {row.name: row for row in rows}
        self.groups = groups

    def __getitem__(self, name):
        return self._rows[name]

    def __iter__(self):
        return iter(self._rows)

    def __len__(self):
        return len(self._rows)

    def _lines(self):
        return [(r.name, _brief(r.value), r.unit, "yes" if r.differentiable else "no", r.meaning)
                for r in self._rows.values()]

    def __repr__(self):
        lines = [("name", "value", "unit", "differentiable", "meaning"), *self._lines()]
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        return "\n".join("  ".join(word.ljust(w) for word, w in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self):
        import html
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(w)}</td>" for w in line) + "</tr>" for line in self._lines())
        head = "".join(f"<th>{w}</th>" for w in ("name", "value", "unit", "differentiable", "meaning"))
        return f"<table><tr>{head}</tr>{cells}</table>"


class Simulator:
    """An experiment, whose parameters can change, and its images and derivatives.

    ``Simulator(Crystal(...), Beam(...), Detector(...), Goniometer(...))`` in any order, optionally
    with ``Expt(file="refined.expt")``, which they override, or ``Simulator.from_flags("-cell 70 80
    90 90 90 90 -hkl f.hkl ...")``. All numbers are in SI units (m, rad, 1/m, photons/m^2,
    electrons). An image is float64 photons per pixel, (slow, fast), or (panel, slow, fast) if the
    detector has panels. Changing numbers compiles nothing. Several threads may use one simulator;
    they wait for each other.

    ``threads``
        Number of threads; 0 or None: one per core.
    ``precision``
        "f64", "mixed" or "f32": that of the kernel's arithmetic.
    ``device``
        "auto", "cpu", "cuda", "cuda:1", "hip", "opencl", "all" or another word of nb-sim's
        --device.
    ``pixels``
        Compute only these, as with --pixels=FILE: an integer array (pixels, 3) of panel, slow,
        fast, or (pixels, 2) of slow, fast. An image then has the shape (pixels,).
    ``engine``
        "fused" (compiled kernels) or "interpreter"; None: compiled, unless
        NANOBRAGG_DISABLE_COMPILE is set.
    ``cull``
        Samples to skip, as nb-sim's --cull: "off", "exact" or a tolerance such as 1e-9.
    ``specialize``
        False: one kernel for all numbers of cells.
    ``fallback``
        True: use the interpreter if no kernel can be compiled.
    ``kernel_file``, ``pipeline``, ``plugins``, ``patterns``
        Your own kernel or passes (nanobragg.compiler).
    ``compat``
        "right", or "c" to reproduce the C program, as nb-sim's -compat. "simtbx" gives all layers
        of a sensor the solid angle of a plane at its face.
    ``flags``
        More options of nb-sim, a string or a list, which override the parts.

    Errors: FlagError (a ValueError) for options, FileError (an OSError) for files, UnknownName (a
    ValueError and a LookupError) for parameters, ValueError for numbers and shapes, RuntimeError
    for failures of compilation or of a run.
    """

    def __init__(self, *parts: _Part, flags: Flags = (), compat: str = "right", **settings: Any) -> None:
        seen = set()
        for part in parts:
            if not isinstance(part, _Part):
                raise TypeError("a simulator is made of Crystal, Beam, Detector, Goniometer and Expt, or by "
                                f"Simulator.from_flags, not of {type(part).__name__}")
            if type(part) in seen:
                raise TypeError(f"there are two of {type(part).__name__}")
            seen.add(type(part))
        request = _core.Request(averages_by_default=True, compat=compat)
        for part in sorted(parts, key=lambda p: _ORDER.index(type(p))):
            part.give(request)
        self._make(request, words_of(flags) or None, settings)

    @classmethod
    def from_flags(cls, flags: Flags, *, average_by_default: bool = False, **settings: Any) -> "Simulator":
        """The simulator that nb-sim would run with these flags: a string, or a list of words.

        average_by_default: a Gaussian crystal is averaged in closed form, as in series, unless a
        flag sets a number of samples. settings: as in the constructor.
        """
        self = cls.__new__(cls)
        self._make(_core.Request(averages_by_default=average_by_default), words_of(flags), settings)
        return self

    def __init_core(self, core):
        self._core, self._told, self._functions = core, False, {}
        self._handle = str(next(_handles))
        _snapshots.handle_of(self)

    def _make(self, request, words, settings):
        if settings.get("pixels") is not None:
            settings["pixels"] = pixel_rows(settings["pixels"])
        threads = settings.get("threads")
        if threads is not None and not isinstance(threads, (int, numpy.integer)):
            raise TypeError(f"threads={threads!r} is not a whole number; 0 means as many as the machine offers")
        if threads is not None and abs(int(threads)) >= 2**31:
            raise ValueError(f"threads={threads} are too many; 0 means as many as the machine offers")
        for name in settings:
            if name not in _SETTINGS:
                raise TypeError(unknown("Simulator", name, _SETTINGS))
        for name in ("precision", "device", "engine"):
            if not isinstance(settings.get(name), (str, type(None))):
                raise TypeError(f"{name}={settings[name]!r} is not a string")
        core, said = _core.create(request, words, settings)
        self.__init_core(core)
        for text in said:
            warnings.warn(text, Warning, stacklevel=3)

    @classmethod
    def _of(cls, core):
        self = cls.__new__(cls)
        self.__init_core(core)
        return self

    # Numbers.

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an image."""
        return self._core.shape

    @property
    def parameters(self) -> "ParameterTable":
        """All parameters: name, value, unit, meaning, differentiable, shape, groups."""
        rows = []
        for name, unit, meaning, differentiable, shape, groups in self._core.table():
            value = None if name == "F" else self._core.get(name)
            if value is None:
                value = self.structure_factors[0]
            rows.append(Parameter(name, value, unit, meaning, differentiable, shape, groups.split()))
        return ParameterTable(rows, self._core.groups())

    def __getitem__(self, name: str) -> Any:
        """A parameter's value in SI units: a number, or an array in its shape; for a group of
        numbers, an array."""
        return self._core.get(self._name(name))

    def __contains__(self, name: object) -> bool:
        """Whether the experiment has a parameter or a group of numbers of this name."""
        try:
            self._core.members(self._name(name))
        except UnknownName:
            return False
        return True

    __iter__ = None  # sim.parameters can be iterated

    def __getattr__(self, name):
        if not name.startswith("_") and name in self:
            raise AttributeError(f"'{name}' is a parameter; read it with sim['{name}']")
        raise AttributeError(f"a Simulator has no attribute '{name}'")

    def __setattr__(self, name, value):
        if not name.startswith("_") and name != "structure_factors" and name in self:
            raise AttributeError(f"'{name}' is a parameter; set it with sim['{name}'] = ...")
        object.__setattr__(self, name, value)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._set({self._name(name): value})

    def set(self, **values: ArrayLike) -> None:
        """Sets parameters, and groups of numbers, in SI units: ``sim.set(cell_a=7e-9, misset=(0, 0,
        0.01))``.

        If one of them is refused, none is set.
        """
        self._set(values)

    def _set(self, values):
        for doubt in self._core.set({name: doubles(value, f"'{name}'") for name, value in values.items()}):
            warnings.warn(doubt, Warning, stacklevel=3)

    @staticmethod
    def _name(name):
        if not isinstance(name, str):
            raise TypeError(f"a parameter is named by a string, not by {name!r}")
        return name

    @property
    def structure_factors(self) -> Any:
        """(array[h, k, l] in electrons, (hmin, kmin, lmin)), a copy; None if there is only
        default_F.

        Set it to another such pair, on any box, or to anything that ``nanobragg.factors.box``
        accepts; nothing is recompiled.
        """
        return self._core.structure_factors()

    @structure_factors.setter
    def structure_factors(self, value: Any) -> None:
        self._core.set_structure_factors(*box(value))

    # Images.

    def image(self, dtype: Any = "float64", out: Any = None, progress: Any = False, F: Any = None) -> Any:
        """Photons per pixel (times the gain, where there is one) in a new array, or in ``out``.

        out: an array; or "device": an image rendered by a GPU stays in its memory and is returned
        as a DeviceArray, which from_dlpack of PyTorch, JAX and CuPy accept without a copy. An image
        that the host renders or finishes is a NumPy array. progress: True shows a bar (with tqdm if
        installed); a function is called with the finished fraction. F: with out="device", structure
        factors of this image alone, float64 in the memory of the same GPU (anything with DLPack's
        methods), in the box of ``structure_factors``; they are read in place."""
        if progress is True:
            from ._progress import bar
            with bar() as show:
                result = self._image(numpy.dtype(dtype).name, out, show, F)
        else:
            result = self._image(numpy.dtype(dtype).name, out, progress or None, F)
        if not self._told:
            self._tell()
        return result

    def _image(self, dtype, out, progress, F):
        if not isinstance(out, str):
            if F is not None:
                raise ValueError('F= needs out="device"; else set structure_factors')
            if hasattr(out, "__dlpack__") and not hasattr(out, "__array__"):
                self._core.image(dtype, Handed(out), progress)
                return out
            return self._core.image(dtype, out, progress)
        if out != "device" or dtype not in ("float64", "float32"):
            raise ValueError('out= needs an array, or "device" with dtype float64 or float32')
        made = self._core.image_on_device(dtype == "float64", progress, ordered(F, "F"))
        if made is None and F is not None:
            raise ValueError("F is given in the memory of a GPU, and this image is made by the host; set structure_factors")
        return self._core.image(dtype, None, progress) if made is None else made

    def images(self, parameters: Mapping[str, ArrayLike]) -> NDArray[numpy.float64]:
        """The images of many experiments that differ only in numbers, (shots, ...), in one call.

        parameters: an array (shots, ...) for each name of a parameter or group, as in
        ``sim.images({"cell_a": array, "misset": angles})``; ... is the parameter's shape. Small
        images are computed in several threads. The simulator does not change.
        """
        function, thetas = batch(self, parameters)
        return function.image(thetas)

    def _tell(self):
        self._told = True
        for reason in (*self._core.fallback_reasons(), *_core.take_notices()):
            if reason:
                warnings.warn(reason, Warning, stacklevel=3)

    @property
    def rendered(self) -> NDArray[numpy.bool_]:
        """True for the pixels that are rendered: in the region of interest and not masked."""
        return self._core.rendered().astype(bool)

    def trace(self, *pixel: int) -> dict[str, Any]:
        """The named values of a pixel, a dict in the order of computation.

        ``trace(panel, slow, fast)`` or, if there is one panel, ``trace(slow, fast)``.
        """
        if len(pixel) == 2:
            pixel = (0, *pixel)
        if len(pixel) != 3:
            raise TypeError("trace needs panel, slow and fast")
        values: dict[str, Any] = {}
        for line in self._core.trace(*(operator.index(i) for i in pixel)).splitlines():
            words = line.split()
            if len(words) < 3 or words[0] != "TRACE":
                continue
            try:
                numbers = [float(w) for w in words[2:]]
            except ValueError:
                values[words[1]] = " ".join(words[2:])
                continue
            values[words[1]] = numbers[0] if len(numbers) == 1 else numpy.array(numbers)
        return values

    # Derivatives.

    def loss(self, loss: Loss) -> float:
        """The loss of the image."""
        if not isinstance(loss, Loss):
            raise TypeError(f"a loss is a nanobragg.Loss, such as Loss.chi_square(data, sigma), not {type(loss).__name__}")
        return self._core.loss(loss._for(self.shape))

    def _image_array(self, value, what):
        array = doubles(value, what)
        if array.shape != self.shape:
            raise ValueError(f"{what} has shape {array.shape}, but the image has {self.shape}")
        return array

    def _one_of(self, cotangent, loss):
        if cotangent is not None and loss is not None:
            raise TypeError("give a cotangent or a loss, not both")
        if loss is not None and not isinstance(loss, Loss):
            raise TypeError("loss= needs a nanobragg.Loss, such as Loss.chi_square(data, sigma); the derivative of your "
                            "own loss with respect to each pixel is a cotangent=")

    def gradient(self, wrt: Names, cotangent: Any = None, loss: Loss = None, F: Any = None) -> Gradient:
        """The derivative of a loss with respect to parameters: a dict from names to numbers or
        arrays in the parameters' shapes.

        wrt: names and groups, "cell,misset_x" or ["cell", "misset_x"]. cotangent: the derivative of
        your loss with respect to each pixel, in the image's shape; or loss: a Loss; the result
        contains its value as ``.loss``. Without either, the loss is the sum of all photons.

        A cotangent in the memory of the GPU that runs the program (float64, anything with DLPack's
        methods) is read in place, and so is F (see ``image``)."""
        self._one_of(cotangent, loss)
        wrt = names(wrt)
        if is_on_device(cotangent):
            return Gradient(self._core.gradient_on_device(wrt, ordered(cotangent, "the cotangent"), ordered(F, "F")))
        if F is not None:
            raise ValueError("F= needs a cotangent in the memory of a GPU; else set structure_factors")
        if cotangent is not None:
            return Gradient(self._core.gradient(wrt, self._image_array(cotangent, "the cotangent")))
        core = (loss or Loss.sum())._for(self.shape)
        value, gradient, background, readout_noise = self._core.gradient_of_loss(wrt, core)
        result = Gradient(gradient)
        result.loss = value
        result.of_loss = {}
        if core.has_background:
            result.of_loss["background"] = background
        if core.has_readout_noise:
            result.of_loss["readout_noise"] = readout_noise
        return result

    def gradients(self, wrt: Names, parameters: Mapping[str, ArrayLike], cotangent: ArrayLike = None, loss: Loss = None) -> Gradient:
        """``gradient`` for many experiments (see ``images``): arrays (shots, ...) by name.

        cotangent: (shots, ...), or one for all shots. loss: the same for all shots; ``.loss`` is
        then (shots,).
        """
        self._one_of(cotangent, loss)
        wrt = names(wrt).split(",")
        function, thetas = batch(self, parameters, wrt)
        result = Gradient()
        if cotangent is not None:
            flat = function.vjp(thetas, cotangent)
        else:
            result.loss, flat = function._core.gradient(len(thetas), thetas, (loss or Loss.sum())._for(self.shape))
        parts = function.unpack(flat)
        result.update((name, parts[name]) for word in wrt for name in self._members(word))
        return result

    def jacobian(self, wrt: Names) -> dict[str, NDArray[numpy.float64]]:
        """The derivative of every pixel with respect to single numbers: a dict from names to
        images."""
        return self._core.jacobian(names(wrt))

    def _direction(self, direction):
        if not isinstance(direction, collections.abc.Mapping):
            raise TypeError("a direction is a dict from names to changes, such as {'cell_a': 1.0}")
        return {name: doubles(value, f"the change of '{name}'") for name, value in direction.items()}

    def jvp(self, direction: Mapping[str, ArrayLike], wrt: Names = None) -> NDArray[numpy.float64]:
        """The derivative of the image along a direction, {"cell_a": 1.0, "misset": (0, 0, 1)}.

        wrt: the parameters for which the kernel is compiled (default: those of the direction); name
        more of them if one kernel is to serve several directions.
        """
        direction = self._direction(direction)
        return self._core.jvp(names(wrt if wrt is not None else direction), direction)

    def hvp(self, direction: Mapping[str, ArrayLike], wrt: Names = None, cotangent: ArrayLike = None, loss: Loss = None) -> Gradient:
        """The Hessian of a loss times a direction: how the gradient with respect to ``wrt`` changes
        along it.

        Arguments are those of ``gradient`` and ``jvp``. With a cotangent, which is held fixed, the
        loss is ``sum(cotangent * image)``."""
        self._one_of(cotangent, loss)
        direction = self._direction(direction)
        wrt = names(wrt if wrt is not None else direction)
        if cotangent is not None:
            return Gradient(self._core.hvp(wrt, direction, self._image_array(cotangent, "the cotangent")))
        return Gradient(self._core.hvp_of_loss(wrt, direction, (loss or Loss.sum())._for(self.shape)))

    def reflections(self, partiality: float = 1e-3, *, miller_index: ArrayLike = None, panel: ArrayLike = None,
                    angle: ArrayLike = None) -> Reflections:
        """The reflections of the image in closed form, without an image: photons, positions,
        shapes, wavelengths.

        The simulator needs a Gaussian crystal and closed-form averages. Reflections of lower
        partiality are left out. miller_index: (n, 3); only these rows, in this order, whatever
        their partiality. A reflection that is not on the detector has panel -1, no photons, and NaN
        in other columns. panel, angle: (n,); they select one spot of a reflection that lies on
        several panels, or that crosses the sphere twice in a rotation (the crossing nearest to this
        angle in degrees).
        """
        return Reflections(self, self._core.reflections(wanted_rows(partiality, miller_index, panel, angle)))

    def reflection_tables(self, parameters: Mapping[str, ArrayLike], partiality: float = 1e-3, *, miller_index: ArrayLike = None,
                          panel: ArrayLike = None, angle: ArrayLike = None) -> list[Reflections]:
        """``reflections`` for many experiments (see ``images``). These tables have no derivatives.
        """
        function, thetas = batch(self, parameters)
        rows = wanted_rows(partiality, miller_index, panel, angle)
        return [Reflections(None, table) for table in function._core.tables(len(thetas), thetas, rows)]

    def miller_indices(self, wavelength: float | None = None) -> NDArray[numpy.float64]:
        """Fractional h, k and l at the centre of each pixel, (slow, fast, 3) or (panel, slow, fast,
        3), in the middle of the rotation.

        Rounded, they name the reflection whose light is in the pixel. wavelength: m; None: the mean
        of the beam, or in a continuous spectrum that of the brightest spot in the pixel."""
        from .labels import miller_indices
        return miller_indices(self, wavelength)

    def spots(self, least: float = 0.5, image: ArrayLike | None = None) -> "Spots":
        """The spots of the image, for training: which pixels belong to which reflection.

        A pixel belongs to the reflection of its Miller indices if it has at least ``least`` photons
        of Bragg light. image: an image of this light; None: it is rendered."""
        from .labels import spots
        return spots(self, least, image)

    def dead_gradients(self, wrt: Names) -> Any:
        """Parameters whose derivatives are all zero, with the reason."""
        return self._core.dead_gradients(names(wrt))

    def function(self, *wrt: str) -> "Function":
        """The image as a function of one flat vector, for optimizers and frameworks.

        wrt: names of parameters and groups. The function has ``.names``, ``.shapes``, ``.theta``
        (their current values), and ``image(theta)``, ``vjp(theta, cotangent)``, ``jvp(theta, v)``,
        ``hvp(theta, v, cotangent)``, ``images(thetas)``. It keeps the other numbers as they are
        now."""
        from .function import Function
        return Function(self, [m for word in names(wrt).split(",") for m in self._members(word)])

    def _members(self, name):
        group, members = self._core.members(name)
        return [m[0] for m in members if m[2] or not group]

    # Preparing, and what was prepared.

    def prepare(self) -> "Simulator":
        """Compiles the image's kernel now instead of at the first image."""
        self._core.prepare()
        if not self._told:
            self._tell()
        return self

    def emit(self, stage: str = "nb") -> str:
        """The image's program as text: "nb", "mlir", "llvm" or "asm"."""
        return self._core.emit(stage)

    @property
    def engine(self) -> str:
        """"fused" or "interpreter"."""
        return self._core.engine()

    @property
    def target(self) -> str:
        """The processor or chip that the image's kernel is compiled for. Compiles it if necessary.
        """
        return self._core.target()

    @property
    def averages(self) -> str:
        """How closed-form averages are computed, and why: as the sum of spots of a table of
        reflections, or pixel by pixel. Empty without such averages, and before the first image if
        it depends on that."""
        return self._core.averages()

    @property
    def timing(self) -> dict[str, Any]:
        """Seconds spent on images and on derivatives since the simulator was made, the number of
        each, and the device."""
        return self._core.timing()

    def copy(self) -> "Simulator":
        """An independent simulator with the same numbers."""
        return type(self)._of(self._core.copy())

    def at_pixels(self, pixels: ArrayLike) -> "Simulator":
        """Another simulator with the same numbers, for these pixels only; pixels as in the
        constructor."""
        return type(self)._of(self._core.at_pixels(pixel_rows(pixels)))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _restore, (type(self), self._core.state())

    def __repr__(self):
        settings = self._core.options()["settings"]
        return (f"<nanobragg.Simulator {' x '.join(map(str, self.shape))} pixels, {self._core.options()['average']}, "
                f"{settings['precision']}, {settings['device']}>")

    # Pictures.

    def show(self, **how: Any) -> Any:
        """Draws the image with matplotlib, see ``nanobragg.plot.image``."""
        from . import plot
        return plot.image(self.image(), self, **how)

    def _repr_png_(self):
        from .plot import png
        return png(self.image())

    def _repr_html_(self):
        import base64
        picture = base64.b64encode(self._repr_png_()).decode()
        return (f'<figure><img src="data:image/png;base64,{picture}"/><figcaption>{self.__class__.__name__}, '
                f"{' x '.join(map(str, self.shape))} pixels, logarithmic</figcaption></figure>")


def _restore(cls, state):
    return cls._of(_core.restore(state))


def read_image(file: "str | os.PathLike[str]") -> NDArray[numpy.float64]:
    """The numbers in an image file, float64 (slow, fast) or (panel, slow, fast).

    NumPy's .npy, SMV, CBF, NXmx ("file.nxs:7" is frame 7, counted from 0), or raw 32-bit floats of
    a square detector. Files compressed by gzip or bzip2 (.gz, .bz2) are unpacked, except NXmx.
    A damaged or unknown file raises FileError."""
    name = str(file)
    return _core.parse_image(name, unpacked(name)) if name.endswith((".gz", ".bz2")) else _core.read_image(name)


_ORDINARY, _RATIO = 512 << 20, 100  # bytes that any image may have; larger ones may have this many times those of the packed file


def unpacked(name: str) -> bytes:
    """The bytes of a regular file, unpacked if its name ends in .gz or .bz2. FileError, also for
    many more bytes than images have."""
    opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(os.path.splitext(name)[1], open)
    if os.path.exists(name) and not os.path.isfile(name):
        raise FileError(f"{name}: is not a regular file; give the name of an image file")
    try:
        most = max(_ORDINARY, _RATIO * os.path.getsize(name))
        with opened(name, "rb") as packed:
            content: bytes = packed.read(most + 1)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, OSError) and error.errno and error.strerror:
            raise FileError(f"{name}: {error.strerror}") from None
        raise FileError(f"{name}: cannot be unpacked ({error}); copy or compress the file again") from None
    if len(content) > most:
        raise FileError(f"{name}: unpacks to more than {most >> 20} MiB, which no image has; check the file")
    return content


def counters() -> dict[str, Any]:
    """Where kernels came from since the process began: hits (already loaded), loads (from the
    cache), compiles, seconds."""
    return _core.counters()
