#include "nanobragg/Background.h"
#include "test/Experiment/Support.h"

#include <cmath>
#include <fstream>
#include <random>

namespace nanobragg {
namespace {

double factorAt(double stol) { return 10 - 20 * stol + 15 * stol * stol; }

/// Reads the table of factorAt.
struct Extraction : testing::Test {
  Extraction() : path(testing::TempDir() + "extract_background.stol") {
    std::ofstream file(path);
    for (const double stol : {0.0, 0.05, 0.12, 0.2, 0.31, 0.4, 0.55})
      file << stol << ' ' << factorAt(stol) << '\n';
  }

  Simulator simulator(const std::vector<std::string> &more = {}) {
    std::vector<std::string> flags = {"-stol",     path,  "-thickness", "1e-10", "-lambda", "1",
                                      "-distance", "100", "-detpixels", "96",    "-pixel",  "1"};
    flags.insert(flags.end(), more.begin(), more.end());
    return Simulator::fromFlags(flags);
  }

  static std::vector<double> imageOf(Simulator &simulator) {
    const std::span<const double> image = simulator.value();
    return {image.begin(), image.end()};
  }

  static void expectTable(const std::vector<BackgroundPoint> &table, double tolerance) {
    ASSERT_GT(table.size(), 10u);
    for (const BackgroundPoint &point : table)
      EXPECT_NEAR(point.factor, factorAt(point.stol), tolerance * point.factor) << point.stol;
  }

  std::string path;
};

TEST_F(Extraction, OfItsOwnImageIsTheTable) {
  Simulator s = simulator();
  const auto table = extractBackground(s, imageOf(s), 50);
  expectTable(table, 1e-4);
  std::size_t pixels = 0;
  for (const BackgroundPoint &point : table)
    pixels += point.pixels;
  EXPECT_NEAR(double(pixels), 96 * 96, 50);
}

/// And the table makes the image.
TEST_F(Extraction, RoundTrips) {
  Simulator s = simulator();
  const std::vector<double> image = imageOf(s);
  {
    std::ofstream file(path);
    for (const BackgroundPoint &point : extractBackground(s, image, 50))
      file << point.stol << ' ' << point.factor << '\n';
  }
  Simulator again = simulator();
  const std::vector<double> copy = imageOf(again);
  double difference = 0, sum = 0;
  for (std::size_t i = 0; i != image.size(); ++i) {
    // Nearer to the beam than the first bin's middle the table is constant.
    EXPECT_NEAR(copy[i], image[i], 3e-2 * image[i]);
    difference += std::fabs(copy[i] - image[i]);
    sum += image[i];
  }
  EXPECT_LT(difference, 1e-4 * sum);
}

TEST_F(Extraction, TakesOffWhatElseThereIs) {
  Simulator s = simulator({"-stol", "air", "-thickness", "1e-8", "-cell", "50", "60", "70",
                           "-default_F", "1", "-N", "5", "-beamsize", "0.2"});
  expectTable(extractBackground(s, imageOf(s), 50), 1e-4);
}

TEST_F(Extraction, LeavesSpotsOut) {
  Simulator s = simulator();
  std::vector<double> image = imageOf(s);
  for (std::size_t i = 7; i < image.size(); i += 31)
    image[i] *= 50;
  image[5] = NAN;
  expectTable(extractBackground(s, image, 50), 1e-3);
}

TEST_F(Extraction, IsNotBiasedByNoise) {
  Simulator s = simulator({"-fluence", "3e26"});
  std::vector<double> image = imageOf(s);
  double mean = 0;
  std::mt19937_64 engine(1);
  for (double &pixel : image) {
    mean += pixel / double(image.size());
    pixel = double(std::poisson_distribution<>(pixel)(engine));
  }
  ASSERT_GT(mean, 1); // few photons
  ASSERT_LT(mean, 1000);
  const auto table = extractBackground(s, image, 5);
  for (const BackgroundPoint &point : table)
    EXPECT_NEAR(point.factor, factorAt(point.stol), 0.02 * point.factor) << mean;
}

TEST_F(Extraction, RefusesWhatItCannotDo) {
  Simulator s = simulator();
  EXPECT_THROW(extractBackground(s, std::vector<double>(5)), std::invalid_argument);
  EXPECT_THROW(extractBackground(s, std::vector<double>(96 * 96), 0), std::invalid_argument);
  Simulator none(completeRight(cubic()).experiment);
  EXPECT_THROW(extractBackground(none, std::vector<double>(none.pixels())), std::invalid_argument);
}

} // namespace
} // namespace nanobragg
