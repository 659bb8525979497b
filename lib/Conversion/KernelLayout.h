// The kernel ABI as the compiler builds it: which argument is what, and where members lie.
#ifndef NB_CONVERSION_KERNELLAYOUT_H
#define NB_CONVERSION_KERNELLAYOUT_H

#include "nanobragg/KernelABI.h"

#include <cstddef>
#include <cstdint>

namespace mlir::nb::layout {

/// Memory is counted in doubles: every scalar that a kernel keeps is one.
inline constexpr int64_t slotBytes = 8;
/// Doubles that the places of buffers in an accumulator or in scratch memory are multiples of.
inline constexpr int64_t cacheLine = 8;

/// Arguments of workspace_size, accumulator_size and scratch_size, of prepare, of run_tile and of a
/// GPU's kernel, which has all but the last.
enum Argument : unsigned { arguments, workspace, tile, outputs, accumulators, scratch };
inline constexpr unsigned argumentsOfRunTile = scratch + 1, argumentsOnDevice = accumulators + 1;
/// Arguments of finish and of output_sizes where they are others.
enum FinishArgument : unsigned { finishAccumulators = 2, finishCount, finishOutputs };
enum SizesArgument : unsigned { sizes = 1 };

/// Members of nb_tile: int64_t, and a pointer.
enum TileMember : int64_t { panel, slowBegin, slowEnd, lit };
static_assert(offsetof(nb_tile, panel) == panel * sizeof(int64_t) &&
              offsetof(nb_tile, slow_begin) == slowBegin * sizeof(int64_t) &&
              offsetof(nb_tile, slow_end) == slowEnd * sizeof(int64_t) &&
              offsetof(nb_tile, lit) == lit * sizeof(int64_t) &&
              sizeof(nb_tile) == 4 * sizeof(int64_t));

/// Members of nb_lit: how many blocks, and lists.
enum LitMember : int64_t {
  blocks,
  litSlow,
  litFast,
  outerBegin,
  outer,
  innerBegin,
  inner,
  reflection,
  litSlowEnd
};
static_assert(offsetof(nb_lit, slow) == litSlow * 8 && offsetof(nb_lit, fast) == litFast * 8 &&
              offsetof(nb_lit, outer_begin) == outerBegin * 8 &&
              offsetof(nb_lit, outer) == outer * 8 &&
              offsetof(nb_lit, inner_begin) == innerBegin * 8 &&
              offsetof(nb_lit, inner) == inner * 8 &&
              offsetof(nb_lit, reflection) == reflection * 8 &&
              offsetof(nb_lit, slow_end) == litSlowEnd * 8);

/// The parts of a grid (nb.parts) are the members of nb_hkl_grid, in their order, 8 bytes each.
enum GridMember : int64_t { hMin, hMax, kMin, kMax, lMin, lMax, gridData };
static_assert(offsetof(nb_hkl_grid, h_min) == hMin * 8 &&
              offsetof(nb_hkl_grid, h_max) == hMax * 8 &&
              offsetof(nb_hkl_grid, k_min) == kMin * 8 &&
              offsetof(nb_hkl_grid, k_max) == kMax * 8 &&
              offsetof(nb_hkl_grid, l_min) == lMin * 8 &&
              offsetof(nb_hkl_grid, l_max) == lMax * 8 &&
              offsetof(nb_hkl_grid, data) == gridData * 8 && sizeof(nb_hkl_grid) == 7 * 8);
static_assert(sizeof(double) == slotBytes && sizeof(int64_t) == slotBytes &&
              sizeof(void *) == slotBytes);

} // namespace mlir::nb::layout

#endif
