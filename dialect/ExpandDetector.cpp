#include "dialect/RuleBuilder.h"

using namespace mlir;
using namespace mlir::nb;

/// For unit vectors k (incident), d (diffracted), B across and E = k x B the squares of the
/// components of d add up to 1: c2 + b2 + e2. So cos(2 psi) (1 - c2) = e2 - b2 = (1 - c2) - 2 b2,
/// without an angle, a division or a special case for d along k.
Value PolarizationOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value kahn = getKahnFactor();
  Value across = r.normalize(r.cross(getAxis(), getIncident()));
  Value c = r.dot(getIncident(), getDiffracted()), b = r.dot(getDiffracted(), across);
  Value c2 = r.mul(c, c), b2 = r.mul(b, b);
  Value half = r.constant(getType(), 0.5), halfKahn = r.mul(kahn, 0.5);
  Value isotropic = r.add(r.sub(half, halfKahn), r.mul(r.add(half, halfKahn), c2));
  return r.add(isotropic, r.mul(kahn, b2));
}

Value SolidAngleOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value inverse = r.inverseLength(getPosition());
  Value inverse2 = r.mul(inverse, inverse);
  if (getKind() == PixelKind::point)
    return inverse2;
  Value area = r.mul(getPixelSize(), getPixelSize());
  return r.mul(r.mul(area, getCloseDistance()), r.mul(inverse2, inverse));
}

Value CaptureFractionOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  // Edge-on nothing gets through the layer; the path stays finite, so that 0 times it is 0.
  constexpr double leastCosine = 1e-100;
  Value rho = r.dot(getDiffracted(), getNormal());
  Value least = r.constant(rho.getType(), leastCosine);
  rho = r.select(r.less(r.abs(rho), least), least, rho);
  Value perDepth = r.mul(getSpacing(), r.reciprocal(getAttenuationDepth()));
  Value path = r.neg(r.mul(perDepth, r.reciprocal(rho)));
  Value below = r.add(getLayer(), r.constant(getType(), 1));
  // From behind the path is negative and exp may overflow. What a resolution cutoff removes has the
  // adjoint 0, which has to stay 0 when it is multiplied by the slopes.
  constexpr double largestExponent = 300;
  Value most = r.constant(getType(), largestExponent);
  auto transmitted = [&](Value layers) {
    Value exponent = r.mul(layers, path);
    return r.exp(r.select(r.less(most, exponent), most, exponent));
  };
  return r.sub(transmitted(getLayer()), transmitted(below));
}

Value WaterBackgroundOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  constexpr double perVolume = 2.57 * 2.57 * 7.94079248018965e-30 * 1e6 * 6.02214179e23 / 18.0;
  Value volume = r.mul(r.mul(getSize(), getSize()), getSize());
  return r.mul(r.mul(volume, getFluence()), perVolume);
}

Value CurvedPositionOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value point = r.scale(getBeam(), getDistance());
  Value aboutSlow = r.axisRotation(getSlowAxis(), getAboutSlow());
  Value aboutFast = r.axisRotation(getFastAxis(), getAboutFast());
  return r.transform(aboutFast, r.transform(aboutSlow, point));
}
