#include "test/gradcheck/Support.h"

#include "nanobragg/Simulator.h"

#include <cmath>
#include <cstdlib>

namespace nanobragg {
namespace {

class SimulatorOn : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Engines, SimulatorOn, testing::Values(Engine::Fused, Engine::Interpreter),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST_P(SimulatorOn, NumbersChangeWithoutRecompiling) {
  const Experiment experiment = experimentFrom(everything);
  Simulator first(experiment, on(GetParam()));
  const double before = first.gradient("cell,misset", Loss::sum()).gradient[0].values[0];
  const KernelCounters counted = kernels().counters();
  for (int i = 0; i != 10; ++i) {
    Simulator simulator(experiment, on(GetParam()));
    simulator.set("cell_a", 30e-10 * (1 + 1e-3 * i));
    const LossGradient g = simulator.gradient("cell,misset", Loss::sum());
    EXPECT_EQ(g.gradient.size(), 9u);
    EXPECT_EQ(g.gradient[0].parameter, "cell_a");
    EXPECT_EQ(g.gradient[0].unit, "m");
    if (i == 0) {
      EXPECT_EQ(g.gradient[0].values[0], before) << "another simulator of the same experiment";
    } else {
      EXPECT_NE(g.gradient[0].values[0], before);
    }
  }
  EXPECT_EQ(kernels().counters().compiles, counted.compiles);
}

TEST_P(SimulatorOn, ThreadsDoNotMatter) {
  const Experiment experiment = experimentFrom(everything);
  SimulatorOptions one = on(GetParam()), four = one;
  one.threads = 1;
  four.threads = 4;
  Simulator a(experiment, one), b(experiment, four);
  const std::vector<double> weights = randomNumbers(a.pixels(), 7);
  const auto ga = a.gradient("all", weights), gb = b.gradient("all", weights);
  ASSERT_EQ(ga.size(), gb.size());
  for (std::size_t i = 0; i != ga.size(); ++i)
    EXPECT_EQ(ga[i].values, gb[i].values) << ga[i].parameter;
}

TEST_P(SimulatorOn, ValueOfADerivativeProgramIsTheImage) {
  Simulator simulator(experimentFrom(everything), on(GetParam()));
  const std::span<const double> image = simulator.value();
  double total = 0;
  for (double pixel : image)
    total += pixel;
  EXPECT_GT(total, 0);
  EXPECT_NEAR(simulator.gradient("cell_a", Loss::sum()).loss / total, 1, 1e-14);
}

TEST_P(SimulatorOn, RefusesByName) {
  Simulator simulator(experimentFrom(everything), on(GetParam()));
  EXPECT_THROW(simulator.set("cell_q", 1), std::invalid_argument);
  EXPECT_THROW(simulator.set("beam_direction", 1), std::invalid_argument);
  EXPECT_THROW(simulator.gradient("phi_steps", Loss::sum()), std::invalid_argument);
  EXPECT_THROW(simulator.jacobian("beam_direction"), std::invalid_argument);
  const std::vector<double> tooFew(3);
  EXPECT_THROW(simulator.gradient("cell_a", tooFew), std::invalid_argument);
  const std::vector<Direction> elsewhere = {{"distance", {1}}};
  EXPECT_THROW(simulator.jvp("cell_a", elsewhere), std::invalid_argument);
}

constexpr const char *onlyDefault = "-cell 60 -default_F 50 -N 5 -lambda 1 -distance 100"
                                    " -detpixels 24 -pixel 2 -oversample 1";

TEST_P(SimulatorOn, StructureFactorsMayBeSetWithTheirBox) {
  Simulator simulator(experimentFrom(onlyDefault), on(GetParam()));
  const auto total = [&] { return simulator.gradient("cell_a", Loss::sum()).loss; };
  const double before = total();
  std::vector<double> factors(61 * 51 * 41, 50.0);
  const nb_hkl_grid grid = {-30, 30, -25, 25, -20, 20, factors.data()};
  simulator.setStructureFactors(grid);
  EXPECT_NEAR(total() / before, 1, 1e-12);
  factors.assign(factors.size(), 100.0);
  EXPECT_NEAR(total() / before, 1, 1e-12) << "they are copied";
  simulator.setStructureFactors(grid);
  EXPECT_NEAR(total() / before, 4, 1e-12);
  EXPECT_EQ(simulator.gradient("F", Loss::sum()).gradient[0].values.size(), factors.size());
  const double one = 50;
  simulator.setStructureFactors({1, 1, 2, 2, 3, 3, &one});
  EXPECT_NEAR(total() / before, 1, 1e-12) << "default_F outside another, smaller box";

  EXPECT_THROW(simulator.setStructureFactors({1, 0, 2, 2, 3, 3, &one}), std::invalid_argument);
  EXPECT_THROW(simulator.setStructureFactors({1, 1, 2, 2, 3, 3, nullptr}), std::invalid_argument);
  // 2^31 nodes: kernels number them in 32 bits.
  EXPECT_THROW(simulator.setStructureFactors({0, 2047, 0, 1023, 0, 1023, &one}),
               std::invalid_argument);
  const double broken = std::nan("");
  EXPECT_THROW(simulator.setStructureFactors({1, 1, 2, 2, 3, 3, &broken}), std::invalid_argument);
  EXPECT_NEAR(total() / before, 1, 1e-12) << "what is refused changes nothing";
}

TEST_P(SimulatorOn, TellsDeadGradients) {
  Simulator simulator(experimentFrom(onlyDefault), on(GetParam()));
  const std::vector<DeadGradient> dead = simulator.deadGradients("cell,osc");
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].parameter, "osc");
  EXPECT_EQ(dead[0].why, "there is one phi step, at phi0");
}

