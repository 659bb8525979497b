#include "runtime/simulator/Invariants.h"

#include "nanobragg/Simulator.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace nanobragg;
using testing::HasSubstr;

namespace {

constexpr int slowPixels = 3, fastPixels = 4, pixels = slowPixels * fastPixels;

/// The image that the kernel renders.
float photons[pixels];

constexpr nb_kernel_output outputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};

nb_kernel_descriptor kernel = {NB_KERNEL_ABI_VERSION,
                               sizeof(nb_kernel_descriptor),
                               0,
                               NB_IMAGE_F32,
                               "image",
                               "",
                               "stand-in",
                               "f64",
                               0,
                               nullptr,
                               1,
                               outputs,
                               [](const void *const *) -> std::int64_t { return 0; },
                               [](const void *const *, void *) {},
                               [](const void *const *, const void *, const nb_tile *tile,
                                  void *const *outputs, void *, void *) {
                                 for (std::int64_t i = tile->slow_begin * fastPixels;
                                      i != tile->slow_end * fastPixels; ++i)
                                   static_cast<float *>(outputs[0])[i] = photons[i];
                               }};

class InvariantsTest : public testing::Test {
protected:
  InvariantsTest() {
    std::fill(std::begin(photons), std::end(photons), 1.0f);
    if (const char *said = std::getenv(variable))
      before = said;
    ::setenv(variable, "1", 1);
    experiment.detector.slowPixels = slowPixels;
    experiment.detector.fastPixels = fastPixels;
    experiment.detector.roiFastMax = fastPixels - 1;
    experiment.detector.roiSlowMax = slowPixels - 1;
  }
  ~InvariantsTest() override { ::setenv(variable, before.c_str(), 1); }

  /// The complaint about an image; empty: none.
  std::string said() {
    SimulatorOptions options{.device = "cpu"};
    options.precision = *precisionFromString(kernel.precision);
    options.kernel = {&kernel, [](const nb_kernel_descriptor *) {}};
    Simulator simulator(experiment, options);
    std::vector<float> image(pixels);
    try {
      simulator.render(std::span(image));
    } catch (const std::logic_error &error) {
      return error.what();
    }
    return "";
  }

  static constexpr const char *variable = "NB_CHECK_IMAGES";
  std::string before = "";
  Experiment experiment;
};

TEST_F(InvariantsTest, PhotonsAreFiniteAndNotNegative) {
  EXPECT_EQ(said(), "");
  for (const float wrong : {-1e-30f, -1.0f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    photons[6] = wrong;
    EXPECT_THAT(said(), HasSubstr("pixel 0,1,2 (panel, slow, fast), which is rendered, has "));
  }
}

TEST_F(InvariantsTest, ExtremeNumbersMayGiveInfiniteOnes) {
  photons[6] = std::numeric_limits<float>::infinity();
  experiment.beam.fluence = 1e300;
  EXPECT_EQ(said(), "");
  photons[6] = -1;
  EXPECT_THAT(said(), HasSubstr("has -1 photons"));
}

TEST_F(InvariantsTest, SamplesBeyondTheLimitsOfAPrecisionMayGiveNaN) {
  photons[6] = std::numeric_limits<float>::quiet_NaN();
  Crystal &crystal = experiment.crystal;
  experiment.beam.wavelength = 1e-10;
  experiment.beam.unitDispersion = {0};
  const auto saidOf = [&](double edge, double factor, const char *precision) {
    crystal.cellA = crystal.cellB = edge / 2;
    crystal.cellC = edge;
    crystal.defaultF = factor;
    kernel.precision = precision;
    return said();
  };
  // |h| < 2^19, which is that of an edge of 262,144 wavelengths.
  EXPECT_EQ(saidOf(2.63e-5, 100, "mixed"), "");
  EXPECT_THAT(saidOf(2.62e-5, 100, "mixed"), HasSubstr("has nan photons"));
  EXPECT_THAT(saidOf(2.63e-5, 100, "f64"), HasSubstr("has nan photons"));
  EXPECT_THAT(saidOf(2.63e-5, 100, "f32"), HasSubstr("has nan photons"));
  EXPECT_EQ(saidOf(1e-8, 2e19, "mixed"), "");
  EXPECT_EQ(saidOf(1e-8, 2e19, "f32"), "");
  EXPECT_THAT(saidOf(1e-8, 1e19, "f32"), HasSubstr("has nan photons"));
  kernel.precision = "f64";
}

TEST_F(InvariantsTest, WhatTakesPhotonsAwayMayGiveNegativeOnes) {
  photons[6] = -1;
  experiment.beam.sourceWeight = {2, -1};
  EXPECT_EQ(said(), "");
  experiment.beam.sourceWeight = {2, 1};
  EXPECT_NE(said(), "");
  experiment.background.factor.values = {1, -1};
  EXPECT_EQ(said(), "");
}

TEST_F(InvariantsTest, TheCProgramsAbsorptionMayGiveNegativeOnes) {
  photons[6] = -1;
  ProgramVariant &variant = experiment.variant;
  variant.curvature = Curvature::C;
  EXPECT_NE(said(), "") << "nothing absorbs";
  variant.capture = Capture::Each;
  EXPECT_EQ(said(), "");
  variant.curvature = Curvature::Right;
  EXPECT_NE(said(), "");
  variant.faces = Rule::C;
  EXPECT_EQ(said(), "");
}

TEST_F(InvariantsTest, WhatIsNotRenderedIsZero) {
  experiment.detector.mask.assign(pixels, 1);
  experiment.detector.mask[5] = 0;
  EXPECT_THAT(said(), HasSubstr("pixel 0,1,1 (panel, slow, fast), which is not rendered, has 1"));
  photons[5] = 0;
  EXPECT_EQ(said(), "");
  experiment.detector.roiFastMin = 1;
  EXPECT_THAT(said(), HasSubstr("pixel 0,0,0 (panel, slow, fast), which is not rendered"));
  photons[0] = photons[4] = photons[8] = 0;
  EXPECT_EQ(said(), "");
}

TEST_F(InvariantsTest, IsSwitchedByTheEnvironment) {
  photons[6] = -1;
  ::setenv(variable, "0", 1);
  EXPECT_EQ(said(), "");
  ::unsetenv(variable);
#ifdef NDEBUG
  EXPECT_EQ(said(), "");
#else
  EXPECT_NE(said(), "");
#endif
}

TEST_F(InvariantsTest, ASpreadLosesLightAtTheRimAlone) {
  const std::vector<double> from = {0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0};
  std::vector<double> to = from;
  const auto check = [&](std::int64_t radius) {
    checkSpread(from, to, slowPixels, fastPixels, radius);
  };
  EXPECT_NO_THROW(check(1));
  to[5] = 3, to[6] = 1;
  EXPECT_NO_THROW(check(1));
  to[6] = 0.9;
  EXPECT_THROW(check(1), std::logic_error);
  EXPECT_NO_THROW(check(2)) << "the rest may have left the panel";
  to[6] = 1.1;
  EXPECT_THROW(check(2), std::logic_error) << "light out of nothing";
}

} // namespace
