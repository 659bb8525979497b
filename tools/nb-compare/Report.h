// A comparison in words and in JSON, and when two images count as the same.
#ifndef NANOBRAGG_NBCOMPARE_REPORT_H
#define NANOBRAGG_NBCOMPARE_REPORT_H

#include "tools/nb-compare/Comparison.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

std::string textReport(const Comparison &comparison, const std::vector<std::string> &failures);
/// The report as JSON. Undefined and infinite numbers are null.
std::string jsonReport(const Comparison &comparison, const std::vector<std::string> &failures);

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
