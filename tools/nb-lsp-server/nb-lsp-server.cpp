// Nb programs in an editor.

#include "dialect/NB.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mlir::nb::NBDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
