#include "lib/IO/NoiseImage.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg::io {

NoiseImage drawNoise(std::span<const float> image, const ImageRegion &region, const Gain &gain,
                     double adcOffset, Rule belowZero, Ran1 &random, std::int64_t &seed) {
  if (image.size() != region.pixelCount())
    throw std::invalid_argument("the image does not have the region's size");
  NoiseImage result;
  result.pixels.assign(image.size(), 0);
  region.forEachPixel([&](std::size_t i) {
    const double perPhoton = gain.of(i);
    const double expected = perPhoton > 0 ? image[i] / perPhoton : 0;
    const double photons = random.poisson(float(expected), seed);
    result.photons += photons;
    double counts = photons * perPhoton + adcOffset;
    if (counts > 65535) {
      counts = 65535;
      ++result.overloads;
    }
    if (std::isnan(counts) || (counts < 0 && belowZero == Rule::Right))
      counts = 0;
    // Through a wide integer, which makes the wrap-around below zero defined.
    constexpr double widest = 9e18;
    result.pixels[i] = std::uint16_t(std::int64_t(std::max(counts, -widest)));
  });
  return result;
}

} // namespace nanobragg::io
