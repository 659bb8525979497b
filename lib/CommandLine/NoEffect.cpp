#include "lib/CommandLine/NoEffect.h"

#include "lib/CommandLine/Exclusions.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

struct Situation {
  const CommandLine &line;
  const Options &options;
  const Inputs &inputs;

  bool oscGiven() const {
    return options.osc || (inputs.imageHeader && inputs.imageHeader->oscRange) ||
           (inputs.maskHeader && inputs.maskHeader->oscRange);
  }
};

struct IdleFlag {
  std::string_view flag; ///< its name in the flag table
  bool (*holds)(const Situation &);
  std::string_view why;
};

bool always(const Situation &) { return true; }

// Crystal.
bool noList(const Situation &s) { return !s.line.files.hkl && !s.line.files.hklChannels; }
bool notRandom(const Situation &s) { return !s.options.missetRandom; }
bool noMosaicSpread(const Situation &s) {
  return !(s.options.mosaicSpread.value_or(0) > 0) && !s.options.mosaicAbc;
}
/// A size along the axis beats the number of cells.
bool sized(const std::optional<double> &size) { return size.value_or(0) > 0; }

// Beam.
bool noFlux(const Situation &s) { return s.options.flux.value_or(0) == 0; }
bool sourcesListed(const Situation &s) { return !s.inputs.sources.empty(); }
/// A step without a range makes two of them, whatever number was asked for.
bool stepAlone(std::optional<double> range, std::optional<double> step) {
  return !range && step.value_or(0) > 0;
}

// Detector.
bool custom(const Situation &s) { return s.options.convention == Convention::Custom; }
bool notCustom(const Situation &s) { return !custom(s); }
bool aboutTheSample(const Situation &s) {
  return s.options.convention == Convention::Xds || s.options.convention == Convention::Dials;
}
bool aboutTheBeam(const Situation &s) { return !custom(s) && !aboutTheSample(s); }
bool pixelsKnown(const Situation &s, std::optional<std::int64_t> Options::*flag,
                 std::int64_t HeaderValues::*header) {
  std::int64_t pixels = 0;
  for (const auto *found : {&s.inputs.maskHeader, &s.inputs.imageHeader})
    if (*found)
      pixels = (**found).*header;
  return (s.options.*flag).value_or(pixels) > 0;
}
bool fastKnown(const Situation &s) {
  return pixelsKnown(s, &Options::fastPixels, &HeaderValues::fastPixels);
}
bool slowKnown(const Situation &s) {
  return pixelsKnown(s, &Options::slowPixels, &HeaderValues::slowPixels);
}
bool closeDistanceInHeader(const Situation &s) {
  return (s.inputs.maskHeader && s.inputs.maskHeader->closeDistance) ||
         (s.inputs.imageHeader && s.inputs.imageHeader->closeDistance);
}
bool transparent(const Situation &s) {
  const std::optional<double> depth = s.options.attenuationDepth;
  return depth && (*depth == 0 || std::isinf(*depth));
}
bool noThickness(const Situation &s) {
  const bool off = s.line.semantics.noAbsorption == Rule::C ? s.options.absorptionOffAfterThickness
                                                            : transparent(s);
  return off || s.options.thickness.value_or(0) == 0;
}

// Outputs and tools.
bool noNoise(const Situation &s) { return !s.line.outputs.noise; }
constexpr std::string_view noCounts = "no noise image is made";
bool noPointSpread(const Situation &s) { return s.options.pointSpread == PointSpread::None; }
bool noImage(const Situation &s) { return actionOf(s.line); }
bool noPgm(const Situation &s) { return !s.line.outputs.pgm; }
bool interprets(const Situation &s) {
  return s.line.tool.simulator.engine == Engine::Interpreter || s.line.tool.instruments.any();
}
bool culls(const Situation &s) { return s.line.tool.simulator.cull != CullSetting::off(); }

bool noBackground(const Situation &s) { return s.line.files.backgrounds.empty(); }
bool tablesIgnored(const Situation &s) { return s.line.semantics.backgroundTables == Rule::C; }
constexpr std::string_view ofBackground =
    "the table is read and checked, but with -compat c the background comes from -water alone";
constexpr std::string_view noTable = "there is no background table (-stol)";
bool noDiffuse(const Situation &s) { return !s.options.diffuseGamma; }
constexpr std::string_view besideSources = "the sources are those of -sourcefile";
constexpr std::string_view byConvention =
    "the detector convention that follows it decides all vectors";
constexpr std::string_view useOrg =
    "it does not move the detector in this convention; use -ORGX -ORGY";
constexpr std::string_view useBeam =
    "it does not move the detector in this convention; use -Xbeam -Ybeam";

