#include "lib/Choose/Steps.h"

#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

constexpr std::nullopt_t unset = std::nullopt;

void expectSteps(const StepRange &actual, const StepRange &expected) {
  EXPECT_DOUBLE_EQ(actual.range, expected.range);
  EXPECT_DOUBLE_EQ(actual.step, expected.step);
  EXPECT_EQ(actual.steps, expected.steps);
}

TEST(PhiSteps, WithoutANumber) {
  expectSteps(choosePhiSteps(unset, unset, unset, Rule::Right), {0, 0, 1});
  expectSteps(choosePhiSteps(unset, 0.2, unset, Rule::Right), {0.2, 0.2, 2});
  expectSteps(choosePhiSteps(0.3, unset, unset, Rule::Right), {0.3, 0.15, 2});
  expectSteps(choosePhiSteps(0, unset, unset, Rule::Right), {0, 0, 2});
  expectSteps(choosePhiSteps(2, 0.45, unset, Rule::Right), {2, 0.45, 5});
}

TEST(PhiSteps, WithANumber) {
  expectSteps(choosePhiSteps(unset, unset, 4, Rule::Right), {degree, degree / 4, 4});
  expectSteps(choosePhiSteps(unset, 0.7, 5, Rule::Right), {0.7, 0.7, 2});
  expectSteps(choosePhiSteps(2, unset, 5, Rule::Right), {2, 0.4, 5});
  expectSteps(choosePhiSteps(3, 0.7, 3, Rule::Right), {3, 0.7, 3});
  expectSteps(choosePhiSteps(3, 0, 3, Rule::Right), {3, 0, 3});
  expectSteps(choosePhiSteps(2, unset, 0, Rule::Right), {2, 2, 1});
}

TEST(PhiSteps, AnEmptyRangeWithAStepIsOneStep) {
  expectSteps(choosePhiSteps(0, 0.1, unset, Rule::Right), {0, 0.1, 1});
}

TEST(StepRange, WithoutANumber) {
  auto choose = [](std::optional<double> range, std::optional<double> step) {
    return chooseStepRange(range, step, unset, Rule::Right, "-x");
  };
  expectSteps(choose(unset, unset), {0, 0, 1});
  expectSteps(choose(unset, 4), {4, 4, 2});
  expectSteps(choose(10, unset), {10, 10, 2});
  expectSteps(choose(1, 0.5), {1, 0.5, 2});
  expectSteps(choose(10, 2.6), {10, 2.6, 4});
}

TEST(StepRange, WithANumber) {
  auto choose = [](std::optional<double> range, std::optional<double> step, std::int64_t n) {
    return chooseStepRange(range, step, n, Rule::Right, "-x");
  };
  expectSteps(choose(unset, unset, 4), {1.0, 0.25, 4});
  expectSteps(choose(unset, 3, 7), {3, 3, 2});
  expectSteps(choose(6, unset, 1), {6, 6, 2});
  expectSteps(choose(6, unset, 4), {6, 2, 4});
  expectSteps(choose(6, 1, 3), {6, 1, 3});
}

TEST(StepRange, NothingToSpreadIsOneStep) {
  expectSteps(chooseStepRange(0, unset, unset, Rule::Right, "-x"), {0, 0, 1});
  expectSteps(chooseStepRange(0, 0.5, unset, Rule::Right, "-x"), {0, 0, 1});
  expectSteps(chooseStepRange(0, unset, 5, Rule::Right, "-x"), {0, 0, 1});
}

TEST(Layers, SpacedByTheThicknessOverTheirNumber) {
  EXPECT_EQ(chooseLayers({}, Rule::Right), (Layers{2, 0.5}));
  EXPECT_EQ(chooseLayers(4, Rule::Right), (Layers{4, 0.25}));
  EXPECT_EQ(chooseLayers(1, Rule::Right), (Layers{1, 1}));
  EXPECT_EQ(chooseLayers(0, Rule::Right), (Layers{2, 0.5}));
}

TEST(Layers, TheCProgramSpacesThemByOneLess) {
  EXPECT_EQ(chooseLayers({}, Rule::C), (Layers{2, 0.5}));
  EXPECT_EQ(chooseLayers(5, Rule::C), (Layers{5, 0.25}));
  EXPECT_EQ(chooseLayers(1, Rule::C), (Layers{2, 1}));
  EXPECT_EQ(chooseLayers(0, Rule::C), (Layers{2, 0.5}));
}

TEST(MosaicDomains, FollowTheSpread) {
  auto count = [](std::optional<double> spread, std::optional<std::int64_t> domains) {
    Options options = cubic();
    options.mosaicSpread = spread;
    options.mosaicDomains = domains;
    return completeRight(options).experiment.mosaicDomains();
  };
  EXPECT_EQ(count(unset, unset), 1);
  EXPECT_EQ(count(0, unset), 1);
  EXPECT_EQ(count(0.01, unset), 10);
  EXPECT_EQ(count(unset, 8), 1);
  EXPECT_EQ(count(0, 8), 1);
  EXPECT_EQ(count(0.01, 8), 8);
}

} // namespace
} // namespace nanobragg
