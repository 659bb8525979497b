#include "lib/IO/PointSpread.h"

#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg::io {
namespace {

/// A number with its first and second derivative by the width.
struct Jet {
  double value = 0, first = 0, second = 0;

  double order(int n) const { return n == 0 ? value : n == 1 ? first : second; }
};

Jet operator+(Jet a, Jet b) { return {a.value + b.value, a.first + b.first, a.second + b.second}; }
Jet operator-(Jet a, Jet b) { return {a.value - b.value, a.first - b.first, a.second - b.second}; }
Jet operator*(Jet a, Jet b) {
  return {a.value * b.value, a.first * b.value + a.value * b.first,
          a.second * b.value + 2 * a.first * b.first + a.value * b.second};
}

/// f(a), from f and its derivatives at a.
Jet chain(Jet a, double f, double df, double ddf) {
  return {f, df * a.first, ddf * a.first * a.first + df * a.second};
}

Jet inverse(Jet a) {
  const double r = 1 / a.value;
  return chain(a, r, -r * r, 2 * r * r * r);
}

/// Light of a Gaussian on one side of a line at distance x, from the middle: erf(2 sqrt(ln 2)
/// x/w)/2.
Jet gaussWithin(double x, double w) {
  const double c = 2 * std::sqrt(std::numbers::ln2) * x;
  const Jet u = {c / w, -c / (w * w), 2 * c / (w * w * w)};
  const double slope = std::exp(-u.value * u.value) / std::sqrt(std::numbers::pi);
  return chain(u, std::erf(u.value) / 2, slope, -2 * u.value * slope);
}

/// Light of a fiber in the rectangle from the middle to (x, y): atan(x y / (g s)) / (2 pi) with
/// s^2 = g^2 + x^2 + y^2.
Jet fiberWithin(double x, double y, double w) {
  const Jet g = {fiberScale * w, fiberScale, 0};
  const Jet squared = g * g + Jet{x * x + y * y, 0, 0};
  const double s = std::sqrt(squared.value);
  const Jet root = chain(squared, s, 0.5 / s, -0.25 / (s * squared.value));
  const Jet t = Jet{x * y, 0, 0} * inverse(g * root);
  const double d = 1 / (1 + t.value * t.value);
  return Jet{0.5 / std::numbers::pi, 0, 0} * chain(t, std::atan(t.value), d, -2 * t.value * d * d);
}

/// Light in the pixel (dx, dy).
Jet inPixel(PointSpread kind, double dx, double dy, double w) {
  if (kind == PointSpread::Gauss)
    return (gaussWithin(dx + 0.5, w) - gaussWithin(dx - 0.5, w)) *
           (gaussWithin(dy + 0.5, w) - gaussWithin(dy - 0.5, w));
  return fiberWithin(dx + 0.5, dy + 0.5, w) - fiberWithin(dx + 0.5, dy - 0.5, w) -
         fiberWithin(dx - 0.5, dy + 0.5, w) + fiberWithin(dx - 0.5, dy - 0.5, w);
}

/// Light in the square from -edge to edge.
Jet inSquare(PointSpread kind, double edge, double w) {
  const Jet four = {4, 0, 0};
  if (kind == PointSpread::Gauss)
    return four * gaussWithin(edge, w) * gaussWithin(edge, w);
  return four * fiberWithin(edge, edge, w);
}

/// out[i] = sum over k of weights[k] (in[i - k] + in[i + k]), and weights[0] in[i] once; `in` has
/// the weights' length more on both sides.
NB_VECTORIZED
void spreadRow(const double *__restrict in, const double *__restrict weights, std::int64_t reach,
               double *__restrict out, std::int64_t count) {
  constexpr std::int64_t block = 64;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const std::int64_t size = std::min(block, count - begin);
    double sums[block];
    for (std::int64_t i = 0; i != block; ++i)
      sums[i] = 0;
    const double *at = in + begin;
    for (std::int64_t k = reach; k != 0; --k)
      for (std::int64_t i = 0; i != size; ++i)
        sums[i] += weights[k] * (at[i - k] + at[i + k]);
    for (std::int64_t i = 0; i != size; ++i)
      out[begin + i] = sums[i] + weights[0] * at[i];
  }
}

/// out += weight (a + b)
NB_VECTORIZED
void addRows(const double *__restrict a, const double *__restrict b, double weight,
             double *__restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i != count; ++i)
    out[i] += weight * (a[i] + b[i]);
}

NB_VECTORIZED
void addRow(const double *__restrict a, double weight, double *__restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i != count; ++i)
    out[i] += weight * a[i];
}

} // namespace

