// The units of flags.
#ifndef NANOBRAGG_EXPERIMENT_FLAGUNITS_H
#define NANOBRAGG_EXPERIMENT_FLAGUNITS_H

#include "lib/Experiment/Units.h"

#include <array>
#include <cstddef>

namespace nanobragg {

/// A unit of flags, and the unit in SI that fields have.
struct Unit {
  const char *name, *si;
  double (*toSI)(double) = nullptr; ///< null: it is its own
  /// For the numbers from the fourth on, as of a cell.
  double (*otherToSI)(double) = nullptr;

  double inSI(double value, std::size_t index = 0) const;
  /// The number with the fewest digits whose value in SI is this one, so that a number from a flag
  /// comes back as it was written; the nearest number where no number has exactly this value.
  double fromSI(double value, std::size_t index = 0) const;
};

namespace flagUnit {
inline constexpr Unit one{"", "1"}, cells{"cells", "1"}, domains{"domains", "1"},
    sources{"sources", "1"}, wavelengths{"wavelengths", "1"}, steps{"steps", "1"},
    pixels{"pixels", "1"}, subPixels{"sub-pixels", "1"}, layers{"layers", "1"},
    electrons{"electrons", "electron"}, seconds{"s", "s"}, photonsPerSecond{"photons/s", "1/s"},
    photonsPerArea{"photons/m^2", "1/m^2"}, gain{"ADU/photon", "ADU"}, counts{"counts", "counts"},
    metres{"m", "m"};
inline constexpr Unit degrees{"degrees", "rad", units::radians};
inline constexpr Unit milliradians{"mrad", "rad", units::fromMilliradians};
inline constexpr Unit millimetres{"mm", "m", units::fromMillimetres};
inline constexpr Unit micrometres{"um", "m", units::fromMicrometres};
inline constexpr Unit waterEdge{"um", "m", units::dividedMicrometres};
inline constexpr Unit angstroms{"A", "m", units::fromAngstrom};
inline constexpr Unit wavelength{"A", "m", units::wavelengthFromAngstrom};
inline constexpr Unit electronvolts{"eV", "J", units::fromElectronVolts};
inline constexpr Unit percent{"percent", "1", units::fromPercent};
inline constexpr Unit electronsPerVolume{"electrons/A^3", "electrons/m^3",
                                         units::fromPerCubicAngstrom};
inline constexpr Unit squareAngstroms{"A^2", "m^2", units::fromSquareAngstrom};
inline constexpr Unit cell{"A and degrees", "m and rad", units::fromAngstrom, units::radians};
/// Numbers of one field, as flags have them.
template <std::size_t n>
std::array<double, n> inFlagUnits(const Unit &unit, std::array<double, n> numbers) {
  for (std::size_t i = 0; i != n; ++i)
    numbers[i] = unit.fromSI(numbers[i], i);
  return numbers;
}
template <std::size_t n>
std::array<double, n> inSI(const Unit &unit, std::array<double, n> numbers) {
  for (std::size_t i = 0; i != n; ++i)
    numbers[i] = unit.inSI(numbers[i], i);
  return numbers;
}
} // namespace flagUnit

} // namespace nanobragg
#endif
