#include "lib/Compiler/Pipelines/Pipeline.h"

#include "dialect/FlagLocations.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/PassWatch.h"
#include "lib/Program/StageNames.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::nb;

StringRef nb::nameOf(Stage stage) {
  if (stage == Stage::User)
    return "pipeline";
  static_assert(std::size(nanobragg::stageNames) == size_t(Stage::User));
  return nanobragg::stageNames[size_t(stage)];
}

static void addTo(OpPassManager &passes, StringRef anchor, std::unique_ptr<Pass> pass) {
  if (anchor.empty())
    passes.addPass(std::move(pass));
  else
    passes.nest(anchor).addPass(std::move(pass));
}

StringRef nb::insideModule(StringRef written) {
  written.consume_front("builtin.module(");
  written.consume_back(")");
  return written;
}

std::string PipelineStep::name() const {
  if (pass)
    return pass->getArgument().str();
  StringRef text = insideModule(written).take_until([](char c) { return c == '{' || c == ')'; });
  return text.rsplit('(').second.empty() ? text.str() : text.rsplit('(').second.str();
}

std::string PipelineStep::text() const {
  if (!pass)
    return written;
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass->printAsTextualPipeline(stream);
  return "builtin.module(" + (anchor.empty() ? text : anchor + "(" + text + ")") + ")";
}

namespace {
/// The op that a pass failed on.
struct FailedOn : PassInstrumentation {
  explicit FailedOn(std::string &place) : place(place) {}
  void runAfterPassFailed(Pass *, Operation *op) override {
    if (!place.empty())
      return;
    auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    place = op->getName().getStringRef().str() + (symbol ? " @" + symbol.str() : "");
  }
  std::string &place;
};
} // namespace

LogicalResult PipelineStep::run(ModuleOp program, std::string *failedOn) {
  FlaggedPassManager passes(program.getContext());
  if (failedOn)
    passes.addInstrumentation(std::make_unique<FailedOn>(*failedOn));
  if (!pass && failed(parsePassPipeline(insideModule(written), passes)))
    return failure();
  if (pass)
    addTo(passes, anchor, std::move(pass));
  return passes.run(program);
}

std::vector<std::string> Pipeline::stageNames() const {
  std::vector<std::string> names;
  for (const PipelineStep &step : steps)
    if (!llvm::is_contained(names, nameOf(step.stage)))
      names.push_back(nameOf(step.stage).str());
  return names;
}

/// The number of the first step of the stage, or of the first one behind it.
llvm::Expected<size_t> Pipeline::find(StringRef stage, bool behind) const {
  auto isIn = [&](const PipelineStep &step) { return nameOf(step.stage) == stage; };
  auto first = llvm::find_if(steps, isIn);
  if (first == steps.end())
    return llvm::createStringError("there is no stage '" + stage.str() +
                                   "' in this pipeline, whose stages are " +
                                   llvm::join(stageNames(), ", "));
  auto end = std::find_if_not(first, steps.end(), isIn);
  return size_t((behind ? end : first) - steps.begin());
}

std::string Pipeline::text() const {
  std::string text = "builtin.module(";
  for (const PipelineStep &step : steps) {
    const std::string one = step.text();
    text += (&step == &steps.front() ? "" : ",") + insideModule(one).str();
  }
  return text + ")";
}

Pipeline Pipeline::copy() const {
  Pipeline copy;
  for (const PipelineStep &step : steps)
    copy.steps.push_back(step.copy());
  return copy;
}

llvm::Error Pipeline::beginAt(Stage stage) {
  auto begin = find(nameOf(stage), /*behind=*/false);
  if (!begin)
    return begin.takeError();
  steps.erase(steps.begin(), steps.begin() + *begin);
  return llvm::Error::success();
}

llvm::Error Pipeline::keep(StringRef untilBefore, StringRef untilAfter) {
  if (!untilBefore.empty() && !untilAfter.empty())
    return llvm::createStringError(
        "until-before and until-after are both given: a pipeline ends once");
  const bool behind = untilBefore.empty();
  if (behind && untilAfter.empty())
    return llvm::Error::success();
  auto end = find(behind ? untilAfter : untilBefore, behind);
  if (!end)
    return end.takeError();
  steps.erase(steps.begin() + *end, steps.end());
  return llvm::Error::success();
}

bool Pipeline::has(StringRef stage) const {
  return llvm::any_of(steps, [&](const PipelineStep &step) { return nameOf(step.stage) == stage; });
}

void Pipeline::insert(size_t at, Pipeline other) {
  steps.insert(steps.begin() + at, std::make_move_iterator(other.steps.begin()),
               std::make_move_iterator(other.steps.end()));
}

void Pipeline::moveTo(OpPassManager &passes) {
  for (PipelineStep &step : steps)
    if (step.pass)
      addTo(passes, step.anchor, std::move(step.pass));
    else
      (void)parsePassPipeline(insideModule(step.written), passes); // it has been parsed before
  steps.clear();
}

static llvm::Error runStepwise(Pipeline pipeline, ModuleOp program, IRDump *dump,
                               const std::string &message) {
  if (dump && dump->isEmpty())
    if (llvm::Error error = dump->writeInput(program))
      return error;
  for (PipelineStep &step : pipeline.steps) {
    const std::string name = step.name(), text = step.text();
    PassWatch watch(program, name, text);
    std::string place;
    if (failed(step.run(program, &place)))
      return llvm::createStringError(
          "pass " + name + ": " +
          (message.empty()
               ? "fails on " + place + " without a message; to reproduce it: " + watch.reproduce()
               : message));
    if (!message.empty())
      return llvm::createStringError("pass " + name +
                                     ": reports an error and continues: " + message);
    if (!dump)
      continue;
    if (llvm::Error error = dump->write(program, name, text))
      return error;
  }
  return llvm::Error::success();
}

/// Where the user would look: the file, or the name of the value.
static std::string placeOf(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn()) + ": ";
  if (auto name = location->findInstanceOf<NameLoc>())
    return "at %" + name.getName().str() + ": ";
  return "";
}

std::string nb::sentenceOf(Diagnostic &diagnostic) {
  const StringRef flags = flagsAt(diagnostic.getLocation());
  return placeOf(diagnostic.getLocation()) + diagnostic.str() +
         (flags.empty() ? "" : " (" + flags.str() + ")");
}

llvm::Error nb::runPipeline(Pipeline pipeline, ModuleOp program, IRDump *dump, bool stepwise) {
  std::string message;
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = sentenceOf(diagnostic);
  });
  stepwise |= llvm::any_of(pipeline.steps, [](auto &step) { return !step.pass; });
  if (dump || stepwise)
    return runStepwise(std::move(pipeline), program, dump, message);
  FlaggedPassManager passes(program.getContext());
  passes.enableVerifier(false);
  pipeline.moveTo(passes);
  if (failed(passes.run(program)))
    return llvm::createStringError(message);
  return llvm::Error::success();
}
