// Programs of earlier versions of the dialect, read from bytecode.
//
// Types and attributes stand in bytecode as text, and ops by name. Where a new version renames an
// op or an attribute, or gives one another meaning, increase `dialectVersion`, add a step to
// `dialectUpgrades` that turns a program of the version before into one of the new, and add a file
// of the version before to test/Dialect.
#ifndef NB_DIALECT_UPGRADES_H
#define NB_DIALECT_UPGRADES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::nb {

/// The version that is written.
inline constexpr uint64_t dialectVersion = 1;

/// A step to the next version.
struct DialectUpgrade {
  uint64_t from; ///< this version, to the one after it
  /// Changes `top` and all inside. Failure after a diagnostic.
  LogicalResult (*run)(Operation *top);
};

/// The steps to dialectVersion, one for each earlier version that needs one, in order.
ArrayRef<DialectUpgrade> dialectUpgrades();

/// Runs the steps that a program of this version needs.
LogicalResult upgrade(Operation *top, uint64_t version, ArrayRef<DialectUpgrade> steps);

} // namespace mlir::nb

#endif
