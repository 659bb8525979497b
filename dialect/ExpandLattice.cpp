#include "dialect/CrystalShapes.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::nb;

Value LatticeFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value delta = getHkl();
  if (!getFraction())
    delta = r.sub(delta, NearestMillerIndexOp::create(builder, getLoc(), delta));
  if (rowOf(getShape()).profile == nanobragg::SpotProfile::Grating)
    return r.abs(GratingOp::create(builder, getLoc(), getType(), delta, getNcells()));
  auto coefficients = distanceCoefficients(*this, distanceFactor(getShape()), r);
  return spotOf(getShape(), latticeAmplitude(*this, r), quadraticForm(coefficients, delta, r), r);
}

Value IntensityOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  // The sign of the amplitude does not count in the square, nor does its jump.
  Value amplitude = getLatticeFactor();
  if (auto magnitude = amplitude.getDefiningOp<math::AbsFOp>())
    amplitude = magnitude.getOperand();
  Value product = r.mul(getStructureFactor(), amplitude);
  return r.mul(product, product);
}
