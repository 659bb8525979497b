#include "lib/Conversion/ShapesToArith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;

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

/// Outside the reach of the series, where dividing by r does no harm, the spherical Bessel functions
/// by upward recurrence, which is stable for r > n.
Value nb::expandBall(BallOp op, Arithmetic &a) {
  auto n = int64_t(op.getOrder()) + 1;
  double limit = double(std::max<int64_t>(4, n * n));
  Value u = op.getU();
  Value isSmall = a.less(u, a.constant(u.getType(), limit));
  Value r = a.sqrt(a.select(isSmall, a.constant(u.getType(), limit), u));
  Value inverse = a.div(a.constant(u.getType(), 1), r);
  auto [sine, cosine] = a.sinCos(r);
  Value below = a.mul(sine, inverse), j = a.mul(a.sub(below, cosine), inverse);
  for (int64_t i = 1; i < n; ++i) {
    Value next = a.sub(a.mul(a.mul(inverse, double(2 * i + 1)), j), below);
    below = j;
    j = next;
  }
  for (int64_t i = 0; i < n; ++i)
    j = a.mul(j, inverse);
  Value far = a.mul(j, 3 * std::pow(-0.5, double(n - 1)));
  return a.select(isSmall, series(n, limit, u, a), far);
}
