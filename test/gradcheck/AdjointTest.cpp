#include "test/engines/RandomExperiment.h"
#include "test/gradcheck/Support.h"

#include "lib/Program/ParameterGroups.h"

#include <cmath>

namespace nanobragg {
namespace {

/// c . (J v) and (J' c) . v are one number, computed forward and backward: to rounding, without any
/// step.
void expectAdjoint(const Experiment &experiment, Engine engine, std::uint64_t seed) {
  Simulator simulator(experiment, on(engine));
  const auto names = resolveParameters("all", simulator.experiment().variant);
  const CheckedDirection v = randomDirection(simulator, names, seed);
  const std::vector<double> c = randomNumbers(simulator.pixels(), seed + 1);
  const std::vector<double> forward = simulator.jvp("all", v.numbers);
  const std::vector<Gradient> backward = simulator.gradient("all", c);
  double left = 0, right = 0, size = 0;
  for (std::size_t i = 0; i != c.size(); ++i)
    if (simulator.rendered()[i]) {
      left += c[i] * forward[i];
      size += std::fabs(c[i] * forward[i]);
    }
  for (const Gradient &g : backward)
    for (const Direction &d : v.numbers)
      if (d.parameter == g.parameter)
        for (std::size_t i = 0; i != g.values.size(); ++i) {
          right += d.values[i] * g.values[i];
          size += std::fabs(d.values[i] * g.values[i]);
        }
  ASSERT_TRUE(std::isfinite(size)) << experiment.variant.toString();
  EXPECT_GT(size, 0) << experiment.variant.toString();
  EXPECT_NEAR(left / size, right / size, 1e-12) << experiment.variant.toString();
}

class Adjoint : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Engines, Adjoint, testing::Values(Engine::Fused, Engine::Interpreter),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST_P(Adjoint, ForwardAndReverseAreOneDerivative) {
  expectAdjoint(experimentFrom(everything), GetParam(), 5);
}

/// Polarisation is that of the first sample within the resolution: along its edge that is now one
/// sub-pixel and source, now another.
TEST_P(Adjoint, AlongTheEdgeOfTheResolution) {
  expectAdjoint(experimentFrom(everything + std::string(" -polar 0.9 -oversample 3 -dmin 4")),
                GetParam(), 6);
}

TEST_P(Adjoint, OnRandomExperiments) {
  const int count = GetParam() == Engine::Fused ? 6 : 12;
  for (int seed = 0; seed != count; ++seed) {
    Draws draws(std::uint64_t(seed) + 100);
    ProgramVariant variant = randomVariant(draws);
    // A tophat has little to differentiate.
    constexpr CrystalShape shapes[] = {CrystalShape::Square, CrystalShape::Round,
                                       CrystalShape::Gauss, CrystalShape::GaussMatrix};
    variant.shape = shapes[seed % 4];
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectAdjoint(randomExperiment(variant, draws), GetParam(), std::uint64_t(seed));
  }
}

} // namespace
} // namespace nanobragg
