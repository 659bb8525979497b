#include "test/Tools/nb-compare/Images.h"
#include "tools/nb-compare/Comparison.h"

#include <gtest/gtest.h>

using namespace nanobragg;

namespace {

std::vector<std::array<std::int64_t, 2>> positions(const std::vector<Peak> &peaks) {
  std::vector<std::array<std::int64_t, 2>> result;
  for (const Peak &peak : peaks)
    result.push_back({peak.slow, peak.fast});
  return result;
}
using Positions = std::vector<std::array<std::int64_t, 2>>;

TEST(Peaks, BrightestFirstAndNoMoreThanAsked) {
  Image image = blank(6, 8);
  at(image, 1, 1) = 3;
  at(image, 4, 6) = 9;
  at(image, 0, 5) = 5;
  EXPECT_EQ(positions(findPeaks(image, image.region(), 10)), (Positions{{4, 6}, {0, 5}, {1, 1}}));
  EXPECT_EQ(positions(findPeaks(image, image.region(), 2)), (Positions{{4, 6}, {0, 5}}));
}

TEST(Peaks, ShoulderIsNoPeakAndPlateauIsOne) {
  Image image = blank(5, 6);
  at(image, 2, 2) = 4;
  at(image, 2, 3) = 4;
  at(image, 3, 2) = 4;
  at(image, 1, 4) = 3;
  EXPECT_EQ(positions(findPeaks(image, image.region(), 10)), (Positions{{2, 2}}));
}

TEST(Peaks, BlankAndNegativeImagesHaveNone) {
  Image image = blank(3, 3);
  EXPECT_TRUE(findPeaks(image, image.region(), 10).empty());
  image.pixels.assign(9, -2);
  EXPECT_TRUE(findPeaks(image, image.region(), 10).empty());
}

TEST(Peaks, NeighboursDoNotReachAcrossRowEndsOrPanels) {
  Image image = blank(3, 3, 2);
  at(image, 2, 2, 0) = 5;
  at(image, 0, 0, 1) = 7;
  const auto peaks = findPeaks(image, image.region(), 10);
  ASSERT_EQ(peaks.size(), 2u);
  EXPECT_EQ(peaks[0].panel, 1);
  EXPECT_EQ(peaks[0].slow, 0);
  EXPECT_EQ(peaks[1].panel, 0);
  EXPECT_EQ(peaks[1].fast, 2);
}

TEST(Peaks, OutsideTheRegionDoNotCount) {
  Image image = blank(6, 6);
  at(image, 1, 1) = 3;
  at(image, 4, 4) = 9;
  io::ImageRegion region = image.region();
  region.fastMax = 3;
  EXPECT_EQ(positions(findPeaks(image, region, 10)), (Positions{{1, 1}}));
}

TEST(Peaks, MatchTakesTheNearestPairsAndEachPeakOnce) {
  const std::vector<Peak> first = {{0, 10, 10, 5}, {0, 10, 12, 4}};
  const std::vector<Peak> second = {{0, 10, 11, 5}, {0, 10, 14, 4}, {1, 10, 10, 3}};
  const auto matches = matchPeaks(first, second, 3);
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].shift, 1);
  EXPECT_EQ(matches[0].first.fast, 10);
  EXPECT_EQ(matches[1].shift, 2);
  EXPECT_EQ(matches[1].second.fast, 14);
}

TEST(Peaks, MatchIsLimitedByDistance) {
  const std::vector<Peak> first = {{0, 0, 0, 5}}, second = {{0, 3, 4, 5}};
  EXPECT_TRUE(matchPeaks(first, second, 4.9).empty());
  const auto matches = matchPeaks(first, second, 5);
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].shift, 5);
}

} // namespace
