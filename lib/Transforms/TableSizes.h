// How long tables are.
#ifndef NB_TRANSFORMS_TABLESIZES_H
#define NB_TRANSFORMS_TABLESIZES_H

#include "dialect/NB.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::nb {

/// Sizes of a function's tables, which their types do not tell: those of the loops that fill them
/// or run over them.
class TableSizes {
public:
  explicit TableSizes(Operation *func);

  /// One index value per dimension, or nothing when no loop tells.
  ArrayRef<Value> of(Value table) const;

private:
  void visit(Operation *op);

  DenseMap<Value, SmallVector<Value>> sizes;
};

} // namespace mlir::nb

#endif
