"""Ops, types and enumerations of the nb dialect.

Ops are functions, ``nb.vec(x, y, z)``, and classes, ``nb.VecOp``; docs/reference/dialect.md
describes them. Types are made of their element type, ``nb.Vec3Type.get(ir.F64Type.get())``.
"""

import ctypes
import typing

from .. import _DIALECT, _pointer, ir, load_plugin
from ._nb_enums_gen import *  # noqa: F403
from ._nb_ops_gen import *  # noqa: F403

_plugin = None


def register_dialect(context: ir.Context) -> None:
    """Makes the nb dialect known to a context, and the passes and pipelines of the compiler to the
    process."""
    global _plugin
    _plugin = load_plugin(context, _DIALECT)
    _plugin.nanobraggElementType.restype = ctypes.c_void_p
    _plugin.nanobraggElementType.argtypes = [ctypes.c_void_p]
    with context:
        for cls in (Vec3Type, Mat3Type, TableType, HklGridType):
            ir.register_type_caster(ir.Type.parse(cls._example).typeid, replace=True)(cls)


class _NbType(ir.Type):
    _example = ""

    @classmethod
    def isinstance(cls, other: ir.Type) -> bool:
        return type(other.maybe_downcast()) is cls

    @property
    def element_type(self) -> ir.Type:
        """f64, f32 or lanes of these; the type of an entry of a table."""
        api = ctypes.pythonapi
        api.PyCapsule_New.restype = ctypes.py_object
        api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        found = _plugin.nanobraggElementType(_pointer(self._CAPIPtr))
        return ir.Type._CAPICreate(api.PyCapsule_New(found, _NAME, None)).maybe_downcast()


_NAME = b"mlir.ir.Type._CAPIPtr"


class _TypeOfElement(_NbType):
    """A type whose only parameter is its element type."""

    @classmethod
    def get(cls, element_type: ir.Type) -> typing.Self:
        return ir.Type.parse(cls._example.replace("f64", str(element_type)), element_type.context)


class Vec3Type(_TypeOfElement):
    """!nb.vec3<T>"""

    _example = "!nb.vec3<f64>"


class Mat3Type(_TypeOfElement):
    """!nb.mat3<T>"""

    _example = "!nb.mat3<f64>"


class HklGridType(_TypeOfElement):
    """!nb.hkl_grid<T>"""

    _example = "!nb.hkl_grid<f64>"


class TableType(_NbType):
    """!nb.table<?x?xT>"""

    _example = "!nb.table<?xf64>"

    @classmethod
    def get(cls, rank: int, element_type: ir.Type) -> "TableType":
        return ir.Type.parse(f"!nb.table<{'?x' * rank}{element_type}>", element_type.context)
