// The usual line of a reflection list.
#ifndef NANOBRAGG_FORMATS_PLAINREFLECTION_H
#define NANOBRAGG_FORMATS_PLAINREFLECTION_H

#include <cstdint>

namespace nanobragg::io {

struct Reflection {
  std::int32_t h, k, l;
  double f;
};

/// Reads `h k l F` with nothing after it, F without exponent and of at most 15 digits, which is how
/// nearly all lists are written. Returns the beginning of the next line; null, and who knows what
/// in `r`, for any other line, which takes a slower reader. Both give the same numbers.
const char *readPlainReflection(const char *p, const char *end, Reflection &r);

} // namespace nanobragg::io
#endif
