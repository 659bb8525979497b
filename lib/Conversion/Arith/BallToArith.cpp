#include "lib/Conversion/Arith/GratingMagnitude.h"
#include "lib/Conversion/Arith/Polynomials.h"
#include "lib/Conversion/Arith/ShapesToArith.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

static SmallVector<double> scaled(ArrayRef<double> coefficients, double factor) {
  return llvm::map_to_vector(coefficients, [&](double c) { return c * factor; });
}

/// 3 (-1/2)^k j_n(r) / r^n with r = sqrt u, n = k + 1: its power series in u up to `limit`.
static Value series(int64_t n, double limit, Value u, Arithmetic &a) {
  double c = 3 * std::pow(-0.5, double(n - 1));
  for (int64_t i = 1; i <= n; ++i)
    c /= double(2 * i + 1);
  SmallVector<double> coefficients;
  double first = std::abs(c), power = 1;
  for (int64_t i = 1; std::abs(c) * power > 1e-18 * first; ++i) {
    coefficients.push_back(c);
    c *= -0.5 / double(i * (2 * (n + i) + 1));
    power *= limit;
  }
  return a.polynomial(coefficients, u);
}

/// 3 (sin r - r cos r) / r^3 at r = sqrt u, without cancellation near u = 0 and without a choice:
/// with the nearest whole number n of half turns and the rest t, sin r - r cos r is, up to the sign
/// of
/// (-1)^n, (sin pi t - pi t cos pi t) - pi n cos pi t, and the first difference is a series of its
/// own.
static Value valueOfBall(Value u, bool signCounts, Arithmetic &a) {
  double tiny = getElementTypeOrSelf(u.getType()).isF64() ? 1e-40 : 1e-12; // the value is 1 there
  Value safe = a.max(a.constant(u.getType(), tiny), u);
  Value inverse = a.reciprocalSqrtOfPositive(safe);
  auto [n, t, bits] = a.halfTurns(a.mul(safe, inverse));
  Value z = a.mul(t, t);
  Value near = a.mul(a.mul(t, z), a.polynomial(scaled(polynomials::sineMinusCosine, 3), z));
  Value cosine = a.polynomial(scaled(polynomials::cosPi, -3 * std::numbers::pi), z);
  cosine = a.add(a.mul(z, cosine), 3 * std::numbers::pi);
  Value value = a.mul(a.sub(near, a.mul(n, cosine)), a.mul(a.mul(inverse, inverse), inverse));
  return signCounts ? a.withSignFlippedBy(value, bits) : value;
}

/// Is it the only one of its argument, so that nothing would be shared with derivatives?
static bool ballStandsAlone(BallOp op) {
  return llvm::all_of(op.getU().getUsers(), [&](Operation *user) {
    return user == op.getOperation() || !isa<BallOp>(user);
  });
}

/// Outside the reach of the series, where dividing by r does no harm, the spherical Bessel
/// functions by upward recurrence, which is stable for r > n. Inside, order 0 beside others is one
/// step of downward recurrence from order 1, 3 j1 / r = j0 + j2, since a gradient has the series of
/// order 1 anyway.
Value nb::lowerBall(BallOp op, Arithmetic &a) {
  if (op.getOrder() == 0 && ballStandsAlone(op))
    return valueOfBall(op.getU(), !signIsLost(op.getResult()), a);
  auto n = int64_t(op.getOrder()) + 1;
  double limit = double(std::max<int64_t>(4, n * n));
  Value u = op.getU();
  double tiny = getElementTypeOrSelf(u.getType()).isF64() ? 1e-100 : 1e-20; // sin(r) / r is 1 there
  Value r = a.sqrt(a.max(a.constant(u.getType(), tiny), u));
  Value inverse = a.div(a.constant(u.getType(), 1), r);
  auto [sine, cosine] = a.sinCos(r);
  Value below = a.mul(sine, inverse), j = a.mul(a.sub(below, cosine), inverse);
  Value near = n == 1 ? a.add(below, a.mul(u, a.mul(series(2, limit, u, a), -2.0 / 3)))
                      : series(n, limit, u, a);
  for (int64_t i = 1; i < n; ++i) {
    Value next = a.sub(a.mul(a.mul(inverse, double(2 * i + 1)), j), below);
    below = j;
    j = next;
  }
  for (int64_t i = 0; i < n; ++i)
    j = a.mul(j, inverse);
  Value far = a.mul(j, 3 * std::pow(-0.5, double(n - 1)));
  Value isSmall = a.less(u, a.constant(u.getType(), limit));
  return a.select(isSmall, near, far);
}
