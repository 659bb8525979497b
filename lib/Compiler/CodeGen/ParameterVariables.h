// Parameters of kernels as variables of debuggers.
#ifndef NB_COMPILER_PARAMETERVARIABLES_H
#define NB_COMPILER_PARAMETERVARIABLES_H

#include "lib/Compiler/CodeGen/DescribeKernel.h"

#include "llvm/IR/Module.h"

namespace mlir::nb {

/// Makes variables of the parameters, by their names, in all entry points that have debug
/// information. The first argument of each is the array through which they are read.
void describeParameters(llvm::Module &module, llvm::ArrayRef<KernelParameter> parameters);

} // namespace mlir::nb

#endif
