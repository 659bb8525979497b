// When two images count as the same.
#ifndef NANOBRAGG_NBCOMPARE_THRESHOLDS_H
#define NANOBRAGG_NBCOMPARE_THRESHOLDS_H

#include "tools/nb-compare/Comparison.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct Thresholds {
  std::optional<double> minCorrelation, maxSumDeviation, maxRms, maxAbsolute, maxRelative;
  std::optional<double> maxPeakShift;  ///< for any matched peak
  std::optional<std::size_t> minPeaks; ///< that match
  bool perPixel = false;               ///< no pixel may be beyond the tolerance

  /// Whether anything was asked for.
  bool any() const;
};

/// One sentence for each threshold that fails. A pixel that is finite in one image only fails
/// whatever was asked for.
std::vector<std::string> failures(const Comparison &comparison, const Thresholds &thresholds);

} // namespace nanobragg
#endif
