// One program on its way to code.
#ifndef NB_COMPILER_COMPILATION_H
#define NB_COMPILER_COMPILATION_H

#include "lib/Compiler/CodeGen/CodeGen.h"
#include "lib/Compiler/CodeGen/Compiler.h"
#include "lib/Compiler/CodeGen/DescribeKernel.h"
#include "lib/Compiler/CodeGen/Stats/KernelStats.h"
#include "lib/Compiler/Pipelines/Pipelines.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/LLVMContext.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir::nb {

/// A kernel is one function: the bodies of those that it calls take the place of the calls.
llvm::Error inlineCalls(ModuleOp program);

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

  /// All passes of the compiler's own, for the target and of the derivative, if there is one.
  Pipeline pipeline() const;
  /// Differentiates the program as it was written.
  llvm::Error differentiate();
  /// Runs the user's passes; else those on nb programs, up to and including fusion, if the program
  /// is one.
  llvm::Error fuse();
  /// The same passes one by one; returns the program's text and what each pass took and said, as
  /// JSON.
  llvm::Expected<std::string> report();
  /// All passes of this compilation, as --pipeline takes them, with the counts that are compiled
  /// in.
  llvm::Expected<std::string> pipelineText();
  /// Runs all passes up to a stage; each name may be empty.
  /// The stages of the program's pipeline, in their order; those of the user's passes are one,
  /// "pipeline". Runs the first ones.
  llvm::Expected<std::vector<std::string>> stageNames();
  llvm::Error runUntil(StringRef untilBefore, StringRef untilAfter);
  /// All passes, or with `fused` those that fuse() leaves; then optimized LLVM IR in `module`
  /// and the description of the function `name`, or if there is none of that name, of the one that
  /// has an image. `complete` may add to the module before it is optimized.
  llvm::Error lower(bool fused = false, llvm::function_ref<void(llvm::Module &)> complete = nullptr,
                    StringRef name = "");

  /// Tells options.passes.tell which have run so far, where the user had a say in that.
  void tellPasses() const;

  std::string text();
  /// The text of the program whose lines the debug information has, and the file that it names;
  /// empty: there is none.
  std::pair<llvm::StringRef, llvm::StringRef> debuggedProgram() const {
    return {programText, options.programFile};
  }
  /// The file that the program was dumped to last; empty: none.
  std::string lastDump() const { return dump ? dump->last() : ""; }
  /// Its ops have the lines of the program that the other one began with.
  void takeLines(const Compilation &other) { programText = other.programText; }
  /// The program at the stage reached so far.
  ModuleOp get() const { return *program; }
  std::string features() { return featuresOf(*machine); }
  llvm::Expected<llvm::SmallVector<char, 0>> code(llvm::CodeGenFileType type);
  /// The function that renders tiles.
  std::string tileFunction() const;
  /// Assembly, with the numbers of the function that renders tiles.
  llvm::Expected<std::string> assembly(KernelStats &stats);
  /// The same without the assembly, as text or with `json` as JSON.
  llvm::Expected<std::string> statistics(bool json);

  /// Where lower() puts the names of values in a processor's kernel.
  enum class Names { Drop, InLLVM, InAssembly } names = Names::Drop;
  /// With Names::InAssembly: those that its .loc lines number, from 1 on.
  std::vector<std::string> namesOfLines;

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
  /// Those that fuse() runs.
  llvm::Expected<Pipeline> opening() const;
  /// The user's, with the derivative in its place.
  llvm::Expected<Pipeline> ownPipeline() const;
  /// Those from where the program is to code.
  llvm::Expected<Pipeline> remaining() const;
  /// Runs the passes of opening(): the remaining ones. `names` becomes the stages of both.
  llvm::Expected<Pipeline> remainingAfter(Pipeline passes, std::vector<std::string> &names);
  /// Does the user choose passes, or bring the program?
  bool isOwn() const { return options.passes.any() || !ownContext; }

  CompileOptions options;
  std::unique_ptr<MLIRContext> ownContext;
  MLIRContext &context;
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::optional<IRDump> dump;
  std::string programText;      ///< whose lines the debug information has
  std::vector<std::string> ran; ///< names of passes
};

} // namespace mlir::nb

#endif
