#include "lib/Images/Background.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <vector>

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

namespace {

void requireRows(std::size_t pixels, std::size_t fast, std::initializer_list<std::size_t> sizes) {
  if (fast == 0 || pixels % fast != 0 ||
      std::ranges::any_of(sizes, [&](std::size_t size) { return size != pixels; }))
    throw std::invalid_argument("images of different sizes, or no whole rows of " +
                                std::to_string(fast) + " pixels");
}

/// Calls take(i, sum) for each pixel i in order, with the sum of valueOf() over the square about
/// it.
template <typename Sum, typename ValueOf, typename Take>
void sumSquares(std::size_t pixels, std::size_t fast, std::size_t half, ValueOf valueOf,
                Take take) {
  const std::size_t slow = pixels / fast;
  std::vector<Sum> columns(fast);
  const auto addRow = [&](std::size_t y) {
    for (std::size_t x = 0; x != fast; ++x)
      columns[x] += valueOf(y * fast + x);
  };
  for (std::size_t y = 0; y != std::min(half, slow); ++y)
    addRow(y);
  for (std::size_t y = 0; y != slow; ++y) {
    if (y + half < slow)
      addRow(y + half);
    if (y > half)
      for (std::size_t x = 0; x != fast; ++x)
        columns[x] -= valueOf((y - half - 1) * fast + x);
    Sum sum{};
    for (std::size_t x = 0; x != std::min(half, fast); ++x)
      sum += columns[x];
    for (std::size_t x = 0; x != fast; ++x) {
      if (x + half < fast)
        sum += columns[x + half];
      if (x > half)
        sum -= columns[x - half - 1];
      take(y * fast + x, sum);
    }
  }
}

struct LocalMoments {
  double number = 0, light = 0, squares = 0;

  LocalMoments &operator+=(const LocalMoments &other) {
    number += other.number;
    light += other.light;
    squares += other.squares;
    return *this;
  }
  LocalMoments &operator-=(const LocalMoments &other) {
    number -= other.number;
    light -= other.light;
    squares -= other.squares;
    return *this;
  }
};

} // namespace

void localBackground(std::span<const float> photons, std::span<const std::uint8_t> usable,
                     std::span<const std::uint8_t> kept, std::size_t fast, std::size_t half,
                     bool counting, const LocalBackground &result) {
  const auto &[mean, variance, number] = result;
  requireRows(photons.size(), fast,
              {usable.size(), kept.size(), mean.size(), variance.size(), number.size()});
  constexpr int rounds = 4;
  constexpr float sigmas = 3.5, leastVariance = 0.3;
  std::vector<std::uint8_t> now(kept.begin(), kept.end()), next(usable.begin(), usable.end());
  for (int round = 0; round != rounds; ++round) {
    const auto valueOf = [&](std::size_t i) {
      const double one = now[i] ? 1 : 0, light = one * double(photons[i]);
      return LocalMoments{one, light, light * light};
    };
    sumSquares<LocalMoments>(
        photons.size(), fast, half, valueOf, [&](std::size_t i, const LocalMoments &sum) {
          const double inverse = 1 / std::max(sum.number, 1.0), middle = sum.light * inverse;
          mean[i] = float(middle);
          number[i] = float(sum.number);
          variance[i] = std::max(
              leastVariance,
              counting ? mean[i]
                       : std::max(mean[i], float(sum.squares * inverse - middle * middle)));
          next[i] = usable[i] && photons[i] <= mean[i] + sigmas * std::sqrt(variance[i]) + 1;
        });
    now.swap(next);
  }
}

void dilate(std::span<const std::uint8_t> mask, std::size_t fast, std::size_t half,
            std::span<std::uint8_t> result) {
  requireRows(mask.size(), fast, {result.size()});
  sumSquares<std::uint32_t>(
      mask.size(), fast, half, [&](std::size_t i) { return std::uint32_t(mask[i] != 0); },
      [&](std::size_t i, std::uint32_t count) { result[i] = count != 0; });
}

} // namespace nanobragg::io
