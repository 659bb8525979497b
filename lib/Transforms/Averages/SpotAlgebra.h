// Symmetric matrices and bounds in the words of derivative rules.
#ifndef NB_TRANSFORMS_SPOTALGEBRA_H
#define NB_TRANSFORMS_SPOTALGEBRA_H

#include "dialect/RuleBuilder.h"

namespace mlir::nb {

Value minimum(Value x, Value y, RuleBuilder &r);
Value maximum(Value x, Value y, RuleBuilder &r);
/// x, where it is between -most and most, or the nearer of these.
Value clampedTo(Value most, Value x, RuleBuilder &r);
Value clampedToHalf(Value x, RuleBuilder &r);
Value plus(Value x, double y, RuleBuilder &r);

/// A symmetric matrix of numbers.
struct Symmetric {
  Value xx, yy, zz, xy, xz, yz;
};

/// m + v v^T times a weight; null is 1.
Symmetric withOuter(Symmetric m, Value v, Value weight, RuleBuilder &r);
/// The inverse times the determinant.
Symmetric cofactorsOf(const Symmetric &m, RuleBuilder &r);
Value determinantOf(const Symmetric &m, const Symmetric &cofactors, RuleBuilder &r);
Symmetric scaled(const Symmetric &m, Value by, RuleBuilder &r);
Value times(const Symmetric &m, Value v, RuleBuilder &r);

} // namespace mlir::nb

#endif
