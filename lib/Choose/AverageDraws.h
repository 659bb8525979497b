// Draws of all that a pixel averages over.
#ifndef NANOBRAGG_CHOOSE_AVERAGEDRAWS_H
#define NANOBRAGG_CHOOSE_AVERAGEDRAWS_H

#include "lib/Experiment/Experiment.h"

namespace nanobragg {

/// So many points, from number `first` on, of a sequence that fills the space of what the variant
/// averages evenly.
void drawAverage(const ProgramVariant &variant, std::int64_t first, std::int64_t draws,
                 Average &average);

} // namespace nanobragg
#endif
