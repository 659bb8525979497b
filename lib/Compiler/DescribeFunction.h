//===- DescribeFunction.h - the signature of a kernel ----------*- C++ -*-===//
#ifndef NB_COMPILER_DESCRIBEFUNCTION_H
#define NB_COMPILER_DESCRIBEFUNCTION_H

#include "lib/Compiler/DescribeKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// The only function that returns one image.
llvm::Expected<func::FuncOp> findImageFunction(ModuleOp program);

/// Name, parameters and image type of a function that returns one image and takes only what a
/// kernel takes. A parameter that experiments have too is in their unit.
llvm::Expected<KernelDescription> describeFunction(func::FuncOp function);

} // namespace mlir::nb

#endif
