// Smaller programs that still show something.
#ifndef NB_LAB_REDUCTION_H
#define NB_LAB_REDUCTION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>

namespace mlir::nb {

/// Is it still there?
using StillInteresting = std::function<bool(ModuleOp)>;

/// Told after each step that was kept: what was done, and how many ops are left.
using ReductionProgress = std::function<void(const std::string &what, size_t ops)>;

/// Makes the program smaller as long as `interesting` says so of the result, which is always valid
/// IR:
///   counts of sums, tables and phi steps become 1 (a dimension less),
///   values become constants, or one of their operands of the same type (a correction less),
///   stages behind an image and probes go; what has no user any more goes, arguments too.
/// Many at once where that works, one after another where it does not. (MLIR's reduction tree
/// erases ops whose values are used, and prints them: printers of nb ops end there.)
OwningOpRef<ModuleOp> reduce(ModuleOp program, const StillInteresting &interesting,
                             const ReductionProgress &progress);

size_t countOps(ModuleOp program);

} // namespace mlir::nb

#endif
