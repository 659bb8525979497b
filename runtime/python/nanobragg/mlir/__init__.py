"""MLIR's Python bindings with the nb dialect: programs as objects, ops, patterns and passes in
Python.

    from nanobragg.mlir import ir, passmanager, rewrite
    from nanobragg.mlir.dialects import arith, nb
    with ir.Context() as context, ir.Location.unknown():
        nb.register_dialect(context)
        program = ir.Module.parse(compiler.emit(flags))
        passmanager.PassManager.parse("builtin.module(nb-hoist-invariants,cse)").run(program.operation)

Errors are ``ir.MLIRError`` with the diagnostics. The bindings are those of the package
xtc-mlir-python-bindings 22.1.8. MLIR itself is that of the wheel nanobragg-mlir, or of the system;
plugins need the latter. Other modules of ``nanobragg`` do not import this package.
"""

import ctypes
import importlib.util
import os
import pathlib
import sys

#: Where libMLIRPythonCAPI.so and NanoBraggPlugin.so are looked for: a wheel, a build's lib, an installed tree's.
_ROOTS = [pathlib.Path(__file__).parents[3] / "lib", pathlib.Path(sys.prefix) / "lib", pathlib.Path("/usr/lib/x86_64-linux-gnu"),
          pathlib.Path("/usr/lib"), pathlib.Path("/usr/local/lib")]
_WHEEL = importlib.util.find_spec("nanobragg_mlir")
if _WHEEL:
    _ROOTS[:0] = map(pathlib.Path, _WHEEL.submodule_search_locations)
if "NB_COMPILER_LIBRARY" in os.environ:
    _ROOTS.insert(0, pathlib.Path(os.environ["NB_COMPILER_LIBRARY"]).parent)


def _find(name):
    for root in _ROOTS:
        for file in (root / "nanobragg" / name, root / name):
            if file.exists():
                return str(file)
    raise ImportError(f"there is no {name} in {', '.join(map(str, _ROOTS))}: pip install nanobragg[mlir], or set "
                      "NB_COMPILER_LIBRARY to libnb-compiler.so of a build")


def _load():
    if "mlir._mlir_libs" in sys.modules:
        raise ImportError("mlir is imported already, with an MLIR that does not have the nb dialect; import nanobragg.mlir first")
    if importlib.util.find_spec("mlir") is None:
        raise ImportError("MLIR's Python bindings are not installed: pip install 'xtc-mlir-python-bindings==22.1.8.*'")
    # The bindings ask for a library of this name, and take the one that is there.
    return ctypes.CDLL(_find("libMLIRPythonCAPI.so"), ctypes.RTLD_GLOBAL)


_CAPI = _load()
#: The library with the nb dialect, which in the wheel is the one with MLIR.
_DIALECT = _CAPI._name if hasattr(_CAPI, "nanobraggElementType") else _find("NanoBraggPlugin.so")
from mlir import ir, passmanager, rewrite  # noqa: E402

for _module in (ir, passmanager, rewrite):
    sys.modules[_module.__name__.replace("mlir", __name__, 1)] = _module


class _Plugin(ctypes.Structure):
    """mlir::DialectPluginLibraryInfo and PassPluginLibraryInfo."""

    _fields_ = [("api", ctypes.c_uint32), ("name", ctypes.c_char_p), ("version", ctypes.c_char_p),
                ("register", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


def _pointer(capsule):
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


_loaded: dict[str, ctypes.CDLL] = {}


def load_plugin(context: ir.Context, file: str) -> ctypes.CDLL:
    """Adds the dialects of a plugin to the context and its passes to the process."""
    if os.path.exists(file):
        file = os.path.abspath(file)  # the system's loader looks for plain names elsewhere
    if _DIALECT == _CAPI._name != file:
        raise ImportError(f"'{file}' cannot be loaded: plugins share the MLIR of the system, and the wheel nanobragg-mlir has its own; "
                          "use nanobragg of a build, or of Debian's packages")
    first = file not in _loaded
    library = _loaded[file] = _loaded.get(file) or ctypes.CDLL(file, ctypes.RTLD_GLOBAL)
    known = [name for name in ("mlirGetDialectPluginInfo", "mlirGetPassPluginInfo") if hasattr(library, name)]
    if not known:
        raise ImportError(f"'{file}' is not a plugin: it has neither mlirGetDialectPluginInfo nor mlirGetPassPluginInfo")
    for name in known:
        getattr(library, name).restype = _Plugin
    if "mlirGetPassPluginInfo" in known and first:
        library.mlirGetPassPluginInfo().register(None)
    if "mlirGetDialectPluginInfo" in known:
        registry = ir.DialectRegistry()
        library.mlirGetDialectPluginInfo().register(_pointer(registry._CAPIPtr))
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
    return library
