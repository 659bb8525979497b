// Passes that pipelines in text can name.
#ifndef NB_COMPILER_REGISTERPASSES_H
#define NB_COMPILER_REGISTERPASSES_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Makes the project's passes and pipelines and those of MLIR known, at the first call.
void registerPassesOnce();

/// Loads shared objects with passes or dialects, named with commas between, as mlir-opt's
/// --load-pass-plugin and --load-dialect-plugin do. Dialects go to the registry. The symbols of the
/// nb dialect that they need are in this process.
llvm::Error loadPlugins(llvm::StringRef files, DialectRegistry &registry);

} // namespace mlir::nb

#endif
