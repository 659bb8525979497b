#include "lib/Interpreter/ShapeFunctions.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

using namespace mlir::nb;
using namespace mlir::nb::evaluation;
using llvm::SmallVector;
using std::numbers::pi;

namespace {
/// A function's value and first derivatives.
using Derivatives = SmallVector<double, 5>;

/// pi N x without whole half turns.
struct Remainder {
  double angle;
  bool odd; ///< the half turns taken off

  Remainder(double n, double x) {
    double halfTurns = std::rint(n * x);
    angle = pi * std::fma(n, x, -halfTurns);
    // Larger numbers are even, and NaN is not an integer.
    odd = std::abs(halfTurns) < 0x1p53 && int64_t(halfTurns) % 2 != 0;
  }
};

/// sin(pi N x) and its derivatives with respect to pi N x.
struct Phase {
  double sine, cosine;

  Phase(double n, double x) {
    Remainder rest(n, x);
    sine = rest.odd ? -std::sin(rest.angle) : std::sin(rest.angle);
    cosine = rest.odd ? -std::cos(rest.angle) : std::cos(rest.angle);
  }
  double operator[](unsigned k) const {
    double value = k % 2 ? cosine : sine;
    return k / 2 % 2 ? -value : value;
  }
};

double wholePower(double base, unsigned exponent) {
  double value = 1;
  for (; exponent > 0; --exponent)
    value *= base;
  return value;
}

double binomial(unsigned n, unsigned k) {
  double value = 1;
  for (unsigned i = 0; i < k; ++i)
    value = value * (n - i) / (i + 1);
  return value;
}

/// k-th derivative of sin(t)/t by its Taylor series: sum (-1)^j t^(2j-k) / ((2j+1) (2j-k)!).
class SincSeries {
public:
  explicit SincSeries(unsigned k) : k(k) {
    double factorial = 1;
    unsigned j = (k + 1) / 2;
    for (double &c : coefficients) {
      c = (j % 2 ? -1 : 1) / ((2 * j + 1) * factorial);
      ++j;
      factorial *= (2 * j - k) * (2 * j - k - 1.0);
    }
  }
  double operator()(double t) const {
    double square = t * t, sum = 0;
    for (int i = square < 1 ? 10 : 24; i-- > 0;)
      sum = sum * square + coefficients[i];
    return k % 2 ? t * sum : sum;
  }

private:
  unsigned k;
  std::array<double, 24> coefficients;
};

double sincSeries(unsigned k, double t) {
  static const SincSeries common[] = {SincSeries(0), SincSeries(1), SincSeries(2), SincSeries(3),
                                      SincSeries(4)};
  return k < std::size(common) ? common[k](t) : SincSeries(k)(t);
}

/// sin(t)/t and its derivatives: the series near 0, elsewhere t f_k + k f_(k-1) = sin^(k)(t),
/// whose errors k/t would amplify near 0.
Derivatives sinc(unsigned orders, double t, const Phase &sine) {
  Derivatives f = {t == 0 ? 1 : sine[0] / t};
  for (unsigned k = 1; k <= orders; ++k)
    f.push_back(std::abs(t) < 1 + k / 2.0 ? sincSeries(k, t) : (sine[k] - k * f[k - 1]) / t);
  return f;
}

/// z^p sin^(q)(N z) and its derivatives with respect to z, t = N z.
Derivatives poweredSine(unsigned orders, unsigned p, unsigned q, double z, double n,
                        const Phase &sine) {
  Derivatives f;
  for (unsigned k = 0; k <= orders; ++k) {
    double sum = 0, falling = 1; // p (p-1) ... (p-j+1)
    for (unsigned j = 0; j <= std::min(k, p); falling *= p - j, ++j)
      sum +=
          binomial(k, j) * falling * wholePower(z, p - j) * wholePower(n, k - j) * sine[q + k - j];
    f.push_back(sum);
  }
  return f;
}
} // namespace

double evaluation::sinPi(double n, double x) {
  Remainder rest(n, x);
  return rest.odd ? -std::sin(rest.angle) : std::sin(rest.angle);
}

/// With z = pi x the function is N sinc(N z) / sinc(z), and its c-th derivative with respect to N
/// is z^(c-1) sin^(c)(N z) / sinc(z): quotients of entire functions whose divisor is at least 2/pi
/// within half a turn. Deriving quotient times divisor = numerator by z gives their derivatives one
/// after the other, without anything small to divide by.
double evaluation::grating(double x, double n, GratingOrder order) {
  unsigned m = order.byX, c = order.byCells;
  if (m == 0 && c == 0)
    return x == 0 ? n : sinPi(n, x) / std::sin(pi * x);
  Phase above(n, x);
  double z = pi * x;
  if (m == 0)
    return wholePower(z, c - 1) * above[c] * (x == 0 ? 1 : z / std::sin(z));
  Derivatives numerator;
  if (c > 0) {
    numerator = poweredSine(m, c - 1, c, z, n, above);
  } else {
    numerator = sinc(m, n * z, above);
    double factor = n;
    for (double &derivative : numerator) {
      derivative *= factor;
      factor *= n;
    }
  }
  Derivatives divisor = sinc(m, z, Phase(1, x)), quotient;
  for (unsigned k = 0; k <= m; ++k) {
    double sum = numerator[k];
    for (unsigned j = 0; j < k; ++j)
      sum -= binomial(k, j) * quotient[j] * divisor[k - j];
    quotient.push_back(sum / divisor[0]);
  }
  return wholePower(pi, m) * quotient[m];
}

/// 3 (-1/2)^k j_n(r) / r^n with r = sqrt u, n = k + 1 and the spherical Bessel function j_n: its
/// power series while the terms decrease from the first on, else upward recurrence, which is stable
/// for r > n.
double evaluation::ball(double u, unsigned order) {
  unsigned n = order + 1;
  double scale = 3 * wholePower(-0.5, order);
  if (u < 4 * n + 6) {
    double term = scale;
    for (unsigned i = 1; i <= n; ++i)
      term /= 2 * i + 1;
    double sum = 0, last;
    unsigned i = 0;
    do {
      last = sum;
      sum += term;
      ++i;
      term *= -u / 2 / (i * (2.0 * (n + i) + 1));
    } while (sum != last);
    return sum;
  }
  double r = std::sqrt(u), below = std::sin(r) / r, j = (below - std::cos(r)) / r;
  for (unsigned i = 1; i < n; ++i)
    below = std::exchange(j, (2 * i + 1) / r * j - below);
  return scale * j / wholePower(r, n);
}
