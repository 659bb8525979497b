// The dialect and its passes for other programs: mlir-opt --load-dialect-plugin,
// --load-pass-plugin.

#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Schedule/ScheduleOps.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION, [] {
            nb::registerTransformsPasses();
            nb::registerConversionPasses();
            nb::registerPipelines();
          }};
}

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NanoBragg", NB_VERSION, [](DialectRegistry *registry) {
            registry->insert<nb::NBDialect>();
            nb::registerScheduleOps(*registry);
          }};
}
