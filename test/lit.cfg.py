"""lit configuration for the tests of the dialect, the passes and the tools."""

import importlib.util
import os
import sys

import lit.formats

config.name = "nanobragg"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.nb_build_dir, "test")

# A variable set in one CHECK-LABEL section may not leak into the next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.nb_build_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]])
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

if (importlib.util.find_spec("yaml")
        and os.path.exists(os.path.join(config.llvm_tools_dir, "../share/opt-viewer/opt-viewer.py"))):
    config.available_features.add("opt-viewer")
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
config.substitutions.append(("%nb_build", config.nb_build_dir))
config.substitutions.append(("%test_data", os.path.join(config.test_source_root, "data")))
config.substitutions.append(("%lorentz", os.path.join(config.nb_build_dir, "test/plugins/LorentzFactor.so")))
config.substitutions.append(("%library", os.path.join(config.nb_build_dir, "lib/libnanobragg.so")))
config.substitutions.append(("%example", os.path.join(config.test_source_root, "../docs/examples/plugin")))
# Full paths, so that a test can never pick up another build's tool by the same name.
for tool in ("nb-opt", "nb-sim", "nb-compile", "nb-lsp-server", "nb-try", "nb-reduce", "nb-explore", "nb-run"):
    config.substitutions.append((rf"(?<![\w/.-]){tool}(?![\w./-])",
                                 os.path.join(config.nb_build_dir, "bin", tool)))
for tool in ("FileCheck", "not", "count", "split-file", "mlir-opt", "mlir-translate"):
    config.substitutions.append((rf"(?<![\w/.-])(?<!%){tool}(?![\w./-])",
                                 os.path.join(config.llvm_tools_dir, tool)))
