// What runs a simulator's programs.
//
// Decided here and nowhere else, for images and derivatives, for command lines, C++ and C:
//
// clang-format off
//   engine    the interpreter when the options or, without a kernel file, the environment say so,
//             or when instruments look at the run; else a kernel
//   device    as the options say; with "auto" a GPU where there is one, unless the simulator is run
//             once and the run is shorter than the GPU's start
//   schedule  what nb-try --tune has kept for such images on the processor, unless the options have
//             passes
//   fallback  with "auto" the processor takes over what the GPU cannot do; where no kernel can be
//             made the interpreter takes over, for good, unless that is not wanted
// clang-format on
#ifndef NANOBRAGG_SIMULATOR_PLACEMENT_H
#define NANOBRAGG_SIMULATOR_PLACEMENT_H

#include "nanobragg/SimulatorOptions.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/simulator/Program.h"

#include <optional>
#include <string>

namespace nanobragg {

/// The innermost evaluations of an image: rendered pixels x samples per pixel.
double samplesOf(const Experiment &experiment);

/// The program of an experiment's image, or of its derivatives, as the compiler is asked for it.
/// The target is the processor at hand, or with "gpu-on-cpu" that with a GPU's program.
KernelRequest requestFor(const Experiment &experiment, const SimulatorOptions &options,
                         const std::string &derivative = "");

class Placement {
public:
  /// The environment is read here and not again. Throws std::invalid_argument for a device that is
  /// none. `samples` is of one run; 0 when there is no experiment to tell.
  explicit Placement(const SimulatorOptions &options, double samples = 0);

  /// The program of a request, found or compiled. Throws std::runtime_error with the compiler's or
  /// the device's reason where nothing else may take over.
  Program place(KernelRequest request);

  /// The program for the interpreter, whatever the engine.
  Program interpret(KernelRequest request, const Instruments &look = {}) const;

  /// The request with the engine, and with the device if that was named: what is shown of a program
  /// that is not run. With "auto" it is the processor's.
  KernelRequest decided(KernelRequest request) const;

  KernelProvider &provider() const { return kernels; }
  Engine engine() const { return interprets ? Engine::Interpreter : Engine::Fused; }
  const std::optional<std::string> &fallbackReason() const { return reason; }
  const std::optional<std::string> &deviceFallbackReason() const { return deviceReason; }

private:
  KernelRequest withCulling(KernelRequest request) const;
  Program placeGiven(const KernelRequest &request) const;
  std::optional<Program> placeOnGpu(const KernelRequest &request);

  KernelProvider &kernels;
  KernelHandle given; ///< by the options
  DeviceChoice choice;
  bool interprets, takesKept, fallback;
  bool cullsByDefault; ///< nobody said anything
  std::optional<std::string> reason, deviceReason;
};

} // namespace nanobragg
#endif
