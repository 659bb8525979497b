// Rounding without an instruction for it.
#ifndef NB_COMPILER_REPLACEROUNDING_H
#define NB_COMPILER_REPLACEROUNDING_H

namespace llvm {
class Module;
}

namespace mlir::nb {

/// Replaces llvm.ceil, llvm.floor and llvm.roundeven by additions and comparisons. Processors
/// without SSE4.1 would call the math library for them, and a kernel calls nothing. Exact for all
/// numbers; for those below 2^51 (2^22) where the call has the flag afn.
void replaceRounding(llvm::Module &module);

} // namespace mlir::nb

#endif
