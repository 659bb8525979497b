// Structure factors that depend on the energy, as files say them.
#ifndef NANOBRAGG_EXPERIMENT_FACTORSBYENERGY_H
#define NANOBRAGG_EXPERIMENT_FACTORSBYENERGY_H

#include <array>
#include <string>
#include <vector>

namespace nanobragg {

/// An atom of the P1 cell whose dispersion counts.
struct AnomalousAtom {
  int kind;                       ///< number of its label in FactorsByEnergy::kinds
  std::array<double, 3> position; ///< fractional
  double occupancy, b;            ///< 1, A^2
};

/// Either channels or anomalous scatterers. All grids have the bounds of the experiment's one.
struct FactorsByEnergy {
  std::string file;             ///< for messages
  std::vector<double> energies; ///< eV, ascending: of the channels, or of the table of f' and f''
  std::vector<std::vector<double>> channels; ///< electrons, one grid for each energy; empty: atoms
  std::vector<double> real, imaginary;      ///< of F without the dispersion of the atoms, electrons
  std::vector<std::string> kinds;           ///< labels of the atoms, those that the table knows
  std::vector<AnomalousAtom> atoms;         ///< all of the cell
  std::vector<double> fPrime, fDoublePrime; ///< electrons, [kind][energy]
};

} // namespace nanobragg
#endif
