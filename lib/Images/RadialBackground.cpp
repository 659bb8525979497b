#include "lib/Images/RadialBackground.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg::io {
namespace {

void requireSame(std::size_t pixels, std::size_t other) {
  if (pixels != other)
    throw std::invalid_argument("images of different sizes");
}

} // namespace

RingSums ringSums(std::span<const float> image, std::span<const std::uint8_t> mask,
                  std::span<const float> radii, float width) {
  requireSame(image.size(), mask.size());
  requireSame(image.size(), radii.size());
  const float largest = radii.empty() ? 0 : *std::ranges::max_element(radii);
  const std::vector<double> none(std::size_t(largest / width) + 1);
  RingSums found{none, none, none};
  for (std::size_t i = 0; i != image.size(); ++i) {
    if (!mask[i])
      continue;
    const auto ring = std::size_t(radii[i] / width);
    const double value = image[i];
    found.number[ring] += 1;
    found.sum[ring] += value;
    found.squares[ring] += value * value;
  }
  return found;
}

void atRadii(std::span<const double> rings, std::span<const float> radii, float width,
             std::span<float> result) {
  requireSame(radii.size(), result.size());
  if (rings.empty())
    throw std::invalid_argument("no ring");
  std::vector<float> value(rings.begin(), rings.end());
  value.push_back(value.back());
  const float last = float(rings.size() - 1);
  for (std::size_t i = 0; i != radii.size(); ++i) {
    const float at = std::clamp(radii[i] / width - 0.5f, 0.0f, last);
    const auto before = std::size_t(at);
    result[i] = value[before] + (at - float(before)) * (value[before + 1] - value[before]);
  }
}

void tileSums(std::span<const float> image, std::span<const std::uint8_t> mask, std::size_t fast,
              std::size_t edge, std::span<double> result) {
  requireSame(image.size(), mask.size());
  const std::size_t slow = fast ? image.size() / fast : 0, across = (fast + edge - 1) / edge;
  requireSame(image.size(), slow * fast);
  requireSame(result.size(), (slow + edge - 1) / edge * across);
  std::ranges::fill(result, 0.0);
  for (std::size_t y = 0; y != slow; ++y)
    for (std::size_t tile = 0; tile != across; ++tile) {
      double sum = 0;
      for (std::size_t x = tile * edge; x != std::min((tile + 1) * edge, fast); ++x)
        sum += mask[y * fast + x] ? double(image[y * fast + x]) : 0.0;
      result[y / edge * across + tile] += sum;
    }
}

} // namespace nanobragg::io
