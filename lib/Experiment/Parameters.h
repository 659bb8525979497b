// The named numbers of a kernel.
//
// One table lists every parameter a kernel can have: its name, kind, unit, meaning, the variants
// that use it, and where its value lives in an Experiment. The frontend declares function arguments
// from it, the runtime binds a kernel's arguments from it, and --list-parameters prints it.
#ifndef NANOBRAGG_EXPERIMENT_PARAMETERS_H
#define NANOBRAGG_EXPERIMENT_PARAMETERS_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/KernelABI.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A parameter of the program. All pointers are to static storage.
struct Parameter {
  const char *name;
  nb_parameter_kind kind;
  const char *unit;    ///< SI; "1" when dimensionless
  const char *meaning; ///< one line
  bool differentiable; ///< a physical number that a derivative can be taken by
  bool (*usedBy)(const ProgramVariant &);
  /// Address of the value inside the experiment, laid out as `kind` says, or null for values that
  /// BoundParameters stores itself (counts, the grid descriptor).
  const void *(*address)(const Experiment &);
};

/// All parameters, in the order of the program's arguments.
std::span<const Parameter> allParameters();

/// Those that a program of this variant takes, in order.
std::vector<const Parameter *> parametersOf(const ProgramVariant &variant);

/// Null when there is no such parameter.
const Parameter *findParameter(std::string_view name);

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
  /// direction of a derivative by parameter NAME. The numbers stay the caller's and are read when
  /// the kernel runs; of a grid it is the values. Throws std::invalid_argument when there is no
  /// such parameter or it has another number of numbers.
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
