#include "tools/nb-sim/Actions.h"

#include "lib/Files/MemoryLimit.h"
#include "lib/Images/ImageScaling.h"
#include "lib/Parallel/LargePages.h"
#include "lib/Quantities/Printable.h"
#include "lib/Trace/Trace.h"
#include "nanobragg/Simulator.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/simulator/Placement.h"
#include "tools/nb-sim/Console.h"
#include "tools/nb-sim/ExchangeFiles.h"
#include "tools/nb-sim/NotFinite.h"
#include "tools/nb-sim/Outputs.h"
#include "tools/nb-sim/Progress.h"
#include "tools/nb-sim/SolidAngle.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numbers>
#include <optional>
#include <stdexcept>

namespace nanobragg {
namespace {

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

struct FreePixels {
  void operator()(float *pixels) const { std::free(pixels); }
};
using PixelMemory = std::unique_ptr<float[], FreePixels>;

/// Not initialized.
PixelMemory allocatePixels(std::size_t count) {
  const std::size_t bytes =
      std::size_t(productOf({std::int64_t(count), sizeof(float)}, "an image"));
  const std::size_t page = bytes >= largePage ? largePage : 4096;
  void *memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!memory)
    throw std::bad_alloc();
  preferLargePages(memory, (bytes + page - 1) / page * page);
  return PixelMemory(static_cast<float *>(memory));
}

/// One run, from opening its files to renaming them.
class ImageRun {
public:
  ImageRun(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start)
      : setup(setup), kernels(kernels), start(start),
        simulator(setup.complete.experiment, setup.simulatorOptions(kernels)),
        quiet(setup.line.tool.quiet ? std::fopen("/dev/null", "w") : nullptr),
        console(quiet ? quiet.get() : stdout) {}

  void run() {
    std::optional<trace::Span> span(std::in_place, "run", "prepare the run");
    Outputs outputs(ImageNames::of(setup.line.outputs, setup.complete.experiment.detector));
    ExchangeFiles exchange(setup);
    std::optional<io::OutputFile> timingFile;
    if (setup.line.tool.timingFile)
      timingFile.emplace(*setup.line.tool.timingFile);
    if (!setup.line.tool.instruments.any())
      simulator.prepare(PixelType::F32);
    setup.tellFallbacks(simulator, "renders");
    noteOtherResults();
    printSetup(console, setupFacts());
    printTrace();

    span.emplace("run", "render the image");
    render();
    span.emplace("run", "look at the image");
    const Experiment &experiment = setup.complete.experiment;
    const auto statistics =
        io::computeStatistics(pixels(), io::ImageRegion::of(experiment), experiment.detector.mask,
                              requestedThreads(setup.line.tool));
    if (setup.line.outputs.mapFile)
      map.add(setup.complete, setup.line, 1, setup, kernels);
    printSolidAngle();
    warnOfNotFinite(setup.line, "pixels of the image", std::size_t(statistics.notFinite));
    if (!statistics.found)
      warnOfBlackImage();
    noteScale(statistics);
    span.emplace("files", "write the files");
    exchange.write(rendered(), simulator);
    outputs.write(rendered(), statistics, setup.line, setup.complete, console,
                  requestedThreads(setup.line.tool));
    outputs.publish();
    exchange.publish();

    timing.totalSeconds = start.sinceMain.seconds();
    if (timingFile) {
      timingFile->write(timing.toJson());
      timingFile->commit();
    }
    printSummary(outputs, exchange);
  }

private:
  SetupFacts setupFacts() const {
    const InputFiles &files = setup.line.files;
    InputNames names = {printable(files.image.value_or("")),
                        printable(files.mask.value_or("")),
                        printable(files.matrix.value_or("")),
                        printable(files.hkl.value_or("")),
                        printable(files.dump.value_or("")),
                        printable(files.sources.value_or("")),
                        files.backgrounds.empty() ? "" : printable(files.backgrounds.front().name)};
    return {setup.line.options,
            setup.complete,
            names,
            setup.loaded.reflections,
            printable(setup.line.outputs.dumpFile.value_or("")),
            setup.line.outputs.noise};
  }

  /// Memory that the machine promises and a control group denies ends the process later.
  void requireMemory() const {
    // Less than this is there for everybody; asking for limits means reading a dozen files.
    constexpr double notWorthAsking = 32e6;
    const double needed = double(simulator.pixels()) * (sizeof(float) + 2 * sizeof(std::uint16_t));
    if (needed > notWorthAsking && needed > double(io::memoryLimit()))
      throw std::runtime_error("out of memory: an image of " + std::to_string(simulator.pixels()) +
                               " pixels and its files need " + io::sizeText(needed) +
                               " of memory and this process may have " +
                               io::sizeText(double(io::memoryLimit())) +
                               "; render fewer pixels (-detpixels)");
  }

  std::span<const float> pixels() const { return {image.get(), simulator.pixels()}; }
  RenderedImage rendered() const { return {pixels(), simulator.photons(), &map}; }

