// Images of compiled kernels are the same, bit by bit, however they are cut up: into tiles, over
// threads, by a region of interest; and as small as numbers get.
#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"

#include "runtime/simulator/BoundProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir::nb;
using nanobragg::Experiment;

namespace {

/// A kernel of this machine for a detector of two panels with 37 x 29 pixels: rows that fill no
/// whole number of registers.
struct Tiles : testing::TestWithParam<std::tuple<nanobragg::CrystalShape, nanobragg::Precision>> {
  Tiles() {
    variant.shape = std::get<0>(GetParam());
    variant.structureFactors = nanobragg::StructureFactors::Nearest;
    variant.panels = variant.mask = true;
    variant.imageType = nanobragg::ImageType::F64;
    CompileOptions options;
    options.precision = std::get<1>(GetParam());
    kernel = valueOf(compileKernel(variant, options));
    nanobragg::Draws draws(5);
    experiment = randomExperiment(variant, draws);
    nanobragg::Detector &d = experiment.detector;
    d.slowPixels = 37;
    d.fastPixels = 29;
    d.panels.resize(2, d.panels.front());
    d.roiSlowMin = d.roiFastMin = 0;
    d.roiSlowMax = 36;
    d.roiFastMax = 28;
    d.mask.assign(2 * 37 * 29, 1);
    for (size_t i = 0; i < d.mask.size(); i += 7)
      d.mask[i] = 0;
  }

  std::vector<double> render(nanobragg::RunOptions options = {.threads = 1}) {
    nanobragg::BoundProgram runner(nanobragg::Program({&kernel->descriptor(), [](const void *) {}}),
                                   experiment);
    std::vector<double> image(2 * 37 * 29, -1);
    runner.run(image, options);
    return image;
  }

  nanobragg::ProgramVariant variant;
  std::unique_ptr<JitKernel> kernel;
  Experiment experiment;
};

bool isSame(const std::vector<double> &a, const std::vector<double> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_P(Tiles, ThreadsAndSizesOfTilesPlayNoPart) {
  const std::vector<double> whole = render({.threads = 1, .rowsPerTile = 1000});
  EXPECT_GT(*std::max_element(whole.begin(), whole.end()), 0);
  for (int threads : {1, 2, 5})
    for (std::int64_t rows : {0, 1, 3, 36})
      EXPECT_TRUE(isSame(render({.threads = threads, .rowsPerTile = rows}), whole))
          << threads << " threads, " << rows << " rows";
}

TEST_P(Tiles, RegionOfInterestLeavesItsPixelsAsTheyAre) {
  std::vector<double> expected = render();
  nanobragg::Detector &d = experiment.detector;
  d.roiSlowMin = 5;
  d.roiSlowMax = 30;
  d.roiFastMin = 3; // pixels are in other lanes then
  d.roiFastMax = 21;
  for (std::int64_t i = 0; i != std::int64_t(expected.size()); ++i)
    if (const std::int64_t fast = i % 29, slow = i / 29 % 37;
        fast < 3 || fast > 21 || slow < 5 || slow > 30)
      expected[size_t(i)] = 0;
  for (std::int64_t rows : {0, 1, 8})
    EXPECT_TRUE(isSame(render({.threads = 2, .rowsPerTile = rows}), expected)) << rows << " rows";
}

TEST_P(Tiles, SubnormalPixelsAreNotFlushed) {
  const std::vector<double> bright = render();
  experiment.beam.fluence *= 1e-308 / *std::max_element(bright.begin(), bright.end());
  const std::vector<double> dark = render();
  BothEngines engines(variant);
  const RenderedImage reference = engines.interpreted(experiment);
  size_t subnormal = 0;
  for (size_t i = 0; i < dark.size(); ++i) {
    subnormal += std::fpclassify(dark[i]) == FP_SUBNORMAL;
    // Near the brightest pixel's 1e-308 a unit in the last place is 5e-324.
    EXPECT_NEAR(dark[i], reference.pixels[i], 1e-307 * 1e-5) << "pixel " << i;
  }
  EXPECT_GT(subnormal, 20u);
}

INSTANTIATE_TEST_SUITE_P(
    EveryShape, Tiles,
    testing::Combine(testing::Values(nanobragg::CrystalShape::Square,
                                     nanobragg::CrystalShape::Round, nanobragg::CrystalShape::Gauss,
                                     nanobragg::CrystalShape::Tophat,
                                     nanobragg::CrystalShape::GaussMatrix),
                     testing::Values(nanobragg::Precision::F64, nanobragg::Precision::Mixed)));

} // namespace
