// The parts of a spot's light in pixels have its sum, its middle and, with that of a pixel, its
// covariance.
#include "lib/Spots/PixelParts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nanobragg {
namespace {

TEST(PixelPartsTest, HasTheMomentsOfTheSpot) {
  constexpr std::size_t half = 12, edge = 2 * half + 1;
  for (const NormalSpot &spot :
       {NormalSpot{100.3, 50.9, 2.0, 0.9, 1.1}, NormalSpot{17.5, 8.01, 0.3, 0.0, 5.0},
        NormalSpot{30.0, 30.0, 4.0, -3.0, 3.0}}) {
    std::vector<double> parts(edge * edge);
    pixelParts(spot, half, parts);
    double sum = 0, fast = 0, slow = 0, ff = 0, fs = 0, ss = 0;
    for (std::size_t s = 0; s != edge; ++s)
      for (std::size_t f = 0; f != edge; ++f) {
        const double part = parts[s * edge + f],
                     x = std::floor(spot.fast) - half + double(f) + 0.5 - spot.fast,
                     y = std::floor(spot.slow) - half + double(s) + 0.5 - spot.slow;
        EXPECT_GE(part, 0);
        sum += part, fast += part * x, slow += part * y;
        ff += part * x * x, fs += part * x * y, ss += part * y * y;
      }
    EXPECT_NEAR(sum, 1, 1e-4);
    EXPECT_NEAR(fast, 0, 2e-2);
    EXPECT_NEAR(slow, 0, 2e-2);
    EXPECT_NEAR(ff, spot.fastFast + 1.0 / 12, 2e-2);
    EXPECT_NEAR(fs, spot.fastSlow, 2e-2);
    EXPECT_NEAR(ss, spot.slowSlow + 1.0 / 12, 2e-2);
  }
}

TEST(PixelPartsTest, IsThatOfSharpSpots) {
  std::vector<double> parts(9);
  pixelParts({5.5, 7.5, 0.01, 0, 0.01}, 1, parts);
  const double within = std::erf(0.5 / std::sqrt(2 * 0.01));
  EXPECT_NEAR(parts[4], within * within, 1e-4);
  pixelParts({5.3, 7.5, 4e-4, 0, 4e-4}, 1, parts);
  EXPECT_NEAR(parts[4], 1, 1e-4);
  // A sharp line from corner to corner.
  pixelParts({5.5, 7.5, 1.0, 0.9995, 1.0}, 1, parts);
  EXPECT_NEAR(parts[0], parts[8], 1e-3);
  EXPECT_NEAR(parts[4], std::erf(0.5 / std::sqrt(2.0)), 0.03);
  EXPECT_LT(parts[2] + parts[6], 1e-6);
}

} // namespace
} // namespace nanobragg
