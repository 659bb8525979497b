// Philox against its authors' vectors, deviates against the laws that they follow. Seeds are fixed,
// so a pass stays one; limits are those of a chance of about 1e-4.
#include "lib/Noise/CounterNoise.h"
#include "lib/Noise/NoiseImage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace nanobragg::io {
namespace {

// Random123, kat_vectors, philox4x32 10.
TEST(PhiloxTest, VectorsOfItsAuthors) {
  EXPECT_EQ((Philox{0, 0}({0, 0, 0, 0})),
            (Philox::Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ((Philox{0xffffffff, 0xffffffff}({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff})),
            (Philox::Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ((Philox{0xa4093822, 0x299f31d0}({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344})),
            (Philox::Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, UniformsStayBetweenZeroAndOne) {
  EXPECT_GT(uniformOf(0, 0), 0);
  EXPECT_LT(uniformOf(0xffffffff, 0xffffffff), 1);
}

constexpr std::size_t draws = 400000;

std::vector<double> poissonOf(double mean, std::int64_t shot = 0) {
  std::vector<double> photons(draws, mean);
  CounterNoise(7, shot, Purpose::Photons).poisson(1000, photons, photons);
  return photons;
}

double meanOf(const std::vector<double> &x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}

double covariance(const std::vector<double> &x, const std::vector<double> &y, std::size_t lag = 0) {
  const double mx = meanOf(x), my = meanOf(y);
  double sum = 0;
  for (std::size_t i = 0; i + lag != x.size(); ++i)
    sum += (x[i + lag] - mx) * (y[i] - my);
  return sum / double(x.size() - lag);
}

/// Chi-square of observed against expected counts in standard deviations from its mean; bins are
/// joined until 10 are expected in each.
double chiSquareInDeviations(const std::vector<double> &observed,
                             const std::vector<double> &expected) {
  double chi = 0, o = 0, e = 0;
  int bins = 0;
  for (std::size_t i = 0; i != observed.size(); ++i) {
    o += observed[i];
    e += expected[i];
    if (e < 10)
      continue;
    chi += (o - e) * (o - e) / e;
    o = e = 0;
    ++bins;
  }
  return (chi - (bins - 1)) / std::sqrt(2.0 * std::max(1, bins - 1));
}

class PoissonTest : public testing::TestWithParam<double> {};

TEST_P(PoissonTest, FollowsItsLaw) {
  const double mean = GetParam();
  const std::vector<double> photons = poissonOf(mean);
  // Bins of one deviation's tenth, of whole numbers where that is less; tails in the outer ones.
  const double width = std::max(1.0, std::floor(std::sqrt(mean) / 10));
  const double lowest = std::max(0.0, std::floor(mean - 8 * std::sqrt(mean)));
  const auto bins = std::size_t((mean + 10 * std::sqrt(mean) + 20 - lowest) / width) + 1;
  std::vector<double> observed(bins), expected(bins);
  for (double n : photons) {
    ASSERT_EQ(n, std::floor(n));
    ASSERT_GE(n, 0);
    const double bin = std::floor((n - lowest) / width);
    ++observed[std::size_t(std::clamp(bin, 0.0, double(bins - 1)))];
  }
  int sign = 0;
  for (std::size_t i = 0; i != bins; ++i)
    for (double k = lowest + double(i) * width; k < lowest + double(i + 1) * width; ++k)
      expected[i] += double(draws) * std::exp(k * std::log(mean) - mean - lgamma_r(k + 1, &sign));
  EXPECT_LT(std::fabs(chiSquareInDeviations(observed, expected)), 4.5);
}

TEST_P(PoissonTest, HasMeanAndVarianceAndNoMemory) {
  const double mean = GetParam();
  const std::vector<double> photons = poissonOf(mean);
  EXPECT_NEAR(meanOf(photons), mean, 4 * std::sqrt(mean / draws));
  const double ofVariance = std::sqrt((2 * mean * mean + mean) / draws);
  const double variance = covariance(photons, photons);
  EXPECT_NEAR(variance, mean, 4 * ofVariance);
  const double limit = 4 / std::sqrt(double(draws));
  for (std::size_t lag : {1, 2, 1024})
    EXPECT_LT(std::fabs(covariance(photons, photons, lag) / variance), limit) << lag;
  // Nor have shots anything in common.
  EXPECT_LT(std::fabs(covariance(photons, poissonOf(mean, 1)) / variance), limit);
}

INSTANTIATE_TEST_SUITE_P(Means, PoissonTest,
                         testing::Values(0.01, 0.3, 1.0, 5.5, 9.99, 10.0, 10.5, 11.999, 12.0, 25.0,
                                         100.0, 1e3, 1e4, 1e5, 1e6));

TEST(CounterNoiseTest, APixelsDeviateIsItsOwnWhateverIsDrawnWithIt) {
  std::vector<double> means;
  for (int i = 0; i != 3000; ++i)
    means.push_back(i % 7 == 0 ? 0 : i % 3 == 0 ? 40 + i : 0.01 * i);
  const CounterNoise noise(3, 2, Purpose::Photons);
  std::vector<double> together(means.size());
  noise.poisson(0, means, together);
  for (std::size_t i = 0; i != means.size(); ++i) {
    double alone = means[i];
    noise.poisson(i, {&alone, 1}, {&alone, 1});
    ASSERT_EQ(alone, together[i]) << i;
  }
}

TEST(CounterNoiseTest, MeansThatAreNone) {
  const double infinite = HUGE_VAL;
  std::vector<double> means{0, -3, infinite, NAN, 1e15, 1e-300};
  CounterNoise(3, 2, Purpose::Photons).poisson(0, means, means);
  EXPECT_EQ(means[0], 0);
  EXPECT_EQ(means[1], 0);
  EXPECT_EQ(means[2], infinite);
  EXPECT_TRUE(std::isnan(means[3]));
  EXPECT_NEAR(means[4], 1e15, 6 * std::sqrt(1e15));
  EXPECT_EQ(means[5], 0);
}

TEST(CounterNoiseTest, NormalDeviates) {
  std::vector<double> x(draws), y(draws);
  CounterNoise(7, 0, Purpose::ReadOut).normal(5, x);
  CounterNoise(7, 0, Purpose::Flicker).normal(5, y);
  constexpr std::size_t bins = 200;
  std::vector<double> observed(bins), expected(bins, double(draws) / bins);
  double fourth = 0;
  for (double deviate : x) {
    ++observed[std::min(bins - 1, std::size_t(bins * 0.5 * std::erfc(-deviate / std::sqrt(2.0))))];
    fourth += std::pow(deviate, 4) / draws;
  }
  EXPECT_LT(std::fabs(chiSquareInDeviations(observed, expected)), 4.5);
  EXPECT_NEAR(meanOf(x), 0, 4 / std::sqrt(double(draws)));
  EXPECT_NEAR(covariance(x, x), 1, 4 * std::sqrt(2.0 / draws));
  EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / draws));
  EXPECT_NEAR(covariance(x, y), 0, 4 / std::sqrt(double(draws)));
}

TEST(CounterNoiseTest, QuantilesInvertTheErrorFunction) {
  for (double x : {-37.0, -9.0, -5.1, -2.0, -1.44, -0.3, 0.0, 0.7, 1.43, 3.0, 6.0})
    EXPECT_NEAR(normalQuantile(0.5 * std::erfc(-x / std::sqrt(2.0))), x, 1e-7 * (1 + x * x)) << x;
}

/// A ramp of means in a region of two panels.
struct Scene {
  ImageRegion region = {333, 257, 2, 10, 320, 3, 250};
  std::vector<float> image = std::vector<float>(region.pixelCount());
  NoiseModel model;
  Ran1 random;
  std::int64_t seed = -11;

  Scene() {
    for (std::size_t i = 0; i != image.size(); ++i)
      image[i] = float(i % 1000) * 0.05f;
  }
  NoiseImage draw(int threads, std::int64_t shot = 0) {
    model.shot = shot;
    return drawNoise(image, region, {}, model, 40, Rule::Right, {random, seed}, threads);
  }
};

TEST(NoiseImageTest, IsTheSameForAnyNumberOfThreads) {
  Scene scene;
  scene.model.flicker = 0.1;
  scene.model.calibration = 0.03;
  scene.model.readOut = 3;
  scene.model.deadPixels = scene.model.hotPixels = 0.01;
  const NoiseImage one = scene.draw(1);
  for (int threads : {2, 3, 7}) {
    const NoiseImage more = scene.draw(threads);
    EXPECT_EQ(more.pixels, one.pixels);
    EXPECT_EQ(more.photons, one.photons);
    EXPECT_EQ(more.overloads, one.overloads);
  }
  EXPECT_NE(scene.draw(1, 1).pixels, one.pixels) << "another shot";
  const NoiseImage second = scene.draw(1, 1);
  scene.seed = -12;
  EXPECT_NE(scene.draw(1, 0).pixels, second.pixels) << "another seed is not another shot";
  scene.seed = -11;
  scene.draw(1);
  EXPECT_EQ(scene.seed, -11) << "nothing is drawn from the serial generator";
}

/// Mean and variance of the counts of a flat image.
struct Flat {
  double mean = 0, variance = 0;

  Flat(const NoiseModel &model, const Gain &gain = {}) {
    const std::vector<float> image(draws, 100.0f * float(gain.all));
    Ran1 random;
    std::int64_t seed = -5;
    const NoiseImage noise = drawNoise(image, ImageRegion::whole(1000, draws / 1000), gain, model,
                                       1000, Rule::Right, {random, seed});
    std::vector<double> counts(noise.pixels.begin(), noise.pixels.end());
    mean = meanOf(counts);
    variance = covariance(counts, counts);
  }
};

TEST(NoiseImageTest, VariancesOfTheOrders) {
  // Truncation takes half a count from the mean and adds 1/12 to the variance.
  NoiseModel model;
  model.readOut = 5;
  const Flat plain(model, {4, {}});
  EXPECT_NEAR(plain.mean, 1400 - 0.5, 0.3);
  EXPECT_NEAR(plain.variance, 16 * 100 + 25, 20);
  model.calibration = 0.1;
  // After the photons are counted: (1 + c g) n, whose variance is m + c^2 (m^2 + m).
  EXPECT_NEAR(Flat(model).variance, 100 + 0.01 * (1e4 + 100) + 25, 3);
  model.order = DetectorOrder::Simtbx;
  EXPECT_NEAR(Flat(model).variance, 100 + 0.01 * (1e4 + 100) + 25, 3);
  // Before: photons are lost, m + c^2 m^2.
  model.order = DetectorOrder::Noisify;
  EXPECT_NEAR(Flat(model).variance, 100 + 0.01 * 1e4 + 25, 3);
  // Flicker of each pixel, and of the shot as a whole, which widens nothing.
  model.calibration = 0;
  model.flicker = 0.1;
  EXPECT_NEAR(Flat(model).variance, 100 + 0.01 * 1e4 + 25, 3);
  model.order = DetectorOrder::Detector;
  const Flat shot(model);
  EXPECT_NEAR(shot.variance, shot.mean - 1000 + 25, 2);
  EXPECT_GT(std::fabs(shot.mean - 1100), 1);
}

TEST(NoiseImageTest, CalibrationAndBadPixelsStayFromShotToShot) {
  Scene scene;
  scene.image.assign(scene.image.size(), 1e4f);
  scene.model.calibration = 0.1;
  scene.model.deadPixels = 0.02;
  scene.model.hotPixels = 0.01;
  scene.model.overload = 20000;
  const NoiseImage a = scene.draw(2, 0), b = scene.draw(2, 1);
  std::vector<double> x, y;
  std::size_t dead = 0, hot = 0, all = 0;
  scene.region.forEachPixel([&](std::size_t i) {
    ++all;
    dead += a.pixels[i] == 40;
    hot += a.pixels[i] == 20000;
    EXPECT_EQ(a.pixels[i] == 40, b.pixels[i] == 40);
    EXPECT_EQ(a.pixels[i] == 20000, b.pixels[i] == 20000);
    x.push_back(a.pixels[i]);
    y.push_back(b.pixels[i]);
  });
  EXPECT_NEAR(double(dead) / double(all), 0.02, 0.002);
  EXPECT_NEAR(double(hot) / double(all), 0.01, 0.0015);
  EXPECT_GT(covariance(x, y) / std::sqrt(covariance(x, x) * covariance(y, y)), 0.98);
  EXPECT_EQ(a.overloads, 0);
}

TEST(NoiseImageTest, WideCountsAndOverloads) {
  Scene scene;
  scene.image.assign(scene.image.size(), 1e5f);
  EXPECT_EQ(scene.draw(2).overloads,
            std::int64_t(scene.region.rows() * scene.region.pixelsOfRow()));
  scene.model.bits = 32;
  const NoiseImage wide = scene.draw(2);
  EXPECT_TRUE(wide.pixels.empty());
  EXPECT_EQ(wide.overloads, 0);
  EXPECT_NEAR(double(wide.wide[scene.region.beginOfRow(0)]), 1e5, 6 * std::sqrt(1e5) + 40);
  EXPECT_EQ(wide.wide[0], 0u) << "outside of the region";
  scene.model.overload = 1000;
  EXPECT_EQ(scene.draw(2).wide[scene.region.beginOfRow(0)], 1000u);
}

} // namespace
} // namespace nanobragg::io
