#include "tools/nb-compare/Report.h"

#include "lib/Experiment/Formatted.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace nanobragg {
namespace {

using Json = nlohmann::ordered_json;

void append(std::string &text, const char *label, const std::optional<WorstPixel> &pixel) {
  if (!pixel)
    text += formatted("%-22s 0\n", label);
  else
    text += formatted("%-22s %.6g at panel %lld, slow %lld, fast %lld: %.17g, reference %.17g\n",
                      label, pixel->difference, static_cast<long long>(pixel->panel),
                      static_cast<long long>(pixel->slow), static_cast<long long>(pixel->fast),
                      pixel->test, pixel->reference);
}

Json json(const std::optional<double> &value) { return value ? Json(*value) : Json(); }

Json json(const std::optional<WorstPixel> &pixel) {
  if (!pixel)
    return Json();
  return {{"difference", pixel->difference},
          {"panel", pixel->panel},
          {"slow", pixel->slow},
          {"fast", pixel->fast},
          {"test", pixel->test},
          {"reference", pixel->reference}};
}

Json json(const Peak &peak) {
  return {{"panel", peak.panel}, {"slow", peak.slow}, {"fast", peak.fast}, {"value", peak.value}};
}

Json json(const PeakComparison &peaks) {
  Json matches = Json::array();
  for (const PeakMatch &match : peaks.matches)
    matches.push_back(
        {{"test", json(match.first)}, {"reference", json(match.second)}, {"shift", match.shift}});
  return {{"test", peaks.test},          {"reference", peaks.reference},
          {"matched", peaks.matched},    {"mean_shift", peaks.meanShift},
          {"max_shift", peaks.maxShift}, {"matches", std::move(matches)}};
}

} // namespace

std::string textReport(const Comparison &c, const std::vector<std::string> &failures) {
  std::string text;
  text += formatted("%-22s %lld of %lld\n", "compared pixels", static_cast<long long>(c.compared),
                    static_cast<long long>(c.pixels));
  if (c.notFinite || c.notFiniteInOne)
    text +=
        formatted("%-22s %lld in both, %lld in one image only\n", "not finite",
                  static_cast<long long>(c.notFinite), static_cast<long long>(c.notFiniteInOne));
  text += formatted("%-22s %lld\n", "different pixels", static_cast<long long>(c.different));
  if (c.correlation)
    text += formatted("%-22s %.12g\n", "correlation", *c.correlation);
  else
    text += formatted("%-22s undefined\n", "correlation");
  text += formatted("%-22s %.9g, reference %.9g\n", "sum", c.testSum, c.referenceSum);
  if (c.sumRatio)
    text += formatted("%-22s %.12g\n", "sum ratio", *c.sumRatio);
  else
    text += formatted("%-22s undefined\n", "sum ratio");
  text += formatted("%-22s %.6g\n", "RMS difference", c.rms);
  append(text, "largest difference", c.maxAbsolute);
  append(text, "largest relative", c.maxRelative);
  text +=
      formatted("%-22s %zu of %zu (reference %zu), shifted by %.3g px on average, %.3g at most\n",
                "matching peaks", c.peaks.matched, c.peaks.test, c.peaks.reference,
                c.peaks.meanShift, c.peaks.maxShift);
  for (const std::string &failure : failures)
    text += "FAILED: " + failure + "\n";
  return text;
}

std::string jsonReport(const Comparison &c, const std::vector<std::string> &failures) {
  const Json report = {{"pixels", c.pixels},
                       {"compared", c.compared},
                       {"not_finite", c.notFinite},
                       {"not_finite_in_one", c.notFiniteInOne},
                       {"different", c.different},
                       {"correlation", json(c.correlation)},
                       {"test_sum", c.testSum},
                       {"reference_sum", c.referenceSum},
                       {"sum_ratio", json(c.sumRatio)},
                       {"rms", c.rms},
                       {"max_absolute", json(c.maxAbsolute)},
                       {"max_relative", json(c.maxRelative)},
                       {"beyond_tolerance", c.beyondTolerance},
                       {"worst_beyond_tolerance", json(c.worstBeyond)},
                       {"peaks", json(c.peaks)},
                       {"failures", failures}};
  return report.dump(2) + "\n";
}

namespace {

std::string text(double value) { return formatted("%.6g", value); }

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
