// Nb programs from files.
#ifndef NB_RUN_LOADPROGRAM_H
#define NB_RUN_LOADPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace mlir::nb {

/// Parses and verifies the file (`-`: standard input). Values get their names in the text as
/// locations, which is what probes and traces call them. Null after a diagnostic on standard error.
OwningOpRef<ModuleOp> loadProgram(const std::string &path, MLIRContext &context);

} // namespace mlir::nb

#endif
