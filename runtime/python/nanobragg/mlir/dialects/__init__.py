"""The nb dialect, ``nb``, and those of MLIR under their names: ``from nanobragg.mlir.dialects
import arith, nb``."""

import importlib
import sys

import mlir.dialects._ods_common as _common

# Generated builders include it from the package that they are in.
sys.modules[f"{__name__}._ods_common"] = _common


def __getattr__(name):
    try:
        return importlib.import_module(f"{__name__}.nb" if name == "nb" else f"mlir.dialects.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"MLIR has no Python module of a dialect '{name}'") from error
