#include "test/Tools/nb-compare/Images.h"
#include "tools/nb-compare/Comparison.h"
#include "tools/nb-compare/DifferencePicture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nanobragg;
using testing::ElementsAre;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Comparison comparison(const Image &test, const Image &reference, PixelTolerance tolerance = {}) {
  return compare(test, reference, test.region(), tolerance, {});
}

Image row(std::vector<double> pixels) {
  return {1, 1, std::int64_t(pixels.size()), std::move(pixels)};
}

TEST(Compare, NumbersOfTwoRows) {
  const Comparison c = comparison(row({1, 2, 3, 8}), row({1, 2, 3, 4}));
  EXPECT_EQ(c.compared, 4);
  EXPECT_EQ(c.different, 1);
  EXPECT_EQ(c.testSum, 14);
  EXPECT_EQ(c.referenceSum, 10);
  EXPECT_DOUBLE_EQ(c.sumRatio.value(), 1.4);
  EXPECT_DOUBLE_EQ(c.rms, 2);
  // Deviations -2.5 -1.5 -0.5 4.5 and -1.5 -0.5 0.5 1.5: covariance 11, variances 29 and 5.
  EXPECT_NEAR(c.correlation.value(), 11 / std::sqrt(29. * 5.), 1e-15);
  EXPECT_EQ(c.maxAbsolute->difference, 4);
  EXPECT_EQ(c.maxAbsolute->fast, 3);
  EXPECT_EQ(c.maxRelative->difference, 1);
}

TEST(Compare, WorstPixelsOfDifferentPlaces) {
  Image test = blank(4, 5, 3), reference = blank(4, 5, 3);
  at(reference, 3, 1, 2) = 100;
  at(test, 3, 1, 2) = 110;
  at(reference, 0, 4, 1) = 1;
  at(test, 0, 4, 1) = 3;
  const Comparison c = comparison(test, reference);
  EXPECT_EQ(c.maxAbsolute->difference, 10);
  EXPECT_EQ(c.maxAbsolute->panel, 2);
  EXPECT_EQ(c.maxAbsolute->slow, 3);
  EXPECT_EQ(c.maxAbsolute->fast, 1);
  EXPECT_EQ(c.maxRelative->difference, 2);
  EXPECT_EQ(c.maxRelative->panel, 1);
  EXPECT_EQ(c.maxRelative->slow, 0);
  EXPECT_EQ(c.maxRelative->fast, 4);
}

TEST(Compare, EqualImages) {
  const Comparison c = comparison(row({5, 5, 5}), row({5, 5, 5}));
  EXPECT_EQ(c.correlation.value(), 1);
  EXPECT_EQ(c.sumRatio.value(), 1);
  EXPECT_EQ(c.rms, 0);
  EXPECT_FALSE(c.maxAbsolute);
}

TEST(Compare, CorrelationOfAConstantImageIsUndefined) {
  EXPECT_FALSE(comparison(row({5, 5, 5}), row({5, 6, 5})).correlation);
}

TEST(Compare, SumRatioOverZeroIsUndefinedUnlessBothAreZero) {
  EXPECT_FALSE(comparison(row({1, 1}), row({0, 0})).sumRatio);
  EXPECT_EQ(comparison(row({0, 0}), row({0, 0})).sumRatio, 1);
}

TEST(Compare, ToleranceAddsItsThreeParts) {
  // Allowed: 0.1 * 10 + 0.5 + 0.01 * 100 = 2.5 at the first pixel.
  const PixelTolerance tolerance{0.1, 0.5, 0.01};
  EXPECT_EQ(comparison(row({12.5, 100}), row({10, 100}), tolerance).beyondTolerance, 0);
  const Comparison c = comparison(row({15, 100}), row({10, 100}), tolerance);
  EXPECT_EQ(c.beyondTolerance, 1);
  EXPECT_DOUBLE_EQ(c.worstBeyond->difference, 2);
}

TEST(Compare, WhatIsNotFiniteIsCountedAndLeftOut) {
  const Comparison c =
      comparison(row({nan, infinity, 1, nan, 2}), row({nan, infinity, nan, infinity, 2}));
  EXPECT_EQ(c.notFinite, 2);
  EXPECT_EQ(c.notFiniteInOne, 2);
  EXPECT_EQ(c.beyondTolerance, 2);
  EXPECT_EQ(c.compared, 1);
  EXPECT_EQ(c.testSum, 2);
  EXPECT_EQ(c.rms, 0);
}

TEST(Compare, RegionLimitsWhatIsCompared) {
  Image test = blank(3, 4), reference = blank(3, 4);
  at(test, 0, 0) = 7;
  at(test, 2, 3) = 1;
  io::ImageRegion region = test.region();
  region.slowMin = 1;
  const Comparison c = compare(test, reference, region, {}, {});
  EXPECT_EQ(c.pixels, 8);
  EXPECT_EQ(c.testSum, 1);
  EXPECT_EQ(c.maxAbsolute->slow, 2);
}

TEST(Compare, ShiftedPeaks) {
  Image test = blank(20, 20), reference = blank(20, 20);
  at(reference, 5, 5) = 10;
  at(test, 5, 6) = 10;
  at(reference, 15, 15) = 20;
  at(test, 12, 15) = 20;
  const Comparison c = comparison(test, reference);
  EXPECT_EQ(c.peaks.matched, 2u);
  EXPECT_EQ(c.peaks.maxShift, 3);
  EXPECT_EQ(c.peaks.meanShift, 2);
  EXPECT_EQ(c.peaks.matches.front().second.value, 20);
}

TEST(DifferencePicture, GrayWhereEqualBrightAboveDarkBelow) {
  const auto tones = differenceTones(row({1, 3, 0, nan, nan}), row({1, 1, 1, 0, nan}),
                                     row({0, 0, 0, 0, 0}).region());
  EXPECT_THAT(tones, ElementsAre(128, 255, 64, 255, 128));
}

} // namespace
