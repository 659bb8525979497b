#include "lib/Transforms/Averages/SpotMoments.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

/// Keeps the point where it was, as softness keeps the bounds. The less, the faster others go.
static constexpr double inertia = 1e-3;
/// Keep divisors positive.
static constexpr double leastLight = 1e-300, leastBroadening = 0.1;

/// x, or the nearer end of the part.
static Value within(const StepPart &part, Value x, RuleBuilder &r) {
  return maximum(part.begin, minimum(part.end, x, r), r);
}

PlaneSpot::PlaneSpot(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about,
                     const StepPart &part, RuleBuilder &r)
    : spot(spot), about(about), part(part), r(r) {
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
  first = r.sqrt(ff);
  share = r.div(fs, first);
  second = r.sqrt(r.sub(ss, r.mul(share, share)));

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
  Value perWidth = r.reciprocal(r.sub(part.end, part.begin));
  unit = r.rsqrt(r.add(curvature, r.mul(r.mul(perWidth, perWidth), 12)));
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

Value PlaneSpot::formAt(Value turn) {
  return r.add(least, r.mul(turn, r.add(r.add(slope, slope), r.mul(curvature, turn))));
}

SpotPoint PlaneSpot::brightest(Value exponent) {
  SpotPoint point;
  Value turn;
  if (slope)
    turn = within(
        part,
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

SpotPoint PlaneSpot::pointAt(const Offset &z) {
  Value f = r.mul(first, z[0]), s = r.add(r.mul(share, z[0]), r.mul(second, z[1]));
  Value turn = slope ? r.mul(unit, z[2]) : Value();
  Value nearer = r.add(r.scale(moved[0], f), r.scale(moved[1], s));
  if (turn)
    nearer = r.add(nearer, r.scale(times(precision, residualSlope, r), turn));
  SpotPoint point;
  point.uniforms = {r.add(about.uniforms[0], along(f, centreSlope[0], turn)),
                    r.add(about.uniforms[1], along(s, centreSlope[1], turn))};
  if (turn)
    point.uniforms.push_back(r.add(about.uniforms[2], turn));
  for (auto [column, at] : llvm::zip(spot.byNormals, about.normals))
    point.normals.push_back(r.sub(at, r.dot(column, nearer)));
  return point;
}

/// The light at one angle, along z1 and z2 from the middle there. The exponent is half of x^T P x
/// with x = e + w1 z1 + w2 z2 + w3 v + the second derivatives' part, where the normal variables
/// take their likeliest values: to third order what they do beside does not count.
struct PlaneSpot::Slices {
  Slices(PlaneSpot &spot, const Bend &bend) : r(spot.r) {
    SmallVector<Value> w{
        r.add(r.scale(spot.moved[0], spot.first), r.scale(spot.moved[1], spot.share)),
        r.scale(spot.moved[1], spot.second)};
    Value turn;
    if (spot.slope) {
      turn = spot.about.uniforms[2];
      w.push_back(r.scale(times(spot.precision, spot.residualSlope, r), spot.unit));
    }
    Value off = times(spot.precision, spot.along(spot.residual, spot.residualSlope, turn), r);
    const auto by = [&](int i, int j, int k) { return r.dot(bend.second[i][j], w[k]); };
    const auto half = [&](Value x) { return r.mul(x, 0.5); };
    // The cubic part and what is added to the quadratic part.
    cubic = {half(by(0, 0, 0)), r.add(half(by(0, 0, 1)), by(0, 1, 0)),
             r.add(half(by(1, 1, 0)), by(0, 1, 1)), half(by(1, 1, 1))};
    square = {plus(r.dot(bend.second[0][0], off), 1, r), r.dot(bend.second[0][1], off),
              plus(r.dot(bend.second[1][1], off), 1, r)};
    rise = {r.sub(r.add(r.mul(cubic[0], 3), cubic[2]), bend.slope[0]),
            r.sub(r.add(r.mul(cubic[3], 3), cubic[1]), bend.slope[1])};
    if (!turn)
      return;
    squareByAngle = {r.add(by(0, 0, 2), r.mul(by(0, 2, 0), 2)),
                     r.add(by(0, 1, 2), r.add(by(0, 2, 1), by(1, 2, 0))),
                     r.add(by(1, 1, 2), r.mul(by(1, 2, 1), 2))};
    for (int i = 0; i != 2; ++i) {
      riseByAngle[i] = r.dot(bend.second[i][2], off);
      riseByAngleSquared[i] = r.add(half(by(2, 2, i)), by(i, 2, 2));
    }
    alone = {half(r.dot(bend.second[2][2], off)), half(by(2, 2, 2))};
    Value f = r.div(r.mul(spot.centreSlope[0], spot.unit), spot.first);
    way = {f,
           r.div(r.sub(r.mul(spot.centreSlope[1], spot.unit), r.mul(spot.share, f)), spot.second)};
  }

  struct Slice {
    Value factor; ///< beside the exponential of the form
    std::array<Value, 2> mean;
    std::array<Value, 3> covariance; ///< 11, 12, 22
  };
  /// `v`: in units of the angle from the point; null without one.
  Slice at(Value v) const {
    std::array<Value, 3> q = square;
    std::array<Value, 2> slope = rise;
    if (v) {
      for (int i = 0; i != 3; ++i)
        q[i] = r.add(q[i], r.mul(squareByAngle[i], v));
      for (int i = 0; i != 2; ++i)
        slope[i] =
            r.add(slope[i], r.mul(v, r.add(riseByAngle[i], r.mul(riseByAngleSquared[i], v))));
    }
    Value determinant = maximum(r.sub(r.mul(q[0], q[2]), r.mul(q[1], q[1])),
                                r.constant(q[0].getType(), leastBroadening), r);
    Value inverse = r.reciprocal(determinant);
    Slice slice;
    slice.factor = r.sqrt(inverse);
    slice.covariance = {r.mul(q[2], inverse), r.neg(r.mul(q[1], inverse)), r.mul(q[0], inverse)};
    const auto &[c11, c12, c22] = slice.covariance;
    slice.mean = {r.neg(r.add(r.mul(c11, slope[0]), r.mul(c12, slope[1]))),
                  r.neg(r.add(r.mul(c12, slope[0]), r.mul(c22, slope[1])))};
    if (v) {
      constexpr double most = 1; // where it is more, there is hardly any light
      Value exponent = r.mul(r.mul(v, v), r.add(alone[0], r.mul(alone[1], v)));
      Value limit = r.constant(v.getType(), most);
      slice.factor = r.mul(slice.factor, r.exp(r.neg(clampedTo(limit, exponent, r))));
      for (int i = 0; i != 2; ++i)
        slice.mean[i] = r.add(slice.mean[i], r.mul(way[i], v));
    }
    return slice;
  }

  RuleBuilder &r;
  std::array<Value, 4> cubic;  ///< 111, 112, 122, 222
  std::array<Value, 3> square; ///< 11, 12, 22, twice in the exponent
  std::array<Value, 2> rise;   ///< slopes of the exponent along z1, z2
  std::array<Value, 3> squareByAngle;
  std::array<Value, 2> riseByAngle, riseByAngleSquared;
  std::array<Value, 2> alone; ///< v^2, v^3
  std::array<Value, 2> way;   ///< the middle moves along z1, z2 with the angle
};

namespace {
/// Sums over angles: the light without terms of the next order, and the light times powers of the
/// angle, of the place along z1 and z2.
enum SliceSum { Plain, Light, V1, V2, V3, V4, M1, M2, M11, M12, M22, M111, M112, M122, M222, Sums };
} // namespace

/// Over the part of the step where the exponent is less than that of the quadrature above its
/// least.
SumOp PlaneSpot::sumOfSlices(const Slices &slices, const Quadrature &quadrature, SpotMoments &m) {
  const auto exponential = [&](Value form) { return r.exp(r.mul(form, -0.5)); };
  Value soft = r.reciprocal(plus(curvature, softness, r));
  Value middle = r.neg(r.mul(slope, soft)), nearest = within(part, middle, r);
  Value lowest = formAt(nearest);
  Value room = r.add(r.add(r.sub(lowest, least), r.mul(quadrature.exponent, 2)),
                     plus(r.mul(r.mul(slope, slope), soft), softness / 4, r));
  Value half = r.sqrt(r.mul(maximum(room, r.constant(room.getType(), tiny), r), soft));
  Value begin = within(part, r.sub(middle, half), r);
  Value end = maximum(begin, within(part, r.add(middle, half), r), r);
  Value length = r.sub(end, begin), center = r.mul(r.add(begin, end), 0.5);
  Value perUnit = r.reciprocal(unit);
  auto sum = sumOverNodes(
      quadrature, Dimension::subslow, Sums,
      [&](Value node, Value weight) -> SmallVector<Value> {
        Value turn = r.add(center, r.mul(length, node));
        Value v = r.mul(r.sub(turn, about.uniforms[2]), perUnit);
        Value plain = r.mul(exponential(formAt(turn)), weight);
        const Slices::Slice at = slices.at(v);
        const auto &[c11, c12, c22] = at.covariance;
        const auto &[m1, m2] = at.mean;
        SmallVector<Value> terms(Sums);
        Value light = terms[Light] = r.mul(plain, at.factor);
        terms[Plain] = plain;
        for (int i = V1; i <= V4; ++i)
          terms[i] = r.mul(terms[i - 1], v);
        Value m11 = r.add(c11, r.mul(m1, m1)), m12 = r.add(c12, r.mul(m1, m2)),
              m22 = r.add(c22, r.mul(m2, m2));
        const auto twice = [&](Value c, Value mean) { return r.mul(r.mul(c, mean), 2); };
        const std::pair<SliceSum, Value> moments[] = {
            {M1, m1},
            {M2, m2},
            {M11, m11},
            {M12, m12},
            {M22, m22},
            {M111, r.add(r.mul(m11, m1), twice(c11, m1))},
            {M112, r.add(r.mul(m11, m2), twice(c12, m1))},
            {M122, r.add(r.mul(m22, m1), twice(c12, m2))},
            {M222, r.add(r.mul(m22, m2), twice(c22, m2))}};
        for (auto [which, moment] : moments)
          terms[which] = r.mul(light, moment);
        return terms;
      },
      r);
  Value sharpness = maximum(curvature, r.constant(length.getType(), tiny), r);
  m.brightest = exponential(lowest);
  m.partiality =
      r.mul(r.mul(sum.getResult(Plain), length), r.sqrt(r.mul(sharpness, 0.5 / std::numbers::pi)));
  m.light = r.mul(r.mul(lost, area), r.mul(sum.getResult(Light), length));
  return sum;
}

SpotMoments PlaneSpot::moments(const Quadrature &quadrature, const Bend &bend) {
  SpotMoments m;
  const Slices slices(*this, bend);
  Value turn;
  std::array<Value, 2> mean;
  std::array<Value, 3> c;
  // Third cumulants along z1, z2.
  std::array<Value, 4> skew{r.mul(slices.cubic[0], -6), r.mul(slices.cubic[1], -2),
                            r.mul(slices.cubic[2], -2), r.mul(slices.cubic[3], -6)};
  Value fourth;
  if (!slope) {
    m.partiality = r.exp(r.mul(least, -0.5));
    const Slices::Slice all = slices.at({});
    m.light = r.mul(r.mul(r.mul(lost, area), m.partiality), all.factor);
    mean = all.mean;
    c = all.covariance;
  } else {
    turn = about.uniforms[2];
    SumOp sum = sumOfSlices(slices, quadrature, m);
    Value inverse =
        r.reciprocal(maximum(sum.getResult(Light), r.constant(m.light.getType(), leastLight), r));
    const auto of = [&](SliceSum which) { return r.mul(sum.getResult(which), inverse); };
    mean = {of(M1), of(M2)};
    const auto [a, b] = mean;
    Value m11 = of(M11), m12 = of(M12), m22 = of(M22), aa = r.mul(a, a), bb = r.mul(b, b);
    c = {r.sub(m11, aa), r.sub(m12, r.mul(a, b)), r.sub(m22, bb)};
    // E(xyz) - E(x) E(yz) - E(y) E(xz) - E(z) E(xy) + 2 E(x) E(y) E(z)
    const auto add = [&](Value &to, SliceSum which, Value less, Value more) {
      to = r.add(to, r.add(r.sub(of(which), less), r.mul(more, 2)));
    };
    add(skew[0], M111, r.mul(r.mul(a, m11), 3), r.mul(aa, a));
    add(skew[1], M112, r.add(r.mul(r.mul(a, m12), 2), r.mul(b, m11)), r.mul(aa, b));
    add(skew[2], M122, r.add(r.mul(r.mul(b, m12), 2), r.mul(a, m22)), r.mul(bb, a));
    add(skew[3], M222, r.mul(r.mul(b, m22), 3), r.mul(bb, b));
    Value v = of(V1), vv = r.mul(v, v), variance = r.sub(of(V2), vv);
    m.turn = r.add(turn, r.mul(unit, v));
    m.turnVariance = r.mul(r.mul(unit, unit), variance);
    m.motion = r.mul(
        variance, r.add(r.mul(slices.way[0], slices.way[0]), r.mul(slices.way[1], slices.way[1])));
    fourth = r.sub(r.add(r.sub(of(V4), r.mul(r.mul(v, of(V3)), 4)), r.mul(r.mul(vv, of(V2)), 6)),
                   r.mul(r.add(r.mul(vv, vv), r.mul(variance, variance)), 3));
  }
  m.place = {r.add(along(centre[0], centreSlope[0], turn), r.mul(first, mean[0])),
             r.add(along(centre[1], centreSlope[1], turn),
                   r.add(r.mul(share, mean[0]), r.mul(second, mean[1])))};
  const auto [c11, c12, c22] = c;
  m.ff = r.mul(ff, c11);
  m.fs = r.mul(first, r.add(r.mul(share, c11), r.mul(second, c12)));
  Value twice = r.mul(r.mul(share, second), r.mul(c12, 2));
  m.ss = r.add(r.mul(r.mul(share, share), c11), r.add(twice, r.mul(r.mul(second, second), c22)));

  // Along axes of this covariance, z1 = x y1, z2 = y y1 + z y2, where the skews are those of y.
  Value x = r.rsqrt(c11), along1 = r.mul(c12, x);
  Value z = r.rsqrt(maximum(r.sub(c22, r.mul(along1, along1)), r.constant(c22.getType(), tiny), r));
  Value y = r.neg(r.mul(r.mul(along1, x), z));
  const auto [k111, k112, k122, k222] = skew;
  Value xx = r.mul(x, x), yy = r.mul(y, y), zz = r.mul(z, z), yz = r.mul(y, z);
  m.skew = {
      r.mul(r.mul(r.mul(xx, x), k111), -1.0 / 6),
      r.mul(r.mul(xx, r.add(r.mul(y, k111), r.mul(z, k112))), -0.5),
      r.mul(r.mul(x, r.add(r.mul(yy, k111), r.add(r.mul(r.mul(yz, k112), 2), r.mul(zz, k122)))),
            -0.5),
      r.mul(r.add(r.add(r.mul(r.mul(yy, y), k111), r.mul(r.mul(zz, z), k222)),
                  r.mul(r.mul(yz, r.add(r.mul(y, k112), r.mul(z, k122))), 3)),
            -1.0 / 6)};
  if (fourth) {
    Value way1 = r.mul(x, slices.way[0]),
          way2 = r.add(r.mul(y, slices.way[0]), r.mul(z, slices.way[1]));
    Value squared = r.add(r.mul(way1, way1), r.mul(way2, way2));
    m.excess = r.mul(fourth, r.mul(squared, squared));
  }
  if (about.isLit) {
    Value zero = r.constant(m.light.getType(), 0);
    for (Value *of : {&m.light, &m.partiality, &m.brightest})
      if (*of)
        *of = r.select(about.isLit, *of, zero);
  }
  return m;
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
