// Loops and flat buffers.
#ifndef NB_CONVERSION_LOOPNEST_H
#define NB_CONVERSION_LOOPNEST_H

#include "dialect/NB.h"

#include "mlir/IR/Builders.h"

namespace mlir::nb {

/// Scalars that a value or one table entry holds.
int64_t componentCount(Type type);

Value indexConstant(OpBuilder &b, Location loc, int64_t value);
/// Of a type that an attribute can hold: float, integer, index or lanes of it.
Value zeroConstant(OpBuilder &b, Location loc, Type type);
Value product(OpBuilder &b, Location loc, ValueRange factors);

/// The components of a scalar (itself), vec3 or mat3, and the value of `type` that has them.
SmallVector<Value> scalarsOf(OpBuilder &b, Location loc, Value value);
Value fromScalars(OpBuilder &b, Location loc, Type type, ArrayRef<Value> scalars);

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
