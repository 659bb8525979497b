#include "lib/CommandLine/NoEffect.h"

#include "lib/CommandLine/Exclusions.h"

#include <algorithm>

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
bool noNoise(const Situation &s) { return !s.line.outputs.noise; }
bool interprets(const ToolOptions &tool) {
  return tool.engine == Engine::Interpreter || tool.probe || tool.checkFinite;
}
bool noImage(const Situation &s) { return actionOf(s.line); }
bool noPgm(const Situation &s) { return !s.line.outputs.pgm; }
bool custom(const Situation &s) { return s.options.convention == Convention::Custom; }
/// A step without a range makes two of them, whatever number was asked for.
bool stepAlone(std::optional<double> range, std::optional<double> step) {
  return !range && step.value_or(0) > 0;
}

constexpr IdleFlag idleFlags[] = {
    {"-coherent", always, "samples are always added incoherently"},
    {"-density", always, "the crystal's density is not used"},
    {"-MW", always, "the molecular weight is not used"},
    {"-stol", always, "the table is read and checked, but the background comes from -water alone"},
    {"-4stol", always, "the table is read and checked, but the background comes from -water alone"},
    {"-Q", always, "the table is read and checked, but the background comes from -water alone"},
    {"-stolout", always, "this file is never written"},
    {"-dispsteps", [](const Situation &s) { return s.options.dispersion.value_or(0) == 0; },
     "there is no -dispersion"},
    {"-square_div",
     [](const Situation &s) {
       return !s.options.roundDivergence &&
              (s.options.hdivRange.value_or(0) == 0 || s.options.vdivRange.value_or(0) == 0);
     },
     "only a beam that diverges both ways has corners"},
    {"-hdivsteps",
     [](const Situation &s) { return stepAlone(s.options.hdivRange, s.options.hdivStep); },
     "-hdivstep without -hdivrange makes two sources"},
    {"-vdivsteps",
     [](const Situation &s) { return stepAlone(s.options.vdivRange, s.options.vdivStep); },
     "-vdivstep without -vdivrange makes two sources"},
    {"-phisteps",
     [](const Situation &s) { return !s.oscGiven() && s.options.phiStep.value_or(0) > 0; },
     "-phistep without -osc makes two steps"},
    {"-beamsize",
     [](const Situation &s) {
       return s.options.flux.value_or(0) == 0 && !s.options.sampleY && !s.options.sampleZ;
     },
     "there is neither a -flux nor a crystal size"},
    {"-polar", [](const Situation &s) { return s.options.noPolarization; },
     "a later -nopolar switches polarization off"},
    {"-nopolar", [](const Situation &s) { return !s.options.noPolarization; },
     "a later -polar switches polarization back on"},
    {"-twotheta_axis",
     [](const Situation &s) { return custom(s) && s.options.twotheta.value_or(0) == 0; },
     "there is no -twotheta"},
    {"-Xclose", [](const Situation &s) { return custom(s) && s.options.xBeam; }, "-Xbeam beats it"},
    {"-Yclose", [](const Situation &s) { return custom(s) && s.options.yBeam; }, "-Ybeam beats it"},
    {"-ORGX", [](const Situation &s) { return custom(s) && (s.options.xBeam || s.options.xClose); },
     "-Xbeam and -Xclose beat it"},
    {"-ORGY", [](const Situation &s) { return custom(s) && (s.options.yBeam || s.options.yClose); },
     "-Ybeam and -Yclose beat it"},
    {"-seed", noNoise, "no noise image is made"},
    {"-noisefile", noNoise, "a later -nonoise switches the noise image off"},
    {"-nonoise", [](const Situation &s) { return s.line.outputs.noise; },
     "a later -noisefile switches the noise image back on"},
    {"-pgmfile", noPgm, "a later -nopgm switches the grey image off"},
    {"-pgmscale", noPgm, "a later -nopgm switches the grey image off"},
    {"-nopgm", [](const Situation &s) { return s.line.outputs.pgm; },
     "a later -pgmfile or -pgmscale switches the grey image back on"},
    {"-pivot", [](const Situation &s) { return s.options.convention != Convention::Custom; },
     "the detector convention decides what the detector turns about"},
    {"--json", [](const Situation &s) { return !s.line.tool.probe && !s.line.tool.gradient; },
     "there is neither a --probe nor a --grad"},
    {"--loss", [](const Situation &s) { return !s.line.tool.gradient; }, "there is no --grad"},
    {"--out", [](const Situation &s) { return !s.line.tool.jacobian; }, "there is no --jacobian"},
    {"--compare-tolerance", [](const Situation &s) { return !s.line.tool.compareEngines; },
     "there is no --compare-engines"},
    {"--precision", [](const Situation &s) {
       return interprets(s.line.tool) && s.line.tool.precision != "f64";
     },
     "the interpreter computes in f64"},
    {"-floatfile", noImage, "this run writes no image"},
    {"-intfile", noImage, "this run writes no image"},
    {"-pgmfile", noImage, "this run writes no image"},
    {"-noisefile", noImage, "this run writes no image"},
    {"--png", noImage, "this run writes no image"},
    {"--no-fallback", [](const Situation &s) { return bool(s.line.tool.kernelFile); },
     "--kernel names the kernel"},
    {"--no-fallback", [](const Situation &s) { return s.line.tool.engine == Engine::Interpreter; },
     "--no-fuse asks for the interpreter"},
};

} // namespace

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
