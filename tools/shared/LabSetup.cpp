#include "tools/shared/LabSetup.h"

#include "lib/CommandLine/OwnFlags.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/Printable.h"
#include "lib/Runs/ExperimentOf.h"
#include "runtime/simulator/Placement.h"

#include <algorithm>
#include <cstdio>

namespace nanobragg {

using namespace mlir::nb;

/// For programs whose numbers are not given.
static const std::vector<std::string> smallExperiment = {
    "-default_F", "100",       "-cell", "70",         "80", "90",      "85",  "95",
    "100",        "-misset",   "10",    "20",         "30", "-N",      "5",   "-lambda",
    "1",          "-distance", "100",   "-detpixels", "64", "-mosaic", "0.5", "-mosaic_domains",
    "4"};

void LabWords::takeProgram() {
  if (experiment.empty() || !isProgramFile(experiment.front()))
    return;
  program = experiment.front();
  experiment.erase(experiment.begin());
}

/// The flags about passes describe no experiment.
static bool describesExperiment(const std::vector<std::string> &words) {
  const CommandLine line = parseCommandLine(words);
  for (const GivenFlag &flag : line.given)
    if (flag.name != "--plugin" && flag.name != "--patterns" && flag.name != "--precision" &&
        flag.name != "--quiet" && flag.name != "--device" && flag.name != "--pipeline")
      return true;
  return false;
}

static std::vector<std::string> wordsFor(const LabWords &words) {
  std::vector<std::string> all = words.experiment;
  if (!words.program.empty() && !describesExperiment(words.experiment))
    all.insert(all.begin(), smallExperiment.begin(), smallExperiment.end());
  return all;
}

LabSetup::LabSetup(const LabWords &words)
    : setup(parseExperiment(wordsFor(words))), subjectFromFile(!words.program.empty()) {
  const Experiment &experiment = setup.complete.experiment;
  const ToolOptions &tool = setup.line.tool;
  // As nb-sim decides.
  CompileOptions wanted = setup.decided.request;
  wanted.target = KernelTarget::fromString(words.target);
  wanted.passes = tool.simulator.passes;
  const DeviceChoice &device = tool.simulator.device;
  if (device.kind == DeviceChoice::Kind::GpuOnCpu)
    wanted.target = {.kind = KernelTarget::Kind::GpuOnCpu, .warp = device.warp};
  else if (device.kind == DeviceChoice::Kind::Gpu)
    throw UsageError(
        "--device=" + device.toString() +
        ": kernels are tried on the processor, to which gpu-on-cpu gives a GPU's program");
  if (words.program.empty() && tool.simulator.keptSchedule && !tool.simulator.passes.any() &&
      wanted.target == KernelTarget())
    kept = keptPipeline(setup.decided.request).value_or("");
  subject = words.program.empty() ? Subject::ofExperiment(experiment, wanted)
                                  : Subject::ofFile(words.program, experiment, wanted);
  options = trialOptionsOf(wanted, *subject);
  options.mostSeconds = words.mostSeconds;
  if (words.rtol > 0)
    options.tolerance.rtol = words.rtol;
  if (words.atolOfMax > 0)
    options.tolerance.atolOfMax = words.atolOfMax;
  if (!words.program.empty() && !describesExperiment(words.experiment) && !tool.quiet)
    std::fprintf(stderr, "NOTE: the arguments have the values of a small experiment; for others, "
                         "give flags of nb-sim after the file\n");
  if (const unsigned results = subject->function().getNumResults(); results > 1 && !tool.quiet)
    std::fprintf(stderr,
                 "NOTE: the function has %u results, of which the first is compared alone; nb-run "
                 "--compare-engines compares those of a function without an image\n",
                 results);
  lookWhereLightIs(*subject, options);
  subject->restrictTo(words.checkSamples);
  if (words.gradient.empty())
    options.gradientBy = subject->usualParameters(3);
  else if (words.gradient != "none")
    options.gradientBy = resolveParameters(words.gradient, experiment.variant);
}

void LabSetup::tell() const {
  if (!subjectFromFile) {
    setup.tell();
    return;
  }
  if (!setup.line.tool.quiet)
    for (const std::string &warning : setup.loaded.warnings)
      std::fprintf(stderr, "WARNING: %s\n", printable(warning).c_str());
}

} // namespace nanobragg
