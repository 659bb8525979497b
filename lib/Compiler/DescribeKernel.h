//===- DescribeKernel.h - a kernel's descriptor as data --------*- C++ -*-===//
#ifndef NB_COMPILER_DESCRIBEKERNEL_H
#define NB_COMPILER_DESCRIBEKERNEL_H

#include "lib/Experiment/Structure.h"

#include "llvm/IR/Module.h"

#include <string>

namespace mlir::nb {

/// Adds to a module that has the entry points of @image the constant nb_kernel_descriptor of
/// KernelABI.h and `const nb_kernel_descriptor *nb_kernel_get_descriptor(void)`, the only symbol
/// that stays visible: the kernel describes itself.
void describeKernel(llvm::Module &module, const nanobragg::Structure &structure,
                    llvm::StringRef target, llvm::StringRef precision);

} // namespace mlir::nb

#endif
