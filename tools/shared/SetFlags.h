// Flags of MLIR, and spans of passes, in a tool that is linked with the compiler.
#ifndef NANOBRAGG_TOOLS_SETFLAGS_H
#define NANOBRAGG_TOOLS_SETFLAGS_H

#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/TraceSpans.h"
#include "lib/Quantities/UsageError.h"
#include "lib/Trace/Trace.h"

namespace nanobragg {

/// For runTool.
inline void setFlags(const std::vector<std::string> &words) {
  if (auto error = mlir::nb::setMLIRFlags(words))
    throw UsageError(llvm::toString(std::move(error)));
}

/// `work` for runTool, with spans of its passes in the record of NB_TRACE_EVENTS.
template <int (*work)(const std::vector<std::string> &)>
int traced(const std::vector<std::string> &words) {
  const mlir::nb::TraceSpans spans(trace::isOn() ? trace::addCompilerSpan : nullptr);
  return work(words);
}

} // namespace nanobragg
#endif
