// Ops of schedules, and what runs them.
#ifndef NB_TRANSFORMS_SCHEDULEOPS_H
#define NB_TRANSFORMS_SCHEDULEOPS_H

#include "dialect/NB.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/BuiltinOps.h"

#define GET_OP_CLASSES
#include "lib/Transforms/Schedule/ScheduleOps.h.inc"

namespace mlir::nb {

/// Makes the transform dialect know the ops.
void registerScheduleOps(DialectRegistry &registry);

/// The patterns (PDLL, or pdl.pattern ops) or the schedule of a file. Null after a diagnostic at
/// `where`.
OwningOpRef<ModuleOp> readPatterns(StringRef file, Location where);

/// Runs @__transform_main of `schedule` on the program. Failure after a diagnostic.
LogicalResult applySchedule(ModuleOp schedule, ModuleOp program);

} // namespace mlir::nb

#endif
