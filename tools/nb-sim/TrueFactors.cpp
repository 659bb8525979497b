#include "tools/nb-sim/ExchangeFiles.h"

#include "lib/Experiment/Units.h"
#include "lib/Formats/MergedReflections.h"

#include <cmath>
#include <limits>
#include <map>

namespace nanobragg {
namespace {

std::string spaceGroupOf(const LoadedInputs &loaded) {
  if (!loaded.hallSymbol.empty())
    return loaded.hallSymbol;
  if (!loaded.dials.empty() && loaded.dials.front().crystal)
    return loaded.dials.front().crystal->hallSymbol;
  return "P 1";
}

} // namespace

std::string trueFactors(const RunSetup &setup) {
  const Crystal &crystal = setup.complete.experiment.crystal;
  if (crystal.sheets)
    throw UsageError("--write-mtz: the structure factors of this run depend on the energy, and an "
                     "MTZ file has one of each reflection; leave it out");
  if (!crystal.grid)
    throw UsageError("--write-mtz: this run has no list of structure factors (-default_F); "
                     "give one with -hkl, or leave it out");
  const HklGrid &grid = *crystal.grid;
  std::vector<std::int32_t> indices;
  std::vector<double> factors;
  std::size_t node = 0;
  for (std::int64_t h = grid.hMin; h <= grid.hMax; ++h)
    for (std::int64_t k = grid.kMin; k <= grid.kMax; ++k)
      for (std::int64_t l = grid.lMin; l <= grid.lMax; ++l, ++node)
        if (grid.values[node] != 0) {
          indices.insert(indices.end(), {std::int32_t(h), std::int32_t(k), std::int32_t(l)});
          factors.push_back(grid.values[node]);
        }
  const std::string group = spaceGroupOf(setup.loaded);
  const io::AsymmetricIndices unit = io::toAsymmetricUnit(group, indices);
  constexpr float missing = std::numeric_limits<float>::quiet_NaN();
  std::map<std::array<std::int32_t, 3>, std::array<float, 2>> unique; // F(+), F(-)
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::array<std::int32_t, 3> hkl{unit.hkl[3 * i], unit.hkl[3 * i + 1],
                                          unit.hkl[3 * i + 2]};
    auto &pair = unique.try_emplace(hkl, std::array{missing, missing}).first->second;
    pair[unit.mate[i]] = float(factors[i]);
    if (unit.centric[i])
      pair[1 - unit.mate[i]] = float(factors[i]);
  }
  const Report &report = setup.complete.report;
  io::MtzReflections merged;
  merged.spaceGroup = group;
  for (int i = 0; i < 3; ++i) {
    merged.cell[i] = report.cell.lengths[i];
    merged.cell[3 + i] = units::degrees(report.cell.angles[i]);
  }
  merged.wavelength = report.wavelength * 1e10;
  merged.columns = {{"F", 'F'}, {"F(+)", 'G'}, {"F(-)", 'G'}};
  for (const auto &[hkl, pair] : unique) {
    const float mean = std::isnan(pair[0])   ? pair[1]
                       : std::isnan(pair[1]) ? pair[0]
                                             : (pair[0] + pair[1]) / 2;
    merged.rows.insert(merged.rows.end(),
                       {float(hkl[0]), float(hkl[1]), float(hkl[2]), mean, pair[0], pair[1]});
  }
  return io::mtzOf(merged);
}

} // namespace nanobragg
