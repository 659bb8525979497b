#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "test/Experiment/Support.h"

#include <cmath>

namespace nanobragg {
namespace {

/// Direction to a generated source from the experiment's numbers, as a kernel computes it.
Vec3 sourceOf(const Experiment &e, std::size_t i) {
  const Beam &b = e.beam;
  Vec3 x = scaled(b.direction, -10);
  x = rotatedAbout(b.polarizationAxis, b.vdivRange * b.unitVdiv[i], x);
  return unit(
      rotatedAbout(unit(cross(b.direction, b.polarizationAxis)), b.hdivRange * b.unitHdiv[i], x));
}

TEST(Sources, OneByDefault) {
  CompleteExperiment d = completeRight(cubic());
  EXPECT_EQ(d.experiment.sourceCount(), 1);
  EXPECT_EQ(d.experiment.variant.sources, Sources::Generated);
  expectNear(sourceOf(d.experiment, 0), {-1, 0, 0}, 0);
  EXPECT_EQ(d.report.divergenceSteps, 1);
  EXPECT_EQ(d.report.sources[0].intensity, 1);
}

TEST(Sources, RoundDivergenceCutsTheCorners) {
  Options options = cubic();
  options.hdivRange = 12;
  options.hdivStep = 3;
  options.vdivRange = 8;
  options.vdivStep = 2;
  CompleteExperiment d = completeRight(options);
  // As the C program prints them; the upper edges are missing since steps start at -range/2.
  const std::vector<std::array<double, 2>> expected = {{-6, 0}, {-3, -2}, {-3, 0}, {-3, 2},
                                                       {0, -4}, {0, -2},  {0, 0},  {0, 2},
                                                       {3, -2}, {3, 0},   {3, 2}};
  ASSERT_EQ(d.report.divergenceDeviations.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(d.report.divergenceDeviations[i][0], expected[i][0] * 1e-3, 1e-15);
    EXPECT_NEAR(d.report.divergenceDeviations[i][1], expected[i][1] * 1e-3, 1e-15);
    EXPECT_NEAR(length(difference(sourceOf(d.experiment, i), unit(d.report.sources[i].position))),
                0, 1e-15);
  }
  expectNear(d.report.sources[1].position, {-9.99994, 0.02, 0.0299999}, 5e-6);
  options.roundDivergence = false;
  EXPECT_EQ(completeRight(options).experiment.sourceCount(), 16);
}

TEST(Sources, RoundDivergenceNeedsBothRanges) {
  Options options = cubic();
  options.hdivRange = 10;
  options.hdivStep = 2.5;
  EXPECT_EQ(completeRight(options).experiment.sourceCount(), 4);
}

TEST(Sources, EvenGridsKeepTheirInnerPoints) {
  Options options = cubic();
  options.hdivRange = options.vdivRange = 10;
  options.hdivSteps = options.vdivSteps = 2;
  EXPECT_EQ(completeRight(options).experiment.sourceCount(), 4);
  options.hdivSteps = options.vdivSteps = 4;
  EXPECT_EQ(completeRight(options).experiment.sourceCount(), 12);
}

TEST(Sources, Wavelengths) {
  Options options = cubic();
  options.dispersion = 3;
  options.dispersionSteps = 5;
  Experiment e = completeRight(options).experiment;
  ASSERT_EQ(e.sourceCount(), 5);
  auto wavelength = [&](std::size_t i) {
    return e.beam.wavelength * (1 + e.beam.dispersion * e.beam.unitDispersion[i]);
  };
  EXPECT_NEAR(wavelength(0), 0.985e-10, 1e-24);
  EXPECT_NEAR(wavelength(1), 0.9925e-10, 1e-24);
  EXPECT_NEAR(wavelength(4), 1.015e-10, 1e-24);
}

TEST(Sources, WavelengthIsTheInnermostOfSources) {
  Options options = cubic();
  options.dispersion = 1;
  options.hdivRange = 1;
  Experiment e = completeRight(options).experiment;
  ASSERT_EQ(e.sourceCount(), 4);
  EXPECT_EQ(e.beam.unitHdiv, (std::vector<double>{-0.5, -0.5, 0.5, 0.5}));
  EXPECT_EQ(e.beam.unitDispersion, (std::vector<double>{-0.5, 0.5, -0.5, 0.5}));
}

TEST(Sources, ListedWithDefaults) {
  Inputs inputs;
  inputs.sources.resize(2);
  inputs.sources[0] = {{-10, 0, 10}, 3, 2e-10};
  Options options = cubic();
  options.lambda = 1.1;
  Experiment e = completeRight(options, inputs).experiment;
  EXPECT_EQ(e.variant.sources, Sources::Listed);
  expectNear(e.beam.sourceDirection[0], {-std::sqrt(0.5), 0, std::sqrt(0.5)}, 1e-15);
  expectNear(e.beam.sourceDirection[1], {-1, 0, 0}, 0);
  EXPECT_EQ(e.beam.sourceWavelength[0], 2e-10);
  EXPECT_DOUBLE_EQ(e.beam.sourceWavelength[1], 1.1e-10);
  EXPECT_EQ(e.beam.sourceWeight, (std::vector<double>{3, 1}));
  EXPECT_DOUBLE_EQ(e.beam.wavelength, 1.1e-10);
}

TEST(Sources, TheCProgramIgnoresWeights) {
  Inputs inputs;
  inputs.sources.resize(2);
  inputs.sources[0].weight = 3;
  EXPECT_EQ(completeC(cubic(), inputs).experiment.beam.sourceWeight, (std::vector<double>{1, 1}));
  EXPECT_EQ(completeC(cubic(), inputs).report.sources[0].intensity, 3);
  EXPECT_TRUE(notes(completeRight(cubic(), inputs), "source-weights"));
  inputs.sources[1].weight = 3;
  EXPECT_FALSE(notes(completeRight(cubic(), inputs), "source-weights"));
}

TEST(Sources, AListReplacesDivergenceAndDispersion) {
  Inputs inputs;
  inputs.sources.resize(1);
  Options options = cubic();
  options.dispersion = 1;
  CompleteExperiment d = completeRight(options, inputs);
  EXPECT_EQ(d.experiment.sourceCount(), 1);
  EXPECT_EQ(d.report.divergenceSteps, -1);
}

TEST(Beam, WavelengthFromEnergy) {
  Options options = cubic();
  options.energy = 9876;
  EXPECT_DOUBLE_EQ(completeRight(options).experiment.beam.wavelength, 12398.42 / 9876 * 1e-10);
}

TEST(Beam, FluenceFromFlux) {
  Options options = cubic();
  EXPECT_EQ(completeRight(options).experiment.beam.fluence, 125932015286227086360700780544.0);
  options.fluence = 1e24;
  EXPECT_EQ(completeRight(options).experiment.beam.fluence, 1e24);
  options.flux = 1e12;
  options.exposure = 0.1;
  options.beamSize = 0.05;
  CompleteExperiment d = completeRight(options);
  EXPECT_DOUBLE_EQ(d.experiment.beam.fluence, 1e12 * 0.1 / 5e-5 / 5e-5);
  EXPECT_DOUBLE_EQ(d.report.flux, 1e12);
}

TEST(Beam, Polarization) {
  Options options = cubic();
  EXPECT_EQ(completeRight(options).experiment.variant.polarization, Evaluation::Once);
  EXPECT_EQ(completeRight(options).experiment.beam.kahnFactor, 0);
  options.polarization = 0.9;
  EXPECT_EQ(completeRight(options).experiment.beam.kahnFactor, 0.9);
  options.noPolarization = true;
  EXPECT_EQ(completeRight(options).experiment.variant.polarization, Evaluation::None);
  options.oversamplePolar = true;
  EXPECT_EQ(completeRight(options).experiment.variant.polarization, Evaluation::Each);
}

TEST(Beam, UnpolarizedBeamAlongThePolarizationAxis) {
  Options options = cubic();
  options.convention = Convention::Custom;
  options.beamVector = {{0, 0, 1}};
  CompleteExperiment d = completeRight(options);
  const Beam &beam = d.experiment.beam;
  EXPECT_NEAR(dot(beam.direction, beam.polarizationAxis), 0, 1e-15);
  EXPECT_NEAR(length(beam.polarizationAxis), 1, 1e-15);
  EXPECT_EQ(d.report.polarizationPlaneNormal, (Vec3{0, 0, 0}));
}

TEST(Beam, Water) {
  Options options = cubic();
  EXPECT_EQ(completeRight(options).experiment.variant.water, Water::None);
  options.water = 100;
  EXPECT_EQ(completeRight(options).experiment.variant.water, Water::Right);
  EXPECT_EQ(completeC(options).experiment.variant.water, Water::C);
  EXPECT_DOUBLE_EQ(completeC(options).experiment.waterSize, 1e-4);
}

TEST(Divergence, NormalNodesHaveTheMomentsOfTheDistribution) {
  for (const std::int64_t count : {2, 3, 5, 20}) {
    double mean = 0, square = 0;
    for (const double node : normalNodes(count)) {
      mean += node / double(count);
      square += node * node / double(count);
    }
    EXPECT_NEAR(mean, 0, 1e-14) << count;
    EXPECT_NEAR(square, 1, 1e-14) << count;
  }
  // Known: the quantiles of 1/6 and 5/6 are -0.9674 and 0.9674, scaled by sqrt(3/2)/0.9674.
  EXPECT_NEAR(normalNodes(3)[2], std::sqrt(1.5), 1e-14);
  EXPECT_NEAR(quantileOfMagnitude(0.95), 1.959963984540054, 1e-12);
}

TEST(Divergence, BySigma) {
  Options options = cubic();
  options.hdivSigma = options.vdivSigma = 2;
  options.hdivSteps = 4;
  const CompleteExperiment d = completeRight(options);
  const Beam &beam = d.experiment.beam;
  EXPECT_EQ(d.experiment.variant.divergence, Divergence::Normal);
  EXPECT_EQ(beam.hdivSigma, 0.002);
  EXPECT_EQ(d.experiment.sourceCount(), 4 * 5);
  double square = 0;
  for (const double unit : beam.unitHdiv)
    square += unit * unit / 20;
  EXPECT_NEAR(square, 1, 1e-14);
  options.hdivRange = 1;
  EXPECT_THROW(completeRight(options), std::invalid_argument);
}

} // namespace
} // namespace nanobragg
