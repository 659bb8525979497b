// The user's units in SI.
#ifndef NANOBRAGG_EXPERIMENT_UNITS_H
#define NANOBRAGG_EXPERIMENT_UNITS_H

#include "lib/Experiment/PhysicalConstants.h"

#include <cmath>
#include <numbers>
#include <optional>

namespace nanobragg::units {

inline constexpr double angstrom = 1e-10;
inline constexpr double squareAngstrom = 1e-20;

// Divided where the C program divides, so that the numbers are the same to the last bit.
inline double radians(double degrees) { return degrees / (180.0 * std::numbers::inv_pi); }
inline double degrees(double radians) { return radians * (180.0 * std::numbers::inv_pi); }
inline double fromMillimetres(double mm) { return mm / 1000.0; }
inline double fromMilliradians(double mrad) { return mrad / 1000.0; }
inline double fromMicrometres(double um) { return um * 1e-6; }
inline double dividedMicrometres(double um) { return um / 1e6; } // for -water
inline double fromAngstrom(double a) { return a * angstrom; }
inline double fromSquareAngstrom(double a2) { return a2 * squareAngstrom; }
inline double fromPerCubicAngstrom(double n) { return n / (angstrom * squareAngstrom); }
inline double fromGramsPerCubicCentimetre(double rho) { return rho * 1e3; }
inline double fromGrams(double g) { return g / 1e3; }
inline double fromPercent(double percent) { return percent / 100.0; }
inline double fromElectronVolts(double eV) { return eV * 1.602176634e-19; }
inline double wavelengthFromAngstrom(double a) { return a / 1e10; }
inline double wavelengthFromEnergy(double eV) { return constants::hc / eV / 1e10; }

/// Unset where the value is unset.
template <typename T, typename Convert>
auto converted(const std::optional<T> &value, Convert convert)
    -> std::optional<decltype(convert(*value))> {
  if (!value)
    return std::nullopt;
  return convert(*value);
}

} // namespace nanobragg::units
#endif
