#include "lib/Compiler/Lab/Recording.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/Lab/PipelineVariants.h"
#include "lib/Transforms/Dependences.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

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
    loop->walk([&](Operation *op) {
      innermost &= op == loop || !isa<LoopOp, scf::ForOp>(op);
    });
    if (!innermost)
      return;
    for (Region &region : loop->getRegions())
      region.walk([&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
  });
  return counts;
}

static Expected<std::vector<RecordedStage>> recordPasses(Subject &subject, Pipeline pipeline) {
  std::vector<PassRemark> said;
  if (failed(collectRemarks(subject.context,
                            [&](PassRemark remark) { said.push_back(std::move(remark)); })))
    return llvm::createStringError("remarks of passes cannot be collected");
  const auto noMore = llvm::scope_exit([&] { (void)collectRemarks(subject.context, [](PassRemark) {}); });
  OwningOpRef<ModuleOp> work = subject.get().clone();
  std::vector<RecordedStage> stages;
  auto look = [&](StringRef pass, StringRef stage) {
    RecordedStage now;
    now.pass = pass.str();
    now.stage = stage.str();
    now.lines = linesOf(*work);
    now.opsPerSample = countInnermost(*work);
    if (!stages.empty())
      now.changed = !llvm::equal(now.lines, stages.back().lines, [](auto &a, auto &b) {
        return a.text == b.text;
      });
    stages.push_back(std::move(now));
  };
  look("as written", "");
  std::string message;
  ScopedDiagnosticHandler handler(&subject.context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = sentenceOf(diagnostic);
  });
  for (PipelineStep &step : pipeline.steps) {
    said.clear();
    const std::string name = step.name(), stage = step.stage;
    if (failed(step.run(*work)))
      return llvm::createStringError("pass " + name + ": " + message);
    look(name, stage);
    stages.back().remarks = said;
  }
  return stages;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// The instructions of the inner loop with the names that .loc lines number.
static std::vector<NamedInstruction> nameLoop(StringRef assembly, const InnerLoop &loop,
                                              ArrayRef<std::string> names) {
  std::vector<NamedInstruction> instructions;
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  std::string name;
  for (size_t i = 0; i <= loop.lastLine && i < lines.size(); ++i) {
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
    if (i >= loop.firstLine && instruction)
      instructions.push_back({line.str(), name});
  }
  return instructions;
}

/// What llvm-mca says of the loop, where there is one.
static std::string portsOf(const InnerLoop &loop, const Target &target) {
  auto program = llvm::sys::findProgramByName("llvm-mca-22");
  if (!program)
    program = llvm::sys::findProgramByName("llvm-mca", {NB_LLVM_TOOLS_DIR});
  if (!program)
    return "llvm-mca is not installed (package llvm-22): no port pressure";
  SmallString<128> input, output;
  if (llvm::sys::fs::createTemporaryFile("nb", "s", input) ||
      llvm::sys::fs::createTemporaryFile("nb", "txt", output))
    return "no temporary file can be made for llvm-mca";
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    for (const std::string &line : loop.lines)
      if (!StringRef(line).starts_with("j"))
        stream << line << '\n';
  }
  const std::string triple = "-mtriple=" + target.triple, cpu = "-mcpu=" + target.cpu;
  const std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output), StringRef(output)};
  int status = llvm::sys::ExecuteAndWait(
      *program, {*program, triple, cpu, "-instruction-info=0", "-iterations=100", input},
      std::nullopt, redirects, 60);
  std::string text;
  if (auto read = llvm::MemoryBuffer::getFile(output))
    text = (*read)->getBuffer().str();
  (void)llvm::sys::fs::remove(input);
  (void)llvm::sys::fs::remove(output);
  return status == 0 ? text : "llvm-mca: " + text;
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
  const std::string function = c.description.function + names::runTile.str();
  if (llvm::Function *tile = c.module->getFunction(function)) {
    std::string text;
    llvm::raw_string_ostream(text) << *tile;
    for (StringRef line : llvm::split(text, '\n'))
      recording.llvm.push_back(line.substr(0, line.find(", !dbg")).str());
  }
  auto code = c.code(llvm::CodeGenFileType::AssemblyFile);
  if (!code)
    return code.takeError();
  StringRef assembly(code->data(), code->size());
  recording.statistics = findInnerLoop(assembly, function);
  if (recording.statistics) {
    recording.loop = nameLoop(assembly, *recording.statistics, c.namesOfLines);
    recording.ports = portsOf(*recording.statistics, c.target);
  }
  return llvm::Error::success();
}

Expected<Recording> nb::record(Subject &subject, const Expectation &expectation,
                               const std::string &pipeline, const TrialOptions &options,
                               bool judge) {
  Recording recording;
  recording.image = expectation.image;
  auto compilation = Compilation::start(subject.get(), options.compile);
  if (!compilation)
    return compilation.takeError();
  Pipeline whole = (*compilation)->pipeline();
  if (!pipeline.empty()) {
    auto own = parsePipeline(pipeline);
    if (!own)
      return own.takeError();
    whole = std::move(*own);
  }
  std::vector<std::string> texts;
  for (const PipelineStep &step : whole.steps)
    texts.push_back(step.text());
  auto stages = recordPasses(subject, std::move(whole));
  if (!stages)
    return stages.takeError();
  recording.stages = std::move(*stages);
  TrialOptions quick = options;
  quick.countInstructions = false;
  Pipeline prefix;
  for (size_t i = 1; judge && i != recording.stages.size(); ++i) {
    prefix.steps.push_back({"", "", nullptr, texts[i - 1]});
    const bool last = i + 1 == recording.stages.size();
    if (last || recording.stages[i + 1].stage != recording.stages[i].stage)
      recording.stages[i].trial =
          tryPipeline(subject, expectation, recording.stages[i].stage, prefix.text(), quick);
  }
  recording.whole = tryPipeline(subject, expectation, "whole", pipeline, options);
  std::vector<TrialResult> timed{recording.whole};
  timeInTurn(subject, timed, options, 5);
  recording.whole = timed.front();
  if (auto error = recordCode(recording, subject, pipeline, options))
    return error;
  return recording;
}
