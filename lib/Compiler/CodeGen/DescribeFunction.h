// The signature of a kernel.
#ifndef NB_COMPILER_DESCRIBEFUNCTION_H
#define NB_COMPILER_DESCRIBEFUNCTION_H

#include "lib/Compiler/CodeGen/DescribeKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// The only function that returns images, or sums over the pixels of one, as nb ops or as loops.
llvm::Expected<func::FuncOp> findImageFunction(ModuleOp program);

/// Name, parameters, outputs and image type of such a function, if it takes and returns only what a
/// kernel does. A parameter that experiments have too is in their unit.
llvm::Expected<KernelDescription> describeFunction(func::FuncOp function);

/// The same of a function that nb-outline-kernel has taken apart, by what its entry point says
/// (names::kernel).
llvm::Expected<KernelDescription> describeEntryPoints(DictionaryAttr kernel);

} // namespace mlir::nb

#endif
