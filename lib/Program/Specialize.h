// Which counts a kernel is made for.
#ifndef NANOBRAGG_PROGRAM_SPECIALIZE_H
#define NANOBRAGG_PROGRAM_SPECIALIZE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Program/Derivative.h"
#include "lib/Program/FixedCount.h"
#include "nanobragg/Precision.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Images with fewer samples have kernels for all numbers: a kernel takes a quarter of a second to
/// be made, in which one thread computes 10^8 samples.
inline constexpr double fewestSpecializedSamples = 1e7;

/// Counts to compile into any kernel: where a pixel is one sub-pixel, what is evaluated at the
/// first sub-pixel is what the sample needs too.
std::vector<FixedCount> usualCounts(const Experiment &experiment);

/// Counts to compile into the kernel of an image that takes long: the usual ones, the counts of
/// sums of one term, and the numbers of cells of a square crystal. Their effect by
/// rounding stays below 1e-12 of the brightest pixel, so larger numbers of cells, and all in single
/// precision, are left out. So are those with respect to which `derivative` is taken.
std::vector<FixedCount> specializedCounts(const Experiment &experiment, Precision precision,
                                          const Derivative &derivative);

/// The counts that decide how long the loops of the experiment's program are, as one line of text:
/// "panel_count=1 slow_pixels=1024 ... ncells_a=5".
std::string shapeOf(const Experiment &experiment);

} // namespace nanobragg
#endif
