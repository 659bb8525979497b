#include "nanobragg/Loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <span>
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
  EXPECT_EQ(loss.curvature(image, 2), 0.5);
  EXPECT_EQ(loss.curvature(image, 3), 0) << "masked";
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

/// Minus the logarithm of Poisson's probability, by its product.
double poissonOf(int n, double m) {
  double probability = std::exp(-m);
  for (int i = 1; i <= n; ++i)
    probability *= m / i;
  return -std::log(probability);
}

TEST(Loss, PoissonAndGaussianByTheirLaws) {
  const Numbers image = {1, 2.5, 4, 8}, data = {0, 2, 7, 3};
  double poisson = 0, gaussian = 0;
  for (std::size_t i = 0; i != 4; ++i) {
    const double m = image[i] + 0.5, v = m + 9;
    poisson += poissonOf(int(data[i]), m);
    gaussian -= std::log(std::exp(-(data[i] - m) * (data[i] - m) / (2 * v)) /
                         std::sqrt(2 * std::numbers::pi * v));
  }
  EXPECT_NEAR(Loss::poisson(data, {{0.5}, 0, {1}}).evaluate(image, all, {}), poisson, 1e-13);
  EXPECT_NEAR(Loss::gaussian(data, {{0.5}, 3, {1}}).evaluate(image, all, {}), gaussian, 1e-13);
}

TEST(Loss, GainsTurnUnitsToPhotons) {
  const Numbers image = {1, 2.5, 4, 8}, data = {0, 2, 7, 3}, adu = {4, 10, 16, 32},
                read = {0, 8, 28, 12};
  EXPECT_DOUBLE_EQ(Loss::poisson(read, {{2}, 0, {4}}).evaluate(adu, all, {}),
                   Loss::poisson(data, {{0.5}, 0, {1}}).evaluate(image, all, {}));
  EXPECT_DOUBLE_EQ(Loss::gaussian(read, {{2}, 12, {4, 4, 4, 4}}).evaluate(adu, all, {}),
                   Loss::gaussian(data, {{0.5}, 3, {1}}).evaluate(image, all, {}));
}

TEST(Loss, LikelihoodsHaveTheSlopesOfTheirDifferences) {
  const Numbers image = {1, 2.5, 4, 8}, data = {0, 2, 7, 3}, background = {0.5, 1, 2, 0.1};
  const Loss::Noise noise = {background, 3, {1.5}};
  const double h = 1e-5;
  for (bool gaussian : {false, true}) {
    const auto lossOf = [&](const Loss::Noise &n) {
      return gaussian ? Loss::gaussian(data, n) : Loss::poisson(data, n);
    };
    const Loss loss = lossOf(noise);
    Numbers cotangent(4);
    Loss::Slopes slopes;
    loss.evaluate(image, all, cotangent, &slopes);
    double byBackground = 0;
    for (std::size_t i = 0; i != 4; ++i) {
      Numbers more = image, less = image, slopeMore(4), slopeLess(4);
      more[i] += h;
      less[i] -= h;
      const double difference =
          loss.evaluate(more, all, slopeMore) - loss.evaluate(less, all, slopeLess);
      EXPECT_NEAR(cotangent[i], difference / (2 * h), 1e-8);
      EXPECT_NEAR(loss.curvature(image, i), (slopeMore[i] - slopeLess[i]) / (2 * h), 1e-8);
      byBackground += cotangent[i];
    }
    EXPECT_NEAR(slopes.background, byBackground, 1e-14);
    Loss::Noise more = noise, less = noise;
    more.readOut += h;
    less.readOut -= h;
    EXPECT_NEAR(slopes.readOut,
                (lossOf(more).evaluate(image, all, {}) - lossOf(less).evaluate(image, all, {})) /
                    (2 * h),
                1e-8);
  }
}

TEST(Loss, CountsThatAreNotExpected) {
  const double nan = std::nan("");
  const Numbers image = {0, 0, 5, 5};
  const Loss loss = Loss::poisson({0, nan, -1, 5}, {{0}, 0, {1}});
  EXPECT_EQ(loss.pixels(all), 2) << "data that are no counts do not count";
  EXPECT_TRUE(std::isfinite(loss.evaluate(image, all, {}))) << "no photon where none is expected";
  EXPECT_TRUE(std::isinf(Loss::poisson({3, 0, 0, 0}, {}).evaluate(image, all, {})));
  EXPECT_EQ(Loss::gaussian({3, 0, 0, 0}, {}).evaluate(Numbers(4), all, {}), 0)
      << "no variance: left out";
  EXPECT_THROW(Loss::poisson({1, 2}, {{1, 2, 3}, 0, {1}}), std::invalid_argument);
  EXPECT_THROW(Loss::gaussian({1, 2}, {{1}, -1, {1}}), std::invalid_argument);
  EXPECT_THROW(Loss::gaussian({1, 2}, {{1}, nan, {1}}), std::invalid_argument);
}

