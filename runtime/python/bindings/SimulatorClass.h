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
void bindReflectionTable(SimulatorClass &simulator);
void bindLabGeometry(SimulatorClass &simulator);
void bindOnDevice(nb::module_ &module, SimulatorClass &simulator);
void bindState(nb::module_ &module, SimulatorClass &simulator);

/// One number as Python's own, else an array.
nb::object asPython(std::vector<double> values, const Shape &shape);

/// By parameters' names, in their shapes.
nb::dict asDict(const PythonSimulator &self, const std::vector<Gradient> &gradients);

/// Rows of a table of reflections: the least partiality, or a tuple (h, k, l of each row, its panel
/// or below 0, its angle in degrees or NaN).
ReflectionLimits limitsOf(const nb::object &rows);

/// Columns by name, in users' units.
nb::dict asDict(const ReflectionTable &table);

/// New numbers of a parameter.
struct Change {
  const Parameter *parameter;
  std::vector<double> values;
};

/// Adds the changes that a value means for the parameter or group of that name. Throws where the
/// name, the shape or the kind of the parameter forbids it.
void addChanges(const Experiment &experiment, const std::string &name, const Doubles &value,
                std::vector<Change> &changes);

/// The changes of a direction, a dict from names to numbers.
std::vector<Direction> directionOf(const nb::dict &given, const Experiment &experiment);

} // namespace nanobragg::python
#endif
