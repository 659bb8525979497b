// Interpolation in a grid.
#ifndef NB_CONVERSION_TRICUBIC_H
#define NB_CONVERSION_TRICUBIC_H

#include "lib/Conversion/Arith/GridAccess.h"

namespace mlir::nb {

/// Tricubic interpolation at one point: for each of `orders` the derivative of that order along h,
/// k and l. All share the neighbours that they read, and what they have in common of the sums.
SmallVector<Value> interpolateAll(ValueRange hkl, ArrayRef<ArrayRef<int64_t>> orders,
                                  const GridBounds &grid, Arithmetic &a);

} // namespace mlir::nb

#endif
