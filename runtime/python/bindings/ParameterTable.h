// Parameters as Python sees them: arrays with shapes.
#ifndef NANOBRAGG_PYTHON_PARAMETERTABLE_H
#define NANOBRAGG_PYTHON_PARAMETERTABLE_H

#include "lib/Program/Parameters.h"
#include "runtime/python/bindings/Arrays.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace nanobragg::python {

/// A name that an experiment has nothing of. KeyError and ValueError in Python.
class UnknownName : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The shape of a parameter's array: () for one number, (3,), (3, 3), (entries,), (entries, 3),
/// (h, k, l) of a grid, the image's of a map of pixels.
Shape shapeOf(const Experiment &experiment, const Parameter &parameter);

/// The image's: (panel, slow, fast), or (slow, fast) where the experiment names no panels.
Shape imageShape(const Experiment &experiment);

/// The parameters that a name stands for, itself or the members of a group, in the order of the
/// table. Throws UnknownName that says what is closest.
std::vector<const Parameter *> named(const Experiment &experiment, std::string_view name);

/// "(2, 3)"
std::string shapeText(const Shape &shape);

} // namespace nanobragg::python
#endif
