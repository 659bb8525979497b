#include "lib/Conversion/Arith/GratingMagnitude.h"
#include "lib/Conversion/Arith/ShapesToArith.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
using std::numbers::pi;

struct Order {
  int64_t byX = 0, byCells = 0;
};

/// sin(pi N x) / sin(pi x) of one axis and its derivatives. All of them are a number over sin(pi
/// x), here called numerators, so that the axes of a grating can be divided by all three sines at
/// once. The sign that whole half turns of N x have is left to `parity`.
///
/// Terms that would cancel near a peak are computed there from
///   s(x) = x p(x^2)                   p = sin(pi x) / x
///   s'(x) = pi cos(pi x) = p + x^2 d   d = (pi cos(pi x) - p) / x^2
/// with polynomials p and d: below half a turn, N p(y^2) = p(x^2) g for y = N x and the function g
/// itself, so that p drops out of what its derivatives are made of.
///
/// For a result in f32 of a distance in f64 half turns are counted in f64: the rest of N x,
/// like x, is then rounded once, whatever N is.
class Axis {
public:
  Axis(Value delta, Value cells, FloatType precision, Arithmetic &a)
      : a(a), n(a.convert(cells, precision)) {
    Type type = delta.getType();
    // Small enough to give N to the last digit, large enough for products of three sines.
    Value tiny = a.constant(type, precision.isF64() ? 1e-30 : 1e-10);
    Value given = a.select(a.less(a.abs(delta), tiny), tiny, delta);
    x = a.convert(given, precision);
    x2 = a.mul(x, x);
    // A number so large that its last bit counts half turns.
    Value large = a.constant(type, getElementTypeOrSelf(type).isF64() ? 0x1.8p52 : 0x1.8p23);
    Value product = a.mul(cells, given);
    y = a.convert(product, precision);
    Value counted = a.add(product, large);
    halfTurns = a.sub(counted, large);
    parity = a.bits(counted);
    // The rounding error of N x would be many ulps of the rest when N is large.
    rest = a.convert(a.mulAdd(cells, given, a.neg(halfTurns)), precision);
    rest2 = a.mul(rest, rest);
    below = a.mul(x, a.sinPiOverX(x2));
    above = a.mul(rest, a.sinPiOverX(rest2));
  }

  Value sine() const { return below; }
  Value signs() const { return parity; }

  /// Numerator of a derivative; `inverse` is 1 / sine().
  Value numerator(Order order, Value inverse);

private:
  Value isNear() { return a.equal(halfTurns, a.constant(halfTurns.getType(), 0)); }
  /// pi cos(pi x) and pi cos(pi N x), without p near the peak.
  Value slopeBelow(bool nearPeak) { return slope(x2, nearPeak); }
  Value slopeAbove(bool nearPeak) { return slope(rest2, nearPeak); }
  Value slope(Value square, bool nearPeak);
  /// pi cos(pi N x) - g pi cos(pi x) / N times N: the derivative with respect to x.
  Value byX(Value inverse);
  /// k-th derivative of sin(pi N x) with respect to N x.
  Value phase(int64_t k);
  /// k-th derivative of sin(pi v) / v for |v| <= 1/2.
  Value sincTaylor(int64_t k, Value v);
  /// Derivatives of sin(pi N x) / x by N (order.byCells) and x (0 to order.byX).
  SmallVector<Value> dividends(Order order);
  Value anyOrder(Order order, Value inverse);

  Value power(Value base, int64_t exponent);

  Arithmetic &a;
  Value n, x, x2, y, halfTurns, parity, rest, rest2, below, above;
};
} // namespace

Value Axis::slope(Value square, bool nearPeak) {
  Value p = a.sinPiOverX(square);
  // A number that is selected costs less than a sum of which one is selected.
  if (nearPeak)
    p = a.select(isNear(), a.constant(x.getType(), 0), p);
  return a.add(a.mul(square, a.sinPiOverXSlope(square)), p);
}

Value Axis::byX(Value inverse) {
  return a.sub(a.mul(n, slopeAbove(true)), a.mul(a.mul(above, inverse), slopeBelow(true)));
}

