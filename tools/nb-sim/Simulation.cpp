#include "tools/nb-sim/Simulation.h"

#include "lib/IO/MemoryLimit.h"
#include "tools/nb-sim/CompareEngines.h"
#include "tools/nb-sim/Console.h"
#include "tools/nb-sim/Derivatives.h"
#include "tools/nb-sim/ListParameters.h"
#include "tools/nb-sim/NotFinite.h"
#include "tools/nb-sim/Outputs.h"
#include "tools/nb-sim/ProgressDisplay.h"
#include "tools/shared/RunSetup.h"
#include "tools/nb-sim/SolidAngle.h"
#include "tools/shared/Main.h"
#include "runtime/simulator/Renderer.h"

#include <csignal>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>

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
  }
  return "";
}

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

class Simulation {
public:
  Simulation(RunSetup runSetup, KernelProvider &kernels, const ProcessStart &start)
      : setup(std::move(runSetup)), kernels(kernels), start(start),
        quiet(setup.line.tool.quiet ? std::fopen("/dev/null", "w") : nullptr),
        console(quiet ? quiet.get() : stdout) {}

  void run() {
    Outputs outputs(setup.line);
    std::optional<io::OutputFile> timingFile;
    if (setup.line.tool.timingFile)
      timingFile.emplace(*setup.line.tool.timingFile);
    Renderer renderer(kernels, setup.kernelRequest(), setup.complete.experiment,
                      !setup.line.tool.noFallback);
    warnOfFallback(renderer);
    printSetup(console, setupFacts());
    printTrace(renderer);

    render(renderer);
    const Experiment &experiment = setup.complete.experiment;
    const auto statistics =
        io::computeStatistics(pixels(), io::ImageRegion::of(experiment), experiment.detector.mask);
    printSolidAngle();
    warnOfNotFinite(setup.line, "pixels of the image", countNotFinite(pixels()));
    outputs.write(pixels(), statistics, setup.line, setup.complete, console);
    outputs.publish();

    timing.totalSeconds = start.sinceMain.seconds();
    if (timingFile) {
      timingFile->write(timing.toJson());
      timingFile->commit();
    }
    printSummary(outputs);
  }

private:
  SetupFacts setupFacts() const {
    const InputFiles &files = setup.line.files;
    InputNames names = {files.image.value_or(""),  files.mask.value_or(""),
                        files.matrix.value_or(""), files.hkl.value_or(""),
                        files.dump.value_or(""),   files.sources.value_or(""),
                        files.stol.value_or("")};
    return {setup.line.options,
            setup.complete,
            names,
            setup.loaded.reflections,
            setup.line.outputs.dumpFile.value_or(""),
            setup.line.outputs.noise};
  }

  /// What the machine promises and a control group does not let have ends the process later.
  void requireMemory() const {
    const double needed = double(pixelCount) * (sizeof(float) + 2 * sizeof(std::uint16_t));
    if (needed > double(io::memoryLimit()))
      throw std::runtime_error("out of memory: an image of " + std::to_string(pixelCount) + " pixels and its files "
                               "need " + io::sizeText(needed) + " of memory and this process may have " +
                               io::sizeText(double(io::memoryLimit())) +
                               "; render fewer pixels (-detpixels)");
  }

  std::span<const float> pixels() const { return {image.get(), std::size_t(pixelCount)}; }

  /// The pixel that --trace-pixel or its like in the C program asks for.
  std::optional<PixelIndex> tracedPixel() const {
    const ToolOptions &tool = setup.line.tool;
    if (tool.tracePixel)
      return PixelIndex{(*tool.tracePixel)[0], (*tool.tracePixel)[1], (*tool.tracePixel)[2]};
    if (tool.printoutPixel)
      return PixelIndex{0, (*tool.printoutPixel)[1], (*tool.printoutPixel)[0]};
    if (!tool.printout)
      return std::nullopt;
    const Detector &d = setup.complete.experiment.detector;
    if (d.roiFastMin != d.roiFastMax || d.roiSlowMin != d.roiSlowMax)
      throw std::runtime_error("-printout prints how one pixel comes about: name it with "
                               "-printout_pixel FAST SLOW, or leave one with -roi");
    return PixelIndex{0, d.roiSlowMin, d.roiFastMin};
  }

  void printTrace(Renderer &renderer) const {
    const auto pixel = tracedPixel();
    if (!pixel)
      return;
    const std::string trace = renderer.trace(*pixel);
    std::fwrite(trace.data(), 1, trace.size(), stdout);
  }

  void render(Renderer &renderer) {
    pixelCount = renderer.shape().pixels();
    requireMemory();
    // Not zeroed here: each pixel is first touched by the thread that renders it.
    image = std::make_unique_for_overwrite<float[]>(std::size_t(pixelCount));

    ProgressDisplay display(stdout);
    RunOptions options;
    options.threads = requestedThreads(setup.line.tool);
    if (setup.line.tool.progress && !setup.line.tool.quiet)
      options.progress = [&](double fraction) { display.show(fraction); };
    std::fflush(stdout);
    const double beforeRun = start.sinceMain.seconds();
    const std::span<float> pixels(image.get(), std::size_t(pixelCount));
    const ToolOptions &tool = setup.line.tool;
    const Instrumentation look = {tool.probe.value_or(""), tool.json, tool.checkFinite};
    std::string report;
    const RunResult result = look.any() ? renderer.interpret(pixels, options, look, report)
                                        : renderer.run(pixels, options);
    display.abandon();
    std::fwrite(report.data(), 1, report.size(), stdout);
    recordTiming(renderer, result, beforeRun);
  }

