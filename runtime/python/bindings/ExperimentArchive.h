// Experiments as bytes, for pickle.
#ifndef NANOBRAGG_PYTHON_EXPERIMENTARCHIVE_H
#define NANOBRAGG_PYTHON_EXPERIMENTARCHIVE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/PixelList.h"

#include <string>
#include <string_view>
#include <utility>

namespace nanobragg::python {

/// All there is in an experiment and its list of pixels, for the same version of this library.
std::string archive(const Experiment &experiment, const ListedPixels &listed);
/// Throws std::invalid_argument for bytes that archive() did not write.
std::pair<Experiment, ListedPixels> restore(std::string_view bytes);

} // namespace nanobragg::python
#endif
