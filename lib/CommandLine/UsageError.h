// What is wrong with a command line.
#ifndef NANOBRAGG_COMMANDLINE_USAGEERROR_H
#define NANOBRAGG_COMMANDLINE_USAGEERROR_H

#include <stdexcept>

namespace nanobragg {

/// A command line that cannot be run. what() is one sentence that names the flag and the fix.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace nanobragg
#endif