constexpr IdleFlag idleFlags[] = {
    // Crystal.
    {"-misset_seed", notRandom, "there is no -misset random"},
    {"-Na", [](const Situation &s) { return sized(s.options.sampleX); },
     "the crystal's size along a is given"},
    {"-Nb", [](const Situation &s) { return sized(s.options.sampleY); },
     "the crystal's size along b is given"},
    {"-Nc", [](const Situation &s) { return sized(s.options.sampleZ); },
     "the crystal's size along c is given"},
    {"-N",
     [](const Situation &s) {
       return sized(s.options.sampleX) || sized(s.options.sampleY) || sized(s.options.sampleZ);
     },
     "along an axis whose crystal size is given the size decides"},
    {"-fudge", [](const Situation &s) { return s.options.shape == CrystalShape::Square; },
     "a -square_xtal has no spot radius"},
    {"-mosaic_domains",
     [](const Situation &s) {
       return noMosaicSpread(s) && s.options.mosaicDomains.value_or(0) > 0;
     },
     "without mosaic spread there is one domain"},
    {"-mosaic_seed", noMosaicSpread, "there is no mosaic spread"},
    {"--b-sol", [](const Situation &s) { return s.options.solventDensity == 0; },
     "there is no bulk solvent without --k-sol"},
    {"--channel-weights", [](const Situation &s) { return !s.line.files.hklChannels; },
     "there are no --hkl-channels"},
    {"--hkl-dmin", noList, "there is no model in -hkl"},
    {"--k-sol", noList, "there is no model in -hkl"},
    {"--no-anomalous", noList, "there is no model in -hkl"},
    {"--no-anomalous", [](const Situation &s) { return s.line.files.anomalousAtoms.has_value(); },
     "f' and f'' are those of --anomalous-atoms alone"},
    {"--osc-per-frame", [](const Situation &s) { return !s.line.series.frames; },
     "there is no series (--frames)"},
    {"--resume", [](const Situation &s) { return !s.line.series.any(); },
     "there is no series (--frames, --shots)"},
    {"--shard", [](const Situation &s) { return !s.line.series.any(); },
     "there is no series (--frames, --shots)"},
    {"--deal", [](const Situation &s) { return !s.line.series.shard; }, "there is no --shard"},
    {"--write-shots", [](const Situation &s) { return !s.line.series.shots; },
     "there are no --shots"},
    {"--nexus-bitshuffle", [](const Situation &s) { return !s.line.outputs.nexusFile; },
     "there is no --nexus"},
    {"--png-rings", [](const Situation &s) { return !s.line.outputs.pngFile; },
     "there is no --png"},
    {"-interpolate",
     [](const Situation &s) { return !s.inputs.grid && s.options.interpolate.value_or(false); },
     "there is no -hkl"},
    {"-mosaic", [](const Situation &s) { return bool(s.options.mosaicAbc); },
     "-mosaic_abc takes its place"},
    {"-laue_group", noDiffuse, "there is no diffuse scattering (-diffuse_gamma)"},
    {"-density", noBackground, noTable},
    {"-MW", noBackground, noTable},
    {"-thickness", noBackground, noTable},
    {"-background_oversample", noBackground, noTable},

    // Beam and spindle.
    {"-divergence", sourcesListed, besideSources},
    {"-hdivrange", sourcesListed, besideSources},
    {"-vdivrange", sourcesListed, besideSources},
    {"-hdivstep", sourcesListed, besideSources},
    {"-vdivstep", sourcesListed, besideSources},
    {"-divsteps", sourcesListed, besideSources},
    {"-dispersion", sourcesListed, besideSources},
    {"-dispsteps", sourcesListed, besideSources},
    {"-hdivsteps", sourcesListed, besideSources},
    {"-vdivsteps", sourcesListed, besideSources},
    {"-hdivsteps",
     [](const Situation &s) {
       return !sourcesListed(s) && stepAlone(s.options.hdivRange, s.options.hdivStep);
     },
     "-hdivstep without -hdivrange makes two sources"},
    {"-vdivsteps",
     [](const Situation &s) {
       return !sourcesListed(s) && stepAlone(s.options.vdivRange, s.options.vdivStep);
     },
     "-vdivstep without -vdivrange makes two sources"},
    {"-dispsteps",
     [](const Situation &s) { return !sourcesListed(s) && s.options.dispersion.value_or(0) == 0; },
     "there is no -dispersion"},
    {"-square_div",
     [](const Situation &s) {
       return !s.options.roundDivergence &&
              (s.options.hdivRange.value_or(0) == 0 || s.options.vdivRange.value_or(0) == 0);
     },
     "only a beam that diverges both ways has corners"},
    {"-fluence", [](const Situation &s) { return !noFlux(s); }, "-flux decides the fluence"},
    {"-exposure", [](const Situation &s) { return noFlux(s) && !s.options.deadTime; },
     "there is neither a -flux nor a -dead_time"},
    {"-beamsize",
     [](const Situation &s) {
       return noFlux(s) && !s.options.sampleY && !s.options.sampleZ && noBackground(s);
     },
     "there is neither a -flux nor a crystal size nor a background table"},
    {"-polar", [](const Situation &s) { return s.options.noPolarization; },
     "a later -nopolar switches polarization off"},
    {"-nopolar", [](const Situation &s) { return !s.options.noPolarization; },
     "a later -polar switches polarization back on"},
    {"-nopolar",
     [](const Situation &s) { return s.options.noPolarization && s.options.oversamplePolar; },
     "-oversample_polar asks for polarization"},
    {"-phisteps",
     [](const Situation &s) { return !s.oscGiven() && s.options.phiStep.value_or(0) > 0; },
     "-phistep without -osc makes two steps"},
    {"-coherent", always, "samples are always added incoherently"},
    {"-stol", tablesIgnored, ofBackground},
    {"-4stol", tablesIgnored, ofBackground},
    {"-Q", tablesIgnored, ofBackground},
    {"-lambda_offset", [](const Situation &s) { return !sourcesListed(s); },
     "it is for listed sources (-sourcefile, --spectrum); use -lambda"},
    {"-lambda_scale", [](const Situation &s) { return !sourcesListed(s); },
     "it is for listed sources (-sourcefile, --spectrum); use -lambda"},
    {"-stolout", always, "this file is never written"},

    // Detector.
    {"-fdet_vector", notCustom, byConvention},
    {"-sdet_vector", notCustom, byConvention},
    {"-odet_vector", notCustom, byConvention},
    {"-beam_vector", notCustom, byConvention},
    {"-polar_vector", notCustom, byConvention},
    {"-spindle_axis", notCustom, byConvention},
    {"-twotheta_axis", notCustom, byConvention},
    {"-twotheta_axis",
     [](const Situation &s) { return custom(s) && s.options.twotheta.value_or(0) == 0; },
     "there is no -twotheta"},
    {"-pix0_vector", notCustom, byConvention},
    {"-pix0_vector", custom,
     "its value is not used, it only selects the custom convention; use -distance and -Xbeam "
     "-Ybeam"},
    {"-pivot", notCustom, "the detector convention decides what the detector turns about"},
    {"-Xbeam", aboutTheSample, useOrg},
    {"-Ybeam", aboutTheSample, useOrg},
    {"-Xclose", aboutTheSample, useOrg},
    {"-Yclose", aboutTheSample, useOrg},
    {"-ORGX", aboutTheBeam, useBeam},
    {"-ORGY", aboutTheBeam, useBeam},
    {"-Xclose", aboutTheBeam, useBeam},
    {"-Yclose", aboutTheBeam, useBeam},
    {"-Xclose", [](const Situation &s) { return custom(s) && s.options.xBeam; }, "-Xbeam beats it"},
    {"-Yclose", [](const Situation &s) { return custom(s) && s.options.yBeam; }, "-Ybeam beats it"},
    {"-ORGX", [](const Situation &s) { return custom(s) && (s.options.xBeam || s.options.xClose); },
     "-Xbeam and -Xclose beat it"},
    {"-ORGY", [](const Situation &s) { return custom(s) && (s.options.yBeam || s.options.yClose); },
     "-Ybeam and -Yclose beat it"},
    {"-distance", [](const Situation &s) { return bool(s.options.closeDistance); },
     "-close_distance beats it"},
    {"-distance",
     [](const Situation &s) { return !s.options.closeDistance && closeDistanceInHeader(s); },
     "the image header has a close distance; use -close_distance"},
    {"-detsize", [](const Situation &s) { return fastKnown(s) && slowKnown(s); },
     "the number of pixels is known"},
    {"-detsize_f", fastKnown, "the number of pixels is known"},
    {"-detsize_s", slowKnown, "the number of pixels is known"},
    {"-detector_absorb", [](const Situation &s) { return noThickness(s) && !transparent(s); },
     "there is no -detector_thick"},
    {"-detector_thicksteps", noThickness, "there is no -detector_thick"},
    {"-oversample_thick",
     [](const Situation &s) {
       return noThickness(s) && s.line.semantics.noAbsorption == Rule::Right;
     },
     "there is no -detector_thick"},

    // Detector response.
    {"-psf_fwhm", noPointSpread, "there is no -psf"},
    {"-psf_radius", noPointSpread, "there is no -psf"},
    {"-flicker", noNoise, noCounts},
    {"-calibration", noNoise, noCounts},
    {"-calib_seed", noNoise, noCounts},
    {"-calib_seed",
     [](const Situation &s) {
       const NoiseModel model = noiseModel(s.line);
       return s.line.outputs.noise && model.calibration == 0 && model.deadPixels == 0 &&
              model.hotPixels == 0;
     },
     "there is neither a -calibration nor --dead-pixels nor --hot-pixels"},
    {"-readout_noise", noNoise, noCounts},
    {"--dead-pixels", noNoise, noCounts},
    {"--hot-pixels", noNoise, noCounts},
    {"-bits", noNoise, noCounts},
    {"-overload", noNoise, noCounts},
    {"--noise", noNoise, noCounts},
    {"--noise-shot", noNoise, noCounts},
    {"--noise-shot",
     [](const Situation &s) {
       return s.line.outputs.noise && noiseModel(s.line).generator == NoiseGenerator::Serial;
     },
     "serial noise knows no shots, only -seed"},
    {"--detector-order", noNoise, noCounts},

    // Outputs and tools.
    {"-seed", noNoise, "no noise image is made"},
    {"-noisefile", noNoise, "a later -nonoise switches the noise image off"},
    {"-nonoise", [](const Situation &s) { return s.line.outputs.noise; },
     "a later -noisefile switches the noise image back on"},
    {"-pgmfile", noPgm, "a later -nopgm switches the grey image off"},
    {"-pgmscale", noPgm, "a later -nopgm switches the grey image off"},
    {"-nopgm", [](const Situation &s) { return s.line.outputs.pgm; },
     "a later -pgmfile or -pgmscale switches the grey image back on"},
    {"--json",
     [](const Situation &s) {
       return s.line.tool.instruments.probe.empty() && !s.line.tool.gradient;
     },
     "there is neither a --probe nor a --grad"},
    {"--loss", [](const Situation &s) { return !s.line.tool.gradient; }, "there is no --grad"},
    {"--out", [](const Situation &s) { return !s.line.tool.jacobian; }, "there is no --jacobian"},
    {"--compare-tolerance", [](const Situation &s) { return !s.line.tool.compareEngines; },
     "there is no --compare-engines"},
    {"--precision",
     [](const Situation &s) {
       return interprets(s) && s.line.tool.simulator.precision != Precision::F64;
     },
     "the interpreter computes in f64"},
    {"--cbf", noImage, "this run writes no image"},
    {"--nexus", noImage, "this run writes no image"},
    {"--write-expt", noImage, "this run writes no image"},
    {"--write-refl", noImage, "this run writes no image"},
    {"--write-stream", noImage, "this run writes no image"},
    {"--cull", [](const Situation &s) { return interprets(s) && culls(s); },
     "the interpreter computes all samples"},
    {"--cull",
     [](const Situation &s) {
       return culls(s) && !interprets(s) && s.line.tool.simulator.precision == Precision::F32;
     },
     "f32 computes all samples"},
    {"-floatfile", noImage, "this run writes no image"},
    {"-intfile", noImage, "this run writes no image"},
    {"-pgmfile", noImage, "this run writes no image"},
    {"-noisefile", noImage, "this run writes no image"},
    {"--png", noImage, "this run writes no image"},
    {"--no-fallback", [](const Situation &s) { return !s.line.tool.simulator.kernelFile.empty(); },
     "--kernel names the kernel"},
    {"--no-fallback",
     [](const Situation &s) { return s.line.tool.simulator.engine == Engine::Interpreter; },
     "--no-fuse asks for the interpreter"},
};

} // namespace

std::vector<std::string_view> flagsThatMayHaveNoEffect() {
  std::vector<std::string_view> flags;
  for (const IdleFlag &idle : idleFlags)
    flags.push_back(idle.flag);
  return flags;
}

std::vector<std::string> flagsOfImageFiles(const CommandLine &line) {
  std::vector<std::string> flags;
  for (const GivenFlag &given : line.given)
    if (std::any_of(std::begin(idleFlags), std::end(idleFlags), [&](const IdleFlag &idle) {
          return idle.flag == given.name && idle.holds == &noImage;
        }))
      flags.push_back(given.spelling);
  return flags;
}

std::vector<std::string> flagsWithoutEffect(const CommandLine &line, const Inputs &inputs) {
  const Situation situation{line, line.options, inputs};
  std::vector<std::string> warnings;
  for (const IdleFlag &idle : idleFlags) {
    const auto given = std::find_if(line.given.begin(), line.given.end(),
                                    [&](const GivenFlag &flag) { return flag.name == idle.flag; });
    if (given != line.given.end() && idle.holds(situation))
      warnings.push_back(given->spelling + " has no effect: " + std::string(idle.why));
  }
  return warnings;
}

} // namespace nanobragg
