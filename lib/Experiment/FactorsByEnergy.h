// Structure factors that depend on the energy, as files say them.
#ifndef NANOBRAGG_EXPERIMENT_FACTORSBYENERGY_H
#define NANOBRAGG_EXPERIMENT_FACTORSBYENERGY_H

#include "lib/Experiment/Experiment.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace nanobragg {

/// An atom of the P1 cell whose dispersion counts.
struct AnomalousAtom {
  int kind;                       ///< number of its label in FactorsByEnergy::kinds
  std::array<double, 3> position; ///< fractional
  double occupancy, b;            ///< 1, A^2
};

/// Bounds of `count` boxes of this size, one behind another along h. No values.
inline HklGrid stackedBounds(const HklGrid &box, std::size_t count) {
  const std::int64_t height = box.hMax - box.hMin + 1;
  return {
      box.hMin, box.hMin + std::int64_t(count) * height - 1, box.kMin, box.kMax, box.lMin, box.lMax,
      {}};
}

/// Either channels or anomalous scatterers. All grids have the bounds of the experiment's one.
struct FactorsByEnergy {
  std::string file;             ///< for messages; of atoms the table, empty where there is none
  std::vector<double> energies; ///< eV, ascending: of the channels, or of the table of f' and f''
  std::shared_ptr<const HklGrid> channels; ///< one box for each energy, stacked; null: atoms
  /// Parts of F without the dispersion of the atoms, electrons. Where the imaginary part is not a
  /// number there is none: F is the real part at all energies.
  std::vector<double> real, imaginary;
  std::vector<std::string> kinds;           ///< labels of the atoms, those that the table knows
  std::vector<AnomalousAtom> atoms;         ///< all of the cell
  std::vector<double> fPrime, fDoublePrime; ///< electrons, [kind][energy]
};

/// eV, of each source; of a continuous spectrum, those of its ends.
std::vector<double> sourceEnergies(const Experiment &experiment);

} // namespace nanobragg
#endif
