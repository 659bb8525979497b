// Work that may crash.
#ifndef NB_LAB_ISOLATED_H
#define NB_LAB_ISOLATED_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace mlir::nb {

/// What a process of its own wrote; or how it ended, if not in order.
struct IsolatedResult {
  std::string bytes, problem; ///< "crashes: Segmentation fault", "takes more than 60 s"
};

/// Runs `work` in a copy of this process and returns the text that it makes. What it does to memory
/// stays there. With a pipeline of somebody's own, anything may happen.
IsolatedResult runIsolated(llvm::function_ref<std::string()> work, double mostSeconds);

} // namespace mlir::nb

#endif
