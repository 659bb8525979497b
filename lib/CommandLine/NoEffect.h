// Flags that change nothing in this run.
#ifndef NANOBRAGG_COMMANDLINE_NOEFFECT_H
#define NANOBRAGG_COMMANDLINE_NOEFFECT_H

#include "lib/CommandLine/CommandLine.h"

#include <string>
#include <vector>

namespace nanobragg {

/// One sentence for each flag that was given and has no effect. Those that chooseDefaults() knows
/// of are left to it.
std::vector<std::string> flagsWithoutEffect(const CommandLine &line, const Inputs &inputs);

} // namespace nanobragg
#endif
