"""The compiled modules of simtbx, simtbx_nanoBragg_ext and simtbx_diffBragg_ext, on the kernels of
this package.

PYTHONPATH=$(python -m nanobragg.cctbx --path)${PYTHONPATH:+:$PYTHONPATH} libtbx.python program.py

cctbx imports them by these names. If simtbx's own module is installed, it is imported, unless
NB_CCTBX_REPLACE=1 is set. docs/cctbx-differences.md lists the differences.
"""

import importlib.machinery
import importlib.util
import os
import sys


def path():
    """The folder for PYTHONPATH."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")


def real_module(name):
    """The module of this name that is not ours, loaded; None where there is none, or
    NB_CCTBX_REPLACE=1 asks for ours."""
    if os.environ.get("NB_CCTBX_REPLACE") == "1":
        return None
    ours = os.path.realpath(path())
    others = [folder for folder in sys.path if os.path.realpath(folder or ".") != ours]
    spec = importlib.machinery.PathFinder.find_spec(name, others)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
