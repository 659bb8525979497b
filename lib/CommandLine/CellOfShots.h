// The unit cell where shots alone have one.
#ifndef NANOBRAGG_COMMANDLINE_CELLOFSHOTS_H
#define NANOBRAGG_COMMANDLINE_CELLOFSHOTS_H

#include "lib/CommandLine/CommandLine.h"

#include <string>

namespace nanobragg {

/// Is the content of a file of shots a list of experiments of DIALS, and no table?
bool areExperiments(const std::string &shots);

/// Takes the cell of the first crystal of `shots`, the content of --shots, into line.options.cell.
/// Nothing where that has none. Throws UsageError, io::FileError.
void takeCellOfShots(const std::string &shots, CommandLine &line);

} // namespace nanobragg
#endif
