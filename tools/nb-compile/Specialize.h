// Counts compiled in.
#ifndef NANOBRAGG_NBCOMPILE_SPECIALIZE_H
#define NANOBRAGG_NBCOMPILE_SPECIALIZE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Program/FixedCount.h"

#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// The counts of these names. Throws UsageError for a name that is not a count
/// of this experiment's kernel.
std::vector<FixedCount> fixedCounts(const Experiment &experiment,
                                    const std::vector<std::string> &names);

/// How long one thread takes for the experiment with either kernel file, in words.
std::string describeGain(const Experiment &experiment, std::span<const char> general,
                         std::span<const char> specialized);

} // namespace nanobragg
#endif