TEST_P(SimulatorOn, HessianOfALossBendsWithTheLoss) {
  Simulator simulator(experimentFrom(everything), on(GetParam()));
  const std::span<const double> image = simulator.value();
  std::vector<double> data(image.begin(), image.end());
  for (double &pixel : data)
    pixel *= 1.1;
  const Loss loss = Loss::chiSquare(data, {2.0});
  const std::vector<Direction> along = {{"misset_x", {1.0}}};
  const double hessian = simulator.hvp("misset", along, loss)[0].values[0];
  const auto slope = [&](double step) {
    const double start = simulator.get("misset_x")[0];
    simulator.set("misset_x", start + step);
    const double result = simulator.gradient("misset", loss).gradient[0].values[0];
    simulator.set("misset_x", start);
    return result;
  };
  const double h = 1e-4;
  const double wide = (slope(h) - slope(-h)) / (2 * h), narrow = (slope(h / 2) - slope(-h / 2)) / h;
  EXPECT_NEAR(hessian / (narrow + (narrow - wide) / 3), 1, 1e-6);
}

TEST_P(SimulatorOn, ACopyHasThePointSpreadToo) {
  Simulator simulator(experimentFrom(everything + std::string(" -psf fiber -psf_fwhm 3000")),
                      on(GetParam()));
  const std::span<const double> image = simulator.value();
  Simulator copy = simulator.copy();
  const std::span<const double> again = copy.value();
  EXPECT_EQ(std::vector(image.begin(), image.end()), std::vector(again.begin(), again.end()));
  copy.set("psf_fwhm", 1e-3);
  EXPECT_NE(std::vector(image.begin(), image.end())[0], copy.value()[0]);
}

TEST_P(SimulatorOn, SeveralDirectionsWithPointSpread) {
  Simulator simulator(experimentFrom(everything + std::string(" -psf gauss -psf_fwhm 3000")),
                      on(GetParam()));
  const std::vector<std::vector<Direction>> directions = {{{"cell_a", {1e-10}}},
                                                          {{"psf_fwhm", {1e-3}}}};
  const auto together = simulator.jvps("cell_a,psf_fwhm", directions);
  ASSERT_EQ(together.size(), 2u);
  for (std::size_t k = 0; k != 2; ++k)
    EXPECT_EQ(together[k], simulator.jvp("cell_a,psf_fwhm", directions[k])) << k;
}

TEST(Simulator, TheGuardIsReadOnce) {
  const Experiment experiment = experimentFrom(everything);
  SimulatorOptions options;
  options.kernels = &kernels();
  for (const char *variable : {"NANOBRAGG_DISABLE_COMPILE", "NANOBRAG_DISABLE_COMPILE"}) {
    setenv(variable, "1", 1);
    Simulator interpreted(experiment, options);
    unsetenv(variable);
    Simulator fused(experiment, options);
    setenv(variable, "1", 1);
    fused.gradient("cell_a", Loss::sum());
    interpreted.gradient("cell_a", Loss::sum());
    EXPECT_EQ(interpreted.engine(), Engine::Interpreter);
    EXPECT_EQ(fused.engine(), Engine::Fused);
    unsetenv(variable);
  }
}

} // namespace
} // namespace nanobragg
