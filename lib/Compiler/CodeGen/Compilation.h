// One program on its way to code.
#ifndef NB_COMPILER_COMPILATION_H
#define NB_COMPILER_COMPILATION_H

#include "lib/Compiler/CodeGen/CodeGen.h"
#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Compiler/CodeGen/DescribeKernel.h"
#include "lib/Compiler/Pipelines/Pipelines.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/LLVMContext.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir::nb {

/// One compilation: its context, the target, and the program at the stage reached so far.
class Compilation {
public:
  using ModuleContext = std::shared_ptr<llvm::LLVMContext>;

  static llvm::Expected<std::unique_ptr<Compilation>>
  start(const nanobragg::ProgramVariant &variant, const CompileOptions &options,
        ModuleContext moduleContext = nullptr);
  /// Works on a copy of `program`, in its context.
  static llvm::Expected<std::unique_ptr<Compilation>>
  start(ModuleOp program, const CompileOptions &options, ModuleContext moduleContext = nullptr);

  /// All passes of this compilation, for its target and of its derivative, if there is one.
  Pipeline pipeline() const;
  /// Runs those on nb programs, up to and including fusion.
  llvm::Error fuse();
  /// Runs those up to a stage; each name may be empty.
  llvm::Error runUntil(StringRef untilBefore, StringRef untilAfter);
  /// All passes, or with `fused` those after the nb-level ones; then optimized LLVM IR in `module`
  /// and the description of the function `name`, or if there is none of that name, of the one that
  /// has an image. `complete` may add to the module before it is optimized.
  llvm::Error lower(bool fused = false,
                    llvm::function_ref<void(llvm::Module &)> complete = nullptr,
                    StringRef name = "");

  std::string text();
  /// The file that the program was dumped to last; empty: none.
  std::string lastDump() const { return dump ? dump->last() : ""; }
  /// The program at the stage reached so far.
  ModuleOp get() const { return *program; }
  std::string features() { return featuresOf(*machine); }
  llvm::Expected<llvm::SmallVector<char, 0>> code(llvm::CodeGenFileType type) {
    return emitCode(*module, *machine, type);
  }

  Target target;
  /// Function, parameters, outputs, image type, precision and target; set by lower().
  KernelDescription description;

private:
  ModuleContext moduleContext; // outlives the module

public:
  std::unique_ptr<llvm::Module> module;

private:
  Compilation(const CompileOptions &options, MLIRContext &context, ModuleContext moduleContext);
  llvm::Error prepare();
  llvm::Error run(Pipeline passes);
  llvm::Error describe(StringRef name);
  /// The precision that the passes get. Derivatives of `mixed` are computed in f64, all of them:
  /// those by what a lattice factor does not depend on too.
  std::string arithmetic() const;

  CompileOptions options;
  std::unique_ptr<MLIRContext> ownContext;
  MLIRContext &context;
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::optional<IRDump> dump;
};

} // namespace mlir::nb

#endif
