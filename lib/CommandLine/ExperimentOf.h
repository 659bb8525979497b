// The experiment that flags describe.
#ifndef NANOBRAGG_COMMANDLINE_EXPERIMENTOF_H
#define NANOBRAGG_COMMANDLINE_EXPERIMENTOF_H

#include "lib/Experiment/DeviceChoice.h"
#include "lib/Experiment/Experiment.h"

#include <string>
#include <vector>

namespace nanobragg {

/// What nb-sim would simulate with these flags, without the program's name. Reads the files that
/// they name; output flags are ignored. Throws UsageError, io::FileError, std::invalid_argument.
Experiment experimentOf(const std::vector<std::string> &flags);

/// What they say is to render it. Throws UsageError.
DeviceChoice deviceOf(const std::vector<std::string> &flags);

} // namespace nanobragg
#endif
