// The dialects and interfaces that a compilation needs loaded.
#ifndef NB_COMPILER_DIALECTS_H
#define NB_COMPILER_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::nb {

/// All dialects that occur between the frontend and LLVM IR, with their lowerings to LLVM.
void registerCompilerDialects(DialectRegistry &registry);

/// Makes the context one for programs that the frontend builds and the interpreter runs.
void loadForInterpreter(MLIRContext &context);

} // namespace mlir::nb

#endif
