// The error that no other engine makes up for.
#ifndef NANOBRAGG_RUNTIME_REFUSAL_H
#define NANOBRAGG_RUNTIME_REFUSAL_H

#include <stdexcept>

namespace nanobragg {

/// A kernel file that is damaged, or a setting of the user that cannot be followed. Whoever falls
/// back to the interpreter or to another device where a kernel cannot be had passes this on
/// instead.
class Refusal : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace nanobragg
#endif
