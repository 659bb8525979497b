// The dialect and its passes for other programs: mlir-opt --load-dialect-plugin,
// --load-pass-plugin.

#include "lib/Compiler/Pipelines/Registration.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION, [] { nb::registerAllPasses(); }};
}

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION,
          [](DialectRegistry *registry) { nb::registerAllDialects(*registry); }};
}
