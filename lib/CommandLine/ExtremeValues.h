// Which flags could have made numbers that are not finite?
#ifndef NANOBRAGG_COMMANDLINE_EXTREMEVALUES_H
#define NANOBRAGG_COMMANDLINE_EXTREMEVALUES_H

#include "lib/CommandLine/CommandLine.h"

#include <string>

namespace nanobragg {

/// The flags with a number that no experiment has, in any unit (above 1e9, of photons above 1e30,
/// or, other than zero, below 1e-30), as they were given: "-distance 1e308, -lambda 1e-200". Empty:
/// there is none.
std::string extremeValues(const CommandLine &line);

} // namespace nanobragg
#endif
