// The example image, its mask and the integers made from it come from one run of the C program:
// 8 x 6 pixels of 4 mm, -roi 1 6 0 4 -adc -5 -seed 9 -oversample 2, three masked pixels.
#include "lib/Images/ImageScaling.h"
#include "lib/Images/ImageStatistics.h"
#include "lib/Noise/NoiseImage.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace nanobragg::io {
namespace {

const ImageRegion region{8, 6, 1, 1, 6, 0, 4};

const std::vector<float> photons{0,
                                 11.8940449f,
                                 8.04518223f,
                                 11.1559f,
                                 0.530712903f,
                                 290.951477f,
                                 1.40366602f,
                                 0,
                                 0,
                                 127.425812f,
                                 36.2178841f,
                                 113.286125f,
                                 54.9403038f,
                                 12.8330364f,
                                 6.21152639f,
                                 0,
                                 0,
                                 25.4766865f,
                                 68.5000839f,
                                 0,
                                 16.3945293f,
                                 0.636536181f,
                                 4.90468836f,
                                 0,
                                 0,
                                 13.2456579f,
                                 4.14704895f,
                                 763.604919f,
                                 183.099792f,
                                 0.810303211f,
                                 13.0634108f,
                                 0,
                                 0,
                                 45.917263f,
                                 131.2854f,
                                 1.13694346f,
                                 0.174834147f,
                                 0,
                                 67.1075287f,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0};

std::vector<std::uint8_t> exampleMask() {
  std::vector<std::uint8_t> mask(48, 1);
  mask[0] = mask[2 * 8 + 3] = mask[4 * 8 + 5] = 0;
  return mask;
}

std::vector<std::uint16_t> scaleToInt(std::span<const float> image, const ImageRegion &region,
                                      double scale, double adcOffset) {
  std::vector<std::uint16_t> result(image.size());
  scaleRowsToInt(image, region, 0, region.panels * region.slowPixels, region.fastPixels, scale,
                 adcOffset, result.data());
  return result;
}

std::vector<std::uint8_t> scaleToPgm(std::span<const float> image, const ImageRegion &region,
                                     double scale) {
  std::vector<std::uint8_t> result(image.size());
  scaleRowsToPgm(image, region, 0, region.panels * region.slowPixels, region.fastPixels, scale,
                 result.data());
  return result;
}

/// As printf's %g prints it.
double sixDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

TEST(ImageStatistics, AsTheCProgramPrintsThem) {
  const ImageStatistics s = computeStatistics(photons, region, exampleMask());
  EXPECT_EQ(sixDigits(s.maximum), 763.605);
  EXPECT_EQ(s.maximumFast, 3);
  EXPECT_EQ(s.maximumSlow, 3);
  EXPECT_EQ(s.maximumPanel, 0);
  EXPECT_DOUBLE_EQ(lastSubpixelCenter(s.maximumFast, 0.004, 2), 0.015);
  EXPECT_EQ(sixDigits(s.mean), 71.9429);
  EXPECT_EQ(sixDigits(s.rms), 168.331);
  EXPECT_EQ(sixDigits(s.rmsd), 147.448);
}

TEST(ImageStatistics, FirstOfEqualMaximaAndPanels) {
  std::vector<float> image(2 * 3 * 4, 0);
  image[12 + 4 + 2] = image[12 + 8 + 1] = 5;
  const ImageStatistics s = computeStatistics(image, ImageRegion::whole(4, 3, 2));
  EXPECT_EQ(s.maximumPanel, 1);
  EXPECT_EQ(s.maximumSlow, 1);
  EXPECT_EQ(s.maximumFast, 2);
}

TEST(ImageStatistics, EmptyImagesHaveNoMaximum) {
  const std::vector<float> image(12, 0);
  const ImageStatistics s = computeStatistics(image, ImageRegion::whole(4, 3));
  EXPECT_FALSE(s.found);
  EXPECT_EQ(s.mean, 0);
  const std::vector<std::uint8_t> nothing(12, 0);
  EXPECT_EQ(computeStatistics(image, ImageRegion::whole(4, 3), nothing).rms, 0);
  EXPECT_THROW(computeStatistics(image, ImageRegion::whole(4, 4)), std::invalid_argument);
}

TEST(ImageRegion, BoundsMayLieBeyondTheEdge) {
  std::vector<std::size_t> visited;
  ImageRegion{3, 2, 1, 1, 3, -1, 2}.forEachPixel([&](std::size_t i) { visited.push_back(i); });
  EXPECT_EQ(visited, (std::vector<std::size_t>{1, 2, 4, 5}));
}

TEST(ImageScaling, ScalesAreChosenUnlessRequested) {
  EXPECT_EQ(sixDigits(chooseIntScale(0, 763.604919)), 72.0268);
  EXPECT_EQ(chooseIntScale(3, 100), 3);
  EXPECT_EQ(chooseIntScale(-1, 0), 1);
  EXPECT_EQ(sixDigits(choosePgmScale(0, 147.448, 72)), 0.339103);
  EXPECT_EQ(choosePgmScale(0, 0, 72), 72);
  EXPECT_EQ(choosePgmScale(0.5, 147, 72), 0.5);
}

TEST(ImageScaling, IntImageOfTheCProgram) {
  const double scale = chooseIntScale(0, computeStatistics(photons, region).maximum);
  EXPECT_EQ(scaleToInt(photons, region, scale, -5),
            (std::vector<std::uint16_t>{0, 852,  574,  799,   33,    20951, 96,   0, //
                                        0, 9173, 2604, 8155,  3952,  919,   442,  0, //
                                        0, 1830, 4929, 0,     1176,  41,    348,  0, //
                                        0, 949,  294,  54995, 13183, 53,    936,  0, //
                                        0, 3302, 9451, 77,    8,     0,     4829, 0, //
                                        0, 0,    0,    0,     0,     0,     0,    0}));
}

TEST(ImageScaling, PgmImageOfTheCProgram) {
  const double rmsd = computeStatistics(photons, region, exampleMask()).rmsd;
  EXPECT_EQ(scaleToPgm(photons, region, choosePgmScale(0, rmsd, 1)),
            (std::vector<std::uint8_t>{0, 4,  2,  3,   0,  98, 0,  0, //
                                       0, 43, 12, 38,  18, 4,  2,  0, //
                                       0, 8,  23, 0,   5,  0,  1,  0, //
                                       0, 4,  1,  255, 62, 0,  4,  0, //
                                       0, 15, 44, 0,   0,  0,  22, 0, //
                                       0, 0,  0,  0,   0,  0,  0,  0}));
}

TEST(ImageScaling, OffsetOnlyInsideTheRegionAndClipped) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> image{1, 1, 1e9f, nan, 1};
  EXPECT_EQ(scaleToInt(image, {5, 1, 1, 1, 3, 0, 0}, 2, 40.5),
            (std::vector<std::uint16_t>{0, 43, 65535, 0, 0}));
  EXPECT_EQ(scaleToPgm(image, {5, 1, 1, 1, 3, 0, 0}, 2.9),
            (std::vector<std::uint8_t>{0, 2, 255, 0, 0}));
}

