// Vectors and matrices as scalars.
#ifndef NB_CONVERSION_SCALARS_H
#define NB_CONVERSION_SCALARS_H

#include "dialect/NB.h"

#include "mlir/IR/Builders.h"

namespace mlir::nb {

/// Scalars that a value or one table entry holds.
int64_t componentCount(Type type);

/// `element`, or lanes of it where `like` is lanes.
Type withElement(Type like, Type element);

Value indexConstant(OpBuilder &b, Location loc, int64_t value);
/// `type` is one that an attribute can hold: float, integer, index or lanes of it.
Value zeroConstant(OpBuilder &b, Location loc, Type type);
/// A negative factor counts as 0.
Value product(OpBuilder &b, Location loc, ValueRange factors);

/// The components of a scalar (itself), vec3 or mat3, and the value of `type` that has them.
SmallVector<Value> scalarsOf(OpBuilder &b, Location loc, Value value);
Value fromScalars(OpBuilder &b, Location loc, Type type, ArrayRef<Value> scalars);

} // namespace mlir::nb

#endif
