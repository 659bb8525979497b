// A function on either engine.
#ifndef NB_COMPILER_RUNPROGRAM_H
#define NB_COMPILER_RUNPROGRAM_H

#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Interpreter/Interpreter.h"

#include <array>
#include <vector>

namespace mlir::nb {

/// The arguments of a function for both engines: the kernel takes the addresses alone.
using RunArguments = std::vector<InterpreterArgument>;

/// An image, [panel][slow][fast].
struct RenderedImage {
  std::array<int64_t, 3> shape{};
  std::vector<double> pixels;

  Pixel pixelAt(size_t index) const;
};

/// Interpreter::prepare and run, with diagnostics as an error.
llvm::Expected<std::vector<InterpreterResult>>
interpret(func::FuncOp function, const RunArguments &arguments, const InterpreterOptions &options);

/// The image that the function returns, by the interpreter.
llvm::Expected<RenderedImage> interpretImage(func::FuncOp function, const RunArguments &arguments,
                                             int threads);

/// Panels, rows and pixels of a row of the function's image, without its pixels.
llvm::Expected<std::array<int64_t, 3>> imageShape(func::FuncOp function,
                                                  const RunArguments &arguments);

/// A copy of the program with `function` and what it calls alone.
OwningOpRef<ModuleOp> isolate(func::FuncOp function);

/// The results of a function by its compiled kernel, which takes and returns what kernels can. A
/// read outside of its arguments is refused as far as checkReads can tell.
llvm::Expected<std::vector<InterpreterResult>>
runCompiled(func::FuncOp function, const RunArguments &arguments, const CompileOptions &options);

/// The outputs of a kernel, in its order, by one thread and with one accumulator.
std::vector<std::vector<double>> runKernel(const nb_kernel_descriptor &kernel,
                                           const RunArguments &arguments,
                                           std::array<int64_t, 3> shape);

/// The first of them, an image.
RenderedImage renderImage(const nb_kernel_descriptor &kernel, const RunArguments &arguments,
                          std::array<int64_t, 3> shape);

} // namespace mlir::nb

#endif
