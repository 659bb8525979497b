// Sums over rings and tiles are those of their pixels, and rings are interpolated between their
// middles.
#include "lib/Images/Background.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace nanobragg::io {
namespace {

const std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
const std::vector<std::uint8_t> mask{1, 1, 0, 1, 1, 1, 1, 1, 1, 1};

TEST(RadialBackgroundTest, SumsRings) {
  const std::vector<float> radii{0.1f, 0.4f, 0.4f, 0.5f, 0.9f, 1.6f, 1.9f, 1.7f, 0.2f, 0.6f};
  const RingSums found = ringSums(image, mask, radii, 0.5f);
  EXPECT_EQ(found.number, (std::vector<double>{3, 3, 0, 3}));
  EXPECT_EQ(found.sum, (std::vector<double>{12, 19, 0, 21}));
  EXPECT_EQ(found.squares, (std::vector<double>{86, 141, 0, 149}));
  EXPECT_THROW(ringSums(image, mask, std::vector<float>(3), 0.5f), std::invalid_argument);
}

TEST(RadialBackgroundTest, InterpolatesBetweenMiddlesOfRings) {
  const std::vector<float> radii{0, 1, 2, 1.5f, 4, 100};
  std::vector<float> found(radii.size());
  atRadii(std::vector<double>{10, 20, 40}, radii, 1, found);
  EXPECT_EQ(found, (std::vector<float>{10, 15, 30, 20, 40, 40}));
  EXPECT_THROW(atRadii({}, radii, 1, found), std::invalid_argument);
}

TEST(RadialBackgroundTest, SumsTilesThatTheEdgeCutsOff) {
  std::vector<double> found(6); // 2 x 5 pixels in tiles of two
  tileSums(image, mask, 5, 2, std::span(found).first(3));
  EXPECT_EQ(found, (std::vector<double>{1 + 2 + 6 + 7, 4 + 8 + 9, 5 + 10, 0, 0, 0}));
  tileSums(image, mask, 2, 2, std::span(found).first(3)); // 5 x 2
  EXPECT_EQ(found, (std::vector<double>{1 + 2 + 4, 5 + 6 + 7 + 8, 9 + 10, 0, 0, 0}));
  EXPECT_THROW(tileSums(image, mask, 5, 2, found), std::invalid_argument);
}

} // namespace
} // namespace nanobragg::io
