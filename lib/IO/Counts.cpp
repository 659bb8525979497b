#include "lib/IO/Counts.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg::io {
namespace {

constexpr double most = 2147483647;

std::int32_t counted(double value) {
  return std::isnan(value) ? 0 : std::int32_t(std::clamp(value, 0.0, most));
}

} // namespace

std::vector<std::int32_t> drawCounts(std::span<const float> image, const ImageRegion &region,
                                     const Gain &gain, Ran1 &random, std::int64_t &seed) {
  if (image.size() != region.pixelCount())
    throw std::invalid_argument("the image does not have the region's size");
  std::vector<std::int32_t> counts(image.size(), 0);
  region.forEachPixel([&](std::size_t i) {
    const double perPhoton = gain.of(i);
    const double expected = perPhoton > 0 ? image[i] / perPhoton : 0;
    counts[i] = counted(random.poisson(float(expected), seed) * perPhoton);
  });
  return counts;
}

std::vector<std::int32_t> roundCounts(std::span<const float> image) {
  std::vector<std::int32_t> counts(image.size());
  std::ranges::transform(image, counts.begin(),
                         [](float pixel) { return counted(std::floor(double(pixel) + 0.5)); });
  return counts;
}

} // namespace nanobragg::io
