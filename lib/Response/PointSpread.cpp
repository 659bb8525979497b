#include "lib/Response/PointSpread.h"

#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"
#include "lib/Response/FourierSpread.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>

#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg {
namespace {

/// A number with its first and second derivative with respect to the width.
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

/// Light of a fiber in the rectangle from the middle to (x, y): atan(1 / q) / (2 pi) with q = g s /
/// (x y) and s^2 = g^2 + x^2 + y^2. No derivative with respect to q cancels where g is small.
Jet fiberWithin(double x, double y, double w) {
  const Jet g = {fiberScale * w, fiberScale, 0};
  const Jet squared = g * g + Jet{x * x + y * y, 0, 0};
  const double s = std::sqrt(squared.value);
  const Jet root = chain(squared, s, 0.5 / s, -0.25 / (s * squared.value));
  const Jet q = Jet{1 / (x * y), 0, 0} * g * root;
  const double d = 1 / (1 + q.value * q.value), angle = std::atan2(x * y, g.value * s);
  return Jet{0.5 / std::numbers::pi, 0, 0} * chain(q, angle, -d, 2 * q.value * d * d);
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

/// Columns that are spread together: few enough that their sums stay in registers, and what the
/// radius needs of them in the fastest cache.
constexpr std::int64_t strip = 32;
constexpr std::int64_t lanes = 8;
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

/// to += weight from[i], and with two places the sum of both; by memcpy, since what is read is not
/// aligned.
NB_INLINE void add(const double *from, double weight, Lanes &to) {
  Lanes a;
  std::memcpy(&a, from, sizeof a);
  to += weight * a;
}
NB_INLINE void add(const double *from, const double *other, double weight, Lanes &to) {
  Lanes a, b;
  std::memcpy(&a, from, sizeof a);
  std::memcpy(&b, other, sizeof b);
  to += weight * (a + b);
}

/// Spreads a strip from `in` on: weights[0] in[i] + sum over k of weights[k] (in[i - k step] + in[i
/// + k step]).
NB_INLINE void spreadStrip(const double *in, std::int64_t step, const double *weights,
                           std::int64_t reach, Lanes *sums) {
  for (std::int64_t i = 0; i != strip / lanes; ++i)
    sums[i] = Lanes{};
  for (std::int64_t k = reach; k != 0; --k)
    for (std::int64_t i = 0; i != strip / lanes; ++i)
      add(in - k * step + i * lanes, in + k * step + i * lanes, weights[k], sums[i]);
  for (std::int64_t i = 0; i != strip / lanes; ++i)
    add(in + i * lanes, weights[0], sums[i]);
}

/// Along rows: `in` has rows of `stride` numbers with `reach` more on both sides of the strip.
NB_VECTORIZED
void spreadRows(const double *in, std::int64_t stride, const double *weights, std::int64_t reach,
                double *out, std::int64_t rows) {
  for (std::int64_t row = 0; row != rows; ++row) {
    Lanes sums[strip / lanes];
    spreadStrip(in + row * stride + reach, 1, weights, reach, sums);
    std::memcpy(out + row * strip, sums, sizeof sums);
  }
}

/// Along columns, added to `out`: `in` has `reach` more rows above and below.
NB_VECTORIZED
void addColumns(const double *in, const double *weights, std::int64_t reach, double *out,
                std::int64_t rows) {
  for (std::int64_t row = 0; row != rows; ++row) {
    Lanes sums[strip / lanes];
    spreadStrip(in + (row + reach) * strip, strip, weights, reach, sums);
    for (std::int64_t i = 0; i != strip / lanes; ++i)
      add(out + row * strip + i * lanes, 1, sums[i]);
    std::memcpy(out + row * strip, sums, sizeof sums);
  }
}

/// The same of rows [begin, end) of `in` alone, which has no rows around; the others are 0.
NB_VECTORIZED
void addColumnsOf(const double *in, std::int64_t begin, std::int64_t end, const double *weights,
                  std::int64_t reach, double *out, std::int64_t rows) {
  for (std::int64_t row = std::max<std::int64_t>(0, begin - reach);
       row < std::min(rows, end + reach); ++row) {
    Lanes sums[strip / lanes];
    std::memcpy(sums, out + row * strip, sizeof sums);
    const std::int64_t last = std::min(end, row + reach + 1);
    for (std::int64_t from = std::max(begin, row - reach); from < last; ++from)
      for (std::int64_t i = 0; i != strip / lanes; ++i)
        add(in + from * strip + i * lanes, weights[from < row ? row - from : from - row], sums[i]);
    std::memcpy(out + row * strip, sums, sizeof sums);
  }
}

/// Some columns of a panel, and what is around them.
struct Strip {
  Strip(std::int64_t rows, std::int64_t reach)
      : rows(rows), reach(reach), stride(strip + 2 * reach), light(std::size_t(rows * stride)),
        within(std::size_t((rows + 2 * reach) * strip)), spread(std::size_t(rows * strip)) {}

  /// The columns from `begin` on; what lies beyond a panel's edges is 0.
  void take(const double *panel, std::int64_t fastPixels, std::int64_t begin) {
    take(panel, fastPixels, begin, {0, rows, 0, fastPixels});
  }
  /// Light of the box alone.
  void take(const double *panel, std::int64_t fastPixels, std::int64_t begin, const PixelBox &box) {
    const std::int64_t first = std::max(box.fastBegin, begin - reach),
                       last = std::min(box.fastEnd, begin + strip + reach);
    std::ranges::fill(light, 0);
    std::ranges::fill(spread, 0);
    for (std::int64_t row = box.slowBegin; row < box.slowEnd && first < last; ++row)
      std::copy(panel + row * fastPixels + first, panel + row * fastPixels + last,
                &light[std::size_t(row * stride + first - (begin - reach))]);
  }

  /// One product: along rows, and of that along columns.
  void add(const double *alongRows, const double *alongColumns) {
    spreadRows(light.data(), stride, alongRows, reach, &within[std::size_t(reach * strip)], rows);
    addColumns(within.data(), alongColumns, reach, spread.data(), rows);
  }

  /// In rows of the box alone.
  void addInBox(const double *alongRows, const double *alongColumns, const PixelBox &box) {
    const std::int64_t begin = std::max<std::int64_t>(0, box.slowBegin - reach),
                       end = std::min(rows, box.slowEnd + reach);
    spreadRows(&light[std::size_t(begin * stride)], stride, alongRows, reach,
               &within[std::size_t((reach + begin) * strip)], end - begin);
    addColumns(&within[std::size_t(box.slowBegin * strip)], alongColumns, reach,
               &spread[std::size_t(box.slowBegin * strip)], box.slowEnd - box.slowBegin);
  }
  /// With light in rows of the box alone.
  void addOfBox(const double *alongRows, const double *alongColumns, const PixelBox &box) {
    spreadRows(&light[std::size_t(box.slowBegin * stride)], stride, alongRows, reach,
               &within[std::size_t((reach + box.slowBegin) * strip)], box.slowEnd - box.slowBegin);
    addColumnsOf(&within[std::size_t(reach * strip)], box.slowBegin, box.slowEnd, alongColumns,
                 reach, spread.data(), rows);
  }
  /// Columns from `begin` to `end` of some rows.
  void give(double *panel, std::int64_t fastPixels, std::int64_t begin, std::int64_t end,
            std::int64_t firstRow, std::int64_t endRow) const {
    for (std::int64_t row = firstRow; row != endRow; ++row)
      std::copy_n(&spread[std::size_t(row * strip)], end - begin, panel + row * fastPixels + begin);
  }

  std::int64_t rows, reach, stride;
  std::vector<double> light;  ///< [rows][stride]
  std::vector<double> within; ///< along rows, with rows of 0 above and below
  std::vector<double> spread; ///< [rows][strip]
};

} // namespace

PointSpreadFunction::PointSpreadFunction(PointSpread kind, double widthInPixels,
                                         std::int64_t radius, int order, std::int64_t imageEdge)
    : reach(std::min(radius, imageEdge)) {
  if (!(widthInPixels > 0) || !std::isfinite(widthInPixels))
    throw std::invalid_argument("the width of the point spread is " +
                                std::to_string(widthInPixels) +
                                " pixels; it must be above 0 and finite");
  if (radius < 0)
    throw std::invalid_argument("the radius of the point spread is below 0");
  const std::int64_t n = reach + 1;
  shares.resize(std::size_t(n * n));
  const Jet whole = inverse(inSquare(kind, double(radius) + 0.5, widthInPixels));
  for (std::int64_t y = 0; y != n; ++y)
    for (std::int64_t x = 0; x != n; ++x)
      shares[std::size_t(y * n + x)] =
          (inPixel(kind, double(x), double(y), widthInPixels) * whole).order(order);
  // A share is a difference of four numbers below 1/4; its derivatives have a limit at 0.
  factor(4e-16 / std::pow(std::max(1.0, widthInPixels), order));
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

/// The edge of the tiles that a Fourier transform takes, where that costs less than the products; 0
/// elsewhere.
std::int64_t PointSpreadFunction::fourierEdge(std::int64_t panels, std::int64_t slowPixels,
                                              std::int64_t fastPixels) const {
  constexpr double overProduct = 3; // the cost of a number in a stage of a transform
  const std::int64_t edge = FourierSpread::edgeFor(reach, slowPixels, fastPixels);
  if (edge == 0)
    return 0;
  const double products = double(panels) * double(slowPixels) * double(fastPixels) *
                          double(terms()) * 2 * double(reach + 1);
  const double work = FourierSpread::work(edge, reach, panels, slowPixels, fastPixels);
  return overProduct * work < products ? edge : 0;
}

void PointSpreadFunction::apply(std::span<const double> image, std::int64_t slowPixels,
                                std::int64_t fastPixels, std::span<double> result,
                                int threads) const {
  if (image.size() != result.size() || fastPixels < 1 || slowPixels < 1 ||
      image.size() % std::size_t(slowPixels * fastPixels) != 0)
    throw std::invalid_argument("the image to spread does not have whole panels");
  const std::int64_t panels = std::int64_t(image.size()) / (slowPixels * fastPixels);
  const auto isFinite = [](double pixel) { return std::isfinite(pixel); };
  const std::int64_t edge = fourierEdge(panels, slowPixels, fastPixels);
  // One pixel that is not finite would be in all of its tile.
  if (edge && std::ranges::all_of(image, isFinite)) {
    const auto share = [this](std::int64_t dx, std::int64_t dy) { return this->share(dx, dy); };
    return FourierSpread(share, reach, edge).apply(image, slowPixels, fastPixels, result, threads);
  }
  const std::int64_t strips = (fastPixels + strip - 1) / strip;
  ThreadTeam team(image.size() > 10000 ? threadsOf(threads) : 1);
  std::vector<Strip> memory;
  for (int thread = 0; thread != team.size(); ++thread)
    memory.emplace_back(slowPixels, reach);
  team.forEach(panels * strips, [&](std::int64_t i, int thread) {
    const std::int64_t panel = i / strips, begin = i % strips * strip;
    const std::int64_t end = std::min(begin + strip, fastPixels);
    Strip &mine = memory[std::size_t(thread)];
    const double *from = &image[std::size_t(panel * slowPixels * fastPixels)];
    double *to = &result[std::size_t(panel * slowPixels * fastPixels)];
    mine.take(from, fastPixels, begin);
    for (std::size_t term = 0; term != terms(); ++term)
      mine.add(rows[term].data(), columns[term].data());
    mine.give(to, fastPixels, begin, end, 0, slowPixels);
  });
}

void PointSpreadFunction::applyInBox(std::span<const double> image, std::int64_t fastPixels,
                                     const PixelBox &box, std::span<double> result) const {
  Strip some(std::int64_t(image.size()) / fastPixels, reach);
  for (std::int64_t begin = box.fastBegin; begin < box.fastEnd; begin += strip) {
    some.take(image.data(), fastPixels, begin);
    for (std::size_t term = 0; term != terms(); ++term)
      some.addInBox(rows[term].data(), columns[term].data(), box);
    some.give(result.data(), fastPixels, begin, std::min(begin + strip, box.fastEnd), box.slowBegin,
              box.slowEnd);
  }
}

void PointSpreadFunction::applyOfBox(std::span<const double> image, std::int64_t fastPixels,
                                     const PixelBox &box, std::span<double> result) const {
  Strip some(std::int64_t(image.size()) / fastPixels, reach);
  for (std::int64_t begin = 0; begin < fastPixels; begin += strip) {
    some.take(image.data(), fastPixels, begin, box);
    for (std::size_t term = 0; term != terms(); ++term)
      some.addOfBox(rows[term].data(), columns[term].data(), box);
    some.give(result.data(), fastPixels, begin, std::min(begin + strip, fastPixels), 0, some.rows);
  }
}

} // namespace nanobragg