PointSpreadFunction::PointSpreadFunction(PointSpread kind, double widthInPixels,
                                         std::int64_t radius, int order)
    : reach(radius) {
  if (!(widthInPixels > 0) || !std::isfinite(widthInPixels))
    throw std::invalid_argument("the width of the point spread is " +
                                std::to_string(widthInPixels) +
                                " pixels; it must be above 0 and finite");
  if (radius < 0)
    throw std::invalid_argument("the radius of the point spread is below 0");
  const std::int64_t n = reach + 1;
  shares.resize(std::size_t(n * n));
  const Jet whole = inverse(inSquare(kind, double(reach) + 0.5, widthInPixels));
  for (std::int64_t y = 0; y != n; ++y)
    for (std::int64_t x = 0; x != n; ++x)
      shares[std::size_t(y * n + x)] =
          (inPixel(kind, double(x), double(y), widthInPixels) * whole).order(order);
  // A share is a difference of four numbers below 1/4.
  factor(4e-16 / std::pow(widthInPixels, order));
}

double PointSpreadFunction::share(std::int64_t dx, std::int64_t dy) const {
  dx = std::abs(dx);
  dy = std::abs(dy);
  return dx > reach || dy > reach ? 0 : shares[std::size_t(dy * (reach + 1) + dx)];
}

/// Cross approximation with full pivots: the largest entry's column times its row takes that entry
/// away, until rounding is all that is left. A Gaussian is one product, a fiber some ten, since it
/// is smooth; a square of 101 x 101 pixels then costs 2 x 101 products for each, not 101^2.
void PointSpreadFunction::factor(double rounding) {
  const auto n = std::size_t(reach + 1);
  std::vector<double> rest = shares;
  const auto larger = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  while (rows.size() != n) {
    const auto found = std::ranges::max_element(rest, larger);
    const double pivot = *found;
    if (std::fabs(pivot) <= rounding)
      break;
    const auto y = std::size_t(found - rest.begin()) / n, x = std::size_t(found - rest.begin()) % n;
    std::vector<double> row(n), column(n);
    for (std::size_t i = 0; i != n; ++i) {
      row[i] = rest[y * n + i];
      column[i] = rest[i * n + x] / pivot;
    }
    for (std::size_t j = 0; j != n; ++j)
      for (std::size_t i = 0; i != n; ++i)
        rest[j * n + i] -= column[j] * row[i];
    rows.push_back(std::move(row));
    columns.push_back(std::move(column));
  }
}

void PointSpreadFunction::apply(std::span<const double> image, std::int64_t slowPixels,
                                std::int64_t fastPixels, std::span<double> result,
                                int threads) const {
  if (image.size() != result.size() || fastPixels < 1 || slowPixels < 1 ||
      image.size() % std::size_t(slowPixels * fastPixels) != 0)
    throw std::invalid_argument("the image to spread does not have whole panels");
  const auto allRows = std::int64_t(image.size()) / fastPixels;
  ThreadTeam team(image.size() > 10000 ? threadsOf(threads) : 1);
  std::ranges::fill(result, 0);
  std::vector<double> within(image.size());
  std::vector<std::vector<double>> padded(std::size_t(team.size()),
                                          std::vector<double>(std::size_t(fastPixels + 2 * reach)));
  for (std::size_t term = 0; term != terms(); ++term) {
    team.forEach(allRows, [&](std::int64_t row, int thread) {
      double *in = padded[std::size_t(thread)].data() + reach;
      std::copy_n(&image[std::size_t(row * fastPixels)], fastPixels, in);
      spreadRow(in, rows[term].data(), reach, &within[std::size_t(row * fastPixels)], fastPixels);
    });
    const std::vector<double> &weights = columns[term];
    team.forEach(allRows, [&](std::int64_t row, int) {
      const std::int64_t slow = row % slowPixels;
      double *out = &result[std::size_t(row * fastPixels)];
      const double *at = &within[std::size_t(row * fastPixels)];
      addRow(at, weights[0], out, fastPixels);
      for (std::int64_t k = 1; k <= reach; ++k) {
        const bool above = slow >= k, below = slow + k < slowPixels;
        const double weight = weights[std::size_t(k)];
        if (above && below)
          addRows(at - k * fastPixels, at + k * fastPixels, weight, out, fastPixels);
        else if (above || below)
          addRow(above ? at - k * fastPixels : at + k * fastPixels, weight, out, fastPixels);
      }
    });
  }
}

} // namespace nanobragg::io
