#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using std::numbers::pi;

Value LatticeFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value delta = getHkl(), ncells = getNcells();
  if (!getFraction())
    delta = r.sub(delta, NearestMillerIndexOp::create(builder, getLoc(), delta));
  if (getShape() == Shape::square)
    return r.abs(GratingOp::create(builder, getLoc(), getType(), delta, ncells));

  Value n[3];
  for (unsigned axis = 0; axis < 3; ++axis)
    n[axis] = r.component(ncells, axis);
  Value cells = r.mul(r.mul(n[0], n[1]), n[2]);
  Value radius2;
  if (getReciprocal()) {
    // In 1/Angstrom, as the C program's constants expect.
    Value offset = r.scale(r.transform(getReciprocal(), delta), 1e-10);
    radius2 = r.mul(r.dot(offset, offset), r.mul(cells, cells));
  } else {
    Value scaled[3];
    for (unsigned axis = 0; axis < 3; ++axis)
      scaled[axis] = r.mul(r.component(delta, axis), n[axis]);
    Value offset = r.vec(scaled[0], scaled[1], scaled[2]);
    radius2 = r.dot(offset, offset);
  }
  Value fudged = r.mul(radius2, getFudge());
  switch (getShape()) {
  case Shape::round: {
    Value ball = BallOp::create(builder, getLoc(), getType(), r.mul(fudged, pi * pi));
    return r.mul(r.mul(cells, std::sqrt(pi / 6)), ball);
  }
  case Shape::gauss:
    return r.mul(cells, r.exp(r.mul(fudged, -1 / 0.63)));
  case Shape::tophat:
    // The edge does not move the sum of a sampled image: only the volume has a derivative.
    return r.select(r.less(fudged, r.constant(getType(), 0.63 * 0.63)), cells, Value());
  case Shape::square:
    break;
  }
  llvm_unreachable("square is handled above");
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
