// Physical constants, each in one place for the whole project.
#ifndef NANOBRAGG_EXPERIMENT_PHYSICALCONSTANTS_H
#define NANOBRAGG_EXPERIMENT_PHYSICALCONSTANTS_H

#include <cmath>

/// The digits are the C program's, so that images are the same to the last bit where the formula
/// is.
namespace nanobragg::constants {

/// Squared classical electron radius, m^2.
inline constexpr double electronRadiusSquared = 7.94079248018965e-30;
inline constexpr double avogadro = 6.02214179e23; ///< 1/mol
/// Photon energy times wavelength, eV A.
inline constexpr double hc = 12398.42;

/// Photons/m^2. With this fluence, photons are F^2 L^2 times solid angles.
inline constexpr double defaultFluence = 1 / electronRadiusSquared;

/// Forward scattering of a water molecule, electrons rms.
inline constexpr double waterElectrons = 2.57;
inline constexpr double waterMolarMass = 18.0; ///< g/mol
inline constexpr double waterDensity = 1e6;    ///< g/m^3
/// Scattering of a volume of water in one photon/m^2: photons per steradian and m^3.
inline constexpr double waterScattering = waterElectrons * waterElectrons * electronRadiusSquared *
                                          waterDensity * avogadro / waterMolarMass;

/// The spot of a Gaussian crystal is exp(-r2 / gaussWidth), r2 the squared distance from the
/// reflection in units of 1 / (number of cells).
inline constexpr double gaussWidth = 0.63;
/// The spot of a tophat crystal ends at r2 = gaussWidth^2, correctly rounded.
inline constexpr double tophatEdge = 0.3969;
/// The height of a round crystal's spot over that of a block of as many cells.
inline const double roundHeight = std::sqrt(M_PI / 6);

/// The limits of nb.capture_fraction: a ray nearer to the plane of the sensor counts as that near,
/// and seen from behind, where the formula grows without bound, exponents end.
inline constexpr double leastCosine = 1e-100, largestExponent = 300;

} // namespace nanobragg::constants
#endif
