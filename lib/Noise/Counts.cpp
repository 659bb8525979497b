#include "lib/Noise/Counts.h"

#include <algorithm>
#include <cmath>

namespace nanobragg::io {
namespace {

constexpr double most = 2147483647;

std::int32_t counted(double value) {
  return std::isnan(value) ? 0 : std::int32_t(std::clamp(value, 0.0, most));
}

} // namespace

std::vector<std::int32_t> drawCounts(std::span<const float> image, const ImageRegion &region,
                                     const Gain &gain, NoiseModel model, NoiseSource source,
                                     int threads) {
  model.bits = 32;
  const NoiseImage noise = drawNoise(image, region, gain, model, 0, Rule::Right, source, threads);
  return {noise.wide.begin(), noise.wide.end()};
}

std::vector<std::int32_t> roundCounts(std::span<const float> image) {
  std::vector<std::int32_t> counts(image.size());
  std::ranges::transform(image, counts.begin(),
                         [](float pixel) { return counted(std::floor(double(pixel) + 0.5)); });
  return counts;
}

} // namespace nanobragg::io
