#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir::nb;
using nanobragg::Experiment;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Numbers that are not finite reach the same pixels on both engines.
struct NotFinite : testing::Test {
  static nanobragg::ProgramVariant variant() {
    nanobragg::ProgramVariant s;
    s.structureFactors = nanobragg::StructureFactors::Nearest;
    s.capture = nanobragg::Capture::Sum;
    s.dmin = true;
    s.imageType = nanobragg::ImageType::F64;
    return s;
  }
  static BothEngines &engines() {
    static auto *both = new BothEngines(variant());
    return *both;
  }

  NotFinite() {
    nanobragg::Draws draws(3);
    experiment = randomExperiment(variant(), draws);
    experiment.dmin = 2e-10;
  }

  /// Returns how many pixels are NaN.
  size_t agreeing() {
    const RenderedImage reference = engines().interpreted(experiment);
    const RenderedImage image = engines().compiled(experiment);
    size_t count = 0;
    for (size_t i = 0; i < reference.pixels.size(); ++i) {
      const double expected = reference.pixels[i], value = image.pixels[i];
      count += std::isnan(expected);
      EXPECT_EQ(std::isnan(value), std::isnan(expected)) << "pixel " << i;
      EXPECT_EQ(std::isinf(value), std::isinf(expected)) << "pixel " << i;
    }
    return count;
  }

  size_t renderedPixels() const {
    const nanobragg::Detector &d = experiment.detector;
    return size_t((d.roiFastMax - d.roiFastMin + 1) * (d.roiSlowMax - d.roiSlowMin + 1));
  }

  Experiment experiment;
};

TEST_F(NotFinite, FiniteToBeginWith) { EXPECT_EQ(agreeing(), 0u); }

TEST_F(NotFinite, Fluence) {
  experiment.beam.fluence = nan;
  EXPECT_EQ(agreeing(), renderedPixels());
}

TEST_F(NotFinite, InfiniteFluence) {
  experiment.beam.fluence = infinity;
  agreeing();
}

TEST_F(NotFinite, WeightOfOneSource) {
  experiment.beam.sourceWeight.back() = nan;
  EXPECT_EQ(agreeing(), renderedPixels());
}

TEST_F(NotFinite, AngleOfOneDomain) {
  experiment.crystal.mosaicUnitAngle.back() = nan;
  agreeing();
}

TEST_F(NotFinite, Wavelength) {
  experiment.beam.wavelength = nan;
  agreeing();
}

TEST_F(NotFinite, Misset) {
  experiment.crystal.misset[1] = nan;
  agreeing();
}

TEST_F(NotFinite, DetectorDistance) {
  experiment.detector.distance = nan;
  agreeing();
}

TEST_F(NotFinite, SomeReflections) {
  experiment.dmin = 0.5e-10;
  nanobragg::HklGrid grid = *experiment.crystal.grid;
  for (size_t i = 0; i < grid.values.size(); i += 5)
    grid.values[i] = nan;
  experiment.crystal.grid = std::make_shared<nanobragg::HklGrid>(grid);
  const size_t count = agreeing();
  EXPECT_GT(count, 0u);
  EXPECT_LT(count, renderedPixels());
}

TEST_F(NotFinite, DefaultStructureFactor) {
  // The grid has one reflection, so that all others have the default.
  experiment.crystal.grid = std::make_shared<nanobragg::HklGrid>(
      nanobragg::HklGrid{0, 0, 0, 0, 0, 0, std::vector<double>{100}});
  experiment.crystal.defaultF = nan;
  EXPECT_GT(agreeing(), 0u);
}

} // namespace
