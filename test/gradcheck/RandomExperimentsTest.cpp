#include "test/engines/RandomExperiment.h"
#include "test/gradcheck/Support.h"

#include "lib/Program/ParameterGroups.h"

namespace nanobragg {
namespace {

void expectGradients(const Experiment &experiment, Engine engine, const std::string &parameters,
                     CheckOptions options) {
  SCOPED_TRACE(experiment.variant.toString());
  Simulator analytic(experiment, on(engine)), reference(experiment, on(Engine::Interpreter));
  options.randomLoss = 11;
  expectPassed(check(analytic, reference, parameters, options));
}

class GradCheck : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Engines, GradCheck, testing::Values(Engine::Fused, Engine::Interpreter),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

/// Every variant: a random direction through all parameters and the scalars one by one.
TEST_P(GradCheck, RandomExperiments) {
  const int count = GetParam() == Engine::Fused ? 4 : 8;
  for (int seed = 0; seed != count; ++seed) {
    Draws draws(std::uint64_t(seed) + 1);
    ProgramVariant variant = randomVariant(draws);
    constexpr CrystalShape shapes[] = {CrystalShape::Square, CrystalShape::Round,
                                       CrystalShape::Gauss, CrystalShape::GaussMatrix};
    variant.shape = shapes[seed % 4];
    variant.diffuse = false; // it jumps where the nearest reflection changes
    SCOPED_TRACE("seed " + std::to_string(seed));
    Experiment experiment = randomExperiment(variant, draws);
    // More of it and differences see nothing but the background.
    experiment.waterSize *= 1e-4;
    experiment.background.area *= 1e-9;
    CheckOptions options;
    options.elements = 2;
    expectGradients(experiment, GetParam(), "all", options);
  }
}

struct Named {
  const char *name, *flags, *parameters;
  CrystalShape shape = CrystalShape::Square;
};

const Named experiments[] = {
    {"Everything", everything, "scalars"},
    {"Axes", everything, "axes,source"},
    {"ManyCells",
     "-cell 60 70 80 85 95 100 -misset 5 6 7 -default_F 50 -N 1000 -lambda 1 -distance 100 "
     "-pixel 0.5 -detpixels 48 -oversample 3 -mosaic 0.3 -mosaic_domains 4",
     "cell,misset,mosaic,wavelength,distance,beam_center,ncells"},
    {"Round",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 6 -round_xtal -lambda 1 "
     "-distance 60 -pixel 2 -detpixels 32 -oversample 2",
     "cell,misset,ncells,fudge,detector"},
    {"Gauss",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 6 -gauss_xtal -lambda 1 "
     "-distance 60 -pixel 2 -detpixels 32 -oversample 2",
     "cell,misset,ncells,fudge,detector"},
    {"GaussMatrix",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 6 -gauss_xtal -Ncells_def 1 -2 "
     "0.5 "
     "-lambda 1 -distance 60 -pixel 2 -detpixels 32 -oversample 2",
     "cell,misset,ncells,fudge,detector"},
    {"Gain",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 5 -gain 3 -lambda 1 -distance 60 "
     "-pixel 2 -detpixels 32 -oversample 2 -water 20",
     "cell,gain,fluence,water,distance"},
    {"MosaicEllipsoid",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 5 -lambda 1 -distance 60 -pixel 2 "
     "-detpixels 32 -oversample 2 -mosaic_abc 0.3 0.5 0.8 -mosaic_domains 6 -phi 10 -osc 1 "
     "-phisteps 2",
     "cell,misset,mosaic,goniometer"},
    {"Diffuse",
     "-cell 40 40 60 90 90 120 -misset 10 20 30 -default_F 10 -N 5 -lambda 1 -distance 60 -pixel 2 "
     "-detpixels 32 -oversample 2 -diffuse_gamma 20 30 40 -diffuse_sigma 0.3 0.4 0.5 -laue_group 9",
     // By others the image has jumps, where the nearest reflection changes.
     "diffuse,ncells,fluence"},
    {"Curved",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 5 -curved_det -lambda 1 "
     "-distance 60 -pixel 2 -detpixels 32 -oversample 2",
     "cell,misset,detector"},
    {"ThickAndTilted",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 5 -lambda 1 -distance 60 -pixel 2 "
     "-detpixels 32 -detector_rotx 15 -detector_roty -10 -twotheta 20 -detector_abs 200 "
     "-detector_thick 450 -detector_thicksteps 4 -oversample_thick -oversample_polar "
     "-oversample_omega -oversample 2",
     "cell,misset,detector,sensor"},
    {"Cutoff",
     "-cell 40 50 60 80 95 105 -misset 10 20 30 -default_F 10 -N 5 -lambda 1 -distance 60 "
     "-pixel 2 -detpixels 32 -dmin 2 -oversample 2",
     "cell,misset,detector"},
};

TEST_P(GradCheck, NamedExperiments) {
  for (const Named &named : experiments) {
    SCOPED_TRACE(named.name);
    expectGradients(experimentFrom(named.flags), GetParam(), named.parameters, {});
  }
}

/// A grid, by both kinds of lookup, of which every kind of element is checked.
TEST_P(GradCheck, StructureFactors) {
  for (StructureFactors lookup : {StructureFactors::Nearest, StructureFactors::Tricubic}) {
    Experiment experiment = experimentFrom(
        "-cell 30 40 50 80 95 105 -misset 10 20 30 -default_F 10 -N 4 -lambda 1 -distance 60 "
        "-pixel 2 -detpixels 32 -mosaic 0.5 -mosaic_domains 2 -oversample 1");
    auto grid = std::make_shared<HklGrid>();
    *grid = {-9, 9, -12, 12, -15, 15, randomNumbers(19 * 25 * 31, 3)};
    for (double &f : grid->values)
      f = 10 + 100 * std::fabs(f);
    experiment.crystal.grid = grid;
    experiment.variant.structureFactors = lookup;
    expectGradients(experiment, GetParam(), "cell,misset,default_F,F,wavelength", {});
  }
}

TEST_P(GradCheck, ForwardMode) {
  CheckOptions options;
  options.mode = CheckMode::Forward;
  expectGradients(experimentFrom(everything), GetParam(), "cell,misset,mosaic,wavelength,detector",
                  options);
}

TEST_P(GradCheck, SecondOrder) {
  CheckOptions options;
  options.order = 2;
  expectGradients(experimentFrom(everything), GetParam(),
                  "cell_a,cell_beta,misset_x,wavelength,distance", options);
  // Elements of one array, two at a time.
  expectGradients(experimentFrom(everything), GetParam(), "beam_direction", options);
}

/// A detector that looks straight at a reflection whose peak is in the middle of a pixel.
TEST_P(GradCheck, AtAnExactBraggPeak) {
  const Experiment experiment = experimentFrom(
      "-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 1 -distance 100 -pixel 0.1 "
      "-detpixels 17 -oversample 1");
  expectGradients(experiment, GetParam(), "cell,misset,ncells,wavelength,detector", {});
}

} // namespace
} // namespace nanobragg
