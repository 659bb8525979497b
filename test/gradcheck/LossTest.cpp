#include "nanobragg/Loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace nanobragg {
namespace {

using Numbers = std::vector<double>;
const std::vector<std::uint8_t> all(4, 1);

TEST(Loss, SumLeavesOutWhatIsNotRendered) {
  const Numbers image = {1, 2, 4, 8};
  const std::vector<std::uint8_t> rendered = {1, 0, 1, 1};
  Numbers cotangent(4, 9);
  EXPECT_EQ(Loss::sum().evaluate(image, rendered, cotangent), 13);
  EXPECT_EQ(cotangent, (Numbers{1, 0, 1, 1}));
  EXPECT_EQ(Loss::sum().pixels(rendered), 3);
}

TEST(Loss, SumKeepsWhatRoundingLoses) {
  const Numbers image = {1, 1e100, 1, -1e100};
  EXPECT_EQ(Loss::sum().evaluate(image, all, {}), 2);
}

TEST(Loss, ChiSquareAndItsSlopeAndCurvature) {
  const Numbers image = {1, 2, 4, 8};
  const Loss loss = Loss::chiSquare({0, 2, 2, 2}, {1, 1, 2, 3}, {1, 1, 1, 0});
  Numbers cotangent(4);
  EXPECT_DOUBLE_EQ(loss.evaluate(image, all, cotangent), 1 + 0 + 1);
  EXPECT_EQ(cotangent, (Numbers{2, 0, 1, 0}));
  EXPECT_EQ(loss.curvature(2), 0.5);
  EXPECT_EQ(loss.curvature(3), 0) << "masked";
  EXPECT_EQ(loss.pixels(all), 3);
}

TEST(Loss, PixelsWithoutAMeasurementDoNotCount) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Loss loss = Loss::chiSquare({nan, 1, 1, 1}, {1, 0, infinite, 1});
  const Numbers image = {5, 5, 5, 5};
  Numbers cotangent(4);
  EXPECT_EQ(loss.evaluate(image, all, cotangent), 16);
  EXPECT_EQ(cotangent, (Numbers{0, 0, 0, 8}));
}

TEST(Loss, RefusesOtherSizes) {
  const Numbers image(4);
  EXPECT_THROW(Loss::linear({1, 2}).evaluate(image, all, {}), std::invalid_argument);
  EXPECT_THROW(Loss::chiSquare({1, 2, 3}, {1}).evaluate(image, all, {}), std::invalid_argument);
  EXPECT_THROW(Loss::chiSquare({1, 2, 3}, {1, 2}), std::invalid_argument);
}

} // namespace
} // namespace nanobragg
