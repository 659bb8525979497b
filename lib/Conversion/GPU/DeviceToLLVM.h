// What is not about threads in a GPU's kernel, to the LLVM dialect.
#ifndef NB_CONVERSION_DEVICETOLLVM_H
#define NB_CONVERSION_DEVICETOLLVM_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
namespace nb {

/// Arithmetic, branches and memory, the same for all vendors.
void populateDeviceToLLVMPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns);

} // namespace nb
} // namespace mlir

#endif
