// Counts that are known beforehand.
#ifndef NB_TRANSFORMS_FIXCOUNTS_H
#define NB_TRANSFORMS_FIXCOUNTS_H

#include "lib/Program/FixedCount.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Puts constants in the place of arguments of these names, indices and f64, which stay in the
/// signature and say so (names::fixed). The pass nb-fix-counts does the same.
llvm::Error fixCounts(ModuleOp program, llvm::ArrayRef<nanobragg::FixedCount> counts);

} // namespace mlir::nb

#endif
