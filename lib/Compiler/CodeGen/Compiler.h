// From a variant to a running kernel.
#ifndef NB_COMPILER_COMPILER_H
#define NB_COMPILER_COMPILER_H

#include "lib/Program/CompileRequest.h"
#include "lib/Program/KernelSpecification.h"
#include "nanobragg/KernelABI.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::nb {

struct CompileOptions : nanobragg::CompileOptions {
  CompileOptions() = default;
  explicit CompileOptions(const nanobragg::CompileOptions &asked)
      : nanobragg::CompileOptions(asked) {}

  std::string
      dumpedFrom; ///< the file of dumpIR that the program comes from, relative to it, if any
  bool marksDerivative = false; ///< nb-differentiate in the passes says where, `derivative` whether
                                ///< and what; so it is of a variant's program anyway
};

/// The folder that the IR of this compilation is dumped to: options.dumpIR, and of a derivative the
/// folder there that has the name of its mode, "vjp"; a program that renders and derives has both.
std::string dumpFolderOf(const CompileOptions &options);

/// A kernel in this process; the descriptor and its functions live as long as it does.
class JitKernel {
public:
  struct State;
  explicit JitKernel(std::unique_ptr<State> state);
  ~JitKernel();
  const nb_kernel_descriptor &descriptor() const;
  /// The size of its instructions.
  size_t codeBytes() const;

private:
  std::unique_ptr<State> state;
};

class Compilation;
/// Loads a program that has been lowered into this process. `made`: what for, but for counts that
/// are compiled in, which the program says.
llvm::Expected<std::unique_ptr<JitKernel>> loadCompiled(Compilation &compilation,
                                                        nanobragg::KernelSpecification made = {});

/// Compiles the program of a variant for this process. Errors are one sentence.
llvm::Expected<std::unique_ptr<JitKernel>> compileKernel(const nanobragg::ProgramVariant &variant,
                                                         const CompileOptions &options);

/// The name of a function's argument: its `nb.name` attribute, else argN.
std::string argumentName(func::FuncOp function, unsigned argument);

/// Compiles a function that has an image, takes what has an nb_parameter_kind and returns what has
/// an nb_output_kind. With `fused`, the nb-level passes have been run before. `program` stays as it
/// is.
llvm::Expected<std::unique_ptr<JitKernel>> compileFunction(ModuleOp program,
                                                           llvm::StringRef function, bool fused,
                                                           const CompileOptions &options);

/// A kernel as a file that describes itself: "so", a shared object that needs nothing but libc, or
/// "obj", a relocatable object; both define nb_kernel_get_descriptor. The file holds a version for
/// each of options.targets().
llvm::Expected<llvm::SmallVector<char, 0>> buildKernel(const nanobragg::ProgramVariant &variant,
                                                       const CompileOptions &options,
                                                       llvm::StringRef kind);
/// The same of the function of a program that returns an image.
llvm::Expected<llvm::SmallVector<char, 0>>
buildKernel(ModuleOp program, const CompileOptions &options, llvm::StringRef kind);

/// The program as text at a stage: "nb" as the frontend wrote it, "mlir" after the nb-level passes
/// or those of options.passes, or where options.until says. "report": the same as JSON with what
/// each of these passes took and said. "llvm": optimized LLVM IR with the names of values. "asm":
/// assembly. "stats": what the loops are made of, registers and the bound; "stats-json": the same
/// as JSON. "ptx": the assembly of an NVIDIA chip.
llvm::Expected<std::string> emitProgram(const nanobragg::ProgramVariant &variant,
                                        const CompileOptions &options, llvm::StringRef stage);
llvm::Expected<std::string> emitProgram(ModuleOp program, const CompileOptions &options,
                                        llvm::StringRef stage);

} // namespace mlir::nb

#endif
