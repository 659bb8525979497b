#include "tools/nb-compare/Thresholds.h"

#include <cmath>
#include <cstdio>

namespace nanobragg {
namespace {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

std::string text(const WorstPixel &pixel) {
  return "at panel " + std::to_string(pixel.panel) + ", slow " + std::to_string(pixel.slow) +
         ", fast " + std::to_string(pixel.fast);
}

} // namespace

bool Thresholds::any() const {
  return minCorrelation || maxSumDeviation || maxRms || maxAbsolute || maxRelative ||
         maxPeakShift || minPeaks || perPixel;
}

std::vector<std::string> failures(const Comparison &c, const Thresholds &t) {
  std::vector<std::string> sentences;
  const auto fail = [&](std::string sentence) { sentences.push_back(std::move(sentence)); };
  // Written so that not-a-number fails.
  const auto atMost = [&](const char *what, double value, std::optional<double> limit,
                          const std::string &where = "") {
    if (limit && !(value <= *limit))
      fail(std::string(what) + " is " + text(value) + ", above " + text(*limit) +
           (where.empty() ? "" : ", " + where));
  };
  const auto worst = [&](const char *what, const std::optional<WorstPixel> &pixel,
                         std::optional<double> limit) {
    if (pixel)
      atMost(what, pixel->difference, limit, text(*pixel));
  };

  if (t.any() && c.notFiniteInOne > 0)
    fail(std::to_string(c.notFiniteInOne) + " pixels are finite in one image only");
  if (t.minCorrelation && !c.correlation)
    fail("the correlation is undefined: an image is constant");
  else if (t.minCorrelation && !(*c.correlation >= *t.minCorrelation))
    fail("the correlation is " + text(*c.correlation) + ", below " + text(*t.minCorrelation));
  if (t.maxSumDeviation && !c.sumRatio)
    fail("the ratio of sums is undefined: the reference sums to 0");
  else if (t.maxSumDeviation)
    atMost("the deviation of the sum ratio from 1", std::fabs(*c.sumRatio - 1), t.maxSumDeviation);
  atMost("the RMS difference", c.rms, t.maxRms);
  worst("the largest difference", c.maxAbsolute, t.maxAbsolute);
  worst("the largest relative difference", c.maxRelative, t.maxRelative);
  if (t.perPixel && c.worstBeyond)
    fail(std::to_string(c.beyondTolerance) + " pixels are beyond the tolerance, the worst " +
         text(c.worstBeyond->difference) + " times, " + text(*c.worstBeyond));
  atMost("the largest shift of a peak in pixels", c.peaks.maxShift, t.maxPeakShift);
  if (t.minPeaks && c.peaks.matched < *t.minPeaks)
    fail(std::to_string(c.peaks.matched) + " peaks match, fewer than " +
         std::to_string(*t.minPeaks));
  return sentences;
}

} // namespace nanobragg
