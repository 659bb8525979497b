// Lattice factors that are functions of the squared distance from the reflection: all but square.
#ifndef NB_DIALECT_CRYSTALSHAPES_H
#define NB_DIALECT_CRYSTALSHAPES_H

#include "dialect/RuleBuilder.h"
#include "lib/Experiment/CrystalShape.h"

namespace mlir::nb {

inline const nanobragg::CrystalShapeRow &rowOf(Shape shape) {
  return nanobragg::crystalShapes[unsigned(shape)];
}
/// The factor by which spotOf() multiplies the squared distance from the reflection.
inline double distanceFactor(Shape shape) { return rowOf(shape).distanceFactor; }

/// Coefficients c of the squared distance r2 = sum over i <= j of c_ij delta_i delta_j, the fudge
/// factor in them, times `factor`; in the order 00 11 22 01 02 12, the last three only with
/// `reciprocal` or `cross`. They do not change with the sample and have the six adjoints of a
/// symmetric matrix, where reciprocal vectors have nine.
SmallVector<Value, 6> distanceCoefficients(LatticeFactorOp op, double factor, RuleBuilder &r);
/// That sum for a vector delta over the coefficients' type.
Value quadraticForm(ArrayRef<Value> coefficients, Value delta, RuleBuilder &r);

/// The lattice factor of `cells` unit cells, from r2 times distanceFactor().
Value spotOf(Shape shape, Value cells, Value distance, RuleBuilder &r);

/// The amplitude at a reflection: the number of cells, or the determinant of the width matrix.
Value latticeAmplitude(LatticeFactorOp op, RuleBuilder &r);

} // namespace mlir::nb

#endif
