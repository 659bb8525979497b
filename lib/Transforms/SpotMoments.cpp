#include "lib/Transforms/SpotMoments.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

/// As in SpotAverage.cpp: keeps quotients bounded where a step hardly moves the spot.
static constexpr double softness = 1;
/// The same of the point, which stays where it was then. The less it is, the faster others go.
static constexpr double inertia = 1e-3;
/// Keeps arguments of square roots and divisors positive.
static constexpr double tiny = 1e-12, leastLight = 1e-300, leastBroadening = 0.1;

PlaneSpot::PlaneSpot(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about,
                     RuleBuilder &r)
    : spot(spot), about(about), r(r) {
  const Spread spread = spreadOf(shape, spot, r);
  precision = spread.precision;
  lost = spread.lost;
  Value fast = spot.byUniforms[0], slow = spot.byUniforms[1];
  moved = {times(precision, fast, r), times(precision, slow, r)};
  Value a = r.dot(fast, moved[0]), b = r.dot(fast, moved[1]), c = r.dot(slow, moved[1]);
  Value determinant = r.reciprocal(r.sub(r.mul(a, c), r.mul(b, b)));
  ff = r.mul(c, determinant);
  fs = r.neg(r.mul(b, determinant));
  ss = r.mul(a, determinant);
  area = r.mul(r.sqrt(determinant), 2 * std::numbers::pi);

  Value distance = distanceAtMiddle(spot, about, r);
  centre = centreOf(distance);
  residual = residualOf(distance, centre);
  Value weighted = times(precision, residual, r);
  least = r.dot(residual, weighted);
  if (spot.byUniforms.size() < 3)
    return;
  Value turning = spot.byUniforms[2];
  centreSlope = centreOf(turning);
  residualSlope = residualOf(turning, centreSlope);
  slope = r.dot(residualSlope, weighted);
  curvature = r.dot(residualSlope, times(precision, residualSlope, r));
}

/// The place that is nearest to a distance, in the metric of the precision.
std::array<Value, 2> PlaneSpot::centreOf(Value distance) {
  Value f = r.dot(moved[0], distance), s = r.dot(moved[1], distance);
  return {r.neg(r.add(r.mul(ff, f), r.mul(fs, s))), r.neg(r.add(r.mul(fs, f), r.mul(ss, s)))};
}

Value PlaneSpot::residualOf(Value distance, const std::array<Value, 2> &centre) {
  for (int i = 0; i != 2; ++i)
    distance = r.add(distance, r.scale(spot.byUniforms[i], centre[i]));
  return distance;
}

/// `value` at an angle; without angles, itself.
Value PlaneSpot::along(Value value, Value slope, Value turn) {
  return turn ? r.add(value, r.scale(slope, turn)) : value;
}

SpotPoint PlaneSpot::brightest(Value exponent) {
  SpotPoint point;
  Value turn;
  if (slope)
    turn = clampedToHalf(
        r.neg(r.div(r.sub(slope, r.mul(about.uniforms[2], inertia)), plus(curvature, inertia, r))),
        r);
  for (int i = 0; i != 2; ++i)
    point.uniforms.push_back(along(centre[i], centreSlope[i], turn));
  if (turn)
    point.uniforms.push_back(turn);
  Value towards = r.neg(times(precision, along(residual, residualSlope, turn), r));
  addNormals(point, spot, towards, exponent, r);
  return point;
}

SpotMoments PlaneSpot::moments(const Quadrature &quadrature) {
  SpotMoments m;
  const auto exponential = [&](Value form) { return r.exp(r.mul(form, -0.5)); };
  Value inStep;
  if (!slope) {
    inStep = m.partiality = exponential(least);
    m.place = centre;
    m.ff = ff;
    m.fs = fs;
    m.ss = ss;
  } else {
    // The part of the step where the exponent is less than that of the quadrature above its least.
    const auto formAt = [&](Value u) {
      return r.add(least, r.mul(u, r.add(r.add(slope, slope), r.mul(curvature, u))));
    };
    Value soft = r.reciprocal(plus(curvature, softness, r));
    Value middle = r.neg(r.mul(slope, soft)), nearest = clampedToHalf(middle, r);
    Value room = r.add(r.add(r.sub(formAt(nearest), least), r.mul(quadrature.exponent, 2)),
                       plus(r.mul(r.mul(slope, slope), soft), softness / 4, r));
    Value half = r.sqrt(r.mul(maximum(room, r.constant(room.getType(), tiny), r), soft));
    Value begin = clampedToHalf(r.sub(middle, half), r);
    Value end = maximum(begin, clampedToHalf(r.add(middle, half), r), r);
    Value length = r.sub(end, begin), center = r.mul(r.add(begin, end), 0.5);
    Type f64 = length.getType();
    auto sum = sumOverNodes(
        quadrature, Dimension::subslow, 3,
        [&](Value node, Value weight) -> SmallVector<Value> {
          Value light = r.mul(exponential(formAt(r.add(center, r.mul(length, node)))), weight);
          Value first = r.mul(light, node);
          return {light, first, r.mul(first, node)};
        },
        r);
    inStep = r.mul(sum.getResult(0), length);
    Value inverse = r.reciprocal(maximum(sum.getResult(0), r.constant(f64, leastLight), r));
    Value node = r.mul(sum.getResult(1), inverse);
    m.turn = r.add(center, r.mul(length, node));
    m.turnVariance =
        r.mul(r.mul(length, length), r.sub(r.mul(sum.getResult(2), inverse), r.mul(node, node)));
    Value sharpness = maximum(curvature, r.constant(f64, tiny), r);
    m.partiality = r.mul(inStep, r.sqrt(r.mul(sharpness, 0.5 / std::numbers::pi)));
    for (int i = 0; i != 2; ++i)
      m.place[i] = along(centre[i], centreSlope[i], m.turn);
    const auto widened = [&](Value covariance, int i, int j) {
      return r.add(covariance, r.mul(r.mul(centreSlope[i], centreSlope[j]), m.turnVariance));
    };
    m.ff = widened(ff, 0, 0);
    m.fs = widened(fs, 0, 1);
    m.ss = widened(ss, 1, 1);
  }
  m.light = r.mul(r.mul(lost, area), inStep);
  if (about.isLit) {
    Value zero = r.constant(m.light.getType(), 0);
    m.light = r.select(about.isLit, m.light, zero);
    m.partiality = r.select(about.isLit, m.partiality, zero);
  }
  return m;
}

