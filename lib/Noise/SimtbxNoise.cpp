#include "lib/Noise/SimtbxNoise.h"

#include "lib/Experiment/Ran1.h"
#include "lib/Response/FourierSpread.h"
#include "lib/Response/PointSpread.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

// Fused multiply-adds round otherwise than simtbx.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

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

/// A pixel that has light, and the radius in which it spreads.
struct Source {
  std::int64_t radius, at;
};

/// Adds what the sources, which have one radius, give. The image has a column of zeros to the right
/// of its own, where light of the last column's neighbour goes.
class Disk {
public:
  Disk(const PointSpreadFunction &spread, double whole, std::int64_t radius)
      : spread(spread), whole(whole), radius(radius) {}

  double share(std::int64_t dx, std::int64_t dy) const {
    return dx * dx + dy * dy > radius * radius ? 0 : whole * spread.share(dx, dy);
  }

  void add(std::span<const Source> sources, std::span<const double> image, std::int64_t width,
           std::span<double> light, int threads) const {
    const std::int64_t rows = std::int64_t(image.size()) / width;
    const std::int64_t edge = FourierSpread::edgeFor(radius, rows, width);
    // A pixel of a disk costs about what a number does in a stage of a transform.
    if (edge && FourierSpread::work(edge, radius, 1, rows, width) <
                    double(sources.size()) * std::numbers::pi * double(radius * radius))
      return addByFourier(sources, image, width, edge, light, threads);
    std::vector<double> shares(std::size_t(2 * radius + 1));
    for (std::int64_t dy = -radius; dy <= radius; ++dy) {
      const auto across = std::int64_t(std::sqrt(double(radius * radius - dy * dy)));
      for (std::int64_t dx = -across; dx <= across; ++dx)
        shares[std::size_t(dx + across)] = share(std::abs(dx), std::abs(dy));
      for (const Source &source : sources) {
        const std::int64_t slow = source.at / width + dy, fast = source.at % width;
        if (slow < 0 || slow >= rows)
          continue;
        const std::int64_t begin = std::max(-across, -fast),
                           end = std::min(across + 1, width - fast);
        double *row = &light[std::size_t(slow * width + fast + begin)];
        const double *of = &shares[std::size_t(begin + across)];
        const double photons = image[std::size_t(source.at)];
        for (std::int64_t i = 0; i != end - begin; ++i)
          row[i] += photons * of[i];
      }
    }
  }

private:
  void addByFourier(std::span<const Source> sources, std::span<const double> image,
                    std::int64_t width, std::int64_t edge, std::span<double> light,
                    int threads) const {
    std::vector<double> some(image.size()), result(image.size());
    for (const Source &source : sources)
      some[std::size_t(source.at)] = image[std::size_t(source.at)];
    FourierSpread([this](std::int64_t dx, std::int64_t dy) { return share(dx, dy); }, radius, edge)
        .apply(some, std::int64_t(image.size()) / width, width, result, threads);
    for (std::size_t i = 0; i != light.size(); ++i)
      light[i] += result[i];
  }

  const PointSpreadFunction &spread;
  double whole;
  std::int64_t radius;
};

} // namespace

void spreadAsSimtbx(std::span<double> image, std::int64_t fastPixels, PointSpread kind,
                    double width, std::int64_t radius, int threads) {
  const std::int64_t pixels = std::int64_t(image.size()), slowPixels = pixels / fastPixels;
  const double brightest = image.empty() ? 0 : *std::max_element(image.begin(), image.end());
  if (image.empty() || (radius <= 0 && !(brightest > 0)))
    return;
  const std::int64_t edge = std::max(fastPixels, slowPixels);
  const std::int64_t reach =
      std::min(radius > 0 ? radius : radiusOf(kind, width, brightest, edge), edge);
  const PointSpreadFunction spread(kind, width, reach);
  const double whole = within(kind, width, reach);
  const std::int64_t padded = fastPixels + 1;
  std::vector<double> from(std::size_t(padded * slowPixels)), light(from.size());
  std::vector<Source> sources;
  double lost = 0;
  for (std::int64_t i = 0; i != pixels; ++i) {
    const double photons = image[std::size_t(i)];
    if (!(photons > 0))
      continue;
    const std::int64_t own = radius > 0 ? reach : radiusOf(kind, width, photons, reach);
    lost += photons * beyond(kind, width, double(own));
    sources.push_back({own, i / fastPixels * padded + i % fastPixels});
    from[std::size_t(sources.back().at)] = photons;
  }
  std::ranges::stable_sort(sources, {}, &Source::radius);
  for (auto begin = sources.begin(); begin != sources.end();) {
    const auto end =
        std::ranges::upper_bound(begin, sources.end(), begin->radius, {}, &Source::radius);
    Disk(spread, whole, begin->radius).add({begin, end}, from, padded, light, threads);
    begin = end;
  }
  for (std::int64_t i = 0; i != pixels; ++i) {
    const std::int64_t slow = i / fastPixels, fast = i % fastPixels;
    double own = light[std::size_t(slow * padded + fast)];
    if (fast == 0 && slow > 0)
      own += light[std::size_t(slow * padded - 1)];
    image[std::size_t(i)] = own + lost / double(pixels);
  }
}

void drawAsSimtbx(std::span<double> image, std::int64_t fastPixels,
                  std::span<const std::uint8_t> drawn, const NoiseModel &model, double gain,
                  double adcOffset, std::int64_t &seed, int threads) {
  Ran1Of<double> random;
  seed = -std::abs(seed);
  for (std::size_t i = 0; i != image.size(); ++i) {
    if (!drawn[i] || image[i] < 0)
      continue;
    double mean = image[i];
    if (model.flicker > 0)
      mean *= 1 + model.flicker * random.gaussian(seed);
    image[i] = random.poisson(mean, seed);
  }
  if (model.calibration > 0) {
    Ran1Of<double> ofPixels;
    std::int64_t calibrationSeed = -std::abs(model.calibrationSeed);
    for (std::size_t i = 0; i != image.size(); ++i)
      if (drawn[i])
        image[i] *= 1 + model.calibration * ofPixels.gaussian(calibrationSeed);
    random.takeTable(ofPixels);
  }
  if (model.pointSpread != PointSpread::None)
    spreadAsSimtbx(image, fastPixels, model.pointSpread, model.psfWidth, model.psfRadius, threads);
  for (std::size_t i = 0; i != image.size(); ++i) {
    if (!drawn[i])
      continue;
    image[i] = image[i] * gain + adcOffset;
    if (model.readOut > 0)
      image[i] += model.readOut * random.gaussian(seed);
  }
}

} // namespace nanobragg::io
