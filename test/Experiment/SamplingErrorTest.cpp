#include "lib/Estimate/SamplingError.h"

#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

/// A frame of a rotation series with spots that are narrower than pixels.
Options protein() {
  Options options;
  options.convention = Convention::Xds;
  options.cell = {{38, 46, 55, 90, 90, 90}};
  options.misset = {{20, 40, 60}};
  options.defaultF = 100;
  options.na = options.nb = options.nc = 30;
  options.lambda = 1;
  options.distance = 150;
  options.pixelSize = 0.25;
  options.fastPixels = options.slowPixels = 768;
  options.oversample = 5;
  return options;
}

double errorOf(const Options &options) {
  const CompleteExperiment c = completeRight(options);
  return samplingError(c.experiment, c.report, sampleCountsOf(c.experiment, c.report));
}

std::string warningOf(const Options &options) {
  const CompleteExperiment c = completeRight(options);
  return coarseSampling(c.experiment, c.report).value_or("");
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(SamplingError, AutomaticOversamplingIsFineEnough) {
  Options options = protein();
  options.oversample.reset();
  EXPECT_LT(errorOf(options), 1e-3);
  EXPECT_EQ(warningOf(options), "");
}

TEST(SamplingError, PixelsWiderThanSpots) {
  Options options = protein();
  options.oversample = 1;
  EXPECT_GT(errorOf(options), 1);
  const std::string warning = warningOf(options);
  EXPECT_TRUE(has(warning, "(-oversample 1): the photons of a spot are uncertain by more than 100 "
                           "%; -oversample 4 would reduce that to less than 1 %"))
      << warning;
}

TEST(SamplingError, DrawnDomainsOfAStill) {
  Options options = protein();
  options.mosaicSpread = 0.5;
  options.mosaicDomains = 100;
  const double hundred = errorOf(options);
  EXPECT_GT(hundred, 0.05);
  options.mosaicDomains = 400;
  EXPECT_NEAR(errorOf(options) / hundred, 0.5, 0.01);
  // Wide spots hardly notice.
  options.na = options.nb = options.nc = 3;
  EXPECT_LT(errorOf(options), hundred / 5);
}

TEST(SamplingError, DomainsThatAllPassTheSphereMatterLess) {
  Options options = protein();
  options.mosaicSpread = 0.2;
  options.mosaicDomains = 10;
  const double still = errorOf(options);
  options.osc = 3;
  options.phiSteps = 300;
  EXPECT_LT(errorOf(options), still / 2);
}

TEST(SamplingError, FewSteps) {
  Options options = protein();
  options.osc = 2;
  options.phiSteps = 2;
  EXPECT_GT(errorOf(options), 0.3);
  EXPECT_TRUE(has(warningOf(options), "(-phisteps 2)")) << warningOf(options);
  options.phiSteps = 100;
  EXPECT_LT(errorOf(options), 0.01);
}

TEST(SamplingError, FewSources) {
  Options options = protein();
  options.dispersion = 3;
  options.dispersionSteps = 2;
  EXPECT_TRUE(has(warningOf(options), "-dispsteps 2")) << warningOf(options);
  options.dispersion.reset();
  options.dispersionSteps.reset();
  options.hdivSigma = 5;
  options.vdivSigma = 0;
  options.hdivSteps = 2;
  const std::string warning = warningOf(options);
  EXPECT_TRUE(has(warning, "-hdivsteps 2")) << warning;
  EXPECT_FALSE(has(warning, "-vdivsteps")) << "there is nothing to average";
}

TEST(SamplingError, LinesOfASpectrum) {
  Options options = protein();
  Inputs inputs;
  for (int i = 0; i < 3; ++i)
    inputs.sources.push_back({{}, {}, 1e-10 * (1 + 0.02 * i)});
  const CompleteExperiment c = completeRight(options, inputs);
  const auto warning = coarseSampling(c.experiment, c.report);
  ASSERT_TRUE(warning);
  EXPECT_TRUE(has(*warning, "(3 wavelengths)")) << *warning;
}

TEST(SamplingError, WhatTheWarningAsksForIsEnough) {
  Options options = protein();
  options.oversample = 1;
  options.mosaicSpread = 0.05;
  options.mosaicDomains = 3;
  options.osc = 1;
  options.phiSteps = 10;
  const std::string warning = warningOf(options);
  EXPECT_TRUE(has(warning, "-oversample 1")) << warning;
  const auto asked = [&](const std::string &flag) {
    const std::size_t at = warning.rfind(flag + " ");
    return std::stoll(warning.substr(at + flag.size() + 1));
  };
  for (const auto &[flag, count] : {std::pair("-oversample", &Options::oversample),
                                    {"-mosaic_domains", &Options::mosaicDomains},
                                    {"-phisteps", &Options::phiSteps}})
    if (has(warning, flag))
      options.*count = asked(flag);
  EXPECT_EQ(warningOf(options), "") << warning;
}

} // namespace
} // namespace nanobragg
