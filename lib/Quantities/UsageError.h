// The error that a wrong request raises, in the words of whoever made it.
#ifndef NANOBRAGG_QUANTITIES_USAGEERROR_H
#define NANOBRAGG_QUANTITIES_USAGEERROR_H

#include "lib/Quantities/Printable.h"

#include <stdexcept>
#include <string>

namespace nanobragg {

/// A request that cannot be met. what() is one sentence that names the flag, or the field of
/// Python, and the fix.
class UsageError : public std::runtime_error {
public:
  explicit UsageError(const std::string &sentence) : std::runtime_error(printable(sentence)) {}
};

} // namespace nanobragg
#endif
