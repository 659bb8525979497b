#include "lib/Experiment/LaueGroup.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "test/Experiment/Support.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

int determinant(const IndexRotation &m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

TEST(LaueGroup, HasAsManyRotationsAsItsPointGroup) {
  constexpr std::size_t orders[] = {1, 2, 2, 2, 4, 4, 8, 3, 6, 6, 6, 12, 12, 24};
  for (int group = 1; group <= laueGroups; ++group) {
    const std::vector<IndexRotation> rotations = rotationsOfLaueGroup(group);
    EXPECT_EQ(rotations.size(), orders[group - 1]) << group;
    for (const IndexRotation &m : rotations)
      EXPECT_EQ(determinant(m), 1) << group;
  }
  EXPECT_THROW(rotationsOfLaueGroup(15), std::invalid_argument);
}

/// A rotation of h, k and l keeps lengths in a reciprocal lattice that has the symmetry.
TEST(LaueGroup, KeepsLengthsInItsLattices) {
  const double c30 = std::sqrt(0.75);
  const std::array<Vec3, 3> orthogonal = {{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}}};
  const std::array<Vec3, 3> tetragonal = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 3}}};
  const std::array<Vec3, 3> hexagonal = {{{c30, 0.5, 0}, {0, 1, 0}, {0, 0, 3}}};
  const std::array<Vec3, 3> cubic = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int group = 1; group <= laueGroups; ++group) {
    const auto &lattice = group <= 5    ? orthogonal
                          : group <= 7  ? tetragonal
                          : group <= 12 ? hexagonal
                                        : cubic;
    const auto vectorOf = [&](const std::array<double, 3> &h) {
      return sum(sum(scaled(lattice[0], h[0]), scaled(lattice[1], h[1])), scaled(lattice[2], h[2]));
    };
    const std::array<double, 3> h = {1, -2, 4};
    for (const IndexRotation &m : rotationsOfLaueGroup(group)) {
      std::array<double, 3> turned{};
      for (std::size_t i = 0; i < 9; ++i)
        turned[i / 3] += m[i] * h[i % 3];
      EXPECT_NEAR(length(vectorOf(turned)), length(vectorOf(h)), 1e-12) << group;
    }
  }
}

TEST(MosaicEllipsoid, HasOppositeRotationsOfUnitVariance) {
  Options options = cubic();
  options.mosaicAbc = {1, 2, 3};
  options.mosaicDomains = 2000;
  const Crystal crystal = completeRight(options).experiment.crystal;
  ASSERT_EQ(crystal.mosaicUnitAngle.size(), 2000u);
  double squares = 0;
  Vec3 centre{};
  for (std::size_t i = 0; i < 2000; i += 2) {
    EXPECT_EQ(crystal.mosaicUnitAngle[i], -crystal.mosaicUnitAngle[i + 1]);
    EXPECT_EQ(crystal.mosaicAxis[i], crystal.mosaicAxis[i + 1]);
    EXPECT_NEAR(length(crystal.mosaicAxis[i]), 1, 1e-14);
    squares += crystal.mosaicUnitAngle[i] * crystal.mosaicUnitAngle[i] / 1000;
    centre = sum(centre, scaled(crystal.mosaicAxis[i], 1e-3));
  }
  EXPECT_NEAR(squares, 1, 5e-3);
  // Evenly over half a sphere.
  EXPECT_NEAR(centre[0], 0, 0.02);
  EXPECT_NEAR(centre[1], 0, 0.02);
  EXPECT_NEAR(centre[2], 0.5, 0.01);
  EXPECT_NEAR(crystal.mosaicAbc[2], units::radians(3), 1e-15);
}

TEST(MosaicEllipsoid, SeedShufflesAnglesAndNothingElse) {
  Options options = cubic();
  options.mosaicAbc = {1, 1, 1};
  options.mosaicDomains = 50;
  std::vector<double> one = completeRight(options).experiment.crystal.mosaicUnitAngle;
  options.mosaicSeed = 5;
  std::vector<double> other = completeRight(options).experiment.crystal.mosaicUnitAngle;
  EXPECT_NE(one, other);
  std::ranges::sort(one);
  std::ranges::sort(other);
  EXPECT_EQ(one, other);
}

} // namespace
} // namespace nanobragg
