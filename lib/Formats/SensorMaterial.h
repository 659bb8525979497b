// How strongly materials of sensors absorb photons.
#ifndef NANOBRAGG_FORMATS_SENSORMATERIAL_H
#define NANOBRAGG_FORMATS_SENSORMATERIAL_H

#include <string>
#include <vector>

namespace nanobragg::io {

/// Absorption coefficients (1/m) at energies (eV), without what is scattered: 2 r_e lambda n f'' of
/// the atoms. Empty if the material is unknown.
std::vector<double> sensorAbsorption(const std::string &material,
                                     const std::vector<double> &energies);

/// The names of the known materials, separated by commas.
std::string sensorMaterialNames();

} // namespace nanobragg::io
#endif
