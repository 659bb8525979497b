// Constants, and the user's units in SI.
#ifndef NANOBRAGG_EXPERIMENT_UNITS_H
#define NANOBRAGG_EXPERIMENT_UNITS_H

#include <cmath>
#include <numbers>

namespace nanobragg::units {

inline constexpr double angstrom = 1e-10;

// Divided where the C program divides, so that the numbers are the same to the last bit.
inline double radians(double degrees) { return degrees / (180.0 * std::numbers::inv_pi); }
inline double degrees(double radians) { return radians * (180.0 * std::numbers::inv_pi); }
inline double fromMillimetres(double mm) { return mm / 1000.0; }
inline double fromMilliradians(double mrad) { return mrad / 1000.0; }
inline double fromMicrometres(double um) { return um * 1e-6; }
inline double wavelengthFromAngstrom(double a) { return a / 1e10; }
inline double wavelengthFromEnergy(double eV) { return 12398.42 / eV / 1e10; }

inline constexpr double avogadro = 6.02214179e23;
/// 1 / r_e^2, so that an image of photons is one of F^2 times solid angles.
inline constexpr double defaultFluence = 125932015286227086360700780544.0;

} // namespace nanobragg::units
#endif
