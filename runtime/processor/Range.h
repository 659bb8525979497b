#ifndef NANOBRAGG_RUNTIME_RANGE_H
#define NANOBRAGG_RUNTIME_RANGE_H

#include <cstdint>

namespace nanobragg {

/// Numbers between bounds, inclusive; none if last < first.
struct Range {
  std::int64_t first = 0, last = -1;
};

} // namespace nanobragg
#endif
