// A derivative that is zero for a reason.
#ifndef NANOBRAGG_DEADGRADIENT_H
#define NANOBRAGG_DEADGRADIENT_H

#include <string>

namespace nanobragg {

/// A parameter that an experiment's image does not depend on, to first order.
struct DeadGradient {
  std::string parameter;
  std::string why; ///< a clause: "there is one mosaic domain, which is not rotated"
};

} // namespace nanobragg
#endif
