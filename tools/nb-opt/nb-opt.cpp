// Run passes on nb programs.

#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <cstring>

int main(int argc, char **argv) {
  // The flag that selects the interpreter wherever a pipeline is chosen.
  char interpreterPipeline[] = "--nb-interpreter-pipeline";
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--no-fuse"))
      argv[i] = interpreterPipeline;

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::nb::NBDialect>();

  mlir::registerAllPasses();
  mlir::nb::registerTransformsPasses();
  mlir::nb::registerConversionPasses();
  mlir::nb::registerPipelines();

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "nb-opt: passes on diffraction programs\n", registry));
}
