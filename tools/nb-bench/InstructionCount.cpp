#include "tools/nb-bench/InstructionCount.h"

#include "lib/Program/Derivative.h"
#include "lib/Program/ParameterGroups.h"
#include "nanobragg/Simulator.h"
#include "runtime/processor/StepCount.h"
#include "runtime/simulator/Placement.h"
#include "tools/shared/RunSetup.h"

#include <cstdint>
#include <vector>

namespace nanobragg {

namespace {

/// A function that can stand in for one of a kernel, and steps through it.
template <typename Function>
struct Stepped;
template <typename... Arguments>
struct Stepped<void (*)(Arguments...)> {
  static inline void (*real)(Arguments...);
  static inline StepCounter *counter;
  static void call(Arguments... arguments) {
    counter->start();
    real(arguments...);
    counter->stop();
  }
};

/// Instructions of the kernel's tiles, of an image or of the gradient of the sum of its pixels.
std::uint64_t countTiles(const KernelHandle &kernel, const Experiment &experiment,
                         const std::optional<std::string> &gradientBy) {
  using Tile = Stepped<decltype(kernel->run_tile)>;
  nb_kernel_descriptor stepped = *kernel;
  Tile::real = kernel->run_tile;
  stepped.run_tile = Tile::call;
  StepCounter counter(reinterpret_cast<const void *>(kernel->run_tile));
  Tile::counter = &counter;
  SimulatorOptions options;
  options.kernel = {kernel, &stepped};
  options.precision = precisionFromString(kernel->precision).value();
  options.threads = 1;
  Simulator simulator(experiment, options);
  if (gradientBy) {
    simulator.gradient(*gradientBy, std::vector<double>(simulator.pixels(), 1.0));
    return counter.count();
  }
  std::vector<float> image(simulator.pixels());
  simulator.render(std::span(image));
  return counter.count();
}

} // namespace

std::optional<double> instructionsPerSample(Workload workload, const BenchInputs &inputs,
                                            const std::string &precision,
                                            const KernelMaker &makeKernel, bool gradient) {
  workload.pixels = 64;
  std::vector<std::string> words = workload.words(inputs);
  words.insert(words.end(), {"-compat", "c", "--precision=" + precision});
  RunSetup setup(parseCommandLine(words));
  Detector &detector = setup.complete.experiment.detector;
  detector.slowPixels = 1;
  detector.roiSlowMin = detector.roiSlowMax = 0;
  Experiment &experiment = setup.complete.experiment;
  if (gradient)
    experiment.variant.imageType = ImageType::F64; // as a simulator's gradients
  std::optional<std::string> gradientBy;
  Derivative derivative;
  if (gradient) {
    gradientBy = workload.gradientParameters();
    derivative = {Derivative::Mode::VJP, resolveParameters(*gradientBy, experiment.variant)};
  }
  const KernelRequest request = decide(experiment, setup.line.tool.simulator, derivative).request;
  const std::uint64_t count = countTiles(makeKernel(request), experiment, gradientBy);
  if (count == 0)
    return std::nullopt;
  return double(count) / samplesOf(experiment);
}

} // namespace nanobragg