Value Axis::numerator(Order order, Value inverse) {
  auto [m, c] = order;
  if (m == 0 && c == 0)
    return above;
  if (m == 1 && c == 0)
    return byX(inverse);
  if (m == 0 && c == 1)
    return a.mul(x, slopeAbove(false));
  if (m == 0 && c == 2)
    return a.mul(a.mul(x2, above), -pi * pi);
  // From deriving g sin(pi x) = sin(pi N x) once more.
  if (m == 2 && c == 0) {
    Value one = a.constant(x.getType(), 1);
    Value curvature = a.mul(a.mul(a.sub(a.mul(n, n), one), above), pi * pi);
    Value turn = a.mul(a.mul(slopeBelow(false), a.mul(byX(inverse), inverse)), 2);
    return a.neg(a.add(curvature, turn));
  }
  if (m == 1 && c == 1) {
    Value d = a.mul(a.mul(x2, a.sinPiOverXSlope(x2)), inverse);
    Value sum = a.add(a.mul(a.mul(n, above), pi * pi), a.mul(slopeAbove(false), d));
    return a.neg(a.mul(x, sum));
  }
  return anyOrder(order, inverse);
}

Value Axis::power(Value base, int64_t exponent) {
  Value result = a.constant(base.getType(), 1);
  for (int64_t i = 0; i < exponent; ++i)
    result = i == 0 ? base : a.mul(result, base);
  return result;
}

Value Axis::phase(int64_t k) {
  Value value = k % 2 ? slopeAbove(false) : above;
  double factor = std::pow(pi, double(k - k % 2));
  return a.mul(value, k / 2 % 2 ? -factor : factor);
}

Value Axis::sincTaylor(int64_t k, Value v) {
  // sum (-1)^j pi^(2j+1) / (2j+1) v^(2j-k) / (2j-k)!, as long as it counts at v = 1/2.
  SmallVector<double> coefficients;
  int64_t j = (k + 1) / 2;
  double factorial = 1, largest = 0;
  while (true) {
    int64_t degree = 2 * j - k;
    if (degree > 1)
      factorial *= double(degree) * double(degree - 1);
    double c = std::pow(pi, double(2 * j + 1)) / double(2 * j + 1) / factorial;
    double term = c * std::pow(0.5, double(degree));
    largest = std::max(largest, term);
    if (term < 1e-19 * largest)
      break;
    coefficients.push_back(j % 2 ? -c : c);
    ++j;
  }
  Value even = a.polynomial(coefficients, a.mul(v, v));
  return k % 2 ? a.mul(v, even) : even;
}

SmallVector<Value> Axis::dividends(Order order) {
  auto [m, c] = order;
  SmallVector<Value> result;
  if (c > 0) {
    // x^(c-1) sin^(c)(pi N x), by Leibniz' rule.
    for (int64_t k = 0; k <= m; ++k) {
      double factor = 1; // binomial(k, j) (c-1) ... (c-j)
      Value sum;
      for (int64_t j = 0; j <= std::min(k, c - 1); ++j) {
        Value term = a.mul(power(x, c - 1 - j), a.mul(power(n, k - j), phase(c + k - j)));
        term = a.mul(term, factor);
        sum = sum ? a.add(sum, term) : term;
        factor *= double(k - j) / double(j + 1) * double(c - 1 - j);
      }
      result.push_back(sum);
    }
    return result;
  }
  // N h(N x) with h(y) = sin(pi y) / y: its series within half a turn; outside
  // y h^(k) + k h^(k-1) = sin^(k)(pi y), where dividing by y does no harm.
  Value near = isNear();
  Value one = a.constant(x.getType(), 1);
  Value inverse = a.div(one, a.select(near, one, y));
  Value far, scale = n;
  for (int64_t k = 0; k <= m; ++k) {
    Value rest = phase(k);
    if (k > 0) {
      rest = a.sub(rest, a.mul(far, double(k)));
      scale = a.mul(scale, n);
    }
    far = a.mul(rest, inverse);
    result.push_back(a.mul(scale, a.select(near, sincTaylor(k, y), far)));
  }
  return result;
}

Value Axis::anyOrder(Order order, Value inverse) {
  if (order.byX == 0)
    return a.mul(power(x, order.byCells), phase(order.byCells));
  // Deriving quotient times p = dividend, where p = sin(pi x) / x is nowhere small.
  Value overP = a.mul(x, inverse);
  SmallVector<Value> dividend = dividends(order), quotient;
  for (int64_t k = 0; k <= order.byX; ++k) {
    Value sum = dividend[k];
    double binomial = 1;
    for (int64_t j = 0; j < k; ++j) {
      sum = a.sub(sum, a.mul(a.mul(quotient[j], binomial), sincTaylor(k - j, x)));
      binomial *= double(k - j) / double(j + 1);
    }
    quotient.push_back(a.mul(sum, overP));
  }
  return a.mul(quotient.back(), below);
}

