// Nb programs in an editor.

#include "dialect/NB.h"
#include "lib/Transforms/Schedule/ScheduleOps.h"
#include "tools/nb-lsp-server/Proxy.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::nb::NBDialect>();
  mlir::nb::registerScheduleOps(registry);
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef word = llvm::StringRef(argv[i]).ltrim('-');
    if (word == "h" || word.starts_with("help") || word == "version")
      return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
  }
  return mlir::nb::serve(argc, argv, registry);
}
