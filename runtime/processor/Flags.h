// Flags that loops in lanes write, a byte each.
#ifndef NANOBRAGG_RUNTIME_FLAGS_H
#define NANOBRAGG_RUNTIME_FLAGS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nanobragg {

inline std::size_t wholeVectors(std::size_t count) { return (count + 7) / 8 * 8; }

/// Calls `visit` with the numbers of bytes that are 1, of `count` and 0 up to whole vectors.
template <typename Visit>
void forEachFlag(const unsigned char *flags, std::size_t count, Visit visit) {
  for (std::size_t eight = 0; eight < count; eight += 8) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, flags + eight, 8);
    for (; bits; bits &= bits - 1)
      visit(eight + std::size_t(__builtin_ctzll(bits)) / 8);
  }
}

} // namespace nanobragg
#endif
