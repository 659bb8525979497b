// A table of the reflections of an image.
#ifndef NANOBRAGG_REFLECTIONS_H
#define NANOBRAGG_REFLECTIONS_H

#include "nanobragg/ReflectionColumns.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A requested row.
struct AskedReflection {
  std::array<std::int32_t, 3> millerIndex{};
  std::int32_t panel = -1; ///< below 0: whichever it is on
  /// If the reflection crosses the sphere twice, the crossing nearer to this spindle angle (rad) is
  /// meant; NaN: nearer to the middle of the rotation.
  double angle = NAN;
};

struct ReflectionLimits {
  double partiality = 1e-3; ///< rows with less are left out; above 0, at most 1
  /// Also 0 0 0, and spots whose centre is outside their panel but some of whose light is on it.
  bool ofImage = false;
  /// These rows, in this order, whatever their partiality. A reflection that does not come onto the
  /// sphere, or farther than 20 pixels from its panel, has panel -1, photons and partiality 0, and
  /// NaN in all other columns.
  std::optional<std::vector<AskedReflection>> rows{};
};

/// One row for each reflection, in the order of their Miller indices or of the request.
struct ReflectionTable {
  std::vector<std::array<std::int32_t, 3>> millerIndex;
  std::vector<std::int32_t> panel;
  /// In the order of programColumns, in SI units and pixels.
  std::array<std::vector<double>, programColumns.size()> columns;

  std::size_t rows() const { return panel.size(); }
  /// Throws std::invalid_argument if there is no column of this name.
  std::span<const double> column(std::string_view name) const {
    for (std::size_t i = 0; i != programColumns.size(); ++i)
      if (programColumns[i].name == name)
        return columns[i];
    throw std::invalid_argument("a table of reflections has no column '" + std::string(name) + "'");
  }
};

/// A number for each entry of a table's columns, such as their derivatives along a direction.
using ReflectionNumbers = std::array<std::vector<double>, programColumns.size()>;

} // namespace nanobragg
#endif
