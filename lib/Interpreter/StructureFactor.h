// Reading a grid, and its adjoint.
#ifndef NB_INTERPRETER_STRUCTURE_FACTOR_H
#define NB_INTERPRETER_STRUCTURE_FACTOR_H

#include "lib/Interpreter/Algebra.h"

#include "dialect/NB.h"
#include "nanobragg/KernelABI.h"

#include <array>

namespace mlir::nb::evaluation {

/// How nb.structure_factor without default reads a grid.
struct Reading {
  bool cubic = false, integral = false;
  std::array<int64_t, 3> orders{}; ///< how often the derivative is taken with respect to h, k and l
};
Reading readingOf(Interpolation interpolation, bool integral, ArrayRef<int64_t> orders);

/// Is hkl inside the bounds by at least `margin` reflections?
bool isInside(const nb_hkl_grid &grid, const Vec3 &hkl, int64_t margin = 0);
/// All 64 neighbours of an index exist this far inside.
constexpr int64_t tricubicMargin = 2;

int64_t entriesOf(const nb_hkl_grid &grid);

/// Adds `value`, times what each reflection counts for at hkl, to `values`, laid out as the grid.
void scatter(const nb_hkl_grid &grid, const Vec3 &hkl, double value, const Reading &reading,
             double *values);

} // namespace mlir::nb::evaluation

#endif
