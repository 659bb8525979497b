#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <stdexcept>

namespace nanobragg {
namespace {

/// chooseDefaults() throws one sentence that names the flag.
void expectRefused(const char *flag, const std::function<void(Options &, Inputs &)> &change) {
  Options options = cubic();
  Inputs inputs;
  change(options, inputs);
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    EXPECT_THAT([&] { chooseDefaults(fromFlagUnits(options), inputs, semantics); },
                testing::ThrowsMessage<std::invalid_argument>(testing::AllOf(
                    testing::HasSubstr(flag), testing::Not(testing::HasSubstr("\n")))))
        << flag;
}

#define REFUSED(flag, change)                                                                      \
  expectRefused(flag, []([[maybe_unused]] Options &o, [[maybe_unused]] Inputs &in) { change; })

TEST(Impossible, Detector) {
  REFUSED("-pixel", o.pixelSize = -0.1);
  REFUSED("-pixel", o.pixelSize = 0);
  REFUSED("-pixel", o.pixelSize = NAN);
  REFUSED("-detpixels_f", o.fastPixels = -4);
  REFUSED("-detsize_s", o.detSizeSlow = -1);
  REFUSED("-detsize_f", o.detSizeFast = 0.01);
  REFUSED("-detpixels", o.fastPixels = o.slowPixels = 100000);
  REFUSED("-distance", o.distance = 0);
  REFUSED("-distance", o.distance = -100);
  REFUSED("-close_distance", o.closeDistance = 0);
  REFUSED("-detector_rotx", o.rotX = INFINITY);
  REFUSED("-twotheta", o.twotheta = NAN);
  REFUSED("-Xbeam", o.xBeam = NAN);
  REFUSED("-ORGY", o.orgY = INFINITY);
  REFUSED("-detector_thick", o.thickness = -1);
  REFUSED("-detector_abs", o.attenuationDepth = -300);
  REFUSED("-oversample", o.oversample = 1000000);
  REFUSED("-dmin", o.dmin = -2);
  REFUSED("-gain", o.gain = 0);
  REFUSED("-gain", o.gain = NAN);
  REFUSED("-gain_map", (o.fastPixels = o.slowPixels = 2, in.gainMap = GainMapImage{2, 1, {1, 1}}));
  REFUSED("-gain_map",
          (o.fastPixels = o.slowPixels = 1, in.gainMap = GainMapImage{1, 1, {INFINITY}}));
}

TEST(Impossible, Vectors) {
  REFUSED("-fdet_vector", (o.convention = Convention::Custom, o.fastAxis = Vec3{0, 0, 0}));
  REFUSED("-beam_vector", (o.convention = Convention::Custom, o.beamVector = Vec3{0, NAN, 0}));
  REFUSED("-sdet_vector", (o.convention = Convention::Custom, o.slowAxis = Vec3{0, 0, 1}));
  REFUSED("-polar_vector",
          (o.convention = Convention::Custom, o.beamVector = Vec3{0, 0, 1}, o.polarization = 0.9));
  REFUSED("panel 0", o.panels.resize(1));
}

TEST(Impossible, Crystal) {
  REFUSED("-cell", o.cell.reset());
  REFUSED("-cell", (o.cell = {{0, 10, 10, 90, 90, 90}}));
  REFUSED("-cell", (o.cell = {{10, 10, 10, 10, 10, 170}}));
  REFUSED("-cell", (o.cell = {{10, 10, 10, 120, 120, 120}}));
  REFUSED("-cell", (o.cell = {{10, 10, 10, 200, 90, 90}}));
  REFUSED("-cell", (o.cell = {{NAN, 10, 10, 90, 90, 90}}));
  REFUSED("-Ncells_def", (o.ncellsDef = {{1, 0, 0}}));
  REFUSED("-Ncells_def",
          (o.shape = CrystalShape::Gauss, o.ncellsDef = {{5, 0, 0}}, o.na = o.nb = 5));
  REFUSED("-Ncells_def", (o.shape = CrystalShape::Gauss, o.ncellsDef = {{0, NAN, 0}}));
  REFUSED("-mat", in.mosflmMatrix = Mat3{});
  REFUSED("-mat", (in.mosflmMatrix = Mat3{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  REFUSED("-misset", (o.misset = Vec3{NAN, 0, 0}));
  REFUSED("-N", o.nb = -5);
  REFUSED("-xtal_width", o.sampleY = -1);
  REFUSED("-fudge", o.fudge = -1);
  REFUSED("-default_F", o.defaultF = NAN);
  REFUSED("-hkl", o.defaultF = 0);
  REFUSED("-mosaic", o.mosaicSpread = NAN);
  REFUSED("-oversample", o.na = 1000000000);
}

TEST(Impossible, Beam) {
  REFUSED("-lambda", o.lambda = 0);
  REFUSED("-lambda", o.lambda = -1);
  REFUSED("-energy", o.energy = 0);
  REFUSED("-energy", (o.lambda = 1, o.energy = 12000));
  REFUSED("-dispersion", o.dispersion = 250);
  REFUSED("-divsteps", o.hdivSteps = o.vdivSteps = 1); // at the corner of a radian's square
  REFUSED("-hdivstep", (o.hdivRange = 1, o.hdivStep = 1e-12));
  REFUSED("-divergence_sigma", o.vdivSigma = -1);
  REFUSED("-fluence", o.fluence = -1);
  REFUSED("-flux", o.flux = -1e12);
  REFUSED("-beamsize", (o.flux = 1e12, o.beamSize = 0));
  REFUSED("-polar", o.polarization = NAN);
  REFUSED("-water", o.water = -5);
  REFUSED("-sourcefile", (in.sources.resize(1), in.sources[0].position = {0, 0, 0}));
  REFUSED("-sourcefile", (in.sources.resize(1), in.sources[0].wavelength = 0));
  REFUSED("-sourcefile", (in.sources.resize(1), in.sources[0].weight = -1));
}

TEST(Impossible, NoWeightAtAll) {
  Inputs inputs;
  inputs.sources.resize(1);
  inputs.sources[0].weight = 0;
  EXPECT_THROW(completeRight(cubic(), inputs), std::invalid_argument);
  EXPECT_EQ(completeC(cubic(), inputs).experiment.beam.sourceWeight[0], 1);
}

TEST(Impossible, Sampling) {
  REFUSED("-osc", o.osc = NAN);
  REFUSED("-phistep", (o.osc = 90, o.phiStep = 1e-12));
  REFUSED("-phisteps", o.phiSteps = 2000000000);
  REFUSED("-mosaic_domains", (o.mosaicSpread = 1, o.mosaicDomains = 2000000000));
  REFUSED("samples per pixel",
          (o.mosaicSpread = 1, o.mosaicDomains = 1000, o.phiSteps = 1000, o.oversample = 100));
  REFUSED("-mask", (in.mask = MaskImage{2, 2, {1, 1, 1, 1}}));
}

#undef REFUSED

} // namespace
} // namespace nanobragg
