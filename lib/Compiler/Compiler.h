//===- Compiler.h - from a structure to a running kernel -------*- C++ -*-===//
#ifndef NB_COMPILER_COMPILER_H
#define NB_COMPILER_COMPILER_H

#include "lib/Experiment/Structure.h"
#include "nanobragg/KernelABI.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::nb {

struct CompileOptions {
  std::string precision = "f64";
  std::string target = "native";
  std::string dumpIR; ///< directory for the IR after every pass; empty for none
  bool noFuse = false;
};

/// A kernel in this process; the descriptor and its functions live as long as it does.
class JitKernel {
public:
  ~JitKernel();
  const nb_kernel_descriptor &descriptor() const;

private:
  friend llvm::Expected<std::unique_ptr<JitKernel>> compileKernel(const nanobragg::Structure &,
                                                                  const CompileOptions &);
  JitKernel();
  struct State;
  std::unique_ptr<State> state;
};

/// Compiles the program of a structure for this process. Errors are one sentence.
llvm::Expected<std::unique_ptr<JitKernel>> compileKernel(const nanobragg::Structure &structure,
                                                         const CompileOptions &options);

/// The program as text at a stage: "nb" as the frontend wrote it, "mlir" after the nb-level passes,
/// "llvm" optimized LLVM IR, "asm" assembly.
llvm::Expected<std::string> emitProgram(const nanobragg::Structure &structure,
                                        const CompileOptions &options, llvm::StringRef stage);

} // namespace mlir::nb

#endif