const std::vector<std::uint16_t> noiseOfTheCProgram{0, 7,   9,     12,    65532, 294,   65531, 0, //
                                                    0, 114, 36,    92,    54,    11,    0,     0, //
                                                    0, 29,  79,    65531, 7,     65531, 1,     0, //
                                                    0, 7,   65532, 759,   169,   65531, 7,     0, //
                                                    0, 43,  139,   65533, 65531, 65531, 66,    0, //
                                                    0, 0,   0,     0,     0,     0,     0,     0};

const NoiseModel serial = [] {
  NoiseModel model;
  model.generator = NoiseGenerator::Serial;
  return model;
}();

TEST(NoiseImage, OfTheCProgramWithItsWrapAround) {
  Ran1 random;
  std::int64_t seed = -9;
  const NoiseImage noise = drawNoise(photons, region, {}, serial, -5, Rule::C, {random, seed});
  EXPECT_EQ(noise.pixels, noiseOfTheCProgram);
  EXPECT_EQ(noise.photons, 2044);
  EXPECT_EQ(noise.overloads, 0);
}

TEST(NoiseImage, RightClipsAtZeroAndDrawsTheSame) {
  Ran1 random;
  std::int64_t seed = -9;
  const NoiseImage noise = drawNoise(photons, region, {}, serial, -5, Rule::Right, {random, seed});
  for (std::size_t i = 0; i < noise.pixels.size(); ++i)
    EXPECT_EQ(noise.pixels[i], noiseOfTheCProgram[i] > 65000 ? 0 : noiseOfTheCProgram[i]);
  EXPECT_EQ(noise.photons, 2044);
}

