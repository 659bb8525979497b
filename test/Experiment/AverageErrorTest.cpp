#include "lib/Estimate/AverageError.h"

#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

Options averaged() {
  Options options = withPlate(Convention::Xds);
  options.shape = CrystalShape::Gauss;
  options.averaging = Averaging::Closed;
  options.na = options.nb = options.nc = 30;
  options.lambda = 1;
  return options;
}

double errorOf(const Options &options) {
  const CompleteExperiment c = completeRight(options);
  return averageError(c.experiment, c.report);
}

std::string warningOf(const Options &options) {
  const CompleteExperiment c = completeRight(options);
  return inexactAverage(c.experiment, c.report).value_or("");
}

void expectNamed(const Options &options, const char *spread) {
  const std::string warning = warningOf(options);
  EXPECT_TRUE(warning.find(spread) != std::string::npos) << warning;
}

TEST(AverageError, IsSmallInAnExperimentAsTheyAre) {
  Options options = averaged();
  options.mosaicSpread = 0.1;
  options.bandwidthSigma = 0.1;
  options.hdivSigma = options.vdivSigma = 0.3;
  EXPECT_LT(errorOf(options), 1e-3);
  EXPECT_EQ(warningOf(options), "");
}

TEST(AverageError, GrowsAsTheSquareOfPixelsThatAreNarrowerThanSpots) {
  Options options = averaged();
  options.na = options.nb = options.nc = 2;
  const double one = errorOf(options);
  options.pixelSize = 0.2;
  options.fastPixels = 500, options.slowPixels = 450;
  const double two = errorOf(options);
  EXPECT_NEAR(two / one, 4, 0.5);
  options.oversample = 2;
  EXPECT_NEAR(errorOf(options) / one, 1, 0.1);
}

TEST(AverageError, NamesWhatIsTooWide) {
  Options options = averaged();
  options.averageTolerance = 1e-6;
  options.oversample = 10;
  Options wide = options;
  wide.na = wide.nb = wide.nc = 3;
  wide.mosaicSpread = 5;
  expectNamed(wide, "the mosaicity is too wide");
  wide = options;
  wide.bandwidthSigma = 5;
  expectNamed(wide, "the bandwidth is too wide");
  wide = options;
  wide.osc = 5;
  wide.phiSteps = 1;
  expectNamed(wide, "give more of them (-phisteps)");
  wide.phiSteps = 100;
  wide.averageTolerance = 1e-3;
  EXPECT_EQ(warningOf(wide), "");
}

TEST(AverageError, IsOfAveragesInClosedForm) {
  Options options = averaged();
  options.averageTolerance = 1e-8;
  EXPECT_NE(warningOf(options), "");
  options.averaging = Averaging::Drawn;
  EXPECT_EQ(warningOf(options), "");
}

} // namespace
} // namespace nanobragg
