#include "lib/Compiler/Pipelines/Pipeline.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::nb;

static void addTo(OpPassManager &passes, StringRef anchor, std::unique_ptr<Pass> pass) {
  if (anchor.empty())
    passes.addPass(std::move(pass));
  else
    passes.nest(anchor).addPass(std::move(pass));
}

std::string PipelineStep::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass->printAsTextualPipeline(stream);
  return "builtin.module(" + (anchor.empty() ? text : anchor + "(" + text + ")") + ")";
}

LogicalResult PipelineStep::run(ModuleOp program) {
  PassManager passes(program.getContext());
  addTo(passes, anchor, std::move(pass));
  return passes.run(program);
}

std::vector<std::string> Pipeline::stageNames() const {
  std::vector<std::string> names;
  for (const PipelineStep &step : steps)
    if (!llvm::is_contained(names, step.stage))
      names.push_back(step.stage);
  return names;
}

/// The number of the first step of the stage, or of the first one behind it.
llvm::Expected<size_t> Pipeline::find(StringRef stage, bool behind) const {
  auto isIn = [&](const PipelineStep &step) { return step.stage == stage; };
  auto first = llvm::find_if(steps, isIn);
  if (first == steps.end())
    return llvm::createStringError("there is no stage '" + stage.str() +
                                   "' in this pipeline, whose stages are " +
                                   llvm::join(stageNames(), ", "));
  auto end = std::find_if_not(first, steps.end(), isIn);
  return size_t((behind ? end : first) - steps.begin());
}

llvm::Error Pipeline::endBefore(StringRef stage) {
  auto end = find(stage, /*behind=*/false);
  if (!end)
    return end.takeError();
  steps.erase(steps.begin() + *end, steps.end());
  return llvm::Error::success();
}

llvm::Error Pipeline::endAfter(StringRef stage) {
  auto end = find(stage, /*behind=*/true);
  if (!end)
    return end.takeError();
  steps.erase(steps.begin() + *end, steps.end());
  return llvm::Error::success();
}

llvm::Error Pipeline::beginAt(StringRef stage) {
  auto begin = find(stage, /*behind=*/false);
  if (!begin)
    return begin.takeError();
  steps.erase(steps.begin(), steps.begin() + *begin);
  return llvm::Error::success();
}

llvm::Error Pipeline::keep(StringRef untilBefore, StringRef untilAfter) {
  if (!untilBefore.empty() && !untilAfter.empty())
    return llvm::createStringError(
        "until-before and until-after are both given: a pipeline ends once");
  if (!untilBefore.empty())
    return endBefore(untilBefore);
  return untilAfter.empty() ? llvm::Error::success() : endAfter(untilAfter);
}

void Pipeline::moveTo(OpPassManager &passes) {
  for (PipelineStep &step : steps)
    addTo(passes, step.anchor, std::move(step.pass));
  steps.clear();
}

static llvm::Error runStepwise(Pipeline pipeline, ModuleOp program, IRDump &dump,
                               const std::string &message) {
  if (dump.isEmpty())
    if (llvm::Error error = dump.writeInput(program))
      return error;
  for (PipelineStep &step : pipeline.steps) {
    const std::string name = step.name(), text = step.text();
    if (failed(step.run(program)))
      return llvm::createStringError(message);
    if (llvm::Error error = dump.write(program, name, text))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error nb::runPipeline(Pipeline pipeline, ModuleOp program, IRDump *dump) {
  std::string message;
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
  });
  if (dump)
    return runStepwise(std::move(pipeline), program, *dump, message);
  PassManager passes(program.getContext());
  passes.enableVerifier(false);
  pipeline.moveTo(passes);
  if (failed(passes.run(program)))
    return llvm::createStringError(message);
  return llvm::Error::success();
}
