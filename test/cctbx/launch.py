"""launch.py PROGRAM [ARGUMENTS]: runs a program of simtbx beside the cctbx of Debian 12.

That lacks some compiled and some newer modules which the current simtbx imports at its top and hardly uses: here they are empty, or
come from the checkout that NB_CCTBX_PROJECT names (its simtbx, mmtbx/programs and libtbx/mpi4py.py).
"""

import importlib
import os
import runpy
import sys
import types

import numpy
from libtbx.phil import parse

numpy.float = float  # a removed name that the dxtbx of Debian 12 uses


def stand_in(name, **members):
    """An empty module where there is none of this name."""
    try:
        importlib.import_module(name)
    except ImportError:
        module = sys.modules[name] = types.ModuleType(name)
        vars(module).update(members)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(importlib.import_module(parent), child, module)


def rotated(origin, axis, point, degrees):
    from scitbx import matrix
    origin = matrix.col(origin)
    return (origin + (matrix.col(point) - origin).rotate_around_origin(matrix.col(axis), degrees, deg=True)).elems


stand_in("dxtbx.format.nxmx_writer", phil_scope=parse(""))
stand_in("sx_merging_ext")
stand_in("mmtbx_reduce_ext", RotatePointDegreesAroundAxisDir=rotated)
if project := os.environ.get("NB_CCTBX_PROJECT"):
    import libtbx.load_env
    if not hasattr(libtbx.env.build_options, "enable_kokkos"):
        libtbx.env.build_options.enable_kokkos = False
    import mmtbx.programs
    mmtbx.programs.__path__.append(os.path.join(project, "mmtbx", "programs"))
    import libtbx
    libtbx.mpi_import_guard = types.SimpleNamespace(disable_mpi=False)
    libtbx.__path__.insert(0, os.path.join(project, "libtbx"))
    from libtbx import mpi4py
    libtbx.__path__.pop(0)
    # The calls of MPI by hopper and stage_two where mpi4py is not installed.
    mpi4py.mpiCommEmulator.Allreduce = lambda self, send, receive, op=None: numpy.copyto(receive, send)
    mpi4py.mpiCommEmulator.Split = lambda self, color=0, key=0: self
    mpi4py.mpiEmulator.MODE_WRONLY = mpi4py.mpiEmulator.MODE_CREATE = 0

sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
