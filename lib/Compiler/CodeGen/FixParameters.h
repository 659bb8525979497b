// Counts that are known beforehand.
#ifndef NB_COMPILER_FIXPARAMETERS_H
#define NB_COMPILER_FIXPARAMETERS_H

#include "lib/Experiment/FixedCount.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Puts constants in the place of arguments, indices and f64, which stay in the signature.
llvm::Error fixParameters(ModuleOp program, llvm::ArrayRef<nanobragg::FixedCount> fixed);

} // namespace mlir::nb

#endif
