#include "lib/Formats/SpectrumFile.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "test/IO/TemporaryDirectory.h"

#include <algorithm>
#include <cmath>

namespace nanobragg::io {
namespace {

TEST(SpectrumFile, TakesWavelengthsAndEnergies) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(readSpectrumFile(directory.add("e.txt", "9500 2\n9600 1\n")).isByEnergy);
  const Spectrum spectrum =
      readSpectrumFile(directory.add("s.txt", "# eV weight\n9500 2\n1.0, 1\n1.1 0\n"));
  EXPECT_FALSE(spectrum.isByEnergy);
  const auto &s = spectrum.points;
  ASSERT_EQ(s.size(), 3u);
  EXPECT_NEAR(s[0][0], 12.398419843 / 9.5, 1e-6);
  EXPECT_EQ(s[1], (std::array<double, 2>{1.0, 1}));
  EXPECT_EQ(s[2], (std::array<double, 2>{1.1, 0}));
  expectFileError([&] { readSpectrumFile(directory.add("t.txt", "1 x\n")); }, "t.txt:1");
  expectFileError([&] { readSpectrumFile(directory.add("t.txt", "1 0\n")); }, "weight above 0");
  expectFileError([&] { readSpectrumFile(directory.add("t.txt", "1 nan\n")); }, "t.txt:1");
  expectFileError([&] { readSpectrumFile(directory.add("t.txt", "inf 1\n")); }, "t.txt:1");
  for (const char *noXRays : {"1e308 1\n", "1e-9 1\n", "0 1\n"})
    expectFileError([&] { readSpectrumFile(directory.add("t.txt", noXRays)); }, "X-rays have");
  expectFileError([&] { readSpectrumFile(directory.add("t.txt", "\n1 -2\n")); },
                  "t.txt:2: has the weight -2");
}

/// Energy (eV) and photons of each point.
std::vector<std::array<double, 2>> shape(const std::string &text, std::size_t shot = 0) {
  const auto spectrum = spectrumOfShape(text, shot);
  EXPECT_TRUE(spectrum && spectrum->isShape && spectrum->isByEnergy) << text;
  std::vector<std::array<double, 2>> points;
  for (const auto &[wavelength, photons] : spectrum->points)
    points.push_back({constants::hc / wavelength, photons});
  return points;
}

double photonsAt(const std::vector<std::array<double, 2>> &points, double energy) {
  return (*std::ranges::min_element(points, {},
                                    [&](const auto &p) { return std::fabs(p[0] - energy); }))[1];
}

TEST(SpectrumShape, IsFlatOrGaussian) {
  const auto flat = shape("flat:5000,27000");
  EXPECT_NEAR(flat.front()[0], 5000, 1e-6);
  EXPECT_NEAR(flat.back()[0], 27000, 1e-6);
  EXPECT_TRUE(std::ranges::all_of(flat, [](const auto &p) { return p[1] == 1; }));
  const auto gaussian = shape("gaussian:12000,3");
  EXPECT_NEAR(photonsAt(gaussian, 12000), 1, 1e-9);
  for (const double half : {-180.0, 180.0})
    EXPECT_NEAR(photonsAt(gaussian, 12000 + half), 0.5, 0.01);
  EXPECT_LT(gaussian.front()[1], 1e-5);
}

/// F_1(1) = 0.37 and F_3(1) = 0.18 by the Bessel functions of 1/6 and 1/2.
TEST(SpectrumShape, AnUndulatorHasOddHarmonics) {
  const auto points = shape("undulator:4000,50,1,22000");
  const double first = photonsAt(points, 4000), third = photonsAt(points, 12000);
  EXPECT_NEAR(first, 0.368, 0.005);
  EXPECT_NEAR(3 * third, 0.179, 0.005); // photons over the energy, not of a bandwidth
  EXPECT_LT(photonsAt(points, 8000), 1e-3 * first);
  EXPECT_NEAR(photonsAt(points, 4000 * (1 + 0.443 / 50)), first / 2, 0.05 * first);
  EXPECT_NEAR(photonsAt(points, 12000 * (1 + 0.443 / 150)), third / 2, 0.05 * third);
}

TEST(SpectrumShape, ShotsOfSaseDiffer) {
  const auto one = shape("sase:9500,0.3,0.02,7"), other = shape("sase:9500,0.3,0.02,7", 1);
  EXPECT_EQ(one, shape("sase:9500,0.3,0.02,7"));
  EXPECT_NE(one, other);
  EXPECT_EQ(other.size(), one.size());
  // The mean over shots is the envelope, whose square root of variance is as large at each energy.
  double mean = 0, square = 0, half = 0;
  constexpr int shots = 400;
  for (int i = 0; i < shots; ++i) {
    const auto points = shape("sase:9500,0.3,0.02,7", std::size_t(i));
    const double middle = photonsAt(points, 9500);
    mean += middle / shots;
    square += middle * middle / shots;
    half += photonsAt(points, 9500 * 1.0015) / shots;
  }
  EXPECT_NEAR(half / mean, 0.5, 0.1);
  EXPECT_NEAR((square - mean * mean) / (mean * mean), 1, 0.3);
}

TEST(SpectrumShape, SaysHowAShapeIsWritten) {
  EXPECT_FALSE(spectrumOfShape("run.nxs:7", 0));
  EXPECT_FALSE(spectrumOfShape("flat", 0));
  const auto refuses = [](const std::string &text, const std::string &part) {
    try {
      spectrumOfShape(text, 0);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refuses("flat:5000", "it has 1 numbers; it is flat:FROM,TO (eV), such as flat:5000,27000");
  refuses("flat:27000,5000", "the first energy is the lower one");
  refuses("gaussian:12000,x", "'x' does not begin with a number");
  refuses("gaussian:12000,3%", "'%' follows the numbers");
  refuses("gaussian:12,3", "from 100 to 1000000 eV");
  refuses("gaussian:12000,150", "extends below 0 eV");
  refuses("undulator:4000,20.5,1,22000", "a whole number from 2 on");
  refuses("undulator:4000,20000,1,220000", "more than 50000 points");
  refuses("sase:9500,0.1,0.3,1", "narrower than the spectrum");
}

} // namespace
} // namespace nanobragg::io
