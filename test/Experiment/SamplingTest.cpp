#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

TEST(Phi, StepsOverTheRange) {
  Options options = cubic();
  options.phi = 30;
  options.osc = 2;
  options.phiSteps = 5;
  CompleteExperiment d = completeRight(options);
  const Goniometer &g = d.experiment.goniometer;
  ASSERT_EQ(g.phiSteps, 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(g.phi0 + g.osc * g.phiStepFraction * i, (30 + 0.4 * i) * degree, 1e-15);
    EXPECT_NEAR(d.report.phiSteps[i], (30 + 0.4 * i) * degree, 1e-15);
  }
}

TEST(Phi, StepsOverAnEmptyRange) {
  Options options = cubic();
  options.osc = 0;
  options.phiStep = 0.2;
  options.phiSteps = 5;
  CompleteExperiment d = completeRight(options);
  const Goniometer &g = d.experiment.goniometer;
  EXPECT_NEAR(g.osc * g.phiStepFraction, 0.2 * degree, 1e-17);
  EXPECT_EQ(d.report.osc, 0);
  options.phiStep.reset();
  options.phiSteps.reset();
  const Goniometer twice = completeRight(options).experiment.goniometer;
  EXPECT_EQ(twice.phiSteps, 2);
  EXPECT_EQ(twice.osc * twice.phiStepFraction, 0);
}

TEST(CrystalSize, CellsFromASize) {
  Options options = cubic();
  options.cell = {{37, 43, 52, 90, 90, 90}};
  options.na.reset();
  options.nb.reset();
  options.nc.reset();
  options.sampleX = options.sampleY = options.sampleZ = 0.00002;
  EXPECT_EQ(completeRight(options).experiment.crystal.ncells, (std::array<double, 3>{6, 5, 4}));
  options.sampleX = 0.00004;
  EXPECT_EQ(completeRight(options).experiment.crystal.ncells, (std::array<double, 3>{11, 5, 4}));
}

TEST(CrystalSize, TheBeamClipsWidthAndHeightOnly) {
  Options options = cubic();
  options.cell = {{37, 43, 52, 90, 90, 90}};
  options.sampleX = options.sampleY = options.sampleZ = 0.00003;
  options.beamSize = 0.000015;
  CompleteExperiment d = completeRight(options);
  EXPECT_EQ(d.experiment.crystal.ncells, (std::array<double, 3>{9, 4, 3}));
  EXPECT_TRUE(warns(d, "clipping sample (3e-08 m high) with beam (1.5e-08 m)"));
  EXPECT_TRUE(warns(d, "clipping sample (3e-08 m wide) with beam (1.5e-08 m)"));
}

TEST(CrystalSize, AtLeastOneCell) {
  Options options = cubic();
  options.na = 0;
  options.nb = 3;
  EXPECT_EQ(completeRight(options).experiment.crystal.ncells, (std::array<double, 3>{1, 3, 5}));
}

TEST(Oversample, Automatic) {
  Options options = cubic();
  options.cell = {{52, 52, 52, 90, 90, 90}};
  options.na = options.nb = options.nc = 100;
  options.distance = 80;
  options.pixelSize = 0.4;
  CompleteExperiment d = completeRight(options);
  EXPECT_EQ(d.experiment.detector.oversample, 78);
  EXPECT_TRUE(d.report.oversampleAutoSelected);
  options.oversample = 2;
  d = completeRight(options);
  EXPECT_EQ(d.experiment.detector.oversample, 2);
  EXPECT_EQ(d.report.recommendedOversample, 78);
  EXPECT_FALSE(d.report.oversampleAutoSelected);
}

Inputs withGrid() {
  Inputs inputs;
  inputs.grid = std::make_shared<HklGrid>(HklGrid{0, 0, 0, 0, 0, 0, {100}});
  return inputs;
}

StructureFactors chosen(const Options &options, Rule rule) {
  Semantics semantics;
  semantics.interpolationChoice = rule;
  return chooseDefaults(fromFlagUnits(options), withGrid(), semantics)
      .experiment.variant.structureFactors;
}

