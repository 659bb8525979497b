#include "lib/Noise/SimtbxSpread.h"

#include "lib/Response/PointSpread.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace nanobragg::io {
namespace {

/// g of a fiber's spread over its full width at half maximum.
constexpr double fiberPart = 0.652383013252053;

/// Which part of the light falls within a square of 2 radius + 1 pixels.
double within(PointSpread kind, double width, std::int64_t radius) {
  const double half = double(radius) + 0.5;
  if (kind == PointSpread::Gauss)
    return std::pow(std::erf(2 * std::sqrt(std::numbers::ln2) * half / width), 2);
  const double g = fiberPart * width;
  return 2 / std::numbers::pi * std::atan(half * half / (g * std::sqrt(g * g + 2 * half * half)));
}

/// Which part falls beyond a radius, as simtbx estimates it.
double beyond(PointSpread kind, double width, double radius) {
  const double g = fiberPart * width;
  return kind == PointSpread::Gauss
             ? std::exp(-std::log(16.0) * (radius / width) * (radius / width))
             : g / std::sqrt(g * g + radius * radius);
}

/// The radius beyond which a tenth of the noise of so many photons falls. Light below a hundredth
/// of a photon, for which simtbx's formula has none, keeps to its neighbours.
std::int64_t radiusOf(PointSpread kind, double width, double photons, std::int64_t most) {
  const double lost = 0.1 / std::sqrt(photons);
  const double radius = lost >= 1 ? 1
                        : kind == PointSpread::Gauss
                            ? 1 + std::ceil(std::sqrt(-std::log(lost) / std::log(16.0)) * width)
                            : 1 + std::ceil(fiberPart * width / lost);
  return std::int64_t(std::min(radius, double(most)));
}

} // namespace

void spreadAsSimtbx(std::span<double> image, std::int64_t fastPixels, PointSpread kind,
                    double width, std::int64_t radius) {
  const std::int64_t pixels = std::int64_t(image.size()), slowPixels = pixels / fastPixels;
  const double brightest = image.empty() ? 0 : *std::max_element(image.begin(), image.end());
  if (!(brightest > 0))
    return;
  const std::int64_t edge = std::max(fastPixels, slowPixels);
  const std::int64_t reach =
      std::min(radius > 0 ? radius : radiusOf(kind, width, brightest, edge), edge);
  const PointSpreadFunction spread(kind, width, reach);
  const double whole = within(kind, width, reach);
  std::vector<double> light(image.size());
  double lost = 0;
  for (std::int64_t i = 0; i != pixels; ++i) {
    const double photons = image[std::size_t(i)];
    if (!(photons > 0))
      continue;
    const std::int64_t own = radius > 0 ? reach : radiusOf(kind, width, photons, reach);
    lost += photons * beyond(kind, width, double(own));
    const std::int64_t slow = i / fastPixels, fast = i % fastPixels;
    for (std::int64_t dy = std::max(-own, -slow); dy <= std::min(own, slowPixels - slow); ++dy) {
      const auto across = std::int64_t(std::sqrt(double(own * own - dy * dy)));
      for (std::int64_t dx = std::max(-across, -fast); dx <= std::min(across, fastPixels - fast);
           ++dx)
        if (const std::int64_t at = (slow + dy) * fastPixels + fast + dx; at < pixels)
          light[std::size_t(at)] += photons * whole * spread.share(dx, dy);
    }
  }
  for (std::size_t i = 0; i != image.size(); ++i)
    image[i] = light[i] + lost / double(pixels);
}

} // namespace nanobragg::io
