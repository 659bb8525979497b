// Is a box of Miller indices sane?
#ifndef NANOBRAGG_FORMATS_GRIDSIZE_H
#define NANOBRAGG_FORMATS_GRIDSIZE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Files/FileError.h"

#include <cstddef>
#include <string>

namespace nanobragg::io {

/// Number of nodes inside the bounds, of which the file lists so many. Throws FileError where a
/// typing error in one index leads: the nodes would take more than half of the memory that this
/// process may have, or more than 1 GB with hardly a node in use.
std::size_t gridNodes(const std::string &path, const HklGrid &bounds, std::size_t listed);

/// The error where memory is short.
FileError gridTooLarge(const std::string &path, const HklGrid &bounds);

} // namespace nanobragg::io
#endif
