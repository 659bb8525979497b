#include "lib/Compiler/Pipelines/PassReport.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/JSON.h"

#include <chrono>

using namespace mlir;
using namespace mlir::nb;
namespace json = llvm::json;

llvm::Expected<std::vector<PassRun>> nb::runReported(Pipeline pipeline, ModuleOp program) {
  MLIRContext &context = *program.getContext();
  std::vector<PassRun> runs;
  const auto take = [&](PassRemark said) { runs.back().remarks.push_back(std::move(said)); };
  if (failed(collectRemarks(context, take)))
    return llvm::createStringError("remarks of passes cannot be collected");
  const auto noMore = llvm::scope_exit([&] { (void)collectRemarks(context, [](PassRemark) {}); });
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = sentenceOf(diagnostic);
  });
  for (PipelineStep &step : pipeline.steps) {
    using Clock = std::chrono::steady_clock;
    runs.push_back({step.name(), 0, false, {}});
    const OperationFingerPrint before(program);
    const Clock::time_point begin = Clock::now();
    if (failed(step.run(program)))
      return llvm::createStringError("pass " + runs.back().pass + ": " + message);
    runs.back().seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    runs.back().changed = before != OperationFingerPrint(program);
  }
  return runs;
}

static json::Object asJson(const PassRemark &said) {
  return json::Object{
      {"kind", said.kind},   {"pass", said.pass}, {"message", json::fixUTF8(said.message)},
      {"value", said.value}, {"line", said.line}, {"column", said.column}};
}

std::string nb::reportAsJson(const std::string &text, const std::vector<PassRun> &passes) {
  json::Array all;
  for (const PassRun &run : passes) {
    json::Array remarks;
    for (const PassRemark &said : run.remarks)
      remarks.push_back(asJson(said));
    all.push_back(json::Object{{"pass", run.pass},
                               {"seconds", run.seconds},
                               {"changed", run.changed},
                               {"remarks", std::move(remarks)}});
  }
  std::string report;
  llvm::raw_string_ostream(report)
      << json::Value(json::Object{{"text", json::fixUTF8(text)}, {"passes", std::move(all)}});
  return report;
}
