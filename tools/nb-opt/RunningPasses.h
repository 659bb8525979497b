// Which pass it was that did not end in order.
#ifndef NB_OPT_RUNNINGPASSES_H
#define NB_OPT_RUNNINGPASSES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::nb {

/// Names on standard error the pass of `passes` that fails, and those that run where the process
/// crashes, is interrupted, or is ended by one of them.
void nameRunningPasses(PassManager &passes);

} // namespace mlir::nb

#endif