  void warnOfFallback(const Renderer &renderer) const {
    if (renderer.deviceFallbackReason() && !setup.line.tool.quiet)
      std::fprintf(stderr,
                   "WARNING: the GPU cannot be used (%s); the processor renders instead; "
                   "--device=cuda makes this an error\n",
                   renderer.deviceFallbackReason()->c_str());
    const auto &reason = renderer.fallbackReason();
    if (reason && !setup.line.tool.quiet)
      std::fprintf(stderr,
                   "WARNING: the kernel cannot be compiled (%s); the interpreter renders instead, "
                   "more slowly; --no-fallback makes this an error\n",
                   reason->c_str());
  }

  void recordTiming(const Renderer &renderer, const RunResult &result, double beforeRun) {
    timing.engine = renderer.engine() == Engine::Interpreter ? "interpreter" : "fused";
    timing.precision =
        renderer.engine() == Engine::Interpreter ? "f64" : setup.line.tool.precision;
    timing.target = renderer.target();
    timing.beforeMainCpuSeconds = start.cpuSecondsBefore;
    timing.startupSeconds = beforeRun + result.firstTileSeconds;
    timing.prepareSeconds = result.prepareSeconds;
    timing.runSeconds = result.runSeconds;
    timing.samples = setup.samples();
    timing.threads = result.threads;
    timing.device = result.device;
    timing.deviceBytes = result.deviceBytes;
    timing.uploadedBytes = result.uploadedBytes;
    timing.launches = result.launches;
    timing.deviceSeconds = result.deviceSeconds;
    timing.kernel = kernels.counters();
  }

  void printSolidAngle() const {
    const double omega = solidAngle(setup.complete.experiment, setup.complete.report,
                                    setup.line.semantics.solidAngleSum);
    std::fprintf(console, "\nsolid angle subtended by detector = %g steradian ( %g%% sphere)\n",
                 omega, 100 * omega / (4 * std::numbers::pi));
  }

  void printSummary(const Outputs &outputs) const {
    std::fprintf(console, "\n");
    for (const std::string &path : outputs.absolutePaths())
      std::fprintf(console, "wrote %s\n", path.c_str());
    const std::string where =
        !timing.device.empty()
            ? timing.device
            : std::to_string(timing.threads) + " thread" + (timing.threads == 1 ? "" : "s");
    std::fprintf(console, "compiled in %.3f s, ran in %.3f s on %s: %.4g samples, %.3g ns each\n",
                 timing.kernel.compilerLoadSeconds + timing.kernel.compileSeconds,
                 timing.runSeconds, where.c_str(), timing.samples, timing.nsPerSample());
  }

  RunSetup setup;
  KernelProvider &kernels;
  const ProcessStart &start;
  std::unique_ptr<std::FILE, CloseFile> quiet; ///< where the lines of a quiet run go
  std::FILE *console;
  std::unique_ptr<float[]> image;
  std::int64_t pixelCount = 0;
  Timing timing;
};

ExitStatus finishStdout() {
  if (std::fflush(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
  return Success;
}

} // namespace

int simulate(const CommandLine &line, const ProcessStart &start) {
  const ToolOptions &tool = line.tool;
  const auto cache = KernelCache::fromEnvironment([&](const std::string &problem) {
    if (!tool.quiet)
      std::fprintf(stderr, "WARNING: %s\n", problem.c_str());
  });
  KernelProvider kernels(CompilerLibrary::open, cache);
  // While the files are read; with a cache it turns out later whether the compiler is needed.
  if (!tool.listParameters && ((!cache && !tool.kernelFile) || tool.engine == Engine::Interpreter ||
                               tool.dumpIr || tool.emit != Emit::Nothing))
    kernels.preload();
  RunSetup setup(line);
  setup.tell();

  if (tool.listParameters) {
    listParameters(setup.complete.experiment, stdout);
    return finishStdout();
  }
  if (tool.emit != Emit::Nothing) {
    const std::string text = kernels.compiler()->emit(setup.kernelRequest(), stageOf(tool.emit));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finishStdout();
  }
  if (tool.compareEngines) {
    const bool agree = compareEngines(setup, kernels, stdout);
    finishStdout();
    return agree ? Success : Different;
  }
  if (tool.gradient || tool.jacobian) {
    printDerivatives(setup, kernels, stdout);
    return finishStdout();
  }
  // A reader that stops listening to the progress lines is no reason to lose the image.
  std::signal(SIGPIPE, SIG_IGN);
  Simulation(std::move(setup), kernels, start).run();
  return Success;
}

} // namespace nanobragg
