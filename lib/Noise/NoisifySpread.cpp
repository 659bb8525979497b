#include "lib/Noise/NoisifySpread.h"

#include "lib/Experiment/PointSpreadWidth.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

// It rounds each product and sum by itself, and light to single precision.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg::io {
namespace {

double gaussIntegral(double x, double y) {
  return 0.125 * (std::erf(2 * x * std::sqrt(std::log(2))) * std::erf(y * std::sqrt(std::log(16))) *
                  std::sqrt(std::log(16) / std::log(2)));
}

double fiberIntegral(double x, double y, double g) {
  return std::atan((x * y) / (g * std::sqrt(g * g + x * x + y * y))) / 2.0 / std::numbers::pi;
}

template <typename Integral>
double overPixel(Integral integral, double x, double y, double size) {
  return integral(x + size / 2., y + size / 2.) - integral(x + size / 2., y - size / 2.) -
         integral(x - size / 2., y + size / 2.) + integral(x - size / 2., y - size / 2.);
}

/// The rules by which light of a pixel goes so far and what is lost beyond.
struct Reach {
  PointSpread kind;
  double width, g;
  std::int64_t given, most;

  /// The brightest pixel and all others have two ways to write one radius.
  double gauss(double photons, double denominator, bool halved) const {
    const double lost = std::sqrt(photons) / 10.0;
    const double ratio = -std::log(lost / photons) / denominator;
    return std::sqrt(halved ? ratio / 2 : ratio) * width;
  }
  double fiber(double photons) const { return g * (photons / (std::sqrt(photons) / 10.0)); }

  std::int64_t brightest(double photons) const {
    const double automatic =
        kind == PointSpread::Gauss ? gauss(photons, std::log(4), true) : fiber(photons);
    return std::min(given > 0 ? given : 1 + std::int64_t(std::ceil(automatic)), most);
  }
  std::int64_t of(double photons) const {
    const double automatic =
        kind == PointSpread::Gauss ? gauss(photons, std::log(16), false) : fiber(photons);
    return std::min(given > 0 ? given : 1 + std::int64_t(std::ceil(automatic)), most);
  }
  double lost(double photons, std::int64_t radius) const {
    if (kind == PointSpread::Fiber)
      return photons * g / std::sqrt(g * g + double(radius * radius));
    // The square is kept in single precision.
    float square = float(radius);
    square = float(square / width);
    square = square * square;
    return photons * std::exp(-std::log(16) * square);
  }
};

} // namespace

void spreadAsNoisify(std::span<double> photons, std::int64_t slowPixels, std::int64_t fastPixels,
                     PointSpread kind, double width, std::int64_t radius) {
  const Reach reach = {kind, width, width * fiberScale, radius, std::max(slowPixels, fastPixels)};
  const auto pixels = std::int64_t(photons.size());
  double brightest = 0;
  for (double p : photons)
    brightest = std::max(brightest, p);
  // It writes one row and pixel too far, into memory that it keeps for that.
  std::vector<float> out(photons.size() + 10);
  if (brightest > 0) {
    const std::int64_t largest = reach.brightest(brightest), size = 2 * largest + 1;
    std::vector<double> shares(std::size_t(size * size));
    for (std::int64_t dy = -largest; dy <= largest; ++dy)
      for (std::int64_t dx = -largest; dx <= largest; ++dx)
        if (dx * dx + dy * dy <= largest * largest)
          shares[std::size_t(size * (largest + dy) + largest + dx)] =
              kind == PointSpread::Gauss
                  ? overPixel(gaussIntegral, double(dx) / width, double(dy) / width, 1.0 / width)
                  : overPixel([&](double x, double y) { return fiberIntegral(x, y, reach.g); },
                              double(dx), double(dy), 1.0);
    double lost = 0;
    for (std::int64_t i = 0; i != pixels; ++i) {
      const double light = photons[std::size_t(i)];
      if (!(light > 0))
        continue;
      const std::int64_t r = std::min(reach.of(light), largest), x0 = i % fastPixels,
                         y0 = i / fastPixels;
      lost += reach.lost(light, r);
      for (std::int64_t dx = -r; dx <= r; ++dx)
        for (std::int64_t dy = -r; dy <= r; ++dy) {
          const double share = shares[std::size_t(size * (largest + dy) + largest + dx)];
          const std::int64_t x = x0 + dx, y = y0 + dy, j = y * fastPixels + x;
          if (share == 0 || dx * dx + dy * dy > r * r || x < 0 || x > fastPixels || y < 0 ||
              y > slowPixels || j > pixels)
            continue;
          out[std::size_t(j)] = float(out[std::size_t(j)] + light * share);
        }
    }
    for (std::int64_t i = 0; i != pixels; ++i)
      out[std::size_t(i)] = float(out[std::size_t(i)] + lost / double(pixels));
  }
  std::copy_n(out.begin(), photons.size(), photons.begin());
}

} // namespace nanobragg::io
