// How strongly materials of sensors absorb photons.
#ifndef NANOBRAGG_INPUTS_SENSORMATERIAL_H
#define NANOBRAGG_INPUTS_SENSORMATERIAL_H

#include "lib/Inputs/LoadInputs.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Absorption coefficients (1/m) at energies (eV), without what is scattered: 2 r_e lambda n f'' of
/// the atoms. Empty if the material is unknown.
std::vector<double> sensorAbsorption(const std::string &material,
                                     const std::vector<double> &energies);

/// The absorption of the sensor's material. Throws UsageError.
void loadSensorMaterial(const ExperimentRequest &request, Inputs &inputs);

} // namespace nanobragg
#endif
