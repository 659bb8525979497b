#include "lib/Compiler/Compare/Stages.h"

#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

namespace {
class Recorder : public PassInstrumentation {
public:
  Recorder(ModuleOp program, std::vector<Stage> &stages) : program(program), stages(stages) {}

  void runAfterPass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty()) // else the adaptor that nests passes in functions
      stages.push_back({pass->getArgument().str(), program.clone()});
  }

private:
  ModuleOp program;
  std::vector<Stage> &stages;
};
} // namespace

/// The text of the pipeline with `inject` in its place.
static llvm::Expected<std::string> injected(OpPassManager &passes, StringRef inject) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  passes.printAsTextualPipeline(stream);
  auto [after, pass] = inject.split(':');
  size_t at = text.find(after.str());
  if (after.empty() || pass.empty() || at == std::string::npos)
    return createStringError("cannot inject '" + inject.str() +
                             "': expected AFTER:PASS, AFTER being one of " + text);
  at = text.find_first_of(",{)", at);
  if (text[at] == '{')
    at = text.find('}', at) + 1;
  text.insert(at, "," + pass.str());
  return text;
}

llvm::Expected<std::vector<Stage>> nb::recordStages(ModuleOp program, StringRef inject) {
  OwningOpRef<ModuleOp> work = program.clone();
  std::vector<Stage> stages;
  stages.push_back({"input", program.clone()});

  std::string message;
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
  });
  PassManager passes(program.getContext());
  CpuPipelineOptions pipeline;
  populateFusion(passes);
  passes.nest<func::FuncOp>().addPass(createPeelMillerIndex());
  passes.nest<func::FuncOp>().addPass(createVectorize(VectorizeOptions{pipeline.width}));
  if (!inject.empty()) {
    auto text = injected(passes, inject);
    if (!text)
      return text.takeError();
    auto parsed = parsePassPipeline(*text);
    if (failed(parsed))
      return createStringError("cannot inject '" + inject.str() + "': " + message);
    static_cast<OpPassManager &>(passes) = std::move(*parsed);
  }
  passes.addInstrumentation(std::make_unique<Recorder>(*work, stages));
  if (failed(passes.run(*work)))
    return createStringError("a pass failed on the program: " + message);
  return stages;
}
