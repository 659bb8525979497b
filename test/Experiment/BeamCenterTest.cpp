#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

/// Origin, in mm: what the whole chain of beam centres comes to.
void expectOrigin(const Options &options, const Vec3 &expected) {
  Vec3 pix0 = completeC(options).report.detector.pix0;
  for (double &x : pix0)
    x *= 1000;
  expectNear(pix0, expected, 1e-9);
}

Options withBeam(Convention convention) {
  Options options = withPlate(convention);
  options.xBeam = 15;
  options.yBeam = 20;
  return options;
}

Options withOrg(Convention convention) {
  Options options = withPlate(convention);
  options.orgX = 300;
  options.orgY = 400;
  return options;
}

TEST(BeamCenter, DefaultsOfEachConvention) {
  expectOrigin(withPlate(Convention::Mosflm), {100, 45.1, -50.1});
  expectOrigin(withPlate(Convention::Denzo), {100, 45.05, -50.05});
  expectOrigin(withPlate(Convention::Adxv), {-50.05, 45.05, 100});
  expectOrigin(withPlate(Convention::Xds), {-50, -45, 100});
  expectOrigin(withPlate(Convention::Dials), {-50, -45, 100});
  expectOrigin(withPlate(Convention::Custom), {100, 45, -50});
}

TEST(BeamCenter, XbeamInBeamPivotConventions) {
  expectOrigin(withBeam(Convention::Mosflm), {100, 15.05, -20.05});
  expectOrigin(withBeam(Convention::Denzo), {100, 15, -20});
  expectOrigin(withBeam(Convention::Adxv), {-15, 70, 100});
}

TEST(BeamCenter, XdsAndDialsListenToOrgOnly) {
  for (Convention convention : {Convention::Xds, Convention::Dials}) {
    expectOrigin(withBeam(convention), {-50, -45, 100});
    expectOrigin(withOrg(convention), {-29.95, -39.95, 100});
  }
}

TEST(BeamCenter, TheOthersIgnoreOrgAndXclose) {
  for (Convention convention : {Convention::Mosflm, Convention::Denzo, Convention::Adxv}) {
    Options options = withOrg(convention);
    options.xClose = 12;
    EXPECT_EQ(completeC(options).report.detector.pix0,
              completeC(withPlate(convention)).report.detector.pix0);
    EXPECT_DOUBLE_EQ(completeC(options).report.detector.xClose, 0.012);
  }
}

TEST(BeamCenter, CustomPrefersXbeamOverXcloseOverOrg) {
  Options options = withOrg(Convention::Custom);
  expectOrigin(options, {100, 39.95, -29.95});
  options.xClose = 12;
  expectOrigin(options, {100, 39.95, -12});
  options.xBeam = 30;
  options.yBeam = 20;
  expectOrigin(options, {100, 20, -30});
  options.pivot = Pivot::Sample;
  expectOrigin(options, {100, 20, -30});
}

TEST(BeamCenter, HeadersOfImageAndMask) {
  Options options = cubic();
  options.convention = Convention::Adxv;
  Inputs inputs;
  HeaderValues header;
  header.fastPixels = 100;
  header.slowPixels = 80;
  header.pixelSize = 0.2;
  header.distance = 150;
  header.wavelength = 1.5;
  header.beamCenterX = 9;
  header.beamCenterY = 6;
  header.phi = 12;
  header.oscRange = 0;
  inputs.imageHeader = header;
  CompleteExperiment d = completeC(options, inputs);
  EXPECT_EQ(d.experiment.detector.fastPixels, 100);
  EXPECT_EQ(d.experiment.detector.slowPixels, 80);
  EXPECT_DOUBLE_EQ(d.experiment.detector.distance, 0.15);
  EXPECT_DOUBLE_EQ(d.experiment.beam.wavelength, 1.5e-10);
  EXPECT_DOUBLE_EQ(d.report.detector.xBeam, 0.009);
  EXPECT_DOUBLE_EQ(d.report.detector.yBeam, 0.006);
  EXPECT_DOUBLE_EQ(d.experiment.goniometer.phi0, 12 * degree);
  EXPECT_EQ(d.experiment.goniometer.phiSteps, 2); // an oscillation of 0 was given

  // A mask counts Y from the other edge.
  inputs.maskHeader = header;
  inputs.imageHeader.reset();
  d = completeC(options, inputs);
  EXPECT_DOUBLE_EQ(d.report.detector.yBeam, 0.016 - 0.006);

  // The image's header beats the mask's, and flags beat both.
  inputs.imageHeader = header;
  inputs.imageHeader->closeDistance = 140;
  options.yBeam = 3;
  options.distance = 77;
  d = completeC(options, inputs);
  EXPECT_DOUBLE_EQ(d.report.detector.yBeam, 0.003);
  EXPECT_DOUBLE_EQ(d.report.detector.distance, 0.14);
}

TEST(Pixels, CountsBeatSizes) {
  Options options = cubic();
  Detector d = completeRight(options).experiment.detector;
  EXPECT_EQ(d.fastPixels, 1024);
  EXPECT_DOUBLE_EQ(d.pixelSize, 1e-4);
  options.pixelSize = 0.4;
  options.detSizeFast = 40.1;
  options.detSizeSlow = 30.3;
  d = completeRight(options).experiment.detector;
  EXPECT_EQ(d.fastPixels, 100);
  EXPECT_EQ(d.slowPixels, 76);
  options.fastPixels = 7;
  CompleteExperiment complete = completeRight(options);
  EXPECT_EQ(complete.experiment.detector.fastPixels, 7);
  EXPECT_EQ(complete.experiment.detector.slowPixels, 76);
  EXPECT_DOUBLE_EQ(complete.report.detector.detSizeFast, 0.0028);
}

} // namespace
} // namespace nanobragg
