#include "tools/nb-bench/InstructionCount.h"

#include "lib/Experiment/Derivative.h"
#include "lib/Experiment/ParameterGroups.h"
#include "nanobragg/Simulator.h"
#include "runtime/simulator/Placement.h"
#include "tools/shared/RunSetup.h"

#include <csignal>
#include <cstdint>
#include <fstream>
#include <ucontext.h>
#include <vector>

namespace nanobragg {

#ifdef __x86_64__

namespace {

/// Where code lies in memory.
struct Range {
  std::uint64_t begin = 0, end = 0;
};

volatile std::uint64_t steps;
Range counted;

void countStep(int, siginfo_t *, void *context) {
  const auto at = std::uint64_t(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
  if (counted.begin <= at && at < counted.end)
    steps = steps + 1;
}

void toggleStepping(int, siginfo_t *, void *context) {
  constexpr greg_t trapFlag = 0x100;
  static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] ^= trapFlag;
}

/// A signal's handler while this lives.
class Handler {
public:
  Handler(int signal, void (*handle)(int, siginfo_t *, void *)) : signal(signal) {
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = handle;
    ::sigaction(signal, &action, &before);
  }
  ~Handler() { ::sigaction(signal, &before, nullptr); }
  Handler(const Handler &) = delete;

private:
  int signal;
  struct sigaction before{};
};

/// The mapping of this process that holds an address.
Range mappingOf(const void *address) {
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  Range range;
  char dash;
  for (std::string rest; maps >> std::hex >> range.begin >> dash >> range.end;
       std::getline(maps, rest))
    if (range.begin <= wanted && wanted < range.end)
      return range;
  return {};
}

/// A function that can stand in for one of a kernel, and steps through it.
template <typename Function>
struct Stepped;
template <typename... Arguments>
struct Stepped<void (*)(Arguments...)> {
  static inline void (*real)(Arguments...);
  static void call(Arguments... arguments) {
    ::raise(SIGUSR1);
    real(arguments...);
    ::raise(SIGUSR1);
  }
};

/// Instructions of the kernel's tiles, of an image or of the gradient of the sum of its pixels.
std::uint64_t countTiles(const KernelHandle &kernel, const Experiment &experiment,
                         const std::optional<std::string> &gradientBy) {
  using Tile = Stepped<decltype(kernel->run_tile)>;
  nb_kernel_descriptor stepped = *kernel;
  Tile::real = kernel->run_tile;
  stepped.run_tile = Tile::call;
  counted = mappingOf(reinterpret_cast<const void *>(kernel->run_tile));
  steps = 0;
  const Handler step(SIGTRAP, countStep), toggle(SIGUSR1, toggleStepping);
  SimulatorOptions options;
  options.kernel = {kernel, &stepped};
  options.precision = kernel->precision;
  options.threads = 1;
  Simulator simulator(experiment, options);
  if (gradientBy) {
    simulator.gradient(*gradientBy, std::vector<double>(simulator.pixels(), 1.0));
    return steps;
  }
  std::vector<float> image(simulator.pixels());
  simulator.render(std::span(image));
  return steps;
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
  KernelRequest request = requestFor(experiment, setup.line.tool.simulator);
  std::optional<std::string> gradientBy;
  if (gradient) {
    gradientBy = workload.gradientParameters();
    request.derivative =
        Derivative{Derivative::Mode::VJP, resolveParameters(*gradientBy, experiment.variant)}
            .toString();
  }
  const std::uint64_t count = countTiles(makeKernel(request), experiment, gradientBy);
  if (count == 0)
    return std::nullopt;
  return double(count) / samplesOf(experiment);
}

#else

std::optional<double> instructionsPerSample(Workload, const BenchInputs &, const std::string &,
                                            const KernelMaker &, bool) {
  return std::nullopt;
}

#endif

} // namespace nanobragg
