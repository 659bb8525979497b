// The numbers of an experiment by their names.
#ifndef NB_COMPILER_EXPERIMENTVALUES_H
#define NB_COMPILER_EXPERIMENTVALUES_H

#include "lib/Experiment/Experiment.h"
#include "lib/Program/BoundParameters.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::nb {

/// Values for the arguments of a program that has some parameters of experiments and perhaps
/// others.
class ExperimentValues {
public:
  /// The experiment has to outlive it.
  explicit ExperimentValues(const nanobragg::Experiment &experiment) : experiment(experiment) {}

  /// The kernel's argument for the parameter of this name; null: the experiment has none. It lives
  /// as long as this object.
  const void *find(const std::string &name);

private:
  const nanobragg::Experiment &experiment;
  std::map<std::string, const void *> known;
  std::vector<std::unique_ptr<nb_kernel_parameter>> parameters;
  std::vector<nanobragg::BoundParameters> values;
};

} // namespace mlir::nb

#endif
