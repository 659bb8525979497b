// Kernel files for GPUs.
#ifndef NB_COMPILER_BUILDGPUKERNEL_H
#define NB_COMPILER_BUILDGPUKERNEL_H

#include "lib/Compiler/CodeGen/Compilation.h"

namespace mlir::nb {

/// Begins the compilation of what is to become a kernel file for one target.
using StartCompilation = llvm::function_ref<llvm::Expected<std::unique_ptr<Compilation>>(
    const CompileOptions &, Compilation::ModuleContext)>;

/// The name of the function that returns the descriptor in a kernel file of this kind. Error for an
/// unknown kind.
llvm::Expected<std::string> getterOf(const CompileOptions &options, llvm::StringRef kind);

/// A kernel file for the chips in options.target, or the cubin of the one that there is. The host's
/// part runs on any processor of this machine's architecture. The code of a chip is cubin where
/// there is an assembler; then the newest chip's PTX is added, for later chips and other drivers.
llvm::Expected<llvm::SmallVector<char, 0>> buildGpuKernel(StartCompilation start,
                                                          nanobragg::KernelSpecification made,
                                                          const CompileOptions &options,
                                                          llvm::StringRef kind);

} // namespace mlir::nb

#endif
