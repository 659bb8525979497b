#include "dialect/RuleBuilder.h"
#include "lib/Experiment/PhysicalConstants.h"

using namespace mlir;
using namespace mlir::nb;
namespace constants = nanobragg::constants;

/// For unit vectors k (incident), d (diffracted), B across and E = k x B the squares of the
/// components of d add up to 1: c2 + b2 + e2. So cos(2 psi) (1 - c2) = e2 - b2 = (1 - c2) - 2 b2,
/// without an angle, a division or a special case for d along k.
Value PolarizationOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value kahn = getKahnFactor();
  Value across = r.normalize(r.cross(getAxis(), getIncident()));
  Value along = r.normalize(r.cross(getIncident(), across));
  Value b = r.dot(getDiffracted(), across), e = r.dot(getDiffracted(), along);
  Value c = r.dot(getIncident(), getDiffracted());
  Value c2 = r.mul(c, c), one = r.constant(getType(), 1), half = r.constant(getType(), 0.5);
  // cos(2 psi) (1 - c2) is e^2 - b^2, since b, e and c are the components of a unit vector; but
  // where axis and beam are parallel, b and e are 0 and psi is 0. A number says so and not a truth
  // value, since it may become a table over sources.
  Value zero = r.constant(getType(), 0);
  Value noAxis = r.select(r.less(r.dot(across, across), half), one, zero);
  Value difference = r.sub(r.mul(e, e), r.mul(b, b));
  Value azimuthal = r.add(difference, r.mul(noAxis, r.sub(one, c2)));
  return r.mul(r.sub(r.add(one, c2), r.mul(kahn, azimuthal)), half);
}

Value SolidAngleOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  // The inverse distance that normalizes the position, too.
  Value inverse = r.rsqrt(r.dot(getPosition(), getPosition()));
  Value inverse2 = r.mul(inverse, inverse);
  if (getKind() == PixelKind::point)
    return inverse2;
  Value area = r.mul(getPixelSize(), getPixelSize());
  return r.mul(r.mul(r.mul(area, getCloseDistance()), inverse), inverse2);
}

Value CaptureFractionOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  // Edge-on the path stays finite, so that 0 times it is 0.
  Value rho = r.dot(getDiffracted(), getNormal());
  Value least = r.constant(rho.getType(), constants::leastCosine);
  rho = r.select(r.less(r.abs(rho), least), least, rho);
  Value perDepth = r.mul(getSpacing(), r.reciprocal(getAttenuationDepth()));
  Value path = r.neg(r.mul(perDepth, r.reciprocal(rho)));
  Value below = r.add(getLayer(), r.constant(getType(), 1));
  // A pixel beyond a resolution cutoff has the adjoint 0, which has to stay 0 when it is multiplied
  // by the slopes: they must not overflow.
  Value most = r.constant(getType(), constants::largestExponent);
  auto transmitted = [&](Value layers) {
    Value exponent = r.mul(layers, path);
    return r.exp(r.select(r.less(most, exponent), most, exponent));
  };
  return r.sub(transmitted(getLayer()), transmitted(below));
}

Value WaterBackgroundOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value volume = r.mul(r.mul(getSize(), getSize()), getSize());
  return r.mul(r.mul(volume, getFluence()), constants::waterScattering);
}

Value CurvedPositionOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value point = r.scale(getBeam(), getDistance());
  Value aboutSlow = r.axisRotation(getSlowAxis(), getAboutSlow());
  Value aboutFast = r.axisRotation(getFastAxis(), getAboutFast());
  return r.transform(aboutFast, r.transform(aboutSlow, point));
}