/// The first axis is along fast, where slow has its share, and the second along slow: what is left
/// of it at one place along fast.
std::array<Value, 3> PlaneSpot::axes() {
  Value first = r.sqrt(ff), share = r.div(fs, first);
  return {first, share, r.sqrt(r.sub(ss, r.mul(share, share)))};
}

SpotPoint PlaneSpot::pointAt(double z1, double z2) {
  const auto [first, share, second] = axes();
  Value f = r.mul(first, z1), s = r.add(r.mul(share, z1), r.mul(second, z2));
  SpotPoint point;
  point.uniforms = {r.add(about.uniforms[0], f), r.add(about.uniforms[1], s)};
  for (auto [column, at] : llvm::zip(spot.byNormals, about.normals))
    point.normals.push_back(
        r.sub(at, r.add(r.mul(r.dot(column, moved[0]), f), r.mul(r.dot(column, moved[1]), s))));
  return point;
}

/// The exponent is half of x^T P x with x = e + w1 z1 + w2 z2 + the second derivatives' part, where
/// the normal variables take their likeliest values: to third order what they do beside does not
/// count.
void PlaneSpot::correct(SpotMoments &m, const Bend &bend) {
  const auto [first, share, second] = axes();
  Value w1 = r.add(r.scale(moved[0], first), r.scale(moved[1], share));
  Value w2 = r.scale(moved[1], second);
  Value off = times(precision, residual, r);
  const auto by = [&](Value curve, Value w) { return r.dot(curve, w); };
  const auto half = [&](Value x) { return r.mul(x, 0.5); };
  m.skew = {half(by(bend.alongFirst, w1)), r.add(half(by(bend.alongFirst, w2)), by(bend.mixed, w1)),
            r.add(half(by(bend.alongSecond, w1)), by(bend.mixed, w2)),
            half(by(bend.alongSecond, w2))};
  // Far from the sphere the spot is wider or narrower.
  Value q11 = plus(by(bend.alongFirst, off), 1, r), q22 = plus(by(bend.alongSecond, off), 1, r),
        q12 = by(bend.mixed, off);
  Value determinant = maximum(r.sub(r.mul(q11, q22), r.mul(q12, q12)),
                              r.constant(q11.getType(), leastBroadening), r);
  Value inverse = r.reciprocal(determinant);
  Value c11 = r.mul(q22, inverse), c12 = r.neg(r.mul(q12, inverse)), c22 = r.mul(q11, inverse);
  m.light = r.mul(m.light, r.sqrt(inverse));
  m.ff = r.mul(ff, c11);
  m.fs = r.mul(first, r.add(r.mul(share, c11), r.mul(second, c12)));
  Value twice = r.mul(r.mul(share, second), r.mul(c12, 2));
  m.ss = r.add(r.mul(r.mul(share, share), c11), r.add(twice, r.mul(r.mul(second, second), c22)));
  // The mean is beside the middle.
  Value z1 = r.sub(bend.slope[0], r.add(r.mul(m.skew[0], 3), m.skew[2]));
  Value z2 = r.sub(bend.slope[1], r.add(r.mul(m.skew[3], 3), m.skew[1]));
  m.place[0] = r.add(m.place[0], r.mul(first, z1));
  m.place[1] = r.add(m.place[1], r.add(r.mul(share, z1), r.mul(second, z2)));
}

PlaneSpot::Normal PlaneSpot::ofNormals(ArrayRef<Value> weights, const SpotMoments &moments) {
  Normal normal;
  Value column; // how the index moves with the sum's own direction
  for (auto [weight, by] : llvm::zip(weights, spot.byNormals)) {
    if (!weight)
      continue;
    Value part = r.scale(by, weight), square = r.mul(weight, weight);
    column = column ? r.add(column, part) : part;
    normal.variance = normal.variance ? r.add(normal.variance, square) : square;
  }
  if (!column)
    return normal;
  Value weighted = times(precision, column, r);
  normal.mean = r.neg(r.dot(weighted, along(residual, residualSlope, moments.turn)));
  Value f = r.dot(moved[0], column), s = r.dot(moved[1], column);
  Value given = r.add(r.mul(ff, r.mul(f, f)),
                      r.add(r.mul(r.mul(fs, 2), r.mul(f, s)), r.mul(ss, r.mul(s, s))));
  normal.variance = r.add(r.sub(normal.variance, r.dot(column, weighted)), given);
  normal.covariance = {r.neg(r.add(r.mul(ff, f), r.mul(fs, s))),
                       r.neg(r.add(r.mul(fs, f), r.mul(ss, s)))};
  if (moments.turn) {
    Value turning = r.dot(weighted, residualSlope);
    normal.variance = r.add(normal.variance, r.mul(r.mul(turning, turning), moments.turnVariance));
  }
  return normal;
}
