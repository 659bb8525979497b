#include "lib/Transforms/Averages/SpotAverage.h"

#include "dialect/CrystalShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>
#include <utility>

using namespace mlir;
using namespace mlir::nb;

namespace {

/// By as much more than the quadrature's exponent a normal distribution may have fallen off where
/// there is light. A spot that is linear about a point farther out may seem to light a pixel.
constexpr double outside = 12;

Value erfc(Value x, RuleBuilder &r) { return math::ErfcOp::create(r.builder(), r.location(), x); }

/// A quadratic polynomial c + 2 b u + u a u of some variables u.
struct Quadratic {
  Value c;
  SmallVector<Value> b;
  SmallVector<SmallVector<Value>> a; ///< symmetric

  /// Its least value over the last variable, as a polynomial of those before it.
  Quadratic leastOverLast(RuleBuilder &r) const { return leastOver(b.size() - 1, r); }

  /// The same over variable n.
  Quadratic leastOver(size_t n, RuleBuilder &r) const {
    Value inverse = r.reciprocal(a[n][n]);
    Quadratic rest;
    rest.c = r.sub(c, r.mul(r.mul(b[n], b[n]), inverse));
    for (size_t i = 0; i != b.size(); ++i) {
      if (i == n)
        continue;
      Value share = r.mul(a[i][n], inverse);
      rest.b.push_back(r.sub(b[i], r.mul(share, b[n])));
      SmallVector<Value> &row = rest.a.emplace_back();
      for (size_t j = 0; j != b.size(); ++j) {
        if (j == n)
          continue;
        Value left = r.sub(a[i][j], r.mul(share, a[j][n]));
        row.push_back(i == j ? maximum(left, r.constant(left.getType(), softness / 2), r) : left);
      }
    }
    return rest;
  }

  /// A polynomial that is nowhere larger while all variables are between -1/2 and 1/2.
  Quadratic softened(RuleBuilder &r) const {
    Quadratic soft = *this;
    soft.c = plus(c, -softness / 4 * double(b.size()), r);
    for (size_t i = 0; i != b.size(); ++i)
      soft.a[i][i] = plus(a[i][i], softness, r);
    return soft;
  }

  Value at(ArrayRef<Value> u, RuleBuilder &r) const {
    Value sum = c;
    for (size_t i = 0; i != b.size(); ++i) {
      Value slope = r.add(b[i], b[i]);
      for (size_t j = 0; j != b.size(); ++j)
        slope = r.add(slope, r.mul(a[i][j], u[j]));
      sum = r.add(sum, r.mul(slope, u[i]));
    }
    return sum;
  }

  /// A point that is no worse than u, whose variables are between -1/2 and 1/2: each in turn goes
  /// towards where the polynomial is least for the others as they are.
  SmallVector<Value> lower(ArrayRef<Value> u, RuleBuilder &r) const {
    SmallVector<Value> point(u);
    for (size_t i = 0; i != b.size(); ++i) {
      Value slope = r.sub(b[i], r.mul(point[i], softness));
      for (size_t j = 0; j != b.size(); ++j)
        if (j != i)
          slope = r.add(slope, r.mul(a[i][j], point[j]));
      point[i] = clampedToHalf(r.neg(r.div(slope, plus(a[i][i], softness, r))), r);
    }
    return point;
  }

  /// With a value for the first variable, as a polynomial of the others.
  Quadratic atFirst(Value u, RuleBuilder &r) const {
    Quadratic rest;
    rest.c = r.add(c, r.mul(u, r.add(r.add(b[0], b[0]), r.mul(a[0][0], u))));
    for (size_t i = 1; i != b.size(); ++i) {
      rest.b.push_back(r.add(b[i], r.mul(a[0][i], u)));
      rest.a.emplace_back(ArrayRef(a[i]).drop_front());
    }
    return rest;
  }
};

class Average {
public:
  Average(const Quadrature &quadrature, Value most, RuleBuilder &r)
      : quadrature(quadrature), most(most), r(r) {}

  /// The average of exp(-form / 2) over the variables from `first` on.
  Value over(const Quadratic &form, size_t first);

private:
  Value overLast(const Quadratic &form);
  Value series(Value p2, Value q);
  Value endWithSecond(const Quadratic &form, Value end, bool isUpper);

