// The files of a command line, and those that would destroy each other.
#ifndef NANOBRAGG_COMMANDLINE_OUTPUTCONFLICTS_H
#define NANOBRAGG_COMMANDLINE_OUTPUTCONFLICTS_H

#include "lib/CommandLine/CommandLine.h"

namespace nanobragg {

/// All files that it reads, as far as they are regular files.
std::vector<std::string> inputsRead(const CommandLine &line);

/// Throws UsageError when two outputs are the same file, or an output is an input.
void refuseOutputConflicts(const CommandLine &line);

} // namespace nanobragg
#endif
