// The background about each pixel is that of a sum over its square, without what is brighter.
#include "lib/Images/Background.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace nanobragg::io {
namespace {

constexpr std::size_t fast = 31, slow = 23, pixels = fast * slow;

/// Calls `see` with each pixel of the square about a pixel.
template <typename See>
void eachNear(std::size_t pixel, std::size_t half, See see) {
  const auto x = std::ptrdiff_t(pixel % fast), y = std::ptrdiff_t(pixel / fast),
             h = std::ptrdiff_t(half);
  for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, y - h);
       j <= std::min<std::ptrdiff_t>(slow - 1, y + h); ++j)
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, x - h);
         i <= std::min<std::ptrdiff_t>(fast - 1, x + h); ++i)
      see(std::size_t(j) * fast + std::size_t(i));
}

struct Image {
  std::vector<float> photons = std::vector<float>(pixels);
  std::vector<std::uint8_t> usable = std::vector<std::uint8_t>(pixels, 1);

  Image() {
    std::mt19937 random(7);
    std::poisson_distribution<int> light(12);
    for (float &value : photons)
      value = float(light(random));
    for (std::size_t i = 0; i < pixels; i += 53)
      photons[i] = 5000;
    for (std::size_t i = 5; i < pixels; i += 17)
      usable[i] = 0, photons[i] = 0;
  }
};

struct Result {
  std::vector<float> mean = std::vector<float>(pixels), variance = mean, number = mean;
  LocalBackground spans() { return {mean, variance, number}; }
};

class LocalBackgroundTest : public testing::TestWithParam<bool> {};

TEST_P(LocalBackgroundTest, IsThatOfPixelsWithoutSpots) {
  const bool counting = GetParam();
  const Image image;
  Result found;
  localBackground(image.photons, image.usable, image.usable, fast, 4, counting, found.spans());
  std::vector<std::uint8_t> kept = image.usable;
  Result expected;
  for (int round = 0; round != 4; ++round) {
    for (std::size_t i = 0; i != pixels; ++i) {
      double number = 0, light = 0, squares = 0;
      eachNear(i, 4, [&](std::size_t j) {
        if (kept[j])
          number += 1, light += image.photons[j],
              squares += double(image.photons[j]) * image.photons[j];
      });
      const double mean = light / std::max(number, 1.0);
      expected.mean[i] = float(mean);
      expected.number[i] = float(number);
      expected.variance[i] = float(
          std::max({0.3, mean, counting ? 0.0 : squares / std::max(number, 1.0) - mean * mean}));
    }
    for (std::size_t i = 0; i != pixels; ++i)
      kept[i] = image.usable[i] &&
                image.photons[i] <= expected.mean[i] + 3.5 * std::sqrt(expected.variance[i]) + 1;
  }
  for (std::size_t i = 0; i != pixels; ++i) {
    EXPECT_FLOAT_EQ(found.mean[i], expected.mean[i]) << i;
    EXPECT_NEAR(found.variance[i], expected.variance[i], 1e-4) << i;
    EXPECT_EQ(found.number[i], expected.number[i]) << i;
    EXPECT_LT(found.mean[i], 20) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(BothKinds, LocalBackgroundTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Counting" : "Integrating"; });

TEST(Dilate, ReachesOverSquaresUpToTheEdges) {
  std::vector<std::uint8_t> mask(pixels, 0), found(pixels, 2);
  for (std::size_t i :
       {std::size_t(0), std::size_t(fast - 1), std::size_t(10 * fast + 12), pixels - 3})
    mask[i] = 1;
  for (std::size_t half : {0, 1, 5, 40}) {
    dilate(mask, fast, half, found);
    for (std::size_t i = 0; i != pixels; ++i) {
      bool near = false;
      eachNear(i, half, [&](std::size_t j) { near |= mask[j] != 0; });
      EXPECT_EQ(found[i], near) << i << " " << half;
    }
  }
}

TEST(Dilate, RefusesOtherSizes) {
  std::vector<std::uint8_t> mask(pixels), found(pixels - 1);
  EXPECT_THROW(dilate(mask, fast, 1, found), std::invalid_argument);
  EXPECT_THROW(dilate(mask, fast + 1, 1, mask), std::invalid_argument);
}

} // namespace
} // namespace nanobragg::io
