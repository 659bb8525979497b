#include "lib/Compiler/Run/ExperimentValues.h"

#include "lib/Program/Parameters.h"

#include <stdexcept>

using namespace mlir::nb;

const void *ExperimentValues::find(const std::string &name) {
  if (auto value = known.find(name); value != known.end())
    return value->second;
  const nanobragg::Parameter *parameter = nanobragg::findParameter(name);
  if (!parameter)
    return nullptr;
  parameters.push_back(std::make_unique<nb_kernel_parameter>(
      nb_kernel_parameter{parameter->name, parameter->kind(), parameter->unit}));
  // Each is bound by itself: a program may have others.
  nb_kernel_descriptor one = {};
  one.num_parameters = 1;
  one.parameters = parameters.back().get();
  try {
    return known[name] = values.emplace_back(one, experiment).provided()[0];
  } catch (const std::invalid_argument &) {
    return nullptr; // the experiment has none
  }
}
