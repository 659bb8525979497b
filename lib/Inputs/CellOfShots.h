// The unit cell where shots alone have one.
#ifndef NANOBRAGG_INPUTS_CELLOFSHOTS_H
#define NANOBRAGG_INPUTS_CELLOFSHOTS_H

#include "lib/CommandLine/CommandLine.h"

#include <string>

namespace nanobragg {

/// Is the content of a file of shots a list of experiments of DIALS, and no table?
bool areExperiments(const std::string &shots);

/// The cell of the first crystal of `shots`, the content of --shots; nothing where that has none.
/// Throws UsageError, io::FileError.
std::optional<std::array<double, 6>> cellOfShots(const std::string &shots, CommandLine line);

} // namespace nanobragg
#endif
