// Sums that are memory.
//
// A sum over pixels, and any sum of tables or grids, is memory into which each term is added where
// it is computed: an nb.scatter that a body yields becomes one load, addition and store, through
// any number of sums around it.
#ifndef NB_CONVERSION_ACCUMULATION_H
#define NB_CONVERSION_ACCUMULATION_H

#include "lib/Conversion/Loops/LoopNest.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::nb {

/// Memory for each scalar of what is summed. With lanes, terms are added to one vector of partial
/// sums per scalar, which is folded into the scalar later; grids have no lanes.
struct Accumulator {
  Type type;
  Value total;               ///< memref<?xf64>
  Value partial;             ///< the vectors, memref<?xf64>; null without lanes
  SmallVector<Value> counts; ///< a table's extents
  Value entries;             ///< how many a table or grid has
  int64_t first = 0;         ///< where in the memory it begins
  int64_t lanes = 0;         ///< how many the vectors have
  int64_t pixels = 0;        ///< lanes of the terms, a multiple
  bool concurrent = false;   ///< pixels that are computed at the same time add to it
  Value active;              ///< condition, over the lanes, under which a term counts; null: always
};

/// Memory ahead of `loop` for sums of numbers, one for each type, next to each other.
FailureOr<SmallVector<Accumulator>> createNumbers(Operation *loop, TypeRange types, int64_t lanes);

/// Tables and grids are always summed in memory.
inline bool isMemory(Type type) { return isa<TableType, HklGridType>(type); }

class Accumulation {
public:
  /// Memory ahead of `loop` for the sum of `type`, a table or grid, of which `yielded` is a term.
  FailureOr<Accumulator> create(Operation *loop, Type type, Value yielded, int64_t lanes);

  /// Adds a term at the insertion point; what a sum not yet lowered adds up is added there.
  LogicalResult add(OpBuilder &b, Location loc, Value term, const Accumulator &to);

  /// Where the terms of the sum `result`, a table or grid, go.
  ArrayRef<Accumulator> destinationsOf(Value result) { return destinations[result]; }
  void addDestination(Value result, const Accumulator &to) { destinations[result].push_back(to); }

private:
  llvm::DenseMap<Value, SmallVector<Accumulator, 1>> destinations;
};

/// Sets the partial sums to 0, ahead of the terms.
void clearPartial(OpBuilder &b, Location loc, const Accumulator &accumulator);
/// Adds the partial sums to the total, lane by lane in their order.
void foldPartial(OpBuilder &b, Location loc, const Accumulator &accumulator);
/// The value that has been accumulated.
Value readSum(OpBuilder &b, Location loc, const Accumulator &from);
/// A new buffer with the table or grid that has been accumulated.
Value copySum(OpBuilder &b, Location loc, const Accumulator &from);
/// Sets the total to 0.
void clearTotal(OpBuilder &b, Location loc, const Accumulator &accumulator);

} // namespace mlir::nb

#endif
