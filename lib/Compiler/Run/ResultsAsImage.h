// Kernels of functions without an image.
#ifndef NB_COMPILER_RESULTSASIMAGE_H
#define NB_COMPILER_RESULTSASIMAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Kernels return images. Makes `function`, which returns none, return the numbers of its results
/// as the pixels of one row of an f64 image: scalars, indices and conditions as one pixel, vectors
/// as three, matrices as nine. Fails when a result is of another type.
llvm::Error packResults(func::FuncOp function);

/// Whether the function returns exactly one image.
bool returnsImage(func::FuncOp function);

} // namespace mlir::nb

#endif
