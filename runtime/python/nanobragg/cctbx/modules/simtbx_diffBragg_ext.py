"""simtbx's compiled module of this name, on the kernels of nanobragg; the real one where it is
installed."""

from nanobragg.cctbx import real_module

if real_module(__name__) is None:
    from nanobragg.cctbx.diffbragg_ext import *  # noqa: F403