  /// The pixel that --trace-pixel or its like in the C program asks for.
  std::optional<PixelIndex> tracedPixel() const {
    const ToolOptions &tool = setup.line.tool;
    if (tool.tracePixel)
      return tool.tracePixel;
    if (tool.printoutPixel)
      return PixelIndex{0, (*tool.printoutPixel)[1], (*tool.printoutPixel)[0]};
    if (!tool.printout)
      return std::nullopt;
    const Detector &d = setup.complete.experiment.detector;
    if (d.roiFastMin != d.roiFastMax || d.roiSlowMin != d.roiSlowMax)
      throw std::runtime_error("-printout prints the values of one pixel: name it with "
                               "-printout_pixel FAST SLOW, or leave one with -roi");
    return PixelIndex{0, d.roiSlowMin, d.roiFastMin};
  }

  void printTrace() {
    const auto pixel = tracedPixel();
    if (!pixel)
      return;
    const std::string trace = simulator.trace(*pixel, PixelType::F32);
    std::fwrite(trace.data(), 1, trace.size(), stdout);
  }

  void render() {
    const std::size_t pixelCount = simulator.pixels();
    requireMemory();
    // Not zeroed here: each pixel is first touched by the thread that renders it.
    image = allocatePixels(pixelCount);

    ProgressDisplay display(stdout);
    RunOptions options;
    if (setup.line.tool.progress && !setup.line.tool.quiet)
      options.progress = [&](double fraction) { display.show(fraction); };
    std::fflush(stdout);
    const double beforeRun = start.sinceMain.seconds();
    const std::span<float> pixels(image.get(), pixelCount);
    const RunResult result = simulator.render(pixels, options, setup.line.tool.instruments);
    display.abandon();
    std::fwrite(result.report.data(), 1, result.report.size(), stdout);
    if (!result.quadrature.empty())
      std::fprintf(console, "%s\n", result.quadrature.c_str());
    if (!result.shortfall.empty())
      std::fprintf(stderr, "WARNING: %s\n", result.shortfall.c_str());
    timing.record(simulator, setup.line.tool.simulator, result, start, beforeRun);
    timing.kernel = kernels.counters();
  }

  /// Nothing else tells such a run from one that went well.
  void warnOfBlackImage() const {
    const CompleteExperiment &complete = setup.complete;
    const bool black = std::ranges::all_of(pixels(), [](float pixel) { return pixel == 0; });
    if (!black || setup.line.tool.quiet || complete.experiment.beam.fluence == 0 ||
        samplesOf(complete.experiment) == 0)
      return;
    std::fprintf(stderr,
                 "WARNING: no pixel of this image has a photon; look at the wavelength (%g A), the "
                 "distance (%g mm), the beam centre and whether the structure factors reach the "
                 "resolution of the detector\n",
                 complete.report.wavelength * 1e10, complete.report.detector.distance * 1e3);
  }

  /// Who names the SMV image wants to use it, and perhaps beside others.
  void noteScale(const io::ImageStatistics &statistics) const {
    const CommandLine &line = setup.line;
    const bool named = std::ranges::any_of(
        line.given, [](const GivenFlag &flag) { return flag.name == "-intfile"; });
    if (!named || line.outputs.intScale > 0 || !statistics.found || line.tool.quiet)
      return;
    std::fprintf(stderr,
                 "NOTE: -intfile is scaled by %g, which makes the brightest pixel of this image "
                 "55000; give the images of a series one -scale\n",
                 io::chooseIntScale(0, statistics.maximum));
  }

  /// A kernel that was made of a program may return more than an image.
  void noteOtherResults() const {
    const std::string &file = setup.line.tool.simulator.kernelFile;
    if (file.empty() || setup.line.tool.quiet)
      return;
    std::string names;
    for (const std::string &name : otherResultsOf(file))
      names += (names.empty() ? "'" : ", '") + printable(name) + "'";
    if (!names.empty())
      std::fprintf(
          stderr,
          "NOTE: the kernel of --kernel returns %s, too, which nb-sim does not show; nb-run "
          "prints all results of a program\n",
          names.c_str());
  }

  void printSolidAngle() const {
    if (quiet)
      return;
    const double omega =
        solidAngle(setup.complete.experiment, setup.complete.report,
                   setup.line.semantics.solidAngleSum, requestedThreads(setup.line.tool));
    std::fprintf(console, "\nsolid angle subtended by detector = %g steradian ( %g%% sphere)\n",
                 omega, 100 * omega / (4 * std::numbers::pi));
  }

  void printSummary(const Outputs &outputs, const ExchangeFiles &exchange) const {
    std::fprintf(console, "\n");
    for (const std::string &path : outputs.absolutePaths())
      std::fprintf(console, "wrote %s\n", printable(path).c_str());
    for (const std::string &path : exchange.names())
      std::fprintf(console, "wrote %s\n", printable(path).c_str());
    const std::string where = !timing.device.empty() ? timing.device
                                                     : std::to_string(timing.threads) + " thread" +
                                                           (timing.threads == 1 ? "" : "s");
    std::fprintf(console, "compiled in %.3f s, ran in %.3f s on %s: %.4g samples, %.3g ns each\n",
                 timing.kernel.compilerLoadSeconds + timing.kernel.compileSeconds,
                 timing.runSeconds, where.c_str(), timing.samples, timing.nsPerSample());
  }

  RunSetup &setup;
  KernelProvider &kernels;
  const ProcessStart &start;
  Simulator simulator;
  std::unique_ptr<std::FILE, CloseFile> quiet; ///< where the lines of a quiet run go
  std::FILE *console;
  PixelMemory image;
  LightMap map;
  Timing timing;
};

} // namespace

void makeImage(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start) {
  ImageRun(setup, kernels, start).run();
}

} // namespace nanobragg
