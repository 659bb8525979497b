#include "tools/nb-compare/Report.h"

#include <nlohmann/json.hpp>

#include <cstdarg>
#include <cstdio>

namespace nanobragg {
namespace {

using Json = nlohmann::ordered_json;

__attribute__((format(printf, 2, 3))) void append(std::string &text, const char *format, ...) {
  char line[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  text += line;
}

void append(std::string &text, const char *label, const std::optional<WorstPixel> &pixel) {
  if (!pixel)
    append(text, "%-22s 0\n", label);
  else
    append(text, "%-22s %.6g at panel %lld, slow %lld, fast %lld: %.17g, reference %.17g\n", label,
           pixel->difference, static_cast<long long>(pixel->panel),
           static_cast<long long>(pixel->slow), static_cast<long long>(pixel->fast), pixel->test,
           pixel->reference);
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
  append(text, "%-22s %lld of %lld\n", "compared pixels", static_cast<long long>(c.compared),
         static_cast<long long>(c.pixels));
  if (c.notFinite || c.notFiniteInOne)
    append(text, "%-22s %lld in both, %lld in one image only\n", "not finite",
           static_cast<long long>(c.notFinite), static_cast<long long>(c.notFiniteInOne));
  append(text, "%-22s %lld\n", "different pixels", static_cast<long long>(c.different));
  if (c.correlation)
    append(text, "%-22s %.12g\n", "correlation", *c.correlation);
  else
    append(text, "%-22s undefined\n", "correlation");
  append(text, "%-22s %.9g, reference %.9g\n", "sum", c.testSum, c.referenceSum);
  if (c.sumRatio)
    append(text, "%-22s %.12g\n", "sum ratio", *c.sumRatio);
  else
    append(text, "%-22s undefined\n", "sum ratio");
  append(text, "%-22s %.6g\n", "RMS difference", c.rms);
  append(text, "largest difference", c.maxAbsolute);
  append(text, "largest relative", c.maxRelative);
  append(text, "%-22s %zu of %zu (reference %zu), shifted by %.3g px on average, %.3g at most\n",
         "matching peaks", c.peaks.matched, c.peaks.test, c.peaks.reference, c.peaks.meanShift,
         c.peaks.maxShift);
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

} // namespace nanobragg
