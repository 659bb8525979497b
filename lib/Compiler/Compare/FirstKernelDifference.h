// The first value that a kernel gets wrong.
#ifndef NB_COMPILER_FIRSTKERNELDIFFERENCE_H
#define NB_COMPILER_FIRSTKERNELDIFFERENCE_H

#include "lib/Compiler/Run/RunProgram.h"

#include <optional>

namespace mlir::nb {

/// A value at one pixel, summed over the samples and components that it has.
struct KernelDifference {
  std::string name, op;
  double interpreted = 0, compiled = 0;

  std::string toString() const;
};

/// A kernel cannot be probed, but it can be made to return any value of the image's body in place
/// of the pixel. Compiles such a kernel for one value after the other, in program order, and
/// returns the first one that differs from the interpreter's. `prepare` may change a program before
/// it is compiled.
llvm::Expected<std::optional<KernelDifference>>
firstKernelDifference(ModuleOp fused, StringRef function, const RunArguments &arguments,
                      Pixel pixel, double rtol, const CompileOptions &compile,
                      llvm::function_ref<llvm::Error(ModuleOp)> prepare);

} // namespace mlir::nb

#endif