static FloatType precisionOf(Type type) { return cast<FloatType>(getElementTypeOrSelf(type)); }

Value nb::lowerSincg(SincgOp op, Arithmetic &a) {
  Axis axis(op.getX(), op.getN(), precisionOf(op.getType()), a);
  Value inverse = a.div(a.constant(op.getType(), 1), axis.sine());
  Order order{int64_t(op.getOrder()), int64_t(op.getCells())};
  return a.withSignFlippedBy(a.mul(axis.numerator(order, inverse), inverse), axis.signs());
}

/// The grating times `scale`, if that is given.
static Value grating(GratingOp op, Value scale, LoweredValues &values, Arithmetic &a) {
  Components delta = llvm::to_vector<9>(values.components(op.getDelta()));
  Components cells = llvm::to_vector<9>(values.components(op.getNcells()));
  SmallVector<Axis, 3> axes;
  for (auto [x, n] : llvm::zip_equal(delta, cells))
    axes.emplace_back(x, n, precisionOf(op.getType()), a);
  Value firstTwo = a.mul(axes[0].sine(), axes[1].sine());
  Value inverse = a.div(a.constant(op.getType(), 1), a.mul(firstTwo, axes[2].sine()));
  Value parity = a.xorBits(a.xorBits(axes[0].signs(), axes[1].signs()), axes[2].signs());

  auto inverseOf = [&](unsigned axis) {
    Value others = axis == 2 ? firstTwo : a.mul(axes[1 - axis].sine(), axes[2].sine());
    return a.mul(inverse, others);
  };
  // The axes that are not differentiated come first: what they are multiplied to is shared by all
  // derivatives along the remaining axis.
  SmallVector<Value, 3> plain, differentiated;
  for (unsigned i = 0; i < 3; ++i) {
    Order order{op.getOrder()[i], op.getCells()[i]};
    bool isPlain = order.byX == 0 && order.byCells == 0;
    (isPlain ? plain : differentiated)
        .push_back(axes[i].numerator(order, isPlain ? Value() : inverseOf(i)));
  }
  Value product;
  for (Value factor : plain)
    product = product ? a.mul(product, factor) : factor;
  Value divisor = a.withSignFlippedBy(inverse, parity);
  if (scale)
    divisor = a.mul(divisor, scale);
  product = product ? a.mul(product, divisor) : divisor;
  for (Value factor : differentiated)
    product = a.mul(product, factor);
  return product;
}

static bool isDifferentiated(GratingOp op) {
  return llvm::any_of(op.getOrder(), [](int64_t n) { return n != 0; }) ||
         llvm::any_of(op.getCells(), [](int64_t n) { return n != 0; });
}

/// Is it the only grating of its delta, so that nothing would be shared with derivatives?
static bool standsAlone(GratingOp op) {
  return llvm::all_of(op.getDelta().getUsers(), [&](Operation *user) {
    return user == op.getOperation() || !isa<GratingOp>(user);
  });
}

Value nb::lowerGrating(GratingOp op, LoweredValues &values, Arithmetic &a) {
  if (isDifferentiated(op) || !signIsLost(op.getResult()) || !standsAlone(op))
    return grating(op, Value(), values, a);
  Components delta = llvm::to_vector<9>(values.components(op.getDelta()));
  Components ncells = llvm::to_vector<9>(values.components(op.getNcells()));
  return gratingMagnitude(delta, ncells, a);
}

void nb::findScaledGratings(Operation *root, LoweredValues &values) {
  root->walk([&](ScaleOp op) {
    auto vector = op.getVector().getDefiningOp<VecOp>();
    if (!vector || !vector->hasOneUse())
      return;
    SmallVector<Operation *> gratings;
    for (Value component : vector->getOperands())
      if (component.getDefiningOp<GratingOp>() && component.hasOneUse())
        gratings.push_back(component.getDefiningOp());
    if (gratings.size() == 3)
      values.scaledGratings[op] = gratings;
  });
}

Components nb::lowerScaledGratings(ScaleOp op, LoweredValues &values, Arithmetic &a) {
  return llvm::map_to_vector<9>(values.scaledGratings.lookup(op), [&](Operation *one) {
    return grating(cast<GratingOp>(one), op.getFactor(), values, a);
  });
}
