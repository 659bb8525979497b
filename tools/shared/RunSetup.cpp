#include "tools/shared/RunSetup.h"

#include "lib/Quantities/Printable.h"
#include "lib/Runs/ExperimentOf.h"
#include "lib/Runs/Schedule.h"
#include "runtime/kernels/HklCache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace nanobragg {

RunSetup::RunSetup(const CommandLine &commandLine)
    : line(commandLine), tables(readTables(line)),
      loaded(loadInputs(line, tables, HklCache::fromEnvironment().get())),
      complete(completeExperiment(line, loaded)) {
  line.options = loaded.options; // shots and frames change these, whoever said them
  const ToolOptions &tool = line.tool;
  SimulatorOptions &simulator = line.tool.simulator;
  if (tool.instruments.any())
    simulator.engine = Engine::Interpreter; // kernels have no instruments
  // A schedule is kept for images, and changes what a program looks like on its way.
  simulator.keptSchedule &= !tool.gradient && !tool.jacobian && !tool.compareEngines &&
                            !tool.until.any() && tool.emit != Emit::Nb && tool.emit != Emit::Mlir;
  simulator.pixels = loadPixelList(line.files, complete.experiment);
  simulator.passes = readSchedule(std::move(simulator.passes));
  if (!tool.quiet)
    simulator.passes.tell = tellPasses;
  try {
    decided = decide(complete.experiment, simulator);
  } catch (const std::invalid_argument &error) {
    throw UsageError(error.what());
  }
}

SimulatorOptions RunSetup::simulatorOptions(KernelProvider &kernels) const {
  SimulatorOptions options = line.tool.simulator;
  options.threads = requestedThreads(line.tool);
  options.once = true;
  options.kernels = &kernels;
  return options;
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
                      "): nb-sim " + s.right + "; the C program (and -compat c) " + s.cProgram);
  lines.insert(lines.end(), loaded.remarks.begin(), loaded.remarks.end());
  lines.insert(lines.end(), complete.notes.begin(), complete.notes.end());
  lines.insert(lines.end(), decided.notes.begin(), decided.notes.end());
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
                 "slowly, as --fallback allows\n",
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
