// The IR after every pass, in files.
#ifndef NB_COMPILER_DUMPIR_H
#define NB_COMPILER_DUMPIR_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Makes `passes` write `program` into `directory` (created if missing): 00-input.mlir now, then
/// NN-PASS.mlir after every pass. The first line of each file is the nb-opt command that makes it
/// from the one before.
llvm::Error dumpIRAfterEachPass(PassManager &passes, ModuleOp program, llvm::StringRef directory);

} // namespace mlir::nb

#endif
