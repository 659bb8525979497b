#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"
#include "test/engines/TestBreak.h"

#include "lib/Conversion/Passes.h"
#include "lib/Program/Parameters.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Experiment;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Everything that a value could get lost in: sums to factor, tables, branches and lookups.
nanobragg::ProgramVariant richVariant() {
  nanobragg::ProgramVariant s;
  s.structureFactors = nanobragg::StructureFactors::Nearest;
  s.capture = nanobragg::Capture::Each;
  s.polarization = s.omega = nanobragg::Evaluation::Each;
  s.dmin = true;
  s.imageType = nanobragg::ImageType::F64;
  return s;
}

struct CompareEnginesTest : testing::Test {
  static void SetUpTestSuite() {
    nb::registerTransformsPasses();
    nb::registerConversionPasses();
    registerCSEPass();
    registerTestBreak();
  }

  explicit CompareEnginesTest(nanobragg::ProgramVariant variant = richVariant()) {
    nanobragg::Draws draws(7);
    experiment = randomExperiment(variant, draws);
    // A sum of one term would hide much.
    while (nanobragg::samplesPerPixel(experiment) < 16)
      experiment = randomExperiment(variant, draws);
  }

  EngineComparison compare(const CompareOptions &options = {}) {
    const BoundArguments arguments(experiment);
    OwningOpRef<ModuleOp> program = programOf(experiment.variant);
    return valueOf(compareEngines(*program, "image", arguments.get(), {}, options));
  }

  Experiment experiment;
};

TEST_F(CompareEnginesTest, AgreeingEnginesSayHowFarTheyAreApart) {
  const EngineComparison c = compare();
  EXPECT_TRUE(c.agree()) << c.toString();
  EXPECT_EQ(c.pixels, size_t(experiment.detector.slowPixels * experiment.detector.fastPixels));
  EXPECT_EQ(c.kernel.beyond, 0u);
  EXPECT_TRUE(c.stages.empty());
  EXPECT_THAT(c.toString(), HasSubstr("the engines agree"));
}

TEST_F(CompareEnginesTest, EveryStageOnRequest) {
  CompareOptions options;
  options.everyStage = true;
  const EngineComparison c = compare(options);
  EXPECT_TRUE(c.agree()) << c.toString();
  std::vector<std::string> names;
  for (const ImageDifference &stage : c.stages)
    names.push_back(stage.stage);
  EXPECT_THAT(names, ElementsAre("nb-erase-probes", "nb-split-response", "nb-fuse-response", "cse",
                                 "nb-hoist-invariants", "nb-tabulate-invariants", "nb-split-sums",
                                 "nb-hoist-invariants", "nb-factor-sums", "nb-hoist-invariants",
                                 "nb-remove-branches", "nb-fuse", "nb-set-precision",
                                 "nb-peel-miller-index", "nb-cull", "nb-vectorize"));
}

TEST_F(CompareEnginesTest, WithoutToleranceRoundingIsADifference) {
  CompareOptions options;
  options.tolerance = {0, 0};
  const EngineComparison c = compare(options);
  EXPECT_FALSE(c.agree());
  EXPECT_GT(c.kernel.beyond, 0u);
  EXPECT_LT(c.kernel.largest, 1e-9 * c.kernel.reference + 1e-3);
}

TEST_F(CompareEnginesTest, InSinglePrecisionTheComparisonIsStillInDouble) {
  experiment.variant.imageType = nanobragg::ImageType::F32;
  const BoundArguments arguments(experiment);
  const EngineComparison c =
      valueOf(compareEngines(experiment.variant, arguments.addresses(), {}, {}));
  EXPECT_TRUE(c.agree()) << c.toString();
}

struct Broken {
  const char *after, *value;
};

std::string describe(const testing::TestParamInfo<Broken> &info) {
  std::string name = std::string(info.param.after) + "_" + info.param.value;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct BrokenPass : CompareEnginesTest, testing::WithParamInterface<Broken> {};

TEST_P(BrokenPass, IsNamedWithTheValueThatItBroke) {
  CompareOptions options;
  options.inject = std::string(GetParam().after) + ":nb-test-break{name=" + GetParam().value + "}";
  const EngineComparison c = compare(options);
  EXPECT_EQ(c.firstStage, "nb-test-break") << c.toString();
  ASSERT_TRUE(c.firstValue) << c.toString();
  EXPECT_EQ(c.firstValue->name, GetParam().value) << c.toString();
  EXPECT_THAT(c.toString(), HasSubstr("first stage that differs: nb-test-break"));
  ASSERT_GT(c.stages.size(), 0u);
  for (const ImageDifference &stage : ArrayRef(c.stages).drop_back())
    EXPECT_EQ(stage.beyond, 0u) << stage.stage;
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, BrokenPass,
    testing::Values(Broken{"nb-erase-probes", "F_latt"}, Broken{"nb-erase-probes", "lambda"},
                    Broken{"nb-peel-miller-index", "polar"},
                    Broken{"nb-peel-miller-index", "F_cell"}, Broken{"cse", "capture_fraction"},
                    Broken{"nb-hoist-invariants", "omega_pixel"},
                    Broken{"nb-hoist-invariants", "Fdet"}, Broken{"nb-remove-branches", "F_latt"},
                    Broken{"nb-fuse", "steps"}),
    describe);

TEST_F(CompareEnginesTest, WhatTheKernelGetsWrongIsNamed) {
  for (const char *value : {"F_latt", "capture_fraction"}) {
    CompareOptions options;
    options.inject = std::string("kernel:nb-test-break{name=") + value + "}";
    const EngineComparison c = compare(options);
    EXPECT_EQ(c.firstStage, "kernel") << c.toString();
    for (const ImageDifference &stage : c.stages)
      EXPECT_EQ(stage.beyond, 0u) << stage.stage;
    ASSERT_TRUE(c.kernelValue) << c.toString();
    EXPECT_EQ(c.kernelValue->name, value) << c.toString();
  }
}

TEST_F(CompareEnginesTest, APassThatMakesNaNIsNamed) {
  CompareOptions options;
  options.inject = "cse:nb-test-break{name=polar by=nan}";
  const EngineComparison c = compare(options);
  EXPECT_EQ(c.firstStage, "nb-test-break") << c.toString();
  ASSERT_TRUE(c.firstValue);
  EXPECT_EQ(c.firstValue->name, "polar");
  EXPECT_THAT(c.firstValue->toString(), HasSubstr("NaN after"));
}

TEST_F(CompareEnginesTest, APassThatLeavesWhatTheInterpreterCannotRunIsNamed) {
  CompareOptions options;
  options.everyStage = true;
  options.inject = "nb-vectorize:convert-nb-to-loops";
  const EngineComparison c = compare(options);
  EXPECT_EQ(c.firstStage, "convert-nb-to-loops") << c.toString();
  EXPECT_THAT(c.toString(), HasSubstr("the interpreter cannot run the program after it: "));
}

TEST_F(CompareEnginesTest, InjectingNowhereIsAnError) {
  CompareOptions options;
  options.inject = "no-such-pass:nb-test-break{name=polar}";
  EXPECT_THROW(compare(options), std::runtime_error);
}

} // namespace
