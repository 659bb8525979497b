#include "lib/Interpreter/ShapeFunctions.h"

#include "llvm/ADT/SmallVector.h"

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
    odd = std::floor(halfTurns / 2) * 2 != halfTurns;
  }
};

/// sin(pi N x) and its derivatives by pi N x.
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

double binomial(unsigned n, unsigned k) {
  double value = 1;
  for (unsigned i = 0; i < k; ++i)
    value = value * (n - i) / (i + 1);
  return value;
}

/// k-th derivative of sin(t)/t by its Taylor series: sum (-1)^j t^(2j-k) / ((2j+1) (2j-k)!).
double sincSeries(unsigned k, double t) {
  unsigned j = (k + 1) / 2;
  double term = (k % 2 ? t : 1) * (j % 2 ? -1 : 1), sum = 0, last;
  do {
    last = sum;
    sum += term / (2 * j + 1);
    ++j;
    term *= -t * t / ((2 * j - k) * (2 * j - k - 1.0));
  } while (sum != last);
  return sum;
}

/// sin(t)/t and its derivatives: the series near 0, elsewhere t f_k + k f_(k-1) = sin^(k)(t),
/// whose errors k/t would amplify near 0.
Derivatives sinc(unsigned orders, double t, const Phase &sine) {
  Derivatives f;
  for (unsigned k = 0; k <= orders; ++k)
    f.push_back(std::abs(t) < 2 + k / 2 ? sincSeries(k, t) : (sine[k] - (k ? k * f[k - 1] : 0)) / t);
  return f;
}

/// z^p sin^(q)(N z) and its derivatives by z, t = N z.
Derivatives poweredSine(unsigned orders, unsigned p, unsigned q, double z, double n,
                        const Phase &sine) {
  Derivatives f;
  for (unsigned k = 0; k <= orders; ++k) {
    double sum = 0, falling = 1; // p (p-1) ... (p-j+1)
    for (unsigned j = 0; j <= std::min(k, p); falling *= p - j, ++j)
      sum += binomial(k, j) * falling * std::pow(z, p - j) * std::pow(n, k - j) * sine[q + k - j];
    f.push_back(sum);
  }
  return f;
}
} // namespace

double evaluation::sinPi(double n, double x) {
  Remainder rest(n, x);
  return rest.odd ? -std::sin(rest.angle) : std::sin(rest.angle);
}

/// With z = pi x the function is N sinc(N z) / sinc(z), and its c-th derivative by N is
/// z^(c-1) sin^(c)(N z) / sinc(z): quotients of entire functions whose divisor is at least 2/pi
/// within half a turn. Deriving quotient times divisor = numerator by z gives their derivatives one
/// after the other, without anything small to divide by.
double evaluation::grating(double x, double n, GratingOrder order) {
  unsigned m = order.byX, c = order.byCells;
  if (m == 0 && c == 0)
    return x == 0 ? n : sinPi(n, x) / sinPi(1, x);
  Phase above(n, x);
  double z = pi * x;
  if (m == 0)
    return std::pow(z, c - 1) * above[c] * (x == 0 ? 1 : z / sinPi(1, x));
  Derivatives numerator;
  if (c > 0) {
    numerator = poweredSine(m, c - 1, c, z, n, above);
  } else {
    numerator = sinc(m, n * z, above);
    double power = n;
    for (double &derivative : numerator) {
      derivative *= power;
      power *= n;
    }
  }
  Derivatives divisor = sinc(m, z, Phase(1, x)), quotient;
  for (unsigned k = 0; k <= m; ++k) {
    double sum = numerator[k];
    for (unsigned j = 0; j < k; ++j)
      sum -= binomial(k, j) * quotient[j] * divisor[k - j];
    quotient.push_back(sum / divisor[0]);
  }
  return std::pow(pi, m) * quotient[m];
}

/// 3 (-1/2)^k j_n(r) / r^n with r = sqrt u, n = k + 1 and the spherical Bessel function j_n: its
/// power series while the terms decrease from the first on, else upward recurrence, which is stable
/// for r > n.
double evaluation::ball(double u, unsigned order) {
  unsigned n = order + 1;
  double scale = 3 * std::pow(-0.5, order);
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
  return scale * j / std::pow(r, n);
}
