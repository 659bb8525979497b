#include "lib/Compiler/Lab/Recording.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/Progress.h"
#include "lib/Compiler/Lab/PipelineVariants.h"
#include "lib/Transforms/Dependences.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static std::vector<RecordedLine> linesOf(ModuleOp program) {
  std::string text;
  AsmState::LocationMap places;
  {
    llvm::raw_string_ostream stream(text);
    AsmState state(program, OpPrintingFlags().printNameLocAsPrefix(), &places);
    program->print(stream, state);
  }
  std::vector<RecordedLine> lines;
  for (StringRef line : llvm::split(text, '\n'))
    lines.push_back({line.str(), "", 0});
  const Dependences dependences(program);
  program->walk([&](Operation *op) {
    auto place = places.find(op);
    if (place == places.end() || place->second.first == 0 || place->second.first > lines.size())
      return;
    RecordedLine &line = lines[place->second.first - 1];
    line.depends = dependences.of(op);
    if (op->getNumResults())
      line.name = nameOf(op->getLoc()).str();
  });
  return lines;
}

/// Ops of the loops that no other loop is in.
static std::map<std::string, unsigned> countInnermost(ModuleOp program) {
  std::map<std::string, unsigned> counts;
  program->walk([&](Operation *loop) {
    if (!isa<LoopOp, scf::ForOp>(loop))
      return;
    bool innermost = true;
    loop->walk([&](Operation *op) { innermost &= op == loop || !isa<LoopOp, scf::ForOp>(op); });
    if (!innermost)
      return;
    for (Region &region : loop->getRegions())
      region.walk([&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
  });
  return counts;
}

/// Pixels computed at once.
static int64_t lanesOf(ModuleOp program) {
  int64_t lanes = 1;
  program->walk(
      [&](ImageOp image) { lanes = std::max(lanes, int64_t(image.getLanes().value_or(1))); });
  return lanes;
}

namespace {
struct Passes {
  std::vector<RecordedStage> stages;
  std::vector<std::string> texts; ///< the passes; the first stage has none
  int64_t lanes = 1;
};
} // namespace

/// Runs the pipeline, and what is missing to a kernel then.
static Expected<Passes> recordPasses(Subject &subject, Pipeline pipeline,
                                     function_ref<Expected<Pipeline>(ModuleOp)> rest) {
  std::vector<PassRemark> said;
  if (failed(collectRemarks(subject.context,
                            [&](PassRemark remark) { said.push_back(std::move(remark)); })))
    return llvm::createStringError("remarks of passes cannot be collected");
  const auto noMore =
      llvm::scope_exit([&] { (void)collectRemarks(subject.context, [](PassRemark) {}); });
  OwningOpRef<ModuleOp> work = subject.get().clone();
  Passes passes;
  std::vector<RecordedStage> &stages = passes.stages;
  auto look = [&](StringRef pass, StringRef stage) {
    RecordedStage now;
    now.pass = pass.str();
    now.stage = stage.str();
    now.lines = linesOf(*work);
    now.opsPerSample = countInnermost(*work);
    if (!stages.empty())
      now.changed = !llvm::equal(now.lines, stages.back().lines,
                                 [](auto &a, auto &b) { return a.text == b.text; });
    stages.push_back(std::move(now));
    passes.lanes = std::max(passes.lanes, lanesOf(*work));
  };
  look("as written", "");
  std::string message;
  ScopedDiagnosticHandler handler(&subject.context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = sentenceOf(diagnostic);
  });
  for (size_t i = 0;; ++i) {
    if (i == pipeline.steps.size()) {
      auto missing = rest(*work);
      if (!missing)
        return missing.takeError();
      if (missing->steps.empty())
        return passes;
      pipeline.append(std::move(*missing));
    }
    PipelineStep &step = pipeline.steps[i];
    said.clear();
    const std::string name = step.name(), stage = nameOf(step.stage).str();
    passes.texts.push_back(step.text());
    if (failed(step.run(*work)))
      return llvm::createStringError("pass " + name + ": " + message);
    look(name, stage);
    stages.back().remarks = said;
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// The instructions of the inner loop with the names that .loc lines number.
static std::vector<NamedInstruction> nameLoop(StringRef assembly, const CodeLoop &loop,
                                              ArrayRef<std::string> names) {
  const LoopText text = findLoop(loop, assembly);
  std::vector<NamedInstruction> instructions;
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  std::string name;
  for (size_t i = 0; i <= text.last && i < lines.size(); ++i) {
    StringRef line = lines[i].trim();
    if (line.consume_front(".loc")) {
      SmallVector<StringRef> words;
      line.split(words, ' ', -1, false);
      unsigned number = 0;
      if (words.size() > 1)
        (void)words[1].trim().getAsInteger(10, number);
      name = number > 0 && number <= names.size() ? names[number - 1] : "";
      continue;
    }
    bool instruction = lines[i].starts_with("\t") && !line.empty() && !line.starts_with(".") &&
                       !line.starts_with("#");
    if (i >= text.first && instruction)
      instructions.push_back({line.str(), name});
  }
  return instructions;
}

static llvm::Error recordCode(Recording &recording, Subject &subject, const std::string &pipeline,
                              const TrialOptions &options) {
  CompileOptions compile = options.compile;
  compile.passes.pipeline = pipeline;
  compile.passes.tell = nullptr;
  auto compilation = Compilation::start(subject.get(), compile);
  if (!compilation)
    return compilation.takeError();
  Compilation &c = **compilation;
  c.names = Compilation::Names::InAssembly;
  if (auto error = c.lower())
    return error;
  if (llvm::Function *tile = c.module->getFunction(c.tileFunction())) {
    std::string text;
    llvm::raw_string_ostream(text) << *tile;
    for (StringRef line : llvm::split(text, '\n'))
      recording.llvm.push_back(line.substr(0, line.find(", !dbg")).str());
  }
  KernelStats stats;
  auto assembly = c.assembly(stats);
  if (!assembly)
    return assembly.takeError();
  if (const CodeLoop *inner = stats.inner()) {
    recording.loop = nameLoop(*assembly, *inner, c.namesOfLines);
    recording.statistics = *inner;
  }
  return llvm::Error::success();
}

/// The whole pipeline and all that goes on from the end of a stage, in turn.
static void timeAll(Recording &recording, Subject &subject, const TrialOptions &options) {
  std::vector<TrialResult> timed{recording.whole};
  for (RecordedStage &stage : recording.stages)
    if (stage.trial)
      timed.push_back(*stage.trial);
  timeInTurn(subject, timed, options, 5);
  recording.whole = timed.front();
  auto next = timed.begin() + 1;
  for (RecordedStage &stage : recording.stages)
    if (stage.trial)
      stage.trial = *next++;
}

std::optional<double> Recording::samplesAround() const {
  if (!statistics || !whole.instructionsPerSample)
    return std::nullopt;
  // Each time around is one sample of each lane, or of several where LLVM unrolled the loop.
  const double around = statistics->instructions() / *whole.instructionsPerSample;
  return double(lanes) * std::max(1.0, std::round(around / double(lanes)));
}

Expected<Recording> nb::record(Subject &subject, const Expectation &expectation,
                               const std::string &pipeline, const TrialOptions &options,
                               bool judge) {
  Recording recording;
  recording.image = expectation.image;
  auto compilation = Compilation::start(subject.get(), options.compile);
  if (!compilation)
    return compilation.takeError();
  // A lowered program continues from its stage.
  Pipeline whole = subject.isLowered() ? Pipeline() : (*compilation)->pipeline();
  if (!pipeline.empty()) {
    auto own = parsePipeline(pipeline);
    if (!own)
      return own.takeError();
    whole = std::move(*own);
  }
  if (!options.compile.fixed.empty()) {
    Pipeline counts;
    stages::fixCounts(counts, options.compile.fixed);
    whole.insert(0, std::move(counts));
  }
  auto passes =
      recordPasses(subject, std::move(whole), [&](ModuleOp program) -> Expected<Pipeline> {
        auto progress = progressOf(program);
        if (!progress)
          return progress.takeError();
        auto stage = nextStage(*progress, (*compilation)->target);
        if (!stage)
          return stage.takeError();
        Pipeline missing = (*compilation)->pipeline();
        if (!*stage)
          return Pipeline();
        if (llvm::Error error = missing.beginAt(**stage))
          return error;
        return std::move(missing);
      });
  if (!passes)
    return passes.takeError();
  recording.stages = std::move(passes->stages);
  recording.lanes = passes->lanes;
  const std::vector<std::string> &texts = passes->texts;
  TrialOptions quick = options;
  quick.countInstructions = false;
  Pipeline prefix;
  for (size_t i = 1; judge && i != recording.stages.size(); ++i) {
    prefix.steps.push_back({Stage::User, "", nullptr, texts[i - 1]});
    const bool last = i + 1 == recording.stages.size();
    if (last || recording.stages[i + 1].stage != recording.stages[i].stage)
      recording.stages[i].trial =
          tryPipeline(subject, expectation, recording.stages[i].stage, prefix.text(), quick);
  }
  recording.whole = tryPipeline(subject, expectation, "whole", pipeline, options);
  timeAll(recording, subject, options);
  if (auto error = recordCode(recording, subject, pipeline, options))
    return error;
  return recording;
}
