// The limits of a precision.
#ifndef NANOBRAGG_PROGRAM_PRECISIONLIMITS_H
#define NANOBRAGG_PROGRAM_PRECISIONLIMITS_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/Precision.h"

namespace nanobragg {

/// Whether samples may be beyond the limits of a precision, so that pixels are infinite or NaN:
/// Miller indices those of the fixed point of `mixed`, intensities those of single precision.
/// docs/precision.md has them.
bool exceedsLimits(Precision precision, const Experiment &experiment);

} // namespace nanobragg
#endif
