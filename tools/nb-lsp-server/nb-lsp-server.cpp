// Nb programs in an editor.

#include "dialect/NB.h"
#include "lib/Transforms/Schedule/ScheduleOps.h"
#include "tools/nb-lsp-server/Proxy.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/raw_ostream.h"

/// MLIR's own help lists a thousand flags of LLVM, which an editor does not give.
static constexpr char usage[] =
    "usage: nb-lsp-server [flags of mlir-lsp-server]\n"
    "\n"
    "Shows an editor the errors, definitions and descriptions of nb programs. The editor starts\n"
    "it and talks to it on standard input and output, in the Language Server Protocol.\n"
    "docs/editors contains settings for VS Code, Neovim and Emacs.\n"
    "\n"
    "  --log=error|info|verbose  what is written to standard error; default: info\n"
    "  --pretty                  print JSON with line breaks\n"
    "  --lit-test                read messages with '// -----' between them, for tests\n"
    "  --help                    this text\n"
    "  --help-hidden             all flags, also those of MLIR and LLVM\n"
    "  --version                 the version of LLVM\n";

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::nb::NBDialect>();
  mlir::nb::registerScheduleOps(registry);
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef word = llvm::StringRef(argv[i]).ltrim('-');
    if (word == "h" || word == "help") {
      llvm::outs() << usage;
      return 0;
    }
    if (word.starts_with("help-") || word == "version")
      return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
  }
  return mlir::nb::serve(argc, argv, registry);
}
