// A program bound to an experiment.
#ifndef NANOBRAGG_SIMULATOR_BOUNDPROGRAM_H
#define NANOBRAGG_SIMULATOR_BOUNDPROGRAM_H

#include "runtime/kernels/KernelProvider.h"
#include "runtime/processor/KernelRunner.h"

#include <optional>
#include <string_view>

namespace nanobragg {

/// The program of an image or of its derivatives, on one engine, with the numbers of an experiment,
/// which must outlive it. Numbers changed in the experiment are seen by the next run.
class BoundProgram {
public:
  /// `request.engine` decides the engine.
  BoundProgram(KernelProvider &kernels, const KernelRequest &request, const Experiment &experiment);

  const nb_kernel_descriptor &descriptor() const;
  /// A parameter that experiments do not have, see BoundParameters::bind. The numbers stay the
  /// caller's.
  void bind(std::string_view parameter, std::span<const double> numbers);
  RunResult run(const RunOptions &options);
  /// An output of the last run, valid until the next.
  std::span<const double> output(std::string_view name) const;

private:
  struct Interpreted {
    std::shared_ptr<const PreparedProgram> program;
    BoundParameters parameters;
    OutputMemory memory;
  };

  const Experiment &experiment;
  std::optional<KernelRunner> runner;
  std::optional<Interpreted> interpreted;
};

} // namespace nanobragg
#endif
