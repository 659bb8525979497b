// A pipeline, and what each of its passes took, changed and said.
#ifndef NB_COMPILER_PASSREPORT_H
#define NB_COMPILER_PASSREPORT_H

#include "lib/Compiler/Pipelines/Pipeline.h"
#include "lib/Compiler/Pipelines/Remarks.h"

namespace mlir::nb {

struct PassRun {
  std::string pass;
  double seconds = 0; ///< the pass, and verifying what it left
  bool changed = false;
  std::vector<PassRemark> remarks;
};

/// Runs the passes one after another. The error is the first that one reported, with the pass's
/// name.
llvm::Expected<std::vector<PassRun>> runReported(Pipeline pipeline, ModuleOp program);

/// {"text": ..., "passes": [{"pass", "seconds", "changed", "remarks": [{"kind", "pass", "message",
/// "value", "line", "column"}]}]}, of a program that went through these passes.
std::string reportAsJson(const std::string &text, const std::vector<PassRun> &passes);

} // namespace mlir::nb

#endif
