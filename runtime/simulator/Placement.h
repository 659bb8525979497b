// The engine, device and kernel of a simulator's programs.
//
// Decided here and nowhere else, for images and derivatives, for command lines, C++ and C:
//
// clang-format off
//   engine    the interpreter when the options or, without a kernel file, the environment say so,
//             or when instruments look at the run; else a kernel
//   precision as the options say, but f64 for crystals that are too large for mixed
//   culling   as the options say, but off where looking for light would not pay; unsaid, exact where
//             that pays, and off for the programs of GPUs
//   counts    long images on the processor have kernels for their numbers of cells and sums of one
//             term, unless the options say otherwise
//   device    as the options say; with "auto" a GPU where there is one, unless the simulator is run
//             once and the run is shorter than the GPU's start
//   schedule  what nb-try --tune has kept for such images on the processor, unless the options have
//             passes
//   fallback  with "auto" the processor takes over what the GPU cannot do; where no kernel can be
//             made the interpreter takes over, for good, if the options allow that
// clang-format on
#ifndef NANOBRAGG_SIMULATOR_PLACEMENT_H
#define NANOBRAGG_SIMULATOR_PLACEMENT_H

#include "nanobragg/SimulatorOptions.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/simulator/Program.h"

#include <functional>
#include <optional>
#include <string>

namespace nanobragg {

/// The innermost evaluations of an image: rendered pixels x samples per pixel.
double samplesOf(const Experiment &experiment);

/// The kind of runner, which is decided before the program is.
enum class Runner { Processor, Gpu, Interpreter };

/// The choices for an experiment and options.
struct Decision {
  /// The program as the compiler is asked for it. The target is the processor at hand, or with
  /// gpu-on-cpu that with a GPU's program; a Placement sets that of a GPU.
  KernelRequest request;
  std::vector<std::string> notes; ///< sentences that say what is not as asked for, and why
};

/// Decides on the experiment's image, with pixels of its type or of another one, or of derivatives.
/// Throws std::invalid_argument where the options' schedule is for something else.
Decision decide(const Experiment &experiment, const SimulatorOptions &options,
                const Derivative &derivative = {}, std::optional<ImageType> pixels = {},
                Runner runner = Runner::Processor);

/// The request of a variant, without an experiment.
KernelRequest requestFor(const ProgramVariant &variant, const SimulatorOptions &options);

/// The pipeline that nb-try --tune has kept for images like this one on this processor, if any.
std::optional<std::string> keptPipeline(const KernelRequest &request);
/// The request with it; request.passes.tell says so.
KernelRequest withKeptSchedule(KernelRequest request);

class Placement {
public:
  /// The environment is read here and not again. `samples` is of one run; 0 when there is no
  /// experiment to tell.
  explicit Placement(const SimulatorOptions &options, double samples = 0);

  /// A program for what will run it.
  using Asked = std::function<KernelRequest(Runner)>;

  /// The program, found or compiled. Throws std::runtime_error with the compiler's or the device's
  /// reason where nothing else may take over.
  Program place(const Asked &asked);

  /// The program for the interpreter, whatever the engine.
  Program interpret(KernelRequest request, const Instruments &look = {}) const;

  /// The request of place(), to be shown and not run. With "auto" it is the processor's.
  KernelRequest shown(const Asked &asked) const;

  KernelProvider &provider() const { return kernels; }
  Engine engine() const { return interprets ? Engine::Interpreter : Engine::Fused; }
  const std::optional<std::string> &fallbackReason() const { return reason; }
  const std::optional<std::string> &deviceFallbackReason() const { return deviceReason; }

private:
  KernelRequest requestOn(const DeviceChoice &device, const Asked &asked) const;

  KernelProvider &kernels;
  KernelHandle given; ///< by the options
  DeviceChoice choice;
  bool interprets, usesKeptSchedule, fallback, hasFile;
  std::optional<std::string> reason, deviceReason;
};

} // namespace nanobragg
#endif
