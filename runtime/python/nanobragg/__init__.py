"""X-ray diffraction images of crystals, and their derivatives.

    import nanobragg as nb
    sim = nb.Simulator.from_flags("-cell 70 80 90 90 90 90 -hkl f.hkl -lambda 1 -N 10")
    image = sim.image()
    sim["cell_a"] = 71 * nb.angstrom
    gradient = sim.gradient("cell,misset", loss=nb.Loss.chi_square(data, sigma))

All numbers are in SI units. See docs/python.md. The modules `compat`, `compiler`, `frames`, `jax`,
`plot` and `torch` are imported when they are first used.
"""

import importlib as _importlib
import importlib.util as _util
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _core
from ._batches import render_batch
from ._errors import FileError, FlagError, UnknownName, Warning
from .background import extract_background
from .experiment import Background, Beam, Crystal, Detector, Expt, Goniometer, Panel, random_misset, random_rotation
from .function import Function
from .response import counts, point_spread, true_counts
from .labels import Spots
from .reflections import Reflections
from ._trace import trace_events
from .simulator import Gradient, Loss, Parameter, ParameterTable, Simulator, counters, read_image
from .units import (angstrom, degree, electronvolt, hc, kiloelectronvolt, meter, micrometer, millimeter, milliradian,
                    nanometer, percent, radian, second)

if _TYPE_CHECKING:
    from . import compat as compat, compiler as compiler, frames as frames, jax as jax, plot as plot, torch as torch

__version__ = _core.version
_modules = ("compat", "compiler", "frames", "jax", "plot", "torch")

if not _TYPE_CHECKING:  # to type checkers, other names would exist, too
    def __getattr__(name):
        if name in _modules:
            return _importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=_sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *_modules})


def _compiler_folders() -> list[str]:
    """The compiler library is in a package of its own, nanobragg_compiler."""
    found = _util.find_spec("nanobragg_compiler")
    return [_os.path.realpath(folder) for folder in (found.submodule_search_locations or ())] if found else []


for _folder in (_os.path.join(_os.path.dirname(_os.path.realpath(_core.__file__)), "lib"), *_compiler_folders()):
    _core.add_code_folder(_folder)

__all__ = ["Background", "Beam", "Crystal", "Detector", "Expt", "FileError", "FlagError", "Function", "Goniometer", "Gradient", "Loss",
           "Panel", "Parameter", "ParameterTable", "Reflections", "Simulator", "Spots", "UnknownName", "Warning", "angstrom", "counters", "counts", "degree",
           "electronvolt", "extract_background", "hc", "kiloelectronvolt", "meter", "micrometer", "millimeter",
           "milliradian", "nanometer", "percent", "point_spread", "radian", "random_misset", "random_rotation", "read_image", "render_batch", "second", "trace_events",
           "true_counts"]
