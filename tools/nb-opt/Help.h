// The help text of nb-opt.
#ifndef NB_OPT_HELP_H
#define NB_OPT_HELP_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::nb {

/// Runs `print`, which may end the process, in a process of its own, and prints what that writes
/// with the passes of this project in groups ahead of MLIR's. The exit status is that process's.
int printGrouped(llvm::function_ref<int()> print);

} // namespace mlir::nb

#endif
