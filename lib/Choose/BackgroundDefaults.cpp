#include "lib/Choose/DefaultsChooser.h"

#include "lib/Experiment/Units.h"

#include <stdexcept>

namespace nanobragg {
namespace {

// The largest table that nb.tabulated_factor can search.
constexpr std::size_t mostEntries = 65536;

// As nonBragg, where neither flag nor stock table says it.
constexpr double usualThickness = 1e-4;  // m
constexpr double usualDensity = 1e3;     // kg/m^3
constexpr double usualMolarMass = 18e-3; // kg/mol

constexpr double highestDensity = 23e3;   // kg/m^3, that of osmium
constexpr double lowestMolarMass = 1e-3;  // kg/mol, that of hydrogen
constexpr double highestThickness = 1000; // m

void append(std::vector<double> &list, const std::vector<double> &values) {
  list.insert(list.end(), values.begin(), values.end());
}

} // namespace

void DefaultsChooser::chooseBackground() {
  if (inputs.backgrounds.empty())
    return;
  note(&Semantics::backgroundTables);
  if (semantics.backgroundTables == Rule::C)
    return;
  experiment.variant.background = true;
  Background &background = experiment.background;
  for (const BackgroundTable &table : inputs.backgrounds) {
    if (table.stol.size() > mostEntries)
      throw std::invalid_argument(table.flag + " " + table.name + ": has " +
                                  std::to_string(table.stol.size()) +
                                  " lines and may have 65536; leave out every other one");
    background.first.push_back(double(background.stol.values.size()));
    append(background.stol.values, table.stol);
    append(background.factor.values, table.factor);
    if (table.stol.size() == 1) { // an interval is needed
      background.stol.values.push_back(table.stol.front() + 1 / units::angstrom);
      background.factor.values.push_back(table.factor.front());
    }
    background.last.push_back(double(background.stol.values.size()) - 1);
    const MaterialOptions &m = table.material;
    const double thickness = m.thickness.value_or(usualThickness);
    const double density = m.density.value_or(usualDensity);
    const double molarMass = m.molarMass.value_or(usualMolarMass);
    requireNotNegative(thickness, "-thickness", "m");
    requireNotNegative(density, "-density", "kg/m^3");
    requirePositive(molarMass, "-MW", "kg/mol");
    if (thickness > highestThickness)
      throw std::invalid_argument("-thickness: " + text(thickness) +
                                  " m is beyond any experiment; "
                                  "give up to 1000 m, as a flag in mm and in Python in m");
    if (density > highestDensity)
      throw std::invalid_argument(
          "-density: " + text(density) +
          " kg/m^3 is more than that of any "
          "material; give up to 23000 kg/m^3, as a flag in g/cm3 (water: 1) "
          "and in Python in kg/m^3 (water: 1000)");
    if (molarMass < lowestMolarMass)
      throw std::invalid_argument(
          "-MW: " + text(molarMass) +
          " kg/mol is less than that of hydrogen; "
          "give at least 0.001 kg/mol, as a flag in g/mol (water: 18) and in "
          "Python in kg/mol (water: 0.018)");
    background.thickness.push_back(thickness);
    background.density.push_back(density);
    background.molarMass.push_back(molarMass);
  }
  background.area = beamSize() * beamSize();
  // Counts that were not asked for in so many words were chosen for the crystal.
  background.oversample = said(&O::backgroundOversample).value_or(said(&O::oversample).value_or(1));
}

} // namespace nanobragg
