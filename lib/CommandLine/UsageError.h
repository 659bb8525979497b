// The error that a wrong command line raises.
#ifndef NANOBRAGG_COMMANDLINE_USAGEERROR_H
#define NANOBRAGG_COMMANDLINE_USAGEERROR_H

#include "lib/Experiment/Printable.h"

#include <stdexcept>
#include <string>

namespace nanobragg {

/// A command line that cannot be run. what() is one sentence that names the flag and the fix.
class UsageError : public std::runtime_error {
public:
  explicit UsageError(const std::string &sentence) : std::runtime_error(printable(sentence)) {}
};

} // namespace nanobragg
#endif