/// Pixel by pixel, by the loss of an image of that pixel.
struct OneByOne {
  double value = 0;
  Numbers cotangent;
  Loss::Slopes slopes;
};

template <typename LossOf>
OneByOne oneByOne(const Numbers &image, const std::vector<std::uint8_t> &rendered, LossOf lossOf) {
  OneByOne sum;
  for (std::size_t i = 0; i != image.size(); ++i) {
    Numbers slope(1);
    Loss::Slopes slopes;
    const Loss loss = lossOf(i);
    sum.value += loss.evaluate(std::span(&image[i], 1), std::span(&rendered[i], 1), slope, &slopes);
    sum.cotangent.push_back(slope[0]);
    sum.slopes.background += slopes.background;
    sum.slopes.readOut += slopes.readOut;
  }
  return sum;
}

TEST(Loss, ManyPixelsAreEachCountedOnce) {
  // More than what is added up at once, and not a multiple of it; holes of every kind.
  constexpr std::size_t pixels = 1541;
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  Numbers image, data, sigma, weights, background;
  std::vector<std::uint8_t> rendered, mask;
  for (std::size_t i = 0; i != pixels; ++i) {
    rendered.push_back(i % 11 != 3);
    image.push_back(rendered[i] ? 1 + double(i * 7 % 23) : nan);
    data.push_back(i % 13 == 5 ? nan : i % 17 == 6 ? infinite : double(i * 5 % 19));
    sigma.push_back(i % 19 == 4 ? 0 : i % 23 == 8 ? -1 : i % 29 == 9 ? nan : 0.5 + double(i % 7));
    mask.push_back(i % 7 != 2);
    weights.push_back(double(i % 5) - 2);
    background.push_back(0.25 * double(i % 3));
  }
  const auto compare = [&](const char *what, const Loss &loss, auto lossOf) {
    Numbers cotangent(pixels, 9);
    Loss::Slopes slopes;
    const double value = loss.evaluate(image, rendered, cotangent, &slopes);
    const OneByOne expected = oneByOne(image, rendered, lossOf);
    EXPECT_NEAR(value, expected.value, 1e-12 * std::fabs(expected.value)) << what;
    EXPECT_EQ(cotangent, expected.cotangent) << what;
    EXPECT_NEAR(slopes.background, expected.slopes.background, 1e-11) << what;
    EXPECT_NEAR(slopes.readOut, expected.slopes.readOut, 1e-11) << what;
    EXPECT_NE(value, 0) << what;
  };
  using Mask = std::vector<std::uint8_t>;
  compare("sum", Loss::sum(), [](std::size_t) { return Loss::sum(); });
  compare("linear", Loss::linear(weights),
          [&](std::size_t i) { return Loss::linear({weights[i]}); });
  compare("chi square of one sigma", Loss::chiSquare(data, {2}, mask),
          [&](std::size_t i) { return Loss::chiSquare({data[i]}, {2}, Mask{mask[i]}); });
  compare("chi square", Loss::chiSquare(data, sigma, mask),
          [&](std::size_t i) { return Loss::chiSquare({data[i]}, {sigma[i]}, Mask{mask[i]}); });
  compare("poisson", Loss::poisson(data, {background, 0, {1.5}}, mask), [&](std::size_t i) {
    return Loss::poisson({data[i]}, {{background[i]}, 0, {1.5}}, Mask{mask[i]});
  });
  compare("gaussian", Loss::gaussian(data, {background, 3, {1.5}}, mask), [&](std::size_t i) {
    return Loss::gaussian({data[i]}, {{background[i]}, 3, {1.5}}, Mask{mask[i]});
  });
}

TEST(Loss, AnInfinitePixelMakesAnInfiniteLoss) {
  Numbers image(700, 1);
  image[600] = std::numeric_limits<double>::infinity();
  const std::vector<std::uint8_t> rendered(700, 1);
  EXPECT_EQ(Loss::sum().evaluate(image, rendered, {}), image[600]);
  EXPECT_EQ(Loss::chiSquare(Numbers(700), {1}).evaluate(image, rendered, {}), image[600]);
}

TEST(Loss, RefusesOtherSizes) {
  const Numbers image(4);
  EXPECT_THROW(Loss::linear({1, 2}).evaluate(image, all, {}), std::invalid_argument);
  EXPECT_THROW(Loss::chiSquare({1, 2, 3}, {1}).evaluate(image, all, {}), std::invalid_argument);
  EXPECT_THROW(Loss::chiSquare({1, 2, 3}, {1, 2}), std::invalid_argument);
}

} // namespace
} // namespace nanobragg
