// The class Core, which several files bind.
#ifndef NANOBRAGG_PYTHON_SIMULATORCLASS_H
#define NANOBRAGG_PYTHON_SIMULATORCLASS_H

#include "runtime/python/bindings/PythonSimulator.h"

#include <string>
#include <vector>

namespace nanobragg::python {

using SimulatorClass = nb::class_<PythonSimulator>;

void bindValues(SimulatorClass &simulator);
void bindDerivatives(SimulatorClass &simulator);
void bindOnDevice(nb::module_ &module, SimulatorClass &simulator);
void bindState(nb::module_ &module, SimulatorClass &simulator);

/// One number as Python's own, else an array.
nb::object asPython(std::vector<double> values, const Shape &shape);

/// By parameters' names, in their shapes.
nb::dict asDict(const PythonSimulator &self, const std::vector<Gradient> &gradients);

/// New numbers of a parameter.
struct Change {
  const Parameter *parameter;
  std::vector<double> values;
};

/// Adds the changes that a value means for the parameter or group of that name. Throws where the
/// name, the shape or the kind of the parameter forbids it.
void addChanges(const Experiment &experiment, const std::string &name, const Doubles &value,
                std::vector<Change> &changes);

} // namespace nanobragg::python
#endif
