// Nb-compile: kernels ahead of time.

#include "tools/shared/Main.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/OutputFile.h"
#include "lib/Files/TraceFile.h"
#include "lib/Noise/Photons.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Runs/ExperimentOf.h"
#include "lib/Runs/Schedule.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/kernels/KernelCache.h"
#include "runtime/kernels/KernelFolders.h"
#include "runtime/kernels/KernelText.h"
#include "runtime/simulator/Placement.h"
#include "tools/nb-compile/Command.h"
#include "tools/nb-compile/Inspect.h"
#include "tools/nb-compile/Specialize.h"
#include "tools/shared/RunSetup.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

using namespace nanobragg;

namespace {

struct Work {
  KernelRequest request;
  std::optional<Experiment> experiment;
};

Derivative derivativeOf(const CompileCommand &command, const ProgramVariant &variant) {
  if (command.mode == "none")
    return {};
  try {
    std::string names;
    for (const std::string &name : resolveParameters(command.parameters, variant))
      names += (names.empty() ? "" : ",") + name;
    return Derivative::fromString(command.mode + "(" + names + ")");
  } catch (const std::invalid_argument &error) {
    throw UsageError(std::string("--grad: ") + error.what());
  }
}

/// A number that is compiled in has no derivative.
void refuseFixedParameters(const KernelRequest &request) {
  for (const std::string &name : request.derivative.parameters)
    if (std::ranges::find(request.fixed, name, &FixedCount::name) != request.fixed.end())
      throw UsageError("--grad asks for the derivative with respect to " + name +
                       ", which --specialize compiles in: leave it out of one of them");
}

/// The part of the experiment that a kernel computes: photons, where they spread after that.
Experiment lightOf(const Experiment &experiment) {
  if (experiment.variant.pointSpread == PointSpread::None)
    return experiment;
  std::fputs("NOTE: the kernel makes photons; nb-sim with --kernel and the same flags spreads them "
             "(-psf), gains come after that\n",
             stderr);
  Experiment photons = photonsOf(experiment);
  photons.variant.imageType = ImageType::F64; // only the last image is rounded
  return photons;
}

Work workOf(const CompileCommand &command) {
  Work work;
  KernelRequest &request = work.request;
  if (command.program.empty()) {
    RunSetup setup(parseExperiment(command.experiment));
    const trace::Span span("run", "decide on the kernel");
    SimulatorOptions &simulator = setup.line.tool.simulator;
    simulator.anyNumbers = true;
    Experiment &experiment = work.experiment.emplace(lightOf(setup.complete.experiment));
    if (const std::vector<PixelIndex> pixels = std::exchange(simulator.pixels, {}); !pixels.empty())
      listPixels(experiment, pixels);
    if (!command.mode.empty())
      experiment.variant.imageType = ImageType::F64;
    const Derivative derivative =
        command.mode.empty() ? Derivative() : derivativeOf(command, experiment.variant);
    request = decide(experiment, simulator, derivative).request;
    request.until = setup.line.tool.until;
    request.fixed = fixedCounts(experiment, command.specialize);
    if (command.mode.empty() && command.target == "native" && command.emit == "so" &&
        command.specialize.empty() && simulator.keptSchedule)
      request = withKeptSchedule(std::move(request));
    refuseFixedParameters(request);
  } else {
    request.program = io::readBytes(command.program);
    request.programName = command.program;
    const ToolOptions tool = parseProgramFlags(command).tool;
    request.passes = readSchedule(tool.simulator.passes);
    request.precision = tool.simulator.precision;
    request.dumpIR = tool.simulator.dumpIR;
    request.until = tool.until;
    if (!tool.quiet)
      request.passes.tell = tellPasses;
  }
  const std::vector<KernelTarget> targets = KernelTarget::listFromString(command.target);
  request.target = targets.front();
  request.otherTargets.assign(targets.begin() + 1, targets.end());
  request.symbol = command.symbol;
  if (command.lines)
    request.programFile = command.programFile();
  return work;
}

std::shared_ptr<const CompilerLibrary> compilerFor(const KernelRequest &request) {
  return request.passes.plugins.empty() ? CompilerLibrary::open()
                                        : CompilerLibrary::openForPlugins();
}

std::string compile(const CompileCommand &command, const Work &work) {
  const KernelRequest &request = work.request;
  if (command.emit == "header" && command.program.empty())
    return headerText({request.variant, {}, {}, request.cull}, command.symbol);
  const auto compiler = compilerFor(request);
  if (command.emit == "header") {
    // Which arguments there are is known when it has been compiled.
    const auto object = compiler->build(request, "obj");
    if (!object)
      throw std::runtime_error("the compiler library makes no files; install the one that belongs "
                               "to this program");
    return headerText(readKernelText(*object).versions.front(), command.symbol);
  }
  if (command.text())
    return compiler->emit(request, command.emit);
  const auto file = compiler->build(request, command.emit);
  if (!file)
    throw std::runtime_error("the compiler library makes no files; install the one that belongs to "
                             "this program");
  const bool renders = command.mode.empty() && command.emit == "so" && command.target == "native";
  if (!request.fixed.empty() && renders) {
    KernelRequest general = request;
    general.fixed.clear();
    std::fputs(describeGain(*work.experiment, compiler->build(general).value(), *file).c_str(),
               stderr);
  }
  // With a checksum, as the kernel cache keeps it: a damaged file is refused and not run.
  if (command.emit == "so")
    return encodeEntry({*file, describeRequest(request)});
  return std::string(file->begin(), file->end());
}

void writeFile(const std::filesystem::path &path, const std::string &content) {
  io::OutputFile file(path.string());
  file.write(content);
  file.commit();
}

/// The program that the lines of debug information count in: of a derivative, what it is of.
void writeProgram(const CompileCommand &command, KernelRequest request) {
  request.derivative = {};
  request.target = {};
  request.otherTargets.clear();
  writeFile(command.programFile(), compilerFor(request)->emit(request, "nb"));
}

/// One file for each chip: kernel.ptx becomes kernel.sm_80.ptx, kernel.sm_90.ptx.
void writeForEachChip(const CompileCommand &command, Work work) {
  const std::filesystem::path output = command.output;
  for (const std::string &chip : command.targets()) {
    work.request.target = KernelTarget::fromString(chip);
    work.request.otherTargets.clear();
    std::filesystem::path path = output;
    path.replace_filename(output.stem().string() + "." + chip + output.extension().string());
    writeFile(path, compile(command, work));
  }
}

int run(const std::vector<std::string> &words) {
  const auto began = trace::Clock::now();
  const CompileCommand command = parseCommand(words);
  if (command.completion)
    return print(bashCompletion());
  if (!command.inspect.empty())
    return print(inspectKernel(command.inspect));
  if (command.trace)
    trace::recordTo(*command.trace, began);
  const Work work = workOf(command);
  if (command.output.empty()) {
    return print(compile(command, work));
  }
  std::filesystem::path output = command.output;
  if (!output.has_filename()) {
    std::filesystem::create_directories(output);
    output /= kernelFileName(work.request);
  }
  if (command.lines)
    writeProgram(command, work.request);
  if (command.ofOneChip() && command.targets().size() > 1)
    writeForEachChip(command, work);
  else
    writeFile(output, compile(command, work));
  return Success;
}

} // namespace

int main(int argc, char **argv) {
  return runTool("nb-compile", compileUsage, argc, argv, run, CompilerLibrary::setFlags);
}
