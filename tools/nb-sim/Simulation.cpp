#include "tools/nb-sim/Actions.h"

#include "lib/Experiment/PixelList.h"
#include "lib/Files/OutputFile.h"
#include "lib/Files/TraceFile.h"
#include "lib/MPI/Ranks.h"
#include "lib/Noise/Photons.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/Printable.h"
#include "nanobragg/Simulator.h"
#include "runtime/simulator/Placement.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/Profile.h"
#include "tools/shared/Main.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unistd.h>

namespace nanobragg {
namespace {

const char *stageOf(Emit emit) {
  switch (emit) {
  case Emit::Nothing:
    break;
  case Emit::Nb:
    return "nb";
  case Emit::Mlir:
    return "mlir";
  case Emit::Llvm:
    return "llvm";
  case Emit::Asm:
    return "asm";
  case Emit::Stats:
    return "stats";
  case Emit::Pipeline:
    return "pipeline";
  }
  return "";
}

int finish(const std::string &text, ExitStatus status = Success) {
  if (print(text) != Success)
    throw std::runtime_error("cannot write to standard output");
  return status;
}

int compareEngines(const RunSetup &setup, KernelProvider &kernels) {
  Simulator simulator(setup.complete.experiment, setup.simulatorOptions(kernels));
  const EngineComparison comparison = simulator.compareEngines(setup.line.tool.comparison);
  return finish(comparison.report, comparison.differ ? Different : Success);
}

/// The program of the image as nb-sim renders it, or that of the derivatives.
std::string emit(const RunSetup &setup, KernelProvider &kernels) {
  const ToolOptions &tool = setup.line.tool;
  const SimulatorOptions options = setup.simulatorOptions(kernels);
  Experiment experiment = setup.complete.experiment;
  if (!options.pixels.empty())
    listPixels(experiment, options.pixels);
  requireWholeProgram(experiment);
  Derivative derivative;
  if (tool.gradient || tool.jacobian) {
    const std::string &names = tool.gradient ? *tool.gradient : *tool.jacobian;
    derivative = {tool.gradient ? Derivative::Mode::VJP : Derivative::Mode::Jacobian,
                  resolveParameters(names, experiment.variant)};
  }
  const ImageType pixels = derivative == Derivative() ? ImageType::F32 : ImageType::F64;
  const Placement placement(options);
  KernelRequest request = placement.shown([&](Runner runner) {
    return decide(experiment, options, derivative, pixels, runner).request;
  });
  request.until = tool.until;
  return placement.provider().compiler(request)->emit(request, stageOf(tool.emit));
}

/// With a kernel file nothing is compiled, and flags of MLIR show nothing.
void noteUnusedFlags(const CommandLine &line) {
  const ToolOptions &tool = line.tool;
  const bool compiles = tool.simulator.kernelFile.empty() && !tool.listParameters && !tool.check;
  if (CompilerLibrary::hasFlags() && !compiles && !tool.quiet)
    std::fprintf(stderr, "NOTE: nothing is compiled in this run, so that flags of MLIR (--mlir-*) "
                         "show nothing\n");
}

/// Does a run with these flags make images?
bool rendersSeries(const CommandLine &line) {
  const ToolOptions &tool = line.tool;
  return line.series.any() && !tool.listParameters && !tool.check && tool.emit == Emit::Nothing &&
         !tool.compareEngines && !tool.gradient && !tool.jacobian && !line.files.pixels;
}

/// The other processes of the launcher that started this one, where they make a series together.
std::unique_ptr<Ranks> ranksFor(CommandLine &line) {
  const std::optional<Launch> launched = launch();
  if (!launched || !rendersSeries(line) || line.series.shard)
    return nullptr;
  std::unique_ptr<Ranks> ranks = openRanks(*launched);
  line.tool.quiet = line.tool.quiet || ranks->rank() != 0;
  // Ranks that the launcher has not bound to processors share those of the machine.
  if (requestedThreads(line.tool) == 0) {
    const int machine = int(::sysconf(_SC_NPROCESSORS_ONLN)), own = availableProcessors();
    line.tool.simulator.threads = std::max(1, own == machine ? own / ranks->sizeHere() : own);
  }
  return ranks;
}

/// Makes derivatives, a list of pixels, a series or an image.
int run(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start, Ranks *ranks) {
  const ToolOptions &tool = setup.line.tool;
  if (tool.gradient || tool.jacobian) {
    printDerivatives(setup, kernels, stdout);
    return finish("");
  }
  if (setup.line.files.pixels) {
    makeList(setup, kernels, start);
    return finish("");
  }
  // A reader that stops listening to the progress lines is no reason to lose the image.
  std::signal(SIGPIPE, SIG_IGN);
  if (isSeries(setup))
    makeSeries(setup, kernels, start, ranks);
  else
    makeImage(setup, kernels, start);
  return Success;
}

int simulateHere(const CommandLine &line, const ProcessStart &start, Ranks *ranks) {
  const ToolOptions &tool = line.tool;
  const auto cache = KernelCache::fromEnvironment([&](const std::string &problem) {
    if (!tool.quiet)
      std::fprintf(stderr, "WARNING: %s\n", printable(problem).c_str());
  });
  KernelProvider kernels(CompilerLibrary::open, cache);
  std::optional<Profile> profile;
  if (tool.profile)
    profile.emplace(kernels);
  // While the files are read; with a cache it turns out later whether the compiler is needed.
  const SimulatorOptions &options = tool.simulator;
  if (!tool.listParameters && options.passes.plugins.empty() &&
      ((!cache && options.kernelFile.empty()) || options.engine == Engine::Interpreter ||
       tool.instruments.any() || !options.dumpIR.empty() || tool.emit != Emit::Nothing))
    kernels.preload();
  if (tool.until.any() && tool.emit != Emit::Mlir)
    throw UsageError("--" + tool.until.toString() +
                     " applies to programs that are printed: add --emit=mlir");
  // Only the first of several ranks writes it.
  if (ranks && ranks->rank() != 0)
    trace::dropRecord();
  else if (tool.traceFile)
    trace::recordTo(*tool.traceFile, start.sinceMain.begin());
  trace::add("run", "read the command line", "", start.sinceMain.begin(), trace::Clock::now(),
             trace::ownLane());
  // Not on the stack, which may be small.
  std::unique_ptr<RunSetup> whole;
  {
    const trace::Span span("run", "read the inputs");
    whole = std::make_unique<RunSetup>(line);
  }
  RunSetup &setup = *whole;
  setup.tell();

  noteUnusedFlags(line);
  if (tool.listParameters) {
    listParameters(setup.complete.experiment, stdout);
    return finish("");
  }
  if (tool.check) {
    check(setup, kernels);
    return finish("");
  }
  if (tool.emit != Emit::Nothing) {
    return finish(emit(setup, kernels));
  }
  if (tool.compareEngines)
    return compareEngines(setup, kernels);
  const int status = run(setup, kernels, start, ranks);
  return profile ? finish(profile->table()) : status;
}

} // namespace

int simulate(CommandLine &line, const ProcessStart &start) {
  const std::unique_ptr<Ranks> ranks = ranksFor(line);
  try {
    return simulateHere(line, start, ranks.get());
  } catch (const std::exception &error) {
    if (!ranks)
      throw;
    // The others would wait for this one.
    std::fflush(stdout);
    std::fprintf(stderr, "nb-sim: error: %s (rank %d)\n", printable(error.what()).c_str(),
                 ranks->rank());
    io::OutputFile::removeTemporaries();
    ranks->abort(Failure);
  }
}

} // namespace nanobragg
