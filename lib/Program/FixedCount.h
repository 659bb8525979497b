// Counts that are compiled into a kernel.
#ifndef NANOBRAGG_PROGRAM_FIXEDCOUNT_H
#define NANOBRAGG_PROGRAM_FIXEDCOUNT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace nanobragg {

/// A parameter that has this value in a kernel, whatever it is given.
struct FixedCount {
  std::string name;
  std::int64_t value = 0;

  /// "oversample=1"
  std::string toString() const { return name + "=" + std::to_string(value); }
  /// Inverse of toString. Throws std::invalid_argument where it gives no count a value.
  static FixedCount fromString(std::string_view text);
  bool operator==(const FixedCount &) const = default;
};

} // namespace nanobragg
#endif
