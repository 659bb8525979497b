#include "lib/Experiment/RandomOrientation.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "test/Experiment/Support.h"

#include <cmath>

namespace nanobragg {
namespace {

TEST(RandomOrientation, MissetOfTheCProgram) {
  Options options = cubic();
  options.missetRandom = true;
  options.missetSeed = 42;
  CompleteExperiment complete = completeC(options);
  ASSERT_TRUE(complete.report.randomMisset);
  expectNear(*complete.report.randomMisset,
             {-11.585887 * degree, 56.207689 * degree, -1.333374 * degree}, 1e-6 * degree);
  EXPECT_EQ(complete.experiment.crystal.misset, *complete.report.randomMisset);
}

TEST(RandomOrientation, AnglesMakeUpTheMatrix) {
  AxisAngle rotation{unit({1, -2, 0.5}), 2.2};
  Mat3 matrix = rotationMatrix(rotation);
  Vec3 x{0.3, -0.4, 0.9};
  Vec3 expected = rotatedAbout(rotation.axis, rotation.angle, x);
  expectNear(rotatedXYZ(anglesXYZ(matrix), x), expected, 1e-14);
  Mat3 pole = rotationMatrix({{0, 1, 0}, std::numbers::pi / 2});
  pole[6] = -1;
  expectNear(rotatedXYZ(anglesXYZ(pole), x), rotatedAbout({0, 1, 0}, std::numbers::pi / 2, x),
             1e-14);
}

/// Share of random orientations that turn by less than 30 degrees.
double smallRotations(Rule rule) {
  Ran1 random;
  std::int64_t seed = -7;
  int small = 0;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) {
    Vec3 angles = drawOrientation(rule, random, seed);
    double trace = 0;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3 e{};
      e[axis] = 1;
      trace += rotatedXYZ(angles, e)[axis];
    }
    small += std::acos((trace - 1) / 2) < 30 * degree;
  }
  return double(small) / n;
}

TEST(RandomOrientation, UniformOverAllRotations) {
  // (angle - sin angle) / pi = 0.0075 for 30 degrees.
  EXPECT_NEAR(smallRotations(Rule::Right), 0.00751, 0.002);
}

TEST(RandomOrientation, TheCProgramPrefersSmallRotations) {
  EXPECT_NEAR(smallRotations(Rule::C), 0.166, 0.01);
}

TEST(Mosaic, FirstRowOfTheSecondDomain) {
  Options options = cubic();
  options.mosaicSpread = 1;
  options.mosaicDomains = 3;
  const Crystal crystal = completeC(options).experiment.crystal;
  ASSERT_EQ(crystal.mosaicAxis.size(), 3u);
  ASSERT_EQ(crystal.mosaicUnitAngle.size(), 3u);
  const double angle = crystal.mosaicSpread * crystal.mosaicUnitAngle[1];
  EXPECT_NEAR(angle / degree, 0.94763, 5e-6);
  Mat3 u = rotationMatrix({crystal.mosaicAxis[1], angle});
  EXPECT_NEAR(u[0], 0.999863686, 5e-10);
  EXPECT_NEAR(u[1], -0.015948772, 5e-10);
  EXPECT_NEAR(u[2], 0.004271564, 5e-10);
}

TEST(Mosaic, AxesAreUnitAndTheFirstDomainIsAligned) {
  Options options = cubic();
  options.mosaicSpread = 2;
  options.mosaicDomains = 50;
  for (const CompleteExperiment &complete : {completeRight(options), completeC(options)}) {
    const Crystal &crystal = complete.experiment.crystal;
    EXPECT_EQ(crystal.mosaicUnitAngle[0], 0);
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_NEAR(length(crystal.mosaicAxis[i]), 1, 1e-14);
      EXPECT_GE(crystal.mosaicUnitAngle[i], 0);
      EXPECT_LE(crystal.mosaicUnitAngle[i], 1 + 1e-6);
    }
  }
}

TEST(Mosaic, DomainsBelongToTheCrystal) {
  Options options = cubic();
  options.mosaicSpread = 1;
  options.mosaicDomains = 3;
  const auto mosaicity = [](const CompleteExperiment &c) { return c.experiment.variant.mosaicity; };
  CompleteExperiment right = completeRight(options);
  EXPECT_EQ(mosaicity(right), Mosaicity::CrystalBall);
  EXPECT_FALSE(notes(right, "mosaic-frame")) << "the crystal's frame is the laboratory's";
  options.misset = {{0, 0, 1}};
  right = completeRight(options);
  EXPECT_TRUE(notes(right, "mosaic-frame"));
  EXPECT_EQ(mosaicity(completeC(options)), Mosaicity::Ball);
  options.mosaicInLab = true;
  EXPECT_EQ(mosaicity(completeRight(options)), Mosaicity::Ball);
  EXPECT_FALSE(notes(completeRight(options), "mosaic-frame"));
  options = cubic();
  EXPECT_EQ(mosaicity(completeRight(options)), Mosaicity::CrystalBall) << "one kernel for all";
  options.mosaicSpread = 1;
  options.mosaicDomains = 3;
  options.phi = 10;
  EXPECT_TRUE(notes(completeRight(options), "mosaic-frame"));
}

TEST(Mosaic, TheSeedDecidesTheDomains) {
  Options options = cubic();
  options.mosaicSpread = 1;
  auto axis = [&] { return completeRight(options).experiment.crystal.mosaicAxis[1]; };
  const Vec3 byDefault = axis();
  options.mosaicSeed = 12345678;
  EXPECT_EQ(axis(), byDefault);
  options.mosaicSeed = 42;
  EXPECT_NE(axis(), byDefault);
}

TEST(Seeds, NoiseContinuesTheSameTable) {
  Options options = cubic();
  options.seed = 17;
  CompleteExperiment complete = completeC(options);
  EXPECT_EQ(complete.noiseSeed, -17);
  // A positive seed goes on where the first mosaic domain's three draws left the table.
  Ran1 random;
  std::int64_t seed = -12345678;
  for (int i = 0; i < 3; ++i)
    random.uniform(seed);
  std::int64_t mine = 99, theirs = 99;
  EXPECT_EQ(complete.random.uniform(theirs), random.uniform(mine));
}

} // namespace
} // namespace nanobragg