  const Quadrature &quadrature;
  Value most; ///< where the form is above that the integrand counts for nothing
  RuleBuilder &r;
};

/// An end, the upper or the lower one, of the first variable's range where `form`, of two
/// variables, is at most `most` while the second is between -1/2 and 1/2; `end` is that of all the
/// second.
Value Average::endWithSecond(const Quadratic &form, Value end, bool isUpper) {
  const auto &[c, b, a] = form;
  Value second =
      clampedToHalf(r.neg(r.mul(r.add(b[1], r.mul(a[0][1], end)), r.reciprocal(a[1][1]))), r);
  Value slope = r.add(b[0], r.mul(a[0][1], second));
  Value rest = r.add(c, r.mul(second, r.add(r.add(b[1], b[1]), r.mul(a[1][1], second))));
  Value room = r.add(r.mul(slope, slope), r.mul(a[0][0], r.sub(most, rest)));
  Value root = r.sqrt(maximum(room, r.constant(room.getType(), tiny), r));
  return r.mul(r.sub(isUpper ? root : r.neg(root), slope), r.reciprocal(a[0][0]));
}

/// The mean of exp(-p s - q s^2) over s between -1 and 1, for small q: the sum of H_2j(p / 2 w)
/// w^2j / (2j + 1)! with w^2 = q and Hermite's polynomials H. For q below 1/64 the seventh term is
/// below 1e-14 where p is 0.
Value Average::series(Value p2, Value q) {
  constexpr int terms = 6;
  const auto number = [&](double x) { return r.constant(q.getType(), x); };
  Value last = number(1), next = r.sub(p2, r.mul(q, 2)), sum = number(1);
  Value square = r.mul(q, q);
  double factorial = 1;
  for (int j = 1; j != terms; ++j) {
    factorial *= 2 * j * (2 * j + 1);
    sum = r.add(sum, r.mul(next, 1 / factorial));
    Value after = r.sub(r.mul(r.sub(p2, r.mul(q, 8 * j + 2)), next),
                        r.mul(r.mul(square, 8 * j * (2 * j - 1)), last));
    last = std::exchange(next, after);
  }
  return sum;
}

/// The mean of exp(-(c + 2 b u + a u^2) / 2) over u between -1/2 and 1/2. With z = b / sqrt(2 a)
/// and w = sqrt(a / 8) that is exp(z^2 - c / 2) times the mean of exp(-t^2) over t between z - w
/// and z + w. Over a short interval the difference of two error functions is one of their
/// roundings.
Value Average::overLast(const Quadratic &form) {
  constexpr double shortest = 0.125; // w
  Value a = form.a[0][0], b = form.b[0], least = r.constant(a.getType(), 8 * shortest * shortest);
  Value isShort = r.less(a, least);
  Value wide = r.select(isShort, least, a), root = r.sqrt(r.mul(wide, 2));
  Value size = math::AbsFOp::create(r.builder(), r.location(), b);
  Value z = r.div(size, root), w = r.mul(root, 0.25);
  Value mean = r.mul(r.sub(erfc(r.sub(z, w), r), erfc(r.add(z, w), r)),
                     r.div(r.constant(a.getType(), std::sqrt(std::numbers::pi) / 4), w));
  Value exponent = r.sub(r.select(isShort, r.zeroLike(z), r.mul(z, z)), r.mul(form.c, 0.5));
  return r.mul(r.exp(exponent),
               r.select(isShort, series(r.mul(r.mul(b, b), 0.25), r.mul(a, 0.125)), mean));
}

Value Average::over(const Quadratic &form, size_t first) {
  if (form.b.size() == 1)
    return overLast(form);
  const Quadratic soft = form.softened(r);
  Quadratic alone = soft;
  while (alone.b.size() > 1)
    alone = alone.leastOverLast(r);
  // Where alone.c + 2 b u + a u^2 <= most.
  Value inverse = r.reciprocal(alone.a[0][0]);
  Value middle = r.neg(r.mul(alone.b[0], inverse));
  Value room = r.add(r.sub(most, alone.c), r.mul(r.mul(alone.b[0], alone.b[0]), inverse));
  Value half = r.sqrt(r.mul(maximum(room, r.constant(room.getType(), tiny), r), inverse));
  Value low = r.sub(middle, half), high = r.add(middle, half);
  Value begin = low, end = high;
  for (size_t other = 1; other != form.b.size(); ++other) {
    Quadratic two = soft;
    for (size_t i = form.b.size() - 1; i != 0; --i)
      if (i != other)
        two = two.leastOver(i, r);
    begin = maximum(begin, endWithSecond(two, low, /*isUpper=*/false), r);
    end = minimum(end, endWithSecond(two, high, /*isUpper=*/true), r);
  }
  begin = clampedToHalf(begin, r);
  end = maximum(begin, clampedToHalf(end, r), r);
  Value length = r.sub(end, begin), center = r.mul(r.add(begin, end), 0.5);

  auto sum = sumOverNodes(
      quadrature, first == 0 ? Dimension::subslow : Dimension::subfast, 1,
      [&](Value node, Value weight) -> SmallVector<Value> {
        Value u = r.add(center, r.mul(length, node));
        return {r.mul(over(form.atFirst(u, r), first + 1), weight)};
      },
      r);
  return r.mul(sum.getResult(0), length);
}

} // namespace

Symmetric nb::covarianceOf(LatticeFactorOp factor, RuleBuilder &r) {
  // The factor is exp(-form), its square exp(-x^T (4 F) x / 2) with the form's matrix F.
  auto c = distanceCoefficients(factor, -distanceFactor(factor.getShape()), r);
  Value zero = r.constant(c[0].getType(), 0);
  const auto mixed = [&](unsigned i) { return c.size() == 6 ? r.mul(c[i], 2) : zero; };
  const Symmetric precision{r.mul(c[0], 4), r.mul(c[1], 4), r.mul(c[2], 4),
                            mixed(3),       mixed(4),       mixed(5)};
  const Symmetric cofactors = cofactorsOf(precision, r);
  return scaled(cofactors, r.reciprocal(determinantOf(precision, cofactors, r)), r);
}

