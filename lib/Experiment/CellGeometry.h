// Unit cell to lattice vectors.
#ifndef NANOBRAGG_EXPERIMENT_CELLGEOMETRY_H
#define NANOBRAGG_EXPERIMENT_CELLGEOMETRY_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

#include <array>
#include <utility>

namespace nanobragg {

/// A unit cell: edges in one unit of length, angles in rad.
struct UnitCell {
  double a = 0, b = 0, c = 0, alpha = 0, beta = 0, gamma = 0;
  /// The squared volume of the cell with these angles and edges of 1, over 4; not positive for
  /// angles that no cell has.
  double quarterOfSquaredUnitVolume() const;
  double volume() const; ///< 2 a b c sqrt|...| of that, in the unit of the edges cubed
};

/// The cell, edges in A, from m and rad. Throws std::invalid_argument for a cell without volume.
UnitCell unitCellOf(const std::array<double, 6> &cell);

/// a*, b*, c* in one over the unit of the edges, with a* along X and b* in the XY plane.
std::array<Vec3, 3> defaultSetting(const UnitCell &cell, Rule rule);

/// Edges and volume of an experiment's unit cell, in m and m^3.
std::pair<std::array<double, 3>, double> edgesAndVolume(const Experiment &experiment);

struct Lattice {
  CellReport real, reciprocal;   ///< A, 1/A
  std::array<double, 3> edges{}; ///< m, of a, b, c
  double volume = 0;             ///< A^3
};
/// The lattice of a reciprocal basis (1/A). With `cell` the real vectors get its lengths and
/// volume, and the reciprocal ones follow from them. Everything is computed in the C program's
/// order, so that `edges` are its lengths to the last bit.
Lattice latticeOf(const std::array<Vec3, 3> &reciprocal, const UnitCell *cell);

} // namespace nanobragg
#endif
