// The precision of a kernel's arithmetic.
#ifndef NANOBRAGG_PRECISION_H
#define NANOBRAGG_PRECISION_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// Mixed: f64 for geometry and phases, f32 for amplitudes. docs/precision.md gives the bounds.
enum class Precision { F64, Mixed, F32 };

/// In the order of the enumerators.
inline constexpr std::string_view precisionNames[] = {"f64", "mixed", "f32"};

inline std::string toString(Precision precision) {
  return std::string(precisionNames[std::size_t(precision)]);
}

/// Empty if it is none of precisionNames.
inline std::optional<Precision> precisionFromString(std::string_view text) {
  for (std::size_t i = 0; i != std::size(precisionNames); ++i)
    if (text == precisionNames[i])
      return Precision(i);
  return std::nullopt;
}

} // namespace nanobragg
#endif
