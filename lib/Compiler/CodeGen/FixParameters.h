// Counts that are known beforehand.
#ifndef NB_COMPILER_FIXPARAMETERS_H
#define NB_COMPILER_FIXPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Puts constants in the place of arguments, indices and f64, which stay in the signature. `fixed`
/// is "NAME=VALUE", separated by blanks; a value is a whole number.
llvm::Error fixParameters(ModuleOp program, llvm::StringRef fixed);

} // namespace mlir::nb

#endif