TEST(Interpolation, ThinCrystalsInterpolate) {
  Options options = cubic();
  EXPECT_EQ(chosen(options, Rule::Right), StructureFactors::Nearest);
  options.nc = 2;
  EXPECT_EQ(chosen(options, Rule::Right), StructureFactors::Tricubic);
  EXPECT_EQ(chosen(options, Rule::C), StructureFactors::Tricubic);
  options.interpolate = false;
  EXPECT_EQ(chosen(options, Rule::C), StructureFactors::Nearest);
  options.nc = 9;
  options.interpolate = true;
  EXPECT_EQ(chosen(options, Rule::Right), StructureFactors::Tricubic);
}

TEST(Interpolation, SizeInMillimetres) {
  Options options = cubic();
  options.na.reset();
  options.nb.reset();
  options.nc.reset();
  options.sampleX = options.sampleY = options.sampleZ = 0.001;
  options.oversample = 1;
  EXPECT_EQ(chosen(options, Rule::Right), StructureFactors::Nearest);
  EXPECT_EQ(chosen(options, Rule::C), StructureFactors::Tricubic);
  EXPECT_TRUE(notes(completeRight(options, withGrid()), "interpolation-choice"));
}

TEST(Interpolation, NothingToInterpolate) {
  Options options = cubic();
  options.interpolate = true;
  CompleteExperiment d = completeRight(options);
  EXPECT_EQ(d.experiment.variant.structureFactors, StructureFactors::Constant);
}

TEST(Region, DefaultsAndClipping) {
  Options options = cubic();
  options.fastPixels = 100;
  options.slowPixels = 80;
  CompleteExperiment d = completeRight(options);
  EXPECT_EQ(d.report.roi, (std::array<std::int64_t, 4>{0, 100, 0, 80}));
  EXPECT_EQ(d.experiment.detector.roiFastMax, 99);
  EXPECT_EQ(d.experiment.detector.roiSlowMax, 79);
  options.roi = {90, 200, 3, std::nullopt};
  d = completeRight(options);
  EXPECT_EQ(d.report.roi, (std::array<std::int64_t, 4>{90, 200, 3, 80}));
  EXPECT_EQ(d.experiment.detector.roiFastMin, 90);
  EXPECT_EQ(d.experiment.detector.roiFastMax, 99);
  EXPECT_EQ(d.experiment.detector.roiSlowMin, 3);
  options.roi = {200, 300, 0, 3};
  EXPECT_TRUE(warns(completeRight(options), "no pixels"));
}

TEST(Mask, ZeroSkips) {
  Options options = cubic();
  options.fastPixels = 3;
  options.slowPixels = 2;
  Inputs inputs;
  inputs.mask = MaskImage{3, 2, {0, 1, 65535, 256, 0, 7}};
  Experiment e = completeRight(options, inputs).experiment;
  EXPECT_TRUE(e.variant.mask);
  EXPECT_EQ(e.detector.mask, (std::vector<std::uint8_t>{0, 1, 1, 1, 0, 1}));
}

TEST(Resolution, Cutoff) {
  Options options = cubic();
  EXPECT_FALSE(completeRight(options).experiment.variant.dmin);
  options.dmin = 4;
  Experiment e = completeRight(options).experiment;
  EXPECT_TRUE(e.variant.dmin);
  EXPECT_DOUBLE_EQ(e.dmin, 4e-10);
}

TEST(SolidAngle, DividedBySamplesOnlyByTheCProgram) {
  Options options = cubic();
  options.mosaicSpread = 1;
  options.mosaicDomains = 3;
  options.oversample = 2;
  options.thickness = 100;
  EXPECT_EQ(completeC(options).report.solidAngleDivisor, 12);
  EXPECT_EQ(completeRight(options).report.solidAngleDivisor, 8);
}

} // namespace
} // namespace nanobragg
