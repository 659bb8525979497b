"""Crystal, detector, and the parametrisation of stage A."""

from .crystal import Crystal
from .detector import Detector

__all__ = ["Crystal", "Detector", "ExperimentModel"]


def __getattr__(name):
    if name == "ExperimentModel":
        from .experiment import ExperimentModel
        return ExperimentModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