TEST(NoiseImage, OverloadsAreClippedAndCounted) {
  const std::vector<float> image{1e5f, 2e6f, 10, std::numeric_limits<float>::quiet_NaN()};
  Ran1 random;
  std::int64_t seed = -1;
  const NoiseImage noise =
      drawNoise(image, ImageRegion::whole(4, 1), {}, serial, 40, Rule::Right, {random, seed});
  EXPECT_EQ(noise.overloads, 2);
  EXPECT_EQ(noise.pixels[0], 65535);
  EXPECT_EQ(noise.pixels[1], 65535);
  EXPECT_EQ(noise.pixels[3], 0);
}

TEST(StatisticsTest, AreThoseOfEachPixelByItselfForAnyNumberOfThreads) {
  const ImageRegion region = {333, 257, 2, 10, 320, 3, 250};
  std::vector<float> image(region.pixelCount());
  std::vector<std::uint8_t> mask(image.size());
  std::uint32_t state = 7;
  for (std::size_t i = 0; i != image.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    image[i] = float(state >> 8) / 65536.0f - 20;
    mask[i] = state % 5 != 0;
  }
  double sum = 0, squares = 0, highest = 0, deviations = 0;
  std::int64_t counted = 0, all = 0;
  region.forEachPixel([&](std::size_t i) {
    if (!mask[i])
      return;
    sum += image[i];
    squares += double(image[i]) * image[i];
    highest = std::max(highest, double(image[i]));
    ++counted;
  });
  region.forEachPixel([&](std::size_t i) {
    deviations += std::pow(image[i] - sum / double(counted), 2);
    ++all;
  });
  const ImageStatistics one = computeStatistics(image, region, mask, 1);
  EXPECT_NEAR(one.mean / (sum / double(counted)), 1, 1e-12);
  EXPECT_NEAR(one.rms / std::sqrt(squares / double(counted - 1)), 1, 1e-12);
  EXPECT_NEAR(one.rmsd / std::sqrt(deviations / double(all - 1)), 1, 1e-12);
  EXPECT_EQ(one.maximum, highest);
  EXPECT_EQ(one.notFinite, 0);
  const ImageStatistics three = computeStatistics(image, region, mask, 3);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.rms, three.rms);
  EXPECT_EQ(one.rmsd, three.rmsd);
  EXPECT_EQ(one.maximumSlow, three.maximumSlow);
  EXPECT_EQ(one.maximumFast, three.maximumFast);
  EXPECT_EQ(image[std::size_t((one.maximumPanel * 257 + one.maximumSlow) * 333 + one.maximumFast)],
            highest);
}

TEST(StatisticsTest, CountPixelsThatAreNoNumbers) {
  std::vector<float> image(100, 2);
  image[3] = std::numeric_limits<float>::quiet_NaN();
  image[4] = -std::numeric_limits<float>::quiet_NaN();
  image[50] = std::numeric_limits<float>::infinity();
  const ImageStatistics s = computeStatistics(image, ImageRegion::whole(10, 10));
  EXPECT_EQ(s.notFinite, 3);
  EXPECT_EQ(s.maximum, std::numeric_limits<float>::infinity());
}

} // namespace
} // namespace nanobragg::io
