#include "tools/shared/RunSetup.h"

#include "lib/CommandLine/Schedule.h"
#include "lib/Experiment/Culling.h"
#include "lib/Experiment/Precision.h"
#include "lib/Experiment/Printable.h"
#include "runtime/gpu/DevicePlacement.h"
#include "runtime/kernels/HklCache.h"
#include "runtime/kernels/TunedSchedules.h"
#include "runtime/simulator/Placement.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace nanobragg {

RunSetup::RunSetup(CommandLine commandLine)
    : line(std::move(commandLine)), loaded(loadInputs(line, {}, HklCache::fromEnvironment().get())),
      complete(completeExperiment(line, loaded)) {
  line.tool.simulator.pixels = loadPixelList(line, complete.experiment);
}

SimulatorOptions RunSetup::simulatorOptions(KernelProvider &kernels) const {
  SimulatorOptions options = line.tool.simulator;
  options.threads = requestedThreads(line.tool);
  options.once = true;
  if (line.tool.instruments.any())
    options.engine = Engine::Interpreter; // no kernel lets anybody look
  options.kernels = &kernels;
  options.passes = ownPasses();
  options.keptSchedule = false; // takeTunedSchedule has had its say
  return options;
}

/// Does the processor make the image for certain?
static bool isForProcessor(const std::string &device) {
  KernelRequest request;
  request.choice = DeviceChoice::parse(device.empty() ? "auto" : device);
  if (request.choice.kind != DeviceChoice::Kind::Auto)
    return request.choice.kind == DeviceChoice::Kind::Cpu;
  findDevice(request);
  return !request.gpu;
}

static ProgramVariant variantFor(const SimulatorOptions &options, const Experiment &experiment) {
  ProgramVariant variant = experiment.variant;
  variant.cull = cullFor(options.cull, experiment);
  return variant;
}

void RunSetup::takeTunedSchedule() {
  const ToolOptions &tool = line.tool;
  const SimulatorOptions &simulator = tool.simulator;
  const auto says = [&](const char *flag) {
    return std::any_of(line.given.begin(), line.given.end(),
                       [&](const GivenFlag &given) { return given.name == flag; });
  };
  // The schedule was measured with images, and changes what a program looks like on its way.
  const bool image = !tool.gradient && !tool.jacobian && !tool.compareEngines &&
                     !tool.listParameters && !line.files.pixels && !tool.instruments.any() &&
                     tool.until.empty() && tool.emit != Emit::Nb && tool.emit != Emit::Mlir;
  if (!image || says("--schedule") || simulator.passes.any() || !simulator.kernelFile.empty() ||
      simulator.engine == Engine::Interpreter || compilationDisabled())
    return;
  const auto schedules = TunedSchedules::fromEnvironment();
  if (!schedules)
    return;
  const auto found =
      schedules->find(variantFor(simulator, complete.experiment).toString(), simulator.precision);
  // A schedule sets the precision; crystals of a series may be too large for it.
  const bool precise =
      simulator.precision == "f64" ||
      (!line.series.any() &&
       simulator.precision == precisionFor(simulator.precision, complete.experiment));
  if (!found || !precise || !isForProcessor(simulator.device))
    return;
  line.tool.simulator.passes.pipeline = *found;
  line.tool.simulator.passes.precision = simulator.precision;
  tuned = true;
  if (!tool.quiet)
    tellPasses(
        "with the schedule that nb-try --tune has kept for such images; --schedule=none does "
        "without");
}

OwnPasses RunSetup::ownPasses() const {
  const SimulatorOptions &simulator = line.tool.simulator;
  OwnPasses passes = readSchedule(
      simulator.passes, variantFor(simulator, complete.experiment).toString(), simulator.precision);
  if (const std::string precise = precisionFor(simulator.precision, complete.experiment);
      !tuned && !line.series.any() && !passes.precision.empty() && passes.precision != precise)
    throw UsageError(
        "--schedule is for --precision=" + passes.precision + ", and this crystal is computed in " +
        precise + ", since " + passes.precision +
        " does not keep its bound; leave the schedule out, or make one with --precision=" +
        precise);
  if (passes.any() && !tuned && !line.tool.quiet)
    passes.tell = tellPasses;
  return passes;
}

void tellPasses(const std::string &line) {
  std::fprintf(stderr, "NOTE: %s\n", printable(line).c_str());
}

std::vector<std::string> RunSetup::warnings() const {
  std::vector<std::string> all = loaded.warnings;
  all.insert(all.end(), complete.warnings.begin(), complete.warnings.end());
  return all;
}

std::vector<std::string> RunSetup::notices() const {
  std::vector<std::string> names = loaded.notices, lines;
  names.insert(names.end(), complete.notices.begin(), complete.notices.end());
  for (const SemanticSwitch &s : semanticSwitches())
    if (std::find(names.begin(), names.end(), s.name) != names.end())
      lines.push_back(std::string("default semantics differ from the C program here (") + s.name +
                      "): " + s.right + "; -compat c instead " + s.cProgram);
  lines.insert(lines.end(), loaded.remarks.begin(), loaded.remarks.end());
  lines.insert(lines.end(), complete.notes.begin(), complete.notes.end());
  const SimulatorOptions &simulator = line.tool.simulator;
  if (!simulator.cull.empty() && simulator.cull != "off" &&
      cullFor(simulator.cull, complete.experiment) == "off")
    lines.push_back("--cull=" + simulator.cull +
                    " leaves out no sample: looking for those with light would take longer here "
                    "than computing all of them");
  if (precisionFor(simulator.precision, complete.experiment) != simulator.precision) {
    const bool tophat = complete.experiment.variant.shape == CrystalShape::Tophat;
    lines.push_back("--precision=" + simulator.precision +
                    (tophat ? " is slower than f64 for a tophat, and may miss its rim; "
                            : " keeps its bound up to " +
                                  std::to_string(mostCellsOfMixed(complete.experiment)) +
                                  " cells along an axis; ") +
                    (!simulator.kernelFile.empty()
                         ? "the kernel of --kernel computes with it all the same"
                     : tophat ? "it is computed in f64"
                              : "this larger crystal is computed in f64"));
  }
  return lines;
}

void RunSetup::tell() const {
  if (line.tool.quiet)
    return;
  std::fflush(stdout);
  for (const std::string &warning : warnings())
    std::fprintf(stderr, "WARNING: %s\n", printable(warning).c_str());
  for (const std::string &notice : notices())
    std::fprintf(stderr, "NOTE: %s\n", printable(notice).c_str());
}

void RunSetup::tellFallbacks(const Simulator &simulator, const char *does) const {
  if (line.tool.quiet)
    return;
  if (const auto &reason = simulator.deviceFallbackReason())
    std::fprintf(stderr,
                 "WARNING: the GPU cannot be used (%s); the processor %s instead; --device=cuda "
                 "makes this an error\n",
                 printable(*reason).c_str(), does);
  if (const auto &reason = simulator.fallbackReason())
    std::fprintf(stderr,
                 "WARNING: the kernel cannot be compiled (%s); the interpreter %s instead, more "
                 "slowly; --no-fallback makes this an error\n",
                 printable(*reason).c_str(), does);
}

int requestedThreads(const ToolOptions &tool) {
  if (tool.simulator.threads > 0)
    return tool.simulator.threads;
  const char *text = std::getenv("OMP_NUM_THREADS");
  const int number = text ? std::atoi(text) : 0;
  return std::max(number, 0);
}

} // namespace nanobragg
