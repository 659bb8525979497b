// How far the photons of spots are off because samples lie farther apart than spots are wide.
#ifndef NANOBRAGG_ESTIMATE_SAMPLINGERROR_H
#define NANOBRAGG_ESTIMATE_SAMPLINGERROR_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nanobragg {

/// How many samples each thing is averaged with.
struct SampleCounts {
  std::int64_t oversample = 1, phiSteps = 1, domains = 1, hdiv = 1, vdiv = 1, wavelengths = 1;
};
SampleCounts sampleCountsOf(const Experiment &experiment, const Report &report);

/// The relative error of a spot's photons in one image, root mean square over spots and weighted by
/// their photons, against the average that the samples stand for. A factor of two is what it is
/// good for: test/averages/sampling_error_test.py holds it against images.
double samplingError(const Experiment &experiment, const Report &report,
                     const SampleCounts &counts);

/// Where the error is more than 5 %: a sentence with it and the flags that mend it.
std::optional<std::string> coarseSampling(const Experiment &experiment, const Report &report);

} // namespace nanobragg
#endif