Value nb::distanceAtMiddle(const LinearSpot &spot, const SpotPoint &point, RuleBuilder &r) {
  Value distance = spot.distance;
  for (auto [column, at] : llvm::zip(spot.byNormals, point.normals))
    distance = r.sub(distance, r.scale(column, at));
  for (auto [column, at] : llvm::zip(spot.byUniforms, point.uniforms))
    distance = r.sub(distance, r.scale(column, at));
  return distance;
}

Spread nb::spreadOf(const Symmetric &shape, const LinearSpot &spot, RuleBuilder &r) {
  Symmetric all = shape;
  for (Value column : spot.byNormals)
    all = withOuter(all, column, {}, r);
  const Symmetric cofactors = cofactorsOf(all, r), ofShape = cofactorsOf(shape, r);
  Value inverse = r.reciprocal(determinantOf(all, cofactors, r));
  return {scaled(cofactors, inverse, r), r.sqrt(r.mul(determinantOf(shape, ofShape, r), inverse))};
}

void nb::addNormals(SpotPoint &point, const LinearSpot &spot, Value slope, Value exponent,
                    RuleBuilder &r) {
  Value most = r.mul(plus(exponent, outside, r), 2), farthest = r.sqrt(most), square;
  for (Value column : spot.byNormals) {
    Value at = r.dot(column, slope);
    square = square ? r.add(square, r.mul(at, at)) : r.mul(at, at);
    point.normals.push_back(clampedTo(farthest, at, r));
  }
  if (square)
    point.isLit =
        arith::CmpFOp::create(r.builder(), r.location(), arith::CmpFPredicate::OLE, square, most);
}

SumOp nb::sumOverNodes(const Quadrature &quadrature, Dimension dimension, unsigned results,
                       llvm::function_ref<SmallVector<Value>(Value, Value)> terms, RuleBuilder &r) {
  OpBuilder &b = r.builder();
  auto sum = SumOp::create(b, r.location(), SmallVector<Type>(results, b.getF64Type()),
                           ValueRange{quadrature.count},
                           b.getArrayAttr(DimensionAttr::get(b.getContext(), dimension)));
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&sum.getBody());
  Value i = body->addArgument(b.getIndexType(), r.location());
  const auto entry = [&](Value table) -> Value {
    return LookupOp::create(b, r.location(), table, ValueRange{i}, /*inbounds=*/true);
  };
  Value node = entry(quadrature.nodes), weight = entry(quadrature.weights);
  YieldOp::create(b, r.location(), terms(node, weight));
  return sum;
}

SpotPoint nb::brightestPoint(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about,
                             const Quadrature &quadrature, RuleBuilder &r) {
  Value distance = distanceAtMiddle(spot, about, r);
  Symmetric spread = shape;
  for (Value column : spot.byNormals)
    spread = withOuter(spread, column, {}, r);
  Symmetric all = spread;
  Value variance = r.constant(shape.xx.getType(), 1.0 / 12);
  for (Value column : spot.byUniforms)
    all = withOuter(all, column, variance, r);
  const auto slopeBy = [&](const Symmetric &covariance) {
    const Symmetric cofactors = cofactorsOf(covariance, r);
    Value inverse = r.reciprocal(determinantOf(covariance, cofactors, r));
    return r.scale(times(cofactors, distance, r), r.neg(inverse));
  };
  SpotPoint point;
  Value slope = slopeBy(all);
  for (Value column : spot.byUniforms) {
    Value at = clampedToHalf(r.mul(r.dot(column, slope), 1.0 / 12), r);
    point.uniforms.push_back(at);
    distance = r.add(distance, r.scale(column, at));
  }
  addNormals(point, spot, slopeBy(spread), quadrature.exponent, r);
  return point;
}

Value nb::averageOf(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &point,
                    const Quadrature &quadrature, RuleBuilder &r) {
  Value distance = distanceAtMiddle(spot, point, r);
  const auto [precision, lost] = spreadOf(shape, spot, r);
  Quadratic form;
  SmallVector<Value> moved;
  for (Value column : spot.byUniforms)
    moved.push_back(times(precision, column, r));
  form.c = r.dot(distance, times(precision, distance, r));
  for (auto [i, column] : llvm::enumerate(spot.byUniforms)) {
    form.b.push_back(r.dot(distance, moved[i]));
    SmallVector<Value> &row = form.a.emplace_back();
    for (Value other : moved)
      row.push_back(r.dot(column, other));
  }
  Value most = r.add(form.at(form.lower(point.uniforms, r), r), r.mul(quadrature.exponent, 2));
  Value average = r.mul(lost, Average(quadrature, most, r).over(form, 0));
  if (!point.isLit)
    return average;
  return r.select(point.isLit, average, r.constant(average.getType(), 0));
}
