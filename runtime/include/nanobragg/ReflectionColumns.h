// The columns of a table of reflections.
#ifndef NANOBRAGG_REFLECTIONCOLUMNS_H
#define NANOBRAGG_REFLECTIONCOLUMNS_H

#include <array>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

namespace nanobragg {

struct ReflectionColumn {
  std::string_view name;
  std::string_view unit;     ///< in programs
  std::string_view userUnit; ///< in files and Python
  double inUserUnits = 1;    ///< one of `unit`

  std::vector<double> toUserUnits(std::vector<double> numbers) const {
    for (double &number : numbers)
      number *= inUserUnits;
    return numbers;
  }
};

/// The results of a program of reflections, in its order. Positions are in pixels from the outer
/// corner of the first one; docs/reflections.md describes the columns.
inline constexpr std::array<ReflectionColumn, 19> programColumns = {
    {{"photons", "photons", "photons"},
     {"partiality", "1", "1"},
     {"fast", "pixels", "pixels"},
     {"slow", "pixels", "pixels"},
     {"angle", "rad", "degrees", 180 / std::numbers::pi},
     {"covariance_ff", "pixels^2", "pixels^2"},
     {"covariance_fs", "pixels^2", "pixels^2"},
     {"covariance_ss", "pixels^2", "pixels^2"},
     {"wavelength", "m", "A", 1e10},
     {"wavelength_sigma", "m", "A", 1e10},
     {"skew_fff", "1", "1"},
     {"skew_ffs", "1", "1"},
     {"skew_fss", "1", "1"},
     {"skew_sss", "1", "1"},
     {"excess", "1", "1"},
     {"motion", "1", "1"},
     {"turn", "1", "1"},
     {"turn_sigma", "1", "1"},
     {"brightest", "1", "1"}}};
/// The columns for users. The others are for images: how far a spot is from a Gaussian, and which
/// part of the rotation step or of the spectrum contains its light (SpotMoments.h).
inline constexpr auto reflectionColumns = std::span(programColumns).first<10>();

} // namespace nanobragg
#endif
