// Loops and flat buffers.
#ifndef NB_CONVERSION_LOOPNEST_H
#define NB_CONVERSION_LOOPNEST_H

#include "lib/Conversion/Arith/Scalars.h"

#include "mlir/IR/Builders.h"

namespace mlir::nb {

/// A nest of loops from 0 to each count. `body` is called in the innermost loop with the induction
/// variables and the carried values, and returns what to carry on.
SmallVector<Value>
buildNest(OpBuilder &b, Location loc, ValueRange counts, SmallVector<Value> carried,
          SmallVector<Value> &ivs,
          function_ref<SmallVector<Value>(OpBuilder &, ValueRange ivs, ValueRange carried)> body);

/// Moves the body of `loop` before the builder's insertion point, with `ivs` for its arguments, and
/// returns what it yielded.
SmallVector<Value> inlineBody(OpBuilder &b, LoopOp loop, ValueRange ivs);

/// A buffer of `size` doubles.
Value allocate(OpBuilder &b, Location loc, Value size);
/// Position of the first scalar of the entry at `indices`.
Value entryOffset(OpBuilder &b, Location loc, ValueRange indices, ValueRange counts,
                  int64_t components);
/// offset + component
Value plus(OpBuilder &b, Location loc, Value offset, int64_t component);
void storeEntry(OpBuilder &b, Location loc, Value entry, Value buffer, Value offset);
Value loadEntry(OpBuilder &b, Location loc, Type type, Value buffer, Value offset);

/// Error unless tables can hold elements of this type.
LogicalResult checkTableElement(Operation *op, Type element);

} // namespace mlir::nb

#endif
