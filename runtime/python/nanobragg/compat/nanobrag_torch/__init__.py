"""The names of the PyTorch port of nanoBragg, on kernels that are compiled once.

    import nanobragg.compat.nanobrag_torch as port
    port.alias()                                # from here on `import nanobrag_torch` means this package
    from nanobrag_torch.config import CrystalConfig

Configurations, `Crystal`, `Detector`, `Simulator(...).run()` and `ExperimentModel` have the port's fields, units (A, mm, degrees)
and conventions; a field may be a tensor, whose gradient goes through the image, twice if need be. docs/coming-from.md says
what differs. NANOBRAGG_DISABLE_COMPILE has no effect here: in the port it switches torch.compile off, which is not used.
"""

import importlib
import sys
import types

import nanobragg
from nanobragg._deprecated import moved

__getattr__ = moved(__name__, {"__version__": ("nanobragg.__version__", lambda: nanobragg.__version__)})

_modules = ("config", "simulator", "models", "models.crystal", "models.detector", "models.experiment", "utils", "utils.geometry",
            "utils.physics", "utils.units", "io", "io.hkl", "io.mask", "io.mosflm", "io.source")


def alias(name="nanobrag_torch"):
    """Lets ``import nanobrag_torch`` and what is in it mean this package."""
    parent = ""
    for part in name.split(".")[:-1]:  # "src.nanobrag_torch" has two, as the port's own tests say
        parent = f"{parent}.{part}" if parent else part
        sys.modules.setdefault(parent, types.ModuleType(parent)).__path__ = []
    sys.modules[name] = sys.modules[__name__]
    for module in _modules:
        sys.modules[f"{name}.{module}"] = importlib.import_module(f"{__name__}.{module}")
    return sys.modules[name]
