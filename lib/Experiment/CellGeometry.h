// Unit cell to lattice vectors.
#ifndef NANOBRAGG_EXPERIMENT_CELLGEOMETRY_H
#define NANOBRAGG_EXPERIMENT_CELLGEOMETRY_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

namespace nanobragg {

/// A unit cell in A and rad.
struct UnitCell {
  double a = 0, b = 0, c = 0, alpha = 0, beta = 0, gamma = 0;
  /// Volume in A^3; NaN for angles that no cell has.
  double volume() const;
};

/// Completes a cell as the user gives it (values <= 0 missing, degrees). Throws
/// std::invalid_argument for a cell without volume.
UnitCell completeCell(const std::array<double, 6> &cell);

/// a*, b*, c* in 1/A with a* along X and b* in the XY plane.
std::array<Vec3, 3> defaultSetting(const UnitCell &cell, Rule rule);

struct Lattice {
  CellReport real, reciprocal; ///< A, 1/A
  double volume = 0;           ///< A^3
};
/// The lattice of a reciprocal basis (1/A). With `cell` the real vectors get its lengths and
/// volume, and the reciprocal ones follow from them.
Lattice latticeOf(const std::array<Vec3, 3> &reciprocal, const UnitCell *cell);

} // namespace nanobragg
#endif
