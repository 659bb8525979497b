#include "lib/Compiler/Compare/RecordStages.h"

#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

namespace {
class Recorder {
public:
  explicit Recorder(ModuleOp program) : work(program.clone()), last(*work) {
    stages.push_back({"input", program.clone(), /*changed=*/true});
  }

  /// The program begins after this pass: what it makes has another meaning than what it takes.
  llvm::Error beginAfter(function_ref<LogicalResult(ModuleOp)> pass) {
    if (llvm::Error error = run("input", pass))
      return error;
    stages.erase(stages.begin());
    stages.front().changed = true;
    return llvm::Error::success();
  }

  /// Records the program after one more pass.
  llvm::Error run(StringRef name, function_ref<LogicalResult(ModuleOp)> pass) {
    std::string message;
    ScopedDiagnosticHandler handler(work->getContext(), [&](Diagnostic &diagnostic) {
      if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
        message = diagnostic.str();
    });
    if (failed(pass(*work)))
      return createStringError("a pass failed on the program: " + message);
    OperationFingerPrint now(*work);
    stages.push_back({name.str(), work->clone(), now != last});
    last = now;
    return llvm::Error::success();
  }

  std::vector<RecordedProgram> stages;

private:
  OwningOpRef<ModuleOp> work;
  OperationFingerPrint last;
};
} // namespace

/// Runs a pass, given as text, on what `step` runs on.
static llvm::Error runInjected(StringRef pass, const PipelineStep &step, Recorder &recorder,
                               MLIRContext *context) {
  FlaggedPassManager passes(context);
  OpPassManager &on = step.anchor.empty() ? passes : passes.nest(step.anchor);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(pass, on, stream)))
    return createStringError("cannot inject '" + pass.str() + "': " + message);
  return recorder.run(pass.split('{').first, [&](ModuleOp program) { return passes.run(program); });
}

llvm::Expected<std::vector<RecordedProgram>> nb::recordStages(ModuleOp program, StringRef inject,
                                                              Pipeline own) {
  Pipeline pipeline = std::move(own);
  if (pipeline.steps.empty()) {
    pipeline = cpuPipeline(CpuPipelineOptions());
    if (llvm::Error error = pipeline.endBefore(Stage::Loops))
      return error;
  }
  stages::averageFirst(pipeline, program);
  auto [after, pass] = inject.split(':');
  Recorder recorder(program);
  for (PipelineStep &step : pipeline.steps) {
    auto run = [&](ModuleOp work) { return step.run(work); };
    const std::string name = step.name();
    // Draws are many samples, of which a program in closed form has one.
    if (stageOf(name) == Stage::Average) {
      if (llvm::Error error = recorder.beginAfter(run))
        return error;
      continue;
    }
    if (llvm::Error error = recorder.run(name, run))
      return error;
    if (pass.empty() || name != after)
      continue;
    if (llvm::Error error = runInjected(pass, step, recorder, program.getContext()))
      return error;
    pass = "";
  }
  if (inject.empty() || (!after.empty() && inject.contains(':') && pass.empty()))
    return std::move(recorder.stages);
  std::string names;
  for (const RecordedProgram &stage : ArrayRef(recorder.stages).drop_front())
    names += (names.empty() ? "" : ", ") + stage.name;
  return createStringError("cannot inject '" + inject.str() +
                           "': expected AFTER:PASS, AFTER being one of " + names);
}
