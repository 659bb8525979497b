#include "lib/Experiment/Formatted.h"
#include "tools/nb-sim/Actions.h"

#include "lib/Experiment/PixelList.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Program/Parameters.h"
#include "lib/Quantities/Printable.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/Outputs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>

namespace nanobragg {
namespace {

std::string rounded(double value) { return formatted("%.3g", value); }

std::string counted(double count, const std::string &what) {
  return rounded(count) + " " + what + (count == 1 ? "" : "s");
}

std::string durationText(double seconds) {
  if (seconds < 120)
    return rounded(seconds) + " s";
  return seconds < 7200 ? rounded(seconds / 60) + " min" : rounded(seconds / 3600) + " h";
}

void tell(const char *name, const std::string &text) {
  std::printf("%-9s%s\n", name, printable(text).c_str());
}

std::string imageText(const Experiment &e, std::int64_t images) {
  const Detector &d = e.detector;
  return counted(double(images), "image") + " of " +
         (e.panelCount() > 1 ? std::to_string(e.panelCount()) + " panels of " : "") +
         std::to_string(d.fastPixels) + " x " + std::to_string(d.slowPixels) +
         " pixels (fast x slow), " +
         rounded(double(e.imagePanels() * d.fastPixels * d.slowPixels) * 4 / (1 << 20)) +
         " MiB each in 32 bits";
}

std::string samplesText(const Experiment &e) {
  if (!e.variant.isSampled())
    return "averages, not samples (--average)";
  return rounded(samplesPerPixel(e)) +
         " in a pixel: " + counted(double(e.sourceCount()), "source") + ", " +
         counted(double(e.mosaicDomains()), "mosaic domain") + ", " +
         counted(double(e.goniometer.phiSteps), "phi step") + ", " +
         counted(double(e.detector.oversample * e.detector.oversample), "sub-pixel") + ", " +
         counted(double(e.detector.layers), "sensor layer") + "; " + rounded(samplesOf(e)) +
         " in an image";
}

std::string programText(const RunSetup &setup) {
  const SimulatorOptions &options = setup.line.tool.simulator;
  const bool interprets = options.engine == Engine::Interpreter;
  return std::string(interprets ? "interpreter" : "compiled kernel") + ", " +
         (interprets ? "f64" : toString(setup.decided.request.precision)) + ", device " +
         options.device.toString() + ", " +
         std::to_string(threadsOf(requestedThreads(setup.line.tool))) + " threads, cull " +
         setup.decided.request.cull.toString();
}

/// The files that the run would write, with those that it would replace. In the names of a series #
/// stands for digits.
std::string filesText(const RunSetup &setup, bool series, std::int64_t images) {
  OutputOptions wanted = setup.line.outputs;
  std::vector<std::string> files;
  if (series) {
    const FrameFiles frames(setup.line, images);
    for (const std::string &name : frames.given())
      files.push_back(frames.pattern(name));
    wanted.cbfFile.reset();
  } else {
    const ImageNames names = ImageNames::of(wanted, setup.complete.experiment.detector);
    files = {names.floats, names.pgm, names.png, names.map, names.dump};
    files.insert(files.end(), names.ints.begin(), names.ints.end());
    files.insert(files.end(), names.noise.begin(), names.noise.end());
  }
  for (const auto &file :
       {wanted.cbfFile, wanted.nexusFile, wanted.exptFile, wanted.reflFile, wanted.reflectionsFile,
        wanted.streamFile, wanted.shotsFile, wanted.mtzFile})
    files.push_back(file.value_or(""));
  std::string text;
  for (const std::string &file : files) {
    std::error_code ignored;
    if (!file.empty())
      text += (text.empty() ? "" : ", ") + file +
              (std::filesystem::exists(file, ignored) ? " (exists, and would be replaced)" : "");
  }
  return text.empty() ? "none" : text;
}

/// Seconds of the whole image.
double imageSeconds(const Experiment &e, const SimulatorOptions &options) {
  Simulator simulator(e, options);
  std::vector<float> values(simulator.pixels());
  return simulator.render(std::span<float>(values)).runSeconds;
}

/// Seconds of one image on the processor: measured, or if it takes more than some seconds estimated
/// from pixels that are drawn at random.
std::string timeText(const RunSetup &setup, KernelProvider &kernels, std::int64_t images) {
  const Experiment &e = setup.complete.experiment;
  SimulatorOptions options = setup.simulatorOptions(kernels);
  options.device = DeviceChoice::Kind::Cpu;
  const Detector &d = e.detector;
  const auto total = std::size_t(e.imagePanels() * d.slowPixels * d.fastPixels);
  std::vector<PixelIndex> rendered;
  {
    std::vector<std::size_t> all(total);
    std::iota(all.begin(), all.end(), 0);
    std::mt19937 random(1);
    std::ranges::shuffle(all, random);
    const auto fast = std::size_t(d.fastPixels), slow = std::size_t(d.slowPixels);
    for (const std::size_t i : all) {
      const std::size_t row = i / fast;
      rendered.push_back(
          {std::int64_t(row / slow), std::int64_t(row % slow), std::int64_t(i % fast)});
    }
  }
  constexpr double longEnough = 0.2; // s
  const std::vector<PixelIndex> &asked = options.pixels.empty() ? rendered : options.pixels;
  const std::size_t pixels = asked.size();
  std::size_t count = std::min<std::size_t>(pixels, 512);
  for (;;) {
    SimulatorOptions some = options;
    some.pixels.assign(asked.begin(), asked.begin() + std::ptrdiff_t(count));
    Simulator simulator(e, some);
    std::vector<float> values(simulator.pixels());
    const RunResult result = simulator.render(std::span<float>(values));
    if (result.runSeconds < longEnough && count < pixels) {
      count = std::min(pixels, 4 * count);
      continue;
    }
    double image = result.runSeconds * double(pixels) / double(count);
    constexpr double shortEnough = 5; // s
    std::string how = "measured on " + std::to_string(count) + " pixels";
    // Lists of pixels take longer than images, which may come from tables of reflections.
    if (image < shortEnough && options.pixels.empty()) {
      image = imageSeconds(e, options);
      how = "measured";
    }
    return "about " + durationText(image * double(images)) +
           (images > 1 ? ", " + durationText(image) + " an image" : "") + ", on the processor, " +
           how + "; files and the compilation are not counted";
  }
}

} // namespace

void check(const RunSetup &setup, KernelProvider &kernels) {
  const bool series = isSeries(setup);
  const std::int64_t images = series ? FramePlan(setup).count() : 1;
  tell("images", imageText(setup.complete.experiment, images));
  tell("samples", samplesText(setup.complete.experiment));
  tell("program", programText(setup));
  tell("files", filesText(setup, series, images));
  std::fflush(stdout);
  tell("time", timeText(setup, kernels, images));
}

} // namespace nanobragg
