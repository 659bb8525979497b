#include "lib/Inputs/SensorMaterial.h"

#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/StructureFactorFile.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanobragg {
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

std::vector<double> sensorAbsorption(const std::string &name, const std::vector<double> &energies) {
  const auto material = std::ranges::find(sensorMaterials, name, &SensorMaterial::name);
  if (material == std::end(sensorMaterials))
    return {};
  std::vector<double> found(energies.size());
  double weight = 0; // kg/mol
  for (const auto &[element, count] : material->atoms) {
    const io::Dispersion of = io::dispersionOf(element, energies);
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

void loadSensorMaterial(const ExperimentRequest &request, Inputs &inputs) {
  constexpr double lowest = 1000, highest = 150000, perNode = 1.002; // eV
  std::vector<double> energies;
  for (double energy = lowest; energy < highest; energy *= perNode)
    energies.push_back(energy);
  const std::string &name = *request.files.sensorMaterial;
  const std::vector<double> absorption = sensorAbsorption(name, energies);
  if (absorption.empty()) {
    std::string names;
    for (const SensorMaterial &one : sensorMaterials)
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    throw UsageError(inWordsOf(request.caller, "--sensor-material") + " does not know " +
                     io::inQuotes(name) + "; it knows " + names + ", and " +
                     inWordsOf(request.caller, "-detector_absorb") + " says the depth of others");
  }
  for (std::size_t i = 0; i != energies.size(); ++i)
    inputs.sensorAbsorption.push_back({energies[i], absorption[i]});
}

} // namespace nanobragg
