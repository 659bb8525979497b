// How far averages in closed form are off because a scattering vector is not linear in what is
// averaged.
#ifndef NANOBRAGG_ESTIMATE_AVERAGEERROR_H
#define NANOBRAGG_ESTIMATE_AVERAGEERROR_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

#include <optional>
#include <string>

namespace nanobragg {

/// In parts of a spot's peak, the largest over some places of the detector: how far the terms of
/// second order move a spot, over its width. Nearer to the beam than those places it is larger.
double averageError(const Experiment &experiment, const Report &report);
/// As many times the estimate is what was seen.
inline constexpr double averageErrorMayBe = 2;

/// The smallest part of all that is averaged that lights a pixel on a spot, over the same places.
double litShare(const Experiment &experiment, const Report &report);

/// Where the error is more than the tolerance: a sentence with it, and what is too wide.
std::optional<std::string> inexactAverage(const Experiment &experiment, const Report &report);

} // namespace nanobragg
#endif
