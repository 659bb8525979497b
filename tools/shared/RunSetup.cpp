#include "tools/shared/RunSetup.h"

#include "lib/Experiment/Parameters.h"
#include "lib/IO/ImageRegion.h"
#include "runtime/processor/KernelRunner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace nanobragg {

/// What one thread renders, at 4 ns each, while a GPU's driver starts.
static constexpr double samplesOfGpuStart = 5e7;

RunSetup::RunSetup(CommandLine commandLine)
    : line(std::move(commandLine)), loaded(loadInputs(line)),
      complete(chooseDefaults(line.options, loaded.inputs, line.semantics)) {}

KernelRequest RunSetup::kernelRequest() const {
  KernelRequest request;
  request.variant = complete.experiment.variant.toString();
  request.precision = line.tool.precision;
  request.choice = device();
  if (request.choice.kind == DeviceChoice::Kind::GpuOnCpu)
    request.target = "gpu-on-cpu";
  request.file = line.tool.kernelFile.value_or("");
  request.dumpIR = line.tool.dumpIr.value_or("");
  // Only the interpreter can look at what happens inside.
  if (line.tool.probe || line.tool.checkFinite)
    request.engine = Engine::Interpreter;
  else
    request.engine = line.tool.engine;
  if (request.engine == Engine::Fused)
    request.fixed = complete.experiment.fixedCounts();
  return request;
}

DeviceChoice RunSetup::device() const {
  // A kernel file says itself what it is for.
  const bool open = line.tool.device.kind == DeviceChoice::Kind::Auto && !line.tool.kernelFile;
  const double worthAGpu = samplesOfGpuStart * resolveThreads(requestedThreads(line.tool));
  return open && samples() < worthAGpu ? DeviceChoice{DeviceChoice::Kind::Cpu} : line.tool.device;
}

double RunSetup::samples() const {
  const Experiment &experiment = complete.experiment;
  const std::vector<std::uint8_t> &mask = experiment.detector.mask;
  std::size_t pixels = 0;
  io::ImageRegion::of(experiment).forEachPixel([&](std::size_t i) {
    pixels += mask.empty() || mask[i];
  });
  return double(pixels) * samplesPerPixel(experiment);
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
  lines.insert(lines.end(), complete.notes.begin(), complete.notes.end());
  return lines;
}

void RunSetup::tell() const {
  if (line.tool.quiet)
    return;
  std::fflush(stdout);
  for (const std::string &warning : warnings())
    std::fprintf(stderr, "WARNING: %s\n", warning.c_str());
  for (const std::string &notice : notices())
    std::fprintf(stderr, "NOTE: %s\n", notice.c_str());
}

int requestedThreads(const ToolOptions &tool) {
  if (tool.threads > 0)
    return int(tool.threads);
  const char *text = std::getenv("OMP_NUM_THREADS");
  const int number = text ? std::atoi(text) : 0;
  return std::max(number, 0);
}

} // namespace nanobragg
