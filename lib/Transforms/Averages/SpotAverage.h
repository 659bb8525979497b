// The average of a Gaussian spot in closed form: docs/averages-methods.md has the formulas.
#ifndef NB_TRANSFORMS_SPOTAVERAGE_H
#define NB_TRANSFORMS_SPOTAVERAGE_H

#include "lib/Transforms/Averages/SpotAlgebra.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::nb {

/// Keeps divisors and arguments of square roots positive where rounding does not.
inline constexpr double tiny = 1e-12;

/// The bounds of the lit part do not take the form itself but one that is nowhere larger: softness
/// (u^2 - 1/4) is added for each variable. So quotients and their derivatives remain bounded where
/// a variable hardly moves the spot, such as a short rotation, and the bounds are wider by less
/// than a hundredth.
inline constexpr double softness = 1;

/// The covariance of the squared lattice factor of a Gaussian crystal, which falls off as a normal
/// distribution of the distance h - n from a reflection.
Symmetric covarianceOf(LatticeFactorOp factor, RuleBuilder &r);

/// The distance h - n from a reflection, near a point of the space of what is averaged, and its
/// derivatives with respect to the variables: normal ones of standard deviation 1, and uniform ones
/// between -1/2 and 1/2.
struct LinearSpot {
  Value distance;
  SmallVector<Value> byNormals, byUniforms;
};

/// A point of that space.
struct SpotPoint {
  SmallVector<Value> normals, uniforms;
  Value isLit; ///< or farther in the tails of the normal ones than any light; null: it is
};

/// The distance at the middle of all distributions, by a spot that is linear about `point`.
Value distanceAtMiddle(const LinearSpot &spot, const SpotPoint &point, RuleBuilder &r);

/// A table of nodes and weights over an interval of length 1 about 0. The integrand is taken for
/// zero where its exponent is `exponent` below that at its brightest point.
struct Quadrature {
  Value nodes, weights, count, exponent;
};

/// All that normal variables and the crystal's size spread: the inverse of its covariance, and what
/// the peak loses, sqrt of the shape's determinant over the covariance's.
struct Spread {
  Symmetric precision;
  Value lost;
};
Spread spreadOf(const Symmetric &shape, const LinearSpot &spot, RuleBuilder &r);

/// Adds to a point the normal variables where light comes from the direction `slope` of their
/// space, and whether that is not too far out. `exponent`: as that of Quadrature.
void addNormals(SpotPoint &point, const LinearSpot &spot, Value slope, Value exponent,
                RuleBuilder &r);

/// Sums of the quadrature over an interval about 0 of length 1, of numbers that `terms` makes of a
/// node and its weight.
SumOp sumOverNodes(const Quadrature &quadrature, Dimension dimension, unsigned results,
                   llvm::function_ref<SmallVector<Value>(Value node, Value weight)> terms,
                   RuleBuilder &r);

/// Near where the integrand is largest, by a spot that is linear about a point; no numbers stand
/// for the middle.
SpotPoint brightestPoint(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about,
                         const Quadrature &quadrature, RuleBuilder &r);

/// The average of exp(-x^T shape^-1 x / 2) over all variables, for a spot that is linear about
/// `point`. The last uniform variable is averaged by error functions, those before it by the
/// quadrature on the part of them where there is light.
Value averageOf(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &point,
                const Quadrature &quadrature, RuleBuilder &r);

} // namespace mlir::nb

#endif
