// A point's light is where its formula says, all of it, and the spread is its own transpose.
#include "lib/Response/PointSpread.h"
#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Response/FourierSpread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace nanobragg::io {
namespace {

double density(PointSpread kind, double w, double x, double y) {
  const double r2 = x * x + y * y;
  if (kind == PointSpread::Gauss) {
    const double a = 4 * std::numbers::ln2 / (w * w);
    return a / std::numbers::pi * std::exp(-a * r2);
  }
  const double g = fiberScale * w;
  return g / (2 * std::numbers::pi) * std::pow(g * g + r2, -1.5);
}

/// Over the pixel (x, y), by the midpoints of n x n parts.
double overPixel(PointSpread kind, double w, double x, double y) {
  constexpr int n = 400;
  double sum = 0;
  for (int j = 0; j != n; ++j)
    for (int i = 0; i != n; ++i)
      sum += density(kind, w, x - 0.5 + (i + 0.5) / n, y - 0.5 + (j + 0.5) / n);
  return sum / (n * n);
}

class PointSpreadTest : public testing::TestWithParam<PointSpread> {};

TEST_P(PointSpreadTest, SharesAreIntegralsOverPixels) {
  const double w = 1.3;
  const PointSpreadFunction f(GetParam(), w, 3);
  double whole = 0;
  for (int y = -3; y <= 3; ++y)
    for (int x = -3; x <= 3; ++x)
      whole += overPixel(GetParam(), w, x, y);
  for (auto [x, y] : {std::pair(0, 0), {1, 0}, {0, 1}, {-2, 1}, {3, -3}})
    EXPECT_NEAR(f.share(x, y), overPixel(GetParam(), w, x, y) / whole, 2e-6) << x << " " << y;
  EXPECT_EQ(f.share(4, 0), 0);
}

TEST_P(PointSpreadTest, HasItsWidth) {
  for (double w : {0.5, 3.0})
    EXPECT_NEAR(density(GetParam(), w, w / 2, 0) / density(GetParam(), w, 0, 0), 0.5, 1e-12);
}

TEST_P(PointSpreadTest, APointKeepsItsLight) {
  for (double w : {0.2, 0.46, 2.0, 7.0}) {
    const std::int64_t radius = defaultPointSpreadRadius(GetParam(), w), n = 2 * radius + 7;
    const PointSpreadFunction f(GetParam(), w, radius);
    std::vector<double> image(std::size_t(n * n)), out(image.size());
    image[std::size_t(n * (n / 2) + n / 2)] = 1000;
    f.apply(image, n, n, out, 1);
    EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.0), 1000, 1e-8) << w;
    for (std::int64_t y = 0; y != n; ++y)
      for (std::int64_t x = 0; x != n; ++x)
        ASSERT_NEAR(out[std::size_t(n * y + x)], 1000 * f.share(x - n / 2, y - n / 2), 1e-12);
  }
}

/// Two panels of 13 x 9 pixels of random numbers.
std::vector<double> noise(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> image(2 * 13 * 9);
  for (double &pixel : image)
    pixel = double(random()) / 4e9;
  return image;
}

TEST_P(PointSpreadTest, IsTheSumOverAllPixelsOfThePanel) {
  const PointSpreadFunction f(GetParam(), 1.7, 5);
  const std::vector<double> image = noise(1);
  std::vector<double> out(image.size());
  f.apply(image, 13, 9, out, 1);
  for (std::int64_t p = 0; p != 2; ++p)
    for (std::int64_t s = 0; s != 13; ++s)
      for (std::int64_t x = 0; x != 9; ++x) {
        double sum = 0;
        for (std::int64_t t = 0; t != 13; ++t)
          for (std::int64_t y = 0; y != 9; ++y)
            sum += f.share(x - y, s - t) * image[std::size_t((p * 13 + t) * 9 + y)];
        ASSERT_NEAR(out[std::size_t((p * 13 + s) * 9 + x)], sum, 1e-14);
      }
}

TEST_P(PointSpreadTest, IsItsOwnTranspose) {
  for (int order : {0, 1, 2}) {
    const PointSpreadFunction f(GetParam(), 1.7, 5, order);
    const std::vector<double> x = noise(1), y = noise(2);
    std::vector<double> kx(x.size()), ky(y.size());
    f.apply(x, 13, 9, kx, 1);
    f.apply(y, 13, 9, ky, 1);
    EXPECT_NEAR(std::inner_product(kx.begin(), kx.end(), y.begin(), 0.0),
                std::inner_product(x.begin(), x.end(), ky.begin(), 0.0), 1e-13)
        << order;
  }
}

TEST_P(PointSpreadTest, DerivativesByTheWidth) {
  const double w = 1.7, h = 1e-5;
  for (int order : {0, 1}) {
    const PointSpreadFunction slope(GetParam(), w, 6, order + 1),
        above(GetParam(), w + h, 6, order), below(GetParam(), w - h, 6, order);
    for (int y = 0; y <= 6; ++y)
      for (int x = -6; x <= 6; ++x)
        ASSERT_NEAR(slope.share(x, y), (above.share(x, y) - below.share(x, y)) / (2 * h), 1e-9);
  }
}

