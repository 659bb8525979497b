"""The module simtbx_nanoBragg_ext."""

from ..compat import simtbx
from ..compat.simtbx import convention, pivot, shapetype, testuple  # noqa: F401
from ._flex import Arrays


class nanoBragg(simtbx.nanoBragg):
    __doc__ = simtbx.nanoBragg.__doc__
    _arrays, _strict = Arrays, False


# simtbx adds methods of its own, to_cbf and others, and with __getattr__ reads Fhkl from
# Fhkl_tuple, which the property would hide.
del simtbx  # not of the module
names = ("nanoBragg", "testuple", "convention", "pivot", "shapetype")
for kind in (convention, pivot, shapetype):
    for member in kind:
        globals()[member.name] = member
__all__ = [*names, *(member.name for kind in (convention, pivot, shapetype) for member in kind)]
