// The interface through which nb-differentiate asks an op for its derivatives.
#ifndef NB_DIALECT_DERIVATIVES_H
#define NB_DIALECT_DERIVATIVES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dialect/Derivatives.h.inc"

namespace mlir::nb {

/// The zero of a scalar (float, index or integer, or lanes of one), !nb.vec3 or !nb.mat3.
Value zeroOf(OpBuilder &builder, Location loc, Type type);
/// The sum of two scalars, vectors or matrices, or of two tables or grids on their way into a sum;
/// a null value is zero.
Value addValues(OpBuilder &builder, Location loc, Value lhs, Value rhs);

/// Gives the ops of arith and math their rules, or declares them inactive.
void attachArithDerivatives(MLIRContext *context);

} // namespace mlir::nb

#endif
