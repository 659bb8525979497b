// F32 amplitudes of f64 indices.
#ifndef NB_CONVERSION_SINGLETOARITH_H
#define NB_CONVERSION_SINGLETOARITH_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

/// A Miller index h, |h| < 2^19, in fixed point: the nearest reflection and the signed rest in
/// units of 2^-32, both i32. The rest is odd, so that it never is 0. All three meanings come from
/// one addition: with 1.5 * 2^20 + 1/2 on top, the upper half of the float's bits holds the
/// exponent and the nearest reflection, the lower half the rest.
struct FixedPointIndex {
  Value upper; ///< nearest reflection + upperBias, if the index is in range
  Value rest;
  static constexpr int64_t upperBias = 0x41380000;
};
FixedPointIndex toFixedPoint(Value h, Arithmetic &a);

/// nb.lattice_factor with a result in f32 of indices in f64.
Value lowerSingleLatticeFactor(LatticeFactorOp op, LoweredValues &values, Arithmetic &a);

} // namespace mlir::nb

#endif
