#include "lib/Images/PngFile.h"

#include <algorithm>
#include <cmath>

namespace nanobragg::io {

ToneLimits chooseToneLimits(std::span<const float> photons) {
  std::vector<float> positive;
  positive.reserve(photons.size());
  for (float value : photons)
    if (value > 0 && std::isfinite(value))
      positive.push_back(value);
  if (positive.empty())
    return {0.1, 1};

  const auto quantile = [&](double fraction) {
    const auto nth = positive.begin() + std::ptrdiff_t(fraction * double(positive.size() - 1));
    std::nth_element(positive.begin(), nth, positive.end());
    return double(*nth);
  };
  constexpr double brightest = 1 - 1e-4, range = 1e4;
  const double high = quantile(brightest);
  const double low = std::max(quantile(0.5), high / range);
  // A flat image has no spots to reach the upper end.
  return {low, std::max(high, 10 * low)};
}

std::vector<std::uint8_t> logTones(std::span<const float> photons, ToneLimits limits) {
  std::vector<std::uint8_t> tones(photons.size());
  const double perTone = 255 / std::log(limits.high / limits.low), logLow = std::log(limits.low);
  std::transform(photons.begin(), photons.end(), tones.begin(), [&](float value) {
    if (!(value > limits.low)) // not-a-number included
      return std::uint8_t(0);
    const double tone = (std::log(double(value)) - logLow) * perTone;
    return std::uint8_t(std::lround(std::min(tone, 255.0)));
  });
  return tones;
}

} // namespace nanobragg::io
