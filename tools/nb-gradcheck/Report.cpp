#include "tools/nb-gradcheck/Report.h"

#include "lib/Experiment/Formatted.h"

#include <nlohmann/json.hpp>

namespace nanobragg {
namespace {

const char *nameOf(Engine engine) { return engine == Engine::Fused ? "fused" : "interpreter"; }

const char *nameOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Passed:
    return "ok";
  case Verdict::Failed:
    return "FAILED";
  case Verdict::Dead:
    return "dead";
  case Verdict::Undecided:
    return "UNDECIDED";
  }
  return "";
}

std::string derivativeText(const CheckOptions &options) {
  if (options.order == 2)
    return "Hessian of the loss";
  return options.mode == CheckMode::Forward ? "derivative images, summed as the loss"
                                            : "gradient of the loss";
}

} // namespace

std::string checkTable(const EngineReport &report, const CheckOptions &options) {
  const CheckResult &r = report.result;
  std::string text = formatted("%s of the %s engine; loss = %.17g\n",
                               derivativeText(options).c_str(), nameOf(report.engine), r.loss);
  std::size_t width = 9;
  for (const CheckedDerivative &d : r.derivatives)
    width = std::max(width, d.name.size());
  text += formatted("%-*s %-9s %24s %24s %9s %9s %9s  %s\n", int(width), "parameter", "unit",
                    "analytic", "difference", "relative", "its error", "step", "");
  for (const CheckedDerivative &d : r.derivatives) {
    text += formatted("%-*s %-9s %24.16e %24.16e %9.1e %9.1e %9.1e  %s", int(width), d.name.c_str(),
                      d.unit.c_str(), d.analytic, d.difference, d.relativeError,
                      d.differenceError / std::max({std::fabs(d.difference), 1e-300}), d.step,
                      nameOf(d.verdict));
    if (d.leftOut > 0)
      text += formatted(", %lld pixels left out", static_cast<long long>(d.leftOut));
    if (d.worstPixel > 0)
      text += formatted(", worst pixel %.1e", d.worstPixel);
    text += d.why.empty() ? "\n" : ": " + d.why + "\n";
  }
  if (r.loss == 0)
    text += "the loss is zero: nothing can be checked with it\n";
  text +=
      formatted("%s: %zu derivatives, %lld images for the differences in %.2f s, derivatives in "
                "%.2f s\n",
                r.passed() ? "passed" : "FAILED", r.derivatives.size(),
                static_cast<long long>(r.images), r.differenceSeconds, r.analyticSeconds);
  return text;
}

std::string checkJson(std::span<const EngineReport> reports, const CheckOptions &options) {
  nlohmann::ordered_json all = {
      {"order", options.order},
      {"mode", options.mode == CheckMode::Forward ? "forward" : "reverse"},
      {"rtol", options.rtol},
      {"atol", options.atol}};
  bool passed = true;
  for (const EngineReport &report : reports) {
    const CheckResult &r = report.result;
    nlohmann::ordered_json engine = {{"engine", nameOf(report.engine)},
                                     {"passed", r.passed()},
                                     {"loss", r.loss},
                                     {"images", r.images},
                                     {"difference_seconds", r.differenceSeconds},
                                     {"derivative_seconds", r.analyticSeconds}};
    for (const CheckedDerivative &d : r.derivatives) {
      nlohmann::ordered_json entry = {{"parameter", d.name},
                                      {"unit", d.unit},
                                      {"analytic", d.analytic},
                                      {"difference", d.difference},
                                      {"difference_error", d.differenceError},
                                      {"relative_error", d.relativeError},
                                      {"step", d.step},
                                      {"pixels_left_out", d.leftOut},
                                      {"verdict", nameOf(d.verdict)}};
      if (options.mode == CheckMode::Forward && options.order == 1)
        entry["worst_pixel"] = d.worstPixel;
      if (!d.why.empty())
        entry["why"] = d.why;
      engine["derivatives"].push_back(std::move(entry));
    }
    passed &= r.passed();
    all["engines"].push_back(std::move(engine));
  }
  all["passed"] = passed;
  return all.dump(2) + "\n";
}

} // namespace nanobragg
