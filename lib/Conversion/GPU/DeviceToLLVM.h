// Lowers the ops of a GPU's kernel that are not about threads to the LLVM dialect.
#ifndef NB_CONVERSION_DEVICETOLLVM_H
#define NB_CONVERSION_DEVICETOLLVM_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
namespace gpu {
class GPUModuleOp;
}
namespace nb {

/// Kernels are launched with any number of blocks, not only with that of the program's launch, of
/// which the conversions would make a range.
void forgetGridSize(gpu::GPUModuleOp module);

/// Fails with a diagnostic at a function that LLVM has no code for on GPUs of NVIDIA and AMD, where
/// no library is at hand. Its code generator would end the process.
LogicalResult refuseFunctions(gpu::GPUModuleOp module);

/// Arithmetic, branches and memory, the same for all vendors.
void populateDeviceToLLVMPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns);

} // namespace nb
} // namespace mlir

#endif
