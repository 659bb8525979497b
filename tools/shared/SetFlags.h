// Flags of MLIR in a tool that is linked with the compiler.
#ifndef NANOBRAGG_TOOLS_SETFLAGS_H
#define NANOBRAGG_TOOLS_SETFLAGS_H

#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Quantities/UsageError.h"

namespace nanobragg {

/// For runTool.
inline void setFlags(const std::vector<std::string> &words) {
  if (auto error = mlir::nb::setMLIRFlags(words))
    throw UsageError(llvm::toString(std::move(error)));
}

} // namespace nanobragg
#endif
