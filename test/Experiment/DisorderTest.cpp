#include "lib/Choose/LaueGroup.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "test/Experiment/Support.h"

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

/// The rotation vectors of domains on the unit scale.
std::vector<Vec3> rotationsOf(const Options &options) {
  const Crystal crystal = completeRight(options).experiment.crystal;
  std::vector<Vec3> rotations;
  for (std::size_t i = 0; i < crystal.mosaicAxis.size(); ++i) {
    EXPECT_NEAR(length(crystal.mosaicAxis[i]), 1, 1e-14);
    rotations.push_back(scaled(crystal.mosaicAxis[i], crystal.mosaicUnitAngle[i]));
  }
  return rotations;
}

TEST(MosaicEllipsoid, HasTheStandardDeviationsThatItPromises) {
  Options options = cubic();
  options.mosaicAbc = {1, 2, 3};
  for (const std::int64_t domains : {6, 10, 50, 2000}) {
    options.mosaicDomains = domains;
    const std::vector<Vec3> rotations = rotationsOf(options);
    ASSERT_EQ(std::ssize(rotations), domains);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double product = 0;
        for (const Vec3 &w : rotations)
          product += w[i] * w[j] / double(domains);
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12) << domains;
      }
    for (std::size_t i = 0; i < rotations.size(); i += 2)
      EXPECT_EQ(rotations[i], scaled(rotations[i + 1], -1));
  }
  EXPECT_NEAR(completeRight(options).experiment.crystal.mosaicAbc[2], units::radians(3), 1e-15);
}

TEST(MosaicEllipsoid, HasTheTailsOfANormalDistribution) {
  Options options = cubic();
  options.mosaicAbc = {1, 1, 1};
  options.mosaicDomains = 20000;
  double fourth = 0;
  for (const Vec3 &w : rotationsOf(options))
    fourth += std::pow(dot(w, w), 2) / 20000;
  EXPECT_NEAR(fourth, 15, 0.1);
}

TEST(MosaicEllipsoid, SeedShufflesWhichDirectionHasWhichAngle) {
  Options options = cubic();
  options.mosaicAbc = {1, 1, 1};
  options.mosaicDomains = 50;
  const std::vector<Vec3> one = rotationsOf(options);
  EXPECT_EQ(one, rotationsOf(options));
  options.mosaicSeed = 5;
  EXPECT_NE(one, rotationsOf(options));
}

} // namespace
} // namespace nanobragg
