// An experiment without a kernel.
#ifndef NB_COMPILER_INTERPRETEXPERIMENT_H
#define NB_COMPILER_INTERPRETEXPERIMENT_H

#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Compiler/CodeGen/DescribeKernel.h"
#include "lib/Interpreter/Interpreter.h"
#include "nanobragg/CompilerABI.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::nb {

/// The program of a variant, or of its derivative, ready for the interpreter.
class InterpretedExperiment {
public:
  /// `probe` names the values to report on, see nb_interpret_options; empty: none.
  static llvm::Expected<std::unique_ptr<InterpretedExperiment>>
  prepare(const nanobragg::ProgramVariant &variant, const CompileOptions &options,
          std::string probe = "");

  /// Parameters and outputs, without functions.
  const nb_kernel_descriptor &descriptor() const { return described; }

  /// See nb_compiler_api::run_program. Returns the report: the trace or the probes' statistics, if
  /// they were asked for.
  llvm::Expected<std::string> run(const void *const *arguments, const nb_interpret_options &options,
                                  void *const *outputs) const;

private:
  InterpretedExperiment(const nanobragg::ProgramVariant &variant, std::string probe);
  llvm::Error build(const CompileOptions &options);
  llvm::Error simplify(const CompileOptions &options);
  /// The user's, in place of those.
  llvm::Error runOwnPasses(CompileOptions options);
  void describe(KernelDescription what);
  llvm::SmallVector<int64_t> imageShape(const void *const *arguments) const;

  nanobragg::ProgramVariant variant;
  std::string variantText;
  std::string probe;
  mutable MLIRContext context;
  OwningOpRef<ModuleOp> program;
  std::optional<Interpreter> interpreter;
  KernelDescription description;
  std::vector<nb_kernel_parameter> parameters;
  std::vector<nb_kernel_output> outputs;
  nb_kernel_descriptor described = {};
};

} // namespace mlir::nb

#endif
