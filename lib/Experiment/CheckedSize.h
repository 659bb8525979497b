// Products of sizes that come from files, flags and callers.
#ifndef NANOBRAGG_CHECKEDSIZE_H
#define NANOBRAGG_CHECKEDSIZE_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

namespace nanobragg {

/// The product of all sizes; nothing when one is negative or the product has no room in 64 bits. A
/// size of zero does not hide that the others are too large.
inline std::optional<std::int64_t> tryProduct(std::initializer_list<std::int64_t> sizes) {
  std::int64_t product = 1;
  bool zero = false;
  for (const std::int64_t size : sizes) {
    zero |= size == 0;
    if (size < 0 || (size > 0 && __builtin_mul_overflow(product, size, &product)))
      return std::nullopt;
  }
  return zero ? 0 : product;
}

/// The same. Throws std::invalid_argument: "WHAT of 4294967296 x 4294967296 cannot be counted".
inline std::int64_t productOf(std::initializer_list<std::int64_t> sizes, const char *what) {
  if (const auto product = tryProduct(sizes))
    return *product;
  std::string text;
  for (const std::int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  throw std::invalid_argument(what + (" of " + text) + " cannot be counted; give sensible sizes");
}

} // namespace nanobragg
#endif
