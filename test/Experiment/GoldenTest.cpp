#include "lib/Program/Parameters.h"
#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

// The three command lines whose numbers the C program printed; the images are checked elsewhere.

TEST(Golden, LargePlate) {
  Options o = cubic();
  o.lambda = 6.2;
  o.distance = 100;
  o.fastPixels = o.slowPixels = 1024;
  o.pixelSize = 0.1;
  CompleteExperiment d = completeC(o);
  EXPECT_EQ(d.experiment.detector.oversample, 1);
  EXPECT_EQ(samplesPerPixel(d.experiment), 1);
  EXPECT_DOUBLE_EQ(d.report.detector.xBeam, 0.05125);
  EXPECT_DOUBLE_EQ(d.report.detector.fBeam, 0.0513);
  EXPECT_DOUBLE_EQ(d.report.detector.xClose, 0.0512);
  EXPECT_NEAR(d.report.approximateMolecularWeight, 722657, 0.5);
  EXPECT_NEAR(d.report.volume, 1e6, 1e-6);
  EXPECT_EQ(d.report.interpolationAutoSelected, false);
  EXPECT_DOUBLE_EQ(d.experiment.beam.wavelength, 6.2e-10);
}

TEST(Golden, EverythingAtOnce) {
  Options o = cubic();
  o.cell = {{100, 110, 120, 90, 100, 90}};
  o.misset = {{10, 20, 30}};
  o.lambda = 1;
  o.na = o.nb = o.nc = 6;
  o.fastPixels = o.slowPixels = 128;
  o.polarization = 0.95;
  o.mosaicSpread = 0.5;
  o.mosaicDomains = 5;
  o.phi = 1;
  o.osc = 2;
  o.phiSteps = 4;
  o.dispersion = 1;
  o.dispersionSteps = 3;
  o.hdivRange = o.vdivRange = 1;
  o.hdivSteps = o.vdivSteps = 3;
  o.oversample = 2;
  CompleteExperiment d = completeC(o);
  EXPECT_EQ(d.experiment.sourceCount(), 15);
  EXPECT_EQ(d.experiment.mosaicDomains(), 5);
  EXPECT_EQ(samplesPerPixel(d.experiment), 15 * 5 * 4 * 4);
  EXPECT_EQ(d.report.divergenceSteps, 5);
  EXPECT_EQ(d.report.recommendedOversample, 3);
  EXPECT_NEAR(d.report.largestCrystalSize, 720e-10, 1e-20);
  EXPECT_NEAR(d.report.reciprocalPixelSize, 1000e-10, 1e-20);
  EXPECT_NEAR(d.report.phiSteps[3] / degree, 2.5, 1e-12);
  EXPECT_DOUBLE_EQ(d.report.hdiv.step, 0.0005);
  EXPECT_NEAR(d.report.wavelengths[0], 9.95e-11, 1e-24);
  EXPECT_NEAR(d.report.approximateMolecularWeight, 953907, 0.5);
  expectNear(d.report.sources[0].position, {-10, 0, 0.005}, 5e-6);
  expectNear(d.report.sources[3].position, {-10, 0.005, 0}, 5e-6);
  EXPECT_DOUBLE_EQ(d.report.sources[3].intensity, 1.0 / 15);
  EXPECT_EQ(d.report.solidAngleDivisor, 1200);
}

TEST(Golden, Triclinic) {
  Options o = cubic();
  o.cell = {{100, 110, 120, 80, 95, 105}};
  o.fastPixels = o.slowPixels = 64;
  CompleteExperiment d = completeC(o);
  EXPECT_NEAR(d.report.cell.angles[0] / degree, 79.9723, 5e-5);
  EXPECT_NEAR(d.report.cell.angles[1] / degree, 95.0141, 5e-5);
  EXPECT_NEAR(d.report.cell.angles[2] / degree, 105.003, 5e-4);
  EXPECT_NEAR(d.report.reciprocalCell.lengths[0], 0.0103621, 5e-8);
  EXPECT_NEAR(d.report.reciprocalCell.angles[0] / degree, 99.0579, 5e-5);
  EXPECT_NEAR(d.report.volume, 1.25441e6, 5);
  EXPECT_EQ(d.experiment.detector.oversample, 2);
  expectNear(d.report.cell.vectors[0], {96.49535325, -24.74385086, -8.74005981}, 5e-9);
}

} // namespace
} // namespace nanobragg
