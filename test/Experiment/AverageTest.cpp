#include "test/Experiment/Support.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

Options averaged(Averaging averaging) {
  Options options = cubic();
  options.shape = CrystalShape::Gauss;
  options.averaging = averaging;
  return options;
}

TEST(Averages, NodesIntegratePolynomials) {
  for (const auto [tolerance, count] : {std::pair{0.05, 6}, {1e-3, 13}, {1e-6, 26}, {1e-8, 35}}) {
    Options options = averaged(Averaging::Closed);
    options.averageTolerance = tolerance;
    const Average average = completeRight(options).experiment.average;
    ASSERT_EQ(average.nodes.size(), std::size_t(count));
    // x^n over -1/2 to 1/2, right up to n = 2 count - 1.
    for (int n = 0; n < std::min(2 * count, 20); ++n) {
      double sum = 0;
      for (std::size_t i = 0; i != average.nodes.size(); ++i)
        sum += average.weights[i] * std::pow(average.nodes[i], n);
      EXPECT_NEAR(sum, n % 2 ? 0 : std::pow(0.5, n) / (n + 1), 1e-14) << count << " " << n;
    }
  }
}

TEST(Averages, DrawsHaveTheirDistributions) {
  Options options = averaged(Averaging::Drawn);
  options.averageDraws = 20000;
  options.mosaicSpread = options.bandwidthSigma = options.osc = 0.1;
  options.hdivSigma = options.vdivSigma = 0.1;
  const Average a = completeRight(options).experiment.average;
  const auto variance = [](const std::vector<double> &x) {
    double sum = 0;
    for (double value : x)
      sum += value * value;
    return sum / double(x.size());
  };
  for (const auto *uniform : {&a.fast, &a.slow, &a.phi}) {
    EXPECT_NEAR(variance(*uniform), 1.0 / 12, 1e-4);
    EXPECT_LE(*std::ranges::max_element(*uniform), 0.5);
  }
  for (const auto *normal : {&a.wavelength, &a.hdiv, &a.vdiv})
    EXPECT_NEAR(variance(*normal), 1, 1e-2);
  double mixed = 0;
  for (std::size_t i = 0; i != a.rotation.size(); ++i)
    mixed += a.rotation[i][0] * a.rotation[i][1] / double(a.rotation.size());
  EXPECT_NEAR(mixed, 0, 1e-2);
}

TEST(Averages, TakeOneSampleOfWhatIsAveraged) {
  Options options = averaged(Averaging::Closed);
  options.mosaicSpread = 0.3;
  options.hdivSigma = 0.5;
  options.osc = 0.35;
  const Experiment e = completeRight(options).experiment;
  EXPECT_EQ(e.detector.oversample, 1);
  EXPECT_EQ(e.sourceCount(), 1);
  EXPECT_EQ(e.variant.mosaicity, Mosaicity::Ball);
  EXPECT_TRUE(e.variant.sweep);
  EXPECT_EQ(e.goniometer.phiSteps, 1);
}

TEST(Averages, SplitARotationAsTheToleranceAsks) {
  Options options = averaged(Averaging::Closed);
  options.na = options.nb = options.nc = 50;
  options.lambda = 1;
  options.osc = 3;
  const auto partsFor = [&](double tolerance) {
    options.averageTolerance = tolerance;
    const CompleteExperiment c = completeRight(options);
    EXPECT_EQ(std::int64_t(c.report.phiSteps.size()), c.experiment.goniometer.phiSteps);
    EXPECT_DOUBLE_EQ(c.experiment.goniometer.phiStepFraction,
                     1 / double(c.experiment.goniometer.phiSteps));
    return c.experiment.goniometer.phiSteps;
  };
  EXPECT_EQ(partsFor(0.1), 1);
  EXPECT_GT(partsFor(1e-3), 1);
  EXPECT_GT(partsFor(1e-4), partsFor(1e-3));
  options.phiSteps = 7;
  EXPECT_EQ(partsFor(1e-4), 7);
}

TEST(Averages, NeedAGaussianCrystal) {
  Options options = averaged(Averaging::Closed);
  options.shape = CrystalShape::Round;
  EXPECT_THROW((void)completeRight(options), std::invalid_argument);
  options = averaged(Averaging::Sampled);
  options.bandwidthSigma = 0.1;
  EXPECT_THROW((void)completeRight(options), std::invalid_argument);
}

} // namespace
} // namespace nanobragg
