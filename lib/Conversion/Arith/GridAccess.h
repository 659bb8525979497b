// Where in a grid a Miller index is.
#ifndef NB_CONVERSION_GRIDACCESS_H
#define NB_CONVERSION_GRIDACCESS_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

/// Bounds of one axis as floats.
struct GridAxis {
  Value low, high;
};

/// A grid with its bounds as floats of the index type's element.
struct GridBounds {
  GridAxis axes[3];
  Value lMin, lMax; ///< as index
  Value data;

  /// All four values of a row along l, or all there are: lanes of i1.
  Value rowMask(Arithmetic &a) const;
};

/// The grid for indices of `type`, a float or lanes.
GridBounds openGrid(const GridParts &parts, Type type, Arithmetic &a);

Value clamp(Value x, Value low, Value high, Arithmetic &a);

/// The nearest whole numbers, ceil(x - 1/2); `integral`: they are whole already.
Components nearestIndex(ValueRange hkl, bool integral, Arithmetic &a);

/// Position of an entry, as a float: exact, since grids have fewer than 2^31 entries.
Value flatten(ValueRange index, const GridBounds &grid, Arithmetic &a);

/// Position of the reflection closest to the whole numbers `index` that is in the grid: an index
/// (scalar) or i32 lanes.
Value nearestPosition(ValueRange index, const GridBounds &grid, Arithmetic &a);

/// The 4 x 4 x 4 neighbourhood of fractional indices: Lagrange weights and, as whole numbers, the
/// positions in the grid's values of the four nodes along h and k and of the first along l.
struct Neighbourhood {
  Value fractions[3]; ///< from the node before the point to the point
  Components weights[3];
  Components planes, rows; ///< offsets of the nodes along h and k
  Value first;             ///< offset of the first of four neighbouring values along l
};

/// `order`: of the derivative of the weights along each axis.
Neighbourhood neighbourhood(ValueRange hkl, ArrayRef<int64_t> order, const GridBounds &grid,
                            Arithmetic &a);

/// The weights of the four nodes, differentiated `order` times, at such a fraction.
Components lagrangeWeights(Value fraction, int64_t order, Arithmetic &a);

} // namespace mlir::nb

#endif
