// Where a GPU's kernel loads from.
#ifndef NB_COMPILER_DEVICEMEMORY_H
#define NB_COMPILER_DEVICEMEMORY_H

#include "llvm/IR/Module.h"

namespace mlir::nb {

/// Says of every pointer that a kernel loads that it is into global memory, and of every load that
/// is not from an output that the kernel does not write there, so that it may take the read-only
/// path. For modules that are optimized already: LLVM folds what this adds.
void describeDeviceMemory(llvm::Module &module);

} // namespace mlir::nb

#endif
