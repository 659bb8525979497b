// The argument array of a kernel.
#ifndef NANOBRAGG_PROGRAM_BOUNDPARAMETERS_H
#define NANOBRAGG_PROGRAM_BOUNDPARAMETERS_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/KernelABI.h"

#include <memory>
#include <span>
#include <string_view>

namespace nanobragg {

/// The argument array of a kernel for one experiment. Keeps no copy of the experiment, which must
/// outlive it unchanged in size; numbers changed in place are seen by the next prepare().
class BoundParameters {
public:
  /// Throws std::invalid_argument naming the first of the kernel's parameters that the experiment
  /// does not provide, or whose kind differs.
  BoundParameters(const nb_kernel_descriptor &kernel, const Experiment &experiment);
  BoundParameters(BoundParameters &&) noexcept;
  ~BoundParameters();

  /// A parameter that no experiment provides: an NB_PARAMETER_IMAGE, or "tangent.NAME", the
  /// direction of a derivative with respect to parameter NAME. The numbers stay the caller's and
  /// are read when the kernel runs; of a grid it is the values. Throws std::invalid_argument when
  /// there is no such parameter or it has another number of numbers.
  void bind(std::string_view parameter, std::span<const double> numbers);
  /// Throws std::invalid_argument naming a parameter that has yet to be bound.
  const void *const *arguments() const;
  /// The same with null for such parameters.
  const void *const *provided() const;

private:
  struct Storage;
  std::unique_ptr<Storage> storage;
};

} // namespace nanobragg
#endif
