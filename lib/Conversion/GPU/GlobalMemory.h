// Pointers of a GPU's kernel.
#ifndef NB_CONVERSION_GLOBALMEMORY_H
#define NB_CONVERSION_GLOBALMEMORY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::nb {

/// Makes every pointer one to global memory, whose number OpenCL and AMD share. An error at a
/// thread's own memory (`llvm.alloca`), to which such a pointer cannot lead.
LogicalResult pointToGlobalMemory(gpu::GPUModuleOp module);

} // namespace mlir::nb

#endif
