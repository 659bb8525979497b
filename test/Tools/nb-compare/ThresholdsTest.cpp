#include "test/Tools/nb-compare/Images.h"
#include "tools/nb-compare/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace nanobragg;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

struct ThresholdsTest : testing::Test {
  ThresholdsTest() {
    c.pixels = c.compared = 100;
    c.correlation = 0.9;
    c.sumRatio = 1.1;
    c.rms = 2;
    c.maxAbsolute = WorstPixel{8, 0, 3, 4, 18, 10};
    c.maxRelative = WorstPixel{0.5, 1, 5, 6, 3, 2};
    c.peaks.matched = 3;
    c.peaks.maxShift = 1.5;
  }
  Comparison c;
  Thresholds t;
};

TEST_F(ThresholdsTest, NothingAskedNothingFails) {
  c.notFiniteInOne = 1;
  EXPECT_THAT(failures(c, t), IsEmpty());
}

TEST_F(ThresholdsTest, JustMet) {
  t.minCorrelation = 0.9;
  t.maxSumDeviation = 0.1000001;
  t.maxRms = 2;
  t.maxAbsolute = 8;
  t.maxRelative = 0.5;
  t.maxPeakShift = 1.5;
  t.minPeaks = 3;
  t.perPixel = true;
  EXPECT_THAT(failures(c, t), IsEmpty());
}

TEST_F(ThresholdsTest, EachFailureIsNamed) {
  t.minCorrelation = 0.91;
  t.maxSumDeviation = 0.05;
  t.maxRms = 1.9;
  t.maxAbsolute = 7;
  t.maxRelative = 0.4;
  t.maxPeakShift = 1;
  t.minPeaks = 4;
  EXPECT_THAT(failures(c, t),
              ElementsAre(HasSubstr("correlation is 0.9, below 0.91"), HasSubstr("sum ratio"),
                          HasSubstr("RMS difference is 2, above 1.9"),
                          HasSubstr("largest difference is 8, above 7, at panel 0, slow 3, fast 4"),
                          HasSubstr("relative difference is 0.5"), HasSubstr("shift of a peak"),
                          HasSubstr("3 peaks match, fewer than 4")));
}

TEST_F(ThresholdsTest, PixelsBeyondTolerance) {
  t.perPixel = true;
  c.beyondTolerance = 4;
  c.worstBeyond = WorstPixel{3, 0, 1, 2, 0, 0};
  EXPECT_THAT(failures(c, t), ElementsAre(HasSubstr("4 pixels are beyond the tolerance")));
}

TEST_F(ThresholdsTest, UndefinedFails) {
  c.correlation.reset();
  c.sumRatio.reset();
  t.minCorrelation = -1;
  t.maxSumDeviation = 100;
  EXPECT_THAT(failures(c, t), ElementsAre(HasSubstr("undefined"), HasSubstr("undefined")));
}

TEST_F(ThresholdsTest, APixelThatIsFiniteInOneImageFailsEveryThreshold) {
  c.notFiniteInOne = 2;
  t.maxRms = 1e9;
  EXPECT_THAT(failures(c, t), ElementsAre(HasSubstr("2 pixels are finite in one image only")));
}

TEST_F(ThresholdsTest, ReportsSayWhatFailed) {
  EXPECT_THAT(textReport(c, {"it broke"}), HasSubstr("FAILED: it broke\n"));
  EXPECT_THAT(jsonReport(c, {"it broke"}), HasSubstr("\"it broke\""));
  EXPECT_THAT(textReport(c, {}), HasSubstr("8 at panel 0, slow 3, fast 4: 18, reference 10"));
}

TEST_F(ThresholdsTest, JsonHasNullForWhatIsUndefinedOrInfinite) {
  c.correlation.reset();
  c.maxRelative->difference = std::numeric_limits<double>::infinity();
  const std::string json = jsonReport(c, {});
  EXPECT_THAT(json, HasSubstr("\"correlation\": null"));
  EXPECT_THAT(json, HasSubstr("\"difference\": null"));
}

} // namespace
