#include "lib/Choose/Steps.h"

#include "lib/Choose/WholeNumber.h"
#include "lib/Experiment/Units.h"

#include <algorithm>
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

StepRange choosePhiSteps(std::optional<double> osc, std::optional<double> step,
                         std::optional<std::int64_t> steps, Rule exactRatios) {
  const bool stepped = step.value_or(0) > 0;
  if (!osc && stepped)
    return {*step, *step, 2};
  if (!osc && !steps)
    return {0, 0, 1};
  const double range = osc.value_or(units::radians(1.0));
  if (steps) {
    const std::int64_t count = std::max<std::int64_t>(*steps, 1);
    return {range, osc && step ? *step : range / double(count), count};
  }
  if (!stepped)
    return {range, range / 2.0, 2};
  // The C program takes no step at all of an empty range and divides by their number.
  return {range, *step, std::max<std::int64_t>(stepsIn(range, *step, exactRatios, "-phistep"), 1)};
}

StepRange chooseStepRange(std::optional<double> range, std::optional<double> step,
                          std::optional<std::int64_t> steps, Rule exactRatios, const char *flag) {
  StepRange chosen{0, 0, 1};
  if (!range && step)
    chosen = {*step, *step, 2};
  else if (!range && steps)
    // A number of steps alone spreads them over a whole radian.
    chosen = {1.0, 1.0 / double(*steps), *steps};
  else if (range && step)
    chosen = {*range, *step, steps ? *steps : stepsIn(*range, *step, exactRatios, flag)};
  else if (range) {
    const std::int64_t count = std::max<std::int64_t>(steps.value_or(2), 2);
    chosen = {*range, *range / double(count - 1), count};
  }
  if (chosen.range <= 0 || chosen.step <= 0 || chosen.steps <= 0)
    return {0, 0, 1};
  return chosen;
}

Layers chooseLayers(std::optional<std::int64_t> steps, Rule spacing) {
  const std::int64_t given = steps.value_or(0);
  if (given == 0)
    return {2, 0.5};
  if (spacing == Rule::Right)
    return {given, 1.0 / double(given)};
  const std::int64_t count = std::max<std::int64_t>(given, 2);
  return {count, 1.0 / double(count - 1)};
}

} // namespace nanobragg
