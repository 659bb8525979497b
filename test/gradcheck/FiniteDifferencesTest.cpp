#include "tools/nb-gradcheck/FiniteDifferences.h"

#include "test/gradcheck/Support.h"

#include <cmath>

namespace nanobragg {
namespace {

// Differences of what is known exactly judge the differences themselves.

class Differences : public testing::Test {
protected:
  Simulator simulator{experimentFrom("-cell 60 70 80 85 95 100 -misset 5 6 7 -default_F 50 -N 5 "
                                     "-lambda 1 -distance 80 -pixel 1 -detpixels 32 -oversample 1"),
                      on(Engine::Interpreter)};
  std::vector<double> ones = std::vector<double>(simulator.pixels(), 1.0);
  double total = simulator.loss(Loss::sum());

  Estimate first(const std::string &name, double step = 0) {
    FiniteDifferences differences(simulator, ones, {.step = step});
    const auto along = directionsOf(simulator, std::vector{name}, 1, 1);
    return differences.first(variationOf(simulator, along[0]));
  }
  Estimate second(const std::string &a, const std::string &b) {
    FiniteDifferences differences(simulator, ones, {});
    const auto along = directionsOf(simulator, std::vector{a, b}, 1, 1);
    return differences.second(variationOf(simulator, along[0]), variationOf(simulator, along[1]));
  }
};

TEST_F(Differences, LinearInTheFluence) {
  const double fluence = simulator.get("fluence")[0];
  const Estimate e = first("fluence");
  EXPECT_NEAR(e.value * fluence / total, 1, 1e-11);
  EXPECT_LT(e.error * fluence / total, 1e-9);
  EXPECT_EQ(simulator.get("fluence")[0], fluence) << "the number was not put back";
  EXPECT_EQ(simulator.loss(Loss::sum()), total);
}

TEST_F(Differences, QuadraticInTheStructureFactor) {
  EXPECT_NEAR(first("default_F").value * 50 / total, 2, 1e-10);
  EXPECT_NEAR(second("default_F", "default_F").value * 50 * 50 / total, 2, 1e-7);
  const double fluence = simulator.get("fluence")[0];
  EXPECT_NEAR(second("default_F", "fluence").value * 50 * fluence / total, 2, 1e-7);
}

TEST_F(Differences, TheErrorIsOneThatWasMade) {
  // The estimate has to cover the distance between what different steps give.
  for (const char *name : {"cell_a", "misset_y", "cell_beta", "distance"}) {
    // At 3e-6 already rounding decides, of which two neighbouring estimates say little.
    const Estimate coarse = first(name, 1e-4), fine = first(name, 1e-5);
    EXPECT_LE(std::fabs(coarse.value - fine.value), 3 * (coarse.error + fine.error)) << name;
    EXPECT_LT(fine.error, 1e-6 * std::fabs(fine.value)) << name;
  }
}

TEST_F(Differences, NothingMovesWithAFlatDirection) {
  const Estimate e = first("dispersion");
  EXPECT_EQ(e.value, 0);
  EXPECT_EQ(e.error, 0);
}

TEST(DifferencesWithJumps, PixelsThatJumpAreLeftOut) {
  Experiment experiment = experimentFrom(
      "-cell 60 70 80 85 95 100 -misset 5 6 7 -default_F 50 -N 3 -lambda 1 -distance 80 -pixel 0.5 "
      "-detpixels 64 -oversample 1");
  auto grid = std::make_shared<HklGrid>();
  *grid = {-30, 30, -30, 30, -30, 30, randomNumbers(61 * 61 * 61, 3)};
  for (double &f : grid->values)
    f = 100 * std::fabs(f);
  experiment.crystal.grid = grid;
  experiment.variant.structureFactors = StructureFactors::Nearest;
  Simulator simulator(experiment, on(Engine::Interpreter));
  const std::vector<double> ones(simulator.pixels(), 1.0);
  const auto along = directionsOf(simulator, std::vector<std::string>{"misset_x"}, 1, 1);
  FiniteDifferences seeing(simulator, ones, {.jumps = true}), blind(simulator, ones, {});
  const Estimate with = seeing.first(variationOf(simulator, along[0]));
  const Estimate without = blind.first(variationOf(simulator, along[0]));
  EXPECT_GT(with.leftOut, 0);
  EXPECT_LT(with.leftOut, std::int64_t(simulator.pixels()) / 10);
  EXPECT_LT(with.error, 1e-6 * std::fabs(with.value));
  EXPECT_GT(std::fabs(without.value - with.value), 1e-4 * std::fabs(with.value))
      << "this experiment has no jumps, so nothing was tested";
}

} // namespace
} // namespace nanobragg
