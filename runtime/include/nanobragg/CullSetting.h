// Which samples a kernel leaves out.
#ifndef NANOBRAGG_CULLSETTING_H
#define NANOBRAGG_CULLSETTING_H

#include "nanobragg/Engine.h"

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// None (off), those that are zero in floating point (exact), or those whose squared lattice factor
/// is below a tolerance, relative to its peak. docs/culling-methods.md states what is proven about
/// each.
class CullSetting {
public:
  constexpr CullSetting() = default; ///< off
  static constexpr CullSetting off() { return {}; }
  static constexpr CullSetting exact() { return CullSetting(0); }
  /// Throws std::invalid_argument unless the tolerance is between 0 and 1.
  static NB_CPP_API CullSetting below(double tolerance);

  constexpr bool isOff() const { return !bound; }
  constexpr bool isExact() const { return bound && *bound == 0; }
  /// 0 for exact; throws for off.
  constexpr double tolerance() const { return bound.value(); }
  /// Whether a kernel with this setting computes all samples that one with `wanted` does. One with
  /// "exact" makes the same image as one that leaves out nothing.
  constexpr bool keeps(const CullSetting &wanted) const {
    return bound.value_or(0) <= wanted.bound.value_or(0);
  }

  /// "off", "exact" or the tolerance; empty if the text is none of these.
  static NB_CPP_API std::optional<CullSetting> fromString(std::string_view text);
  NB_CPP_API std::string toString() const;
  bool operator==(const CullSetting &) const = default;

private:
  explicit constexpr CullSetting(double bound) : bound(bound) {}
  std::optional<double> bound;
};

} // namespace nanobragg
#endif
