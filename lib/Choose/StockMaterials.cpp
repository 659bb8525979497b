#include "lib/Choose/StockMaterials.h"

#include "lib/Experiment/Units.h"

#include <array>
#include <span>

namespace nanobragg {
namespace {

/// sin(theta)/lambda in 1/A, electrons per molecule.
using Point = std::array<double, 2>;

// These tables are simtbx's (nanoBragg/sim_data.py), who took them from measurements.
constexpr Point water[] = {{0, 2.57},    {0.0365, 2.58}, {0.07, 2.8},   {0.12, 5},    {0.162, 8},
                           {0.18, 7.32}, {0.2, 6.75},    {0.216, 6.75}, {0.236, 6.5}, {0.28, 4.5},
                           {0.3, 4.3},   {0.345, 4.36},  {0.436, 3.77}, {0.5, 3.17}};
constexpr Point air[] = {{0, 14.1}, {0.045, 13.5}, {0.174, 8.35}, {0.35, 4.78}, {0.5, 4.22}};

BackgroundTable tableOf(std::string_view name, std::span<const Point> points, double density,
                        double molarMass) {
  BackgroundTable table;
  table.name = name;
  for (const auto &[stol, factor] : points) {
    table.stol.push_back(stol / units::angstrom);
    table.factor.push_back(factor);
  }
  table.material.density = density;
  table.material.molarMass = molarMass;
  return table;
}

} // namespace

std::optional<BackgroundTable> stockMaterial(std::string_view name) {
  if (name == "water")
    return tableOf(name, water, 1e3, 18e-3);
  if (name == "air")
    return tableOf(name, air, 1.2, 28e-3);
  return std::nullopt;
}

} // namespace nanobragg
