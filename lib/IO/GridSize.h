// Is a box of Miller indices sane?.
#ifndef NANOBRAGG_IO_GRIDSIZE_H
#define NANOBRAGG_IO_GRIDSIZE_H

#include "lib/Experiment/Experiment.h"
#include "lib/IO/FileError.h"

#include <cstddef>
#include <string>

namespace nanobragg::io {

/// Number of nodes inside the bounds. Throws FileError when the nodes would take more than half of
/// this machine's memory, which is where a typing error in one index leads.
std::size_t gridNodes(const std::string &path, const HklGrid &bounds);

FileError gridTooLarge(const std::string &path, const HklGrid &bounds);

} // namespace nanobragg::io
#endif