TEST_P(PointSpreadTest, IsTheSameForAnyNumberOfThreads) {
  const PointSpreadFunction f(GetParam(), 1.7, 5);
  std::vector<double> image(200 * 150), one(image.size()), more(image.size());
  for (std::size_t i = 0; i != image.size(); ++i)
    image[i] = double((i * 7919) % 1000);
  f.apply(image, 200, 150, one, 1);
  for (int threads : {2, 5}) {
    f.apply(image, 200, 150, more, threads);
    EXPECT_EQ(more, one);
  }
}

TEST_P(PointSpreadTest, IntoABoxAndOutOfOne) {
  constexpr std::int64_t slow = 45, fast = 83;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> photons(0, 100);
  std::vector<double> image(slow * fast);
  for (double &pixel : image)
    pixel = photons(random);
  const PixelBox boxes[] = {{0, slow, 0, fast}, {10, 17, 30, 68}, {0, 1, 82, 83}, {44, 45, 0, 33}};
  for (const std::int64_t radius : {0, 4, 60})
    for (const PixelBox &box : boxes) {
      const PointSpreadFunction f(GetParam(), 2.1, radius);
      const auto isIn = [&](std::size_t i) {
        const std::int64_t s = std::int64_t(i) / fast, x = std::int64_t(i) % fast;
        return s >= box.slowBegin && s < box.slowEnd && x >= box.fastBegin && x < box.fastEnd;
      };
      std::vector<double> whole(image.size()), some(image.size(), -1), inBox = image;
      f.apply(image, slow, fast, whole, 1);
      f.applyInBox(image, fast, box, some);
      for (std::size_t i = 0; i != image.size(); ++i)
        ASSERT_NEAR(some[i], isIn(i) ? whole[i] : -1, 1e-11);

      for (std::size_t i = 0; i != image.size(); ++i)
        inBox[i] *= isIn(i);
      f.apply(inBox, slow, fast, whole, 1);
      f.applyOfBox(image, fast, box, some); // pixels outside do not count
      for (std::size_t i = 0; i != image.size(); ++i)
        ASSERT_NEAR(some[i], whole[i], 1e-11);
    }
}

TEST(FourierSpread, IsTheSumOverAllPixelsOfThePanel) {
  constexpr std::int64_t slow = 45, fast = 83;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> photons(-10, 100);
  std::vector<double> image(3 * slow * fast), found(image.size());
  for (double &pixel : image)
    pixel = photons(random);
  for (const std::int64_t radius : {0, 3, 15, 100}) {
    const PointSpreadFunction f(PointSpread::Fiber, 1.3, radius);
    const auto share = [&](std::int64_t dx, std::int64_t dy) { return f.share(dx, dy); };
    for (std::int64_t edge = 32; edge <= 256; edge *= 2) {
      if (edge <= 2 * radius)
        continue;
      FourierSpread(share, radius, edge).apply(image, slow, fast, found, 2);
      for (std::size_t i = 0; i < found.size(); i += 37) {
        const std::int64_t panel = std::int64_t(i) / (slow * fast),
                           s = std::int64_t(i) / fast % slow, x = std::int64_t(i) % fast;
        double sum = 0;
        for (std::int64_t y = 0; y != slow; ++y)
          for (std::int64_t z = 0; z != fast; ++z)
            sum += f.share(z - x, y - s) * image[std::size_t((panel * slow + y) * fast + z)];
        ASSERT_NEAR(found[i], sum, 1e-12) << radius << " " << edge;
      }
    }
  }
}

TEST(FourierSpread, MakesNoLightBelowZeroAndNoneOfNothing) {
  const PointSpreadFunction f(PointSpread::Fiber, 0.5, 20);
  constexpr std::int64_t edge = 300;
  std::vector<double> image(edge * edge), found(image.size());
  image[5 * edge + 7] = 1e12;
  f.apply(image, edge, edge, found, 1);
  for (const double pixel : found)
    ASSERT_GE(pixel, 0);
  EXPECT_NEAR(found[5 * edge + 7], 1e12 * f.share(0, 0), 1e-3);
  EXPECT_EQ(found.back(), 0);
  // A number that is not finite stays in its neighbourhood.
  image[5 * edge + 7] = HUGE_VAL;
  f.apply(image, edge, edge, found, 1);
  EXPECT_FALSE(std::isfinite(found[5 * edge + 7]));
  EXPECT_EQ(found[100], 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PointSpreadTest,
                         testing::Values(PointSpread::Gauss, PointSpread::Fiber));

TEST(PointSpreadRefusals, Widths) {
  for (double w : {0.0, -1.0, HUGE_VAL, double(NAN)})
    EXPECT_THROW(PointSpreadFunction(PointSpread::Gauss, w, 3), std::invalid_argument);
  EXPECT_THROW(PointSpreadFunction(PointSpread::Gauss, 1, -1), std::invalid_argument);
}

} // namespace
} // namespace nanobragg::io
