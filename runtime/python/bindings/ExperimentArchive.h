// Experiments as bytes, for pickle.
#ifndef NANOBRAGG_PYTHON_EXPERIMENTARCHIVE_H
#define NANOBRAGG_PYTHON_EXPERIMENTARCHIVE_H

#include "lib/Experiment/Experiment.h"

#include <string>
#include <string_view>

namespace nanobragg::python {

/// All there is in an experiment, for the same version of this library.
std::string archive(const Experiment &experiment);
/// Throws std::invalid_argument for bytes that archive() did not write.
Experiment restore(std::string_view bytes);

} // namespace nanobragg::python
#endif
