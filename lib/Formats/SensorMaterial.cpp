#include "lib/Formats/SensorMaterial.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Formats/StructureFactorFile.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanobragg::io {
namespace {

struct SensorMaterial {
  const char *name;
  double density; ///< kg/m^3
  std::vector<std::pair<const char *, int>> atoms;
};
const SensorMaterial sensorMaterials[] = {
    {"Si", 2329, {{"Si", 1}}},
    {"Ge", 5323, {{"Ge", 1}}},
    {"Se", 4280, {{"Se", 1}}}, // amorphous
    {"GaAs", 5318, {{"Ga", 1}, {"As", 1}}},
    {"CdTe", 5850, {{"Cd", 1}, {"Te", 1}}},
    {"CsI", 4510, {{"Cs", 1}, {"I", 1}}},
    {"Gd2O2S", 7320, {{"Gd", 2}, {"O", 2}, {"S", 1}}},
};

} // namespace

std::string sensorMaterialNames() {
  std::string names;
  for (const SensorMaterial &one : sensorMaterials)
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

std::vector<double> sensorAbsorption(const std::string &name, const std::vector<double> &energies) {
  const auto material = std::ranges::find(sensorMaterials, name, &SensorMaterial::name);
  if (material == std::end(sensorMaterials))
    return {};
  std::vector<double> found(energies.size());
  double weight = 0; // kg/mol
  for (const auto &[element, count] : material->atoms) {
    const Dispersion of = dispersionOf(element, energies);
    weight += count * of.weight / 1000;
    for (std::size_t i = 0; i != found.size(); ++i)
      found[i] += count * of.fDoublePrime[i];
  }
  const double density = material->density * constants::avogadro / weight; // formulas in 1 m^3
  for (std::size_t i = 0; i != found.size(); ++i)
    found[i] *= 2 * std::sqrt(constants::electronRadiusSquared) *
                units::wavelengthFromEnergy(energies[i]) * density;
  return found;
}

} // namespace nanobragg::io
