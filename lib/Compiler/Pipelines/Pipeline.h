// A pipeline: passes in named stages.
#ifndef NB_COMPILER_PIPELINE_H
#define NB_COMPILER_PIPELINE_H

#include "lib/Compiler/Pipelines/DumpIR.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::nb {

/// The stages of the compiler's pipelines, in the order in which a kernel goes through them.
enum class Stage {
  Counts,
  Simplify,
  Probe,
  Average,
  Response,
  Hoist,
  Branches,
  Differentiate,
  HoistDerivative,
  Fuse,
  Precision,
  Peel,
  Cull,
  Lanes,
  Loops,
  Arith,
  Outline,
  Gpu,
  Grid,
  Host,
  LLVM,
  NVVM,
  SPIRV,
  ROCDL,
  User ///< passes of the user's, whatever they do
};

/// "hoist-derivative"; of User: "pipeline".
llvm::StringRef nameOf(Stage stage);

/// Do the stage's passes leave programs that can be differentiated, as those up to fusion do?
constexpr bool leavesDifferentiable(Stage stage) { return stage < Stage::Precision; }
/// Do they leave programs with images and sums?
constexpr bool leavesImages(Stage stage) { return stage < Stage::Loops; }

/// The first stage of the compiler's pipelines that runs the pass of this name; nothing: none does.
std::optional<Stage> stageOf(llvm::StringRef pass);
/// The pass of the compiler's pipelines whose name is most like this.
std::string closestPass(llvm::StringRef name);

/// One pass, what it runs on, and the stage that it belongs to.
struct PipelineStep {
  Stage stage;
  std::string
      anchor; ///< name of the ops of the module that it runs on, "func.func"; empty: the module
  std::unique_ptr<Pass> pass; ///< null: `written` says what runs
  std::string written{};      ///< "builtin.module(func.func(nb-fuse))"

  /// "nb-fuse"
  std::string name() const;
  /// As nb-opt's --pass-pipeline takes it: "builtin.module(func.func(nb-fuse))".
  std::string text() const;
  /// Another one that does the same, by its text.
  PipelineStep copy() const { return {stage, anchor, nullptr, text()}; }
  /// Runs this pass alone and verifies what it left. `failedOn`: takes the op where it fails.
  LogicalResult run(ModuleOp program, std::string *failedOn = nullptr);
};

class Pipeline {
public:
  Pipeline() = default;
  Pipeline(Pipeline &&) = default;
  Pipeline &operator=(Pipeline &&) = default;

  /// Passes added from now on belong to this stage.
  Pipeline &stage(Stage which) {
    current = which;
    return *this;
  }
  /// Adds a pass over the module.
  void add(std::unique_ptr<Pass> pass) { steps.push_back({current, "", std::move(pass)}); }
  /// Adds a pass over each OpT of the module.
  template <typename OpT>
  void addOn(std::unique_ptr<Pass> pass) {
    steps.push_back({current, OpT::getOperationName().str(), std::move(pass)});
  }

  /// Leaves out all before a stage; it and all after it. An error names the stages that there are.
  llvm::Error beginAt(Stage stage);
  llvm::Error endBefore(Stage stage) { return keep(nameOf(stage), ""); }
  /// Ends before the stage of the first name, or after that of the second; each may be empty.
  llvm::Error keep(llvm::StringRef untilBefore, llvm::StringRef untilAfter);

  std::vector<std::string> stageNames() const;
  /// All of it as nb-opt's --pass-pipeline takes it.
  std::string text() const;

  /// Is there a stage of this name?
  bool has(llvm::StringRef stage) const;
  /// Adds all steps of the other one, ahead of step `at`, or behind all others.
  void insert(size_t at, Pipeline other);
  void append(Pipeline other) { insert(steps.size(), std::move(other)); }

  Pipeline copy() const;

  /// Gives the passes away.
  void moveTo(OpPassManager &passes);

  std::vector<PipelineStep> steps;

private:
  llvm::Expected<size_t> find(llvm::StringRef stage, bool behind) const;

  Stage current = Stage::User;
};

/// A pipeline as nb-opt's --pass-pipeline takes it, "builtin.module(func.func(nb-fuse),cse)", one
/// step for each of its passes, those of named pipelines too, in the stage "pipeline". The passes
/// have to be registered. An error names what is wrong with the text.
llvm::Expected<Pipeline> parsePipeline(llvm::StringRef text);

/// A pipeline's text without the "builtin.module(" around it.
llvm::StringRef insideModule(llvm::StringRef text);

/// The message of a diagnostic in one sentence, with its place.
std::string sentenceOf(Diagnostic &diagnostic);

/// Runs all passes; the error is the first that one reported. With `dump`, the program is verified
/// and written after each pass (and before the first, if nothing has been written yet).
/// `stepwise`, and where steps are from a text, it is verified too, and the error names the pass.
llvm::Error runPipeline(Pipeline pipeline, ModuleOp program, IRDump *dump = nullptr,
                        bool stepwise = false);

} // namespace mlir::nb

#endif
