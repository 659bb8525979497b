#include "tools/nb-bench/InstructionCount.h"

#include "lib/Program/Derivative.h"
#include "lib/Program/ParameterGroups.h"
#include "nanobragg/Simulator.h"
#include "runtime/kernels/KernelFile.h"
#include "runtime/processor/StepCount.h"
#include "runtime/simulator/Placement.h"
#include "tools/shared/RunSetup.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
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

/// The kernel's tiles, of an image or of the gradient of the sum of its pixels.
Executed countTiles(const KernelHandle &kernel, const CompilerLibrary &compiler,
                    const Experiment &experiment, const std::optional<std::string> &gradientBy) {
  using Tile = Stepped<decltype(kernel->run_tile)>;
  nb_kernel_descriptor stepped = *kernel;
  Tile::real = kernel->run_tile;
  stepped.run_tile = Tile::call;
  const void *code = reinterpret_cast<const void *>(kernel->run_tile);
  StepCounter counter(code);
  Tile::counter = &counter;
  SimulatorOptions options;
  options.kernel = {kernel, &stepped};
  options.precision = precisionFromString(kernel->precision).value();
  options.threads = 1;
  Simulator simulator(experiment, options);
  if (gradientBy) {
    simulator.gradient(*gradientBy, std::vector<double>(simulator.pixels(), 1.0));
  } else {
    std::vector<float> image(simulator.pixels());
    simulator.render(std::span(image));
  }
  Executed executed{double(counter.count())};
  const auto *loaded = static_cast<const char *>(kernelAt(code));
  if (counter.count() == 0 || !loaded)
    return executed;
  std::vector<std::uint64_t> addresses, counts;
  for (std::size_t i = 0; i != counter.counts().size(); ++i)
    if (const std::uint32_t count = counter.counts()[i]) {
      addresses.push_back(std::uint64_t(counter.begin() + i - loaded));
      counts.push_back(count);
    }
  if (auto busiest =
          compiler.busiestPart(imageOfKernel(loaded), kernel->target, addresses, counts)) {
    executed.cycles = busiest->cycles;
    executed.part = busiest->name;
  }
  return executed;
}

/// From the code alone.
Executed countLoop(const CompilerLibrary &compiler, const KernelRequest &request) {
  const auto stats = nlohmann::json::parse(compiler.emit(request, "stats-json"));
  Executed executed{stats.at("instructions_per_sample")};
  if (const auto bound = stats.find("bound"); bound != stats.end()) {
    executed.cycles = bound->at("cycles_per_sample");
    executed.part = bound->at("part");
  }
  executed.loadedBytes = stats.at("loaded_bytes_per_sample");
  executed.samplesPerSecond = stats.value("samples_per_second", 0.0);
  const auto device = stats.find("device");
  if (device != stats.end() && device->contains("warps") &&
      request.target.vendor()->language == GpuLanguage::HSACO)
    executed.occupied = {device->at("registers"), device->at("spills"), device->at("warps")};
  return executed;
}

} // namespace

KernelHandle buildKernel(const CompilerLibrary &compiler, const KernelRequest &request) {
  const auto file = compiler.build(request);
  if (!file)
    throw std::runtime_error("the compiler library makes no files");
  return loadKernel(*file);
}

std::optional<Executed> executedPerSample(const Workload &workload, const BenchInputs &inputs,
                                          const std::string &precision,
                                          const CompilerLibrary &compiler,
                                          const ChangeRequest &change, bool gradient) {
  const auto setupOf = [&](const Workload &some) {
    std::vector<std::string> words = some.words(inputs);
    words.insert(words.end(), {"-compat", "c", "--precision=" + precision});
    return RunSetup(parseCommandLine(words));
  };
  RunSetup whole = setupOf(workload);
  ProgramVariant &variant = whole.complete.experiment.variant;
  std::optional<std::string> gradientBy;
  Derivative derivative;
  if (gradient) {
    variant.imageType = ImageType::F64; // as a simulator's gradients
    gradientBy = workload.gradientParameters();
    derivative = {Derivative::Mode::VJP, resolveParameters(*gradientBy, variant)};
  }
  // Counts are compiled in where there are many samples.
  KernelRequest request =
      decide(whole.complete.experiment, whole.line.tool.simulator, derivative).request;
  change(request);
  if (request.target.vendor())
    return countLoop(compiler, request);
  Workload fewer = workload;
  fewer.pixels = 64;
  RunSetup row = setupOf(fewer);
  Experiment &experiment = row.complete.experiment;
  experiment.variant = variant;
  Detector &detector = experiment.detector;
  detector.slowPixels = 1;
  detector.roiSlowMin = detector.roiSlowMax = 0;
  Executed executed = countTiles(buildKernel(compiler, request), compiler, experiment, gradientBy);
  if (executed.instructions == 0)
    return std::nullopt;
  const double samples = samplesOf(experiment);
  executed.instructions /= samples;
  if (executed.cycles)
    *executed.cycles /= samples;
  return executed;
}

} // namespace nanobragg
