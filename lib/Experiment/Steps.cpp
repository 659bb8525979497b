#include "lib/Experiment/Steps.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/WholeNumber.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

/// How many steps fill a range; the last point lies inside.
std::int64_t stepsIn(double range, double step, Rule exactRatios, const char *flag) {
  double steps = roundedUp(range / step, exactRatios);
  if (!(steps < 1e9))
    throw std::invalid_argument(std::string(flag) +
                                ": the step is too small for the range; enlarge it");
  return std::int64_t(steps);
}

} // namespace

StepRange choosePhiSteps(double osc, double step, std::int64_t steps, Rule exactRatios) {
  if (steps < 0) {
    if (osc < 0)
      return step <= 0 ? StepRange{0, 0, 1} : StepRange{step, step, 2};
    if (step <= 0)
      return {osc, osc / 2.0, 2};
    // The C program takes no step at all of an empty range and divides by their number.
    return {osc, step, std::max<std::int64_t>(stepsIn(osc, step, exactRatios, "-phistep"), 1)};
  }
  steps = std::max<std::int64_t>(steps, 1);
  if (osc < 0) {
    if (step > 0)
      return {step, step, 2};
    osc = units::radians(1.0);
    return {osc, osc / double(steps), steps};
  }
  return {osc, step < 0 ? osc / double(steps) : step, steps};
}

StepRange chooseStepRange(double range, double step, std::int64_t steps, Rule exactRatios,
                          const char *flag) {
  StepRange chosen{range, step, steps};
  if (range < 0 && step > 0)
    chosen = {step, step, 2};
  else if (range < 0)
    // A number of steps alone spreads them over a whole radian (or wavelength).
    chosen = steps <= 0 ? StepRange{0, 0, 1} : StepRange{1.0, 1.0 / double(steps), steps};
  else if (steps <= 0)
    chosen = step <= 0 ? StepRange{range, range, 2}
                       : StepRange{range, step, stepsIn(range, step, exactRatios, flag)};
  else if (step <= 0) {
    steps = std::max<std::int64_t>(steps, 2);
    chosen = {range, range / double(steps - 1), steps};
  }
  if (chosen.range <= 0 || chosen.step <= 0 || chosen.steps <= 0)
    return {0, 0, 1};
  return chosen;
}

Layers chooseLayers(std::optional<std::int64_t> steps, Rule spacing) {
  if (!steps || *steps <= 0)
    return {2, 1.0 / 2};
  std::int64_t count = std::max<std::int64_t>(*steps, 2);
  return {count, 1.0 / double(spacing == Rule::C ? count - 1 : count)};
}

MosaicDomains chooseMosaicDomains(double spread, std::int64_t domains) {
  if (domains <= 0) {
    if (spread <= 0)
      return {1, 0, {}};
    return {10, spread, "-mosaic without -mosaic_domains: using 10 mosaic domains"};
  }
  if (spread <= 0)
    return {1, 0, {}};
  return {domains, spread, {}};
}

} // namespace nanobragg
