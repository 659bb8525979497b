// Ranges, steps and numbers of steps.
//
// A user gives some of range, step and number of steps; these rules, the C program's, choose the
// rest. `exactRatios` says what becomes of a range that is a whole number of steps up to rounding:
// WholeNumber.h.
#ifndef NANOBRAGG_CHOOSE_STEPS_H
#define NANOBRAGG_CHOOSE_STEPS_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nanobragg {

struct StepRange {
  double range = 0, step = 0;
  std::int64_t steps = 1;
  bool operator==(const StepRange &) const = default;
};

/// Rotation about the spindle, rad. A number of steps of 0 is 1; with both range and number a step
/// of 0 is kept. At least one step.
StepRange choosePhiSteps(std::optional<double> osc, std::optional<double> step,
                         std::optional<std::int64_t> steps, Rule exactRatios);

/// Divergence (rad) or dispersion (fraction). Without a range: one step of zero width. `flag` names
/// the culprit when the number would be absurd.
StepRange chooseStepRange(std::optional<double> range, std::optional<double> step,
                          std::optional<std::int64_t> steps, Rule exactRatios, const char *flag);

struct Layers {
  std::int64_t count = 1;
  double fraction = 1; ///< spacing over thickness
  bool operator==(const Layers &) const = default;
};
/// Layers of a sensor that has a thickness. A number of 0 counts as not given, as in the C program.
Layers chooseLayers(std::optional<std::int64_t> steps, Rule spacing);

} // namespace nanobragg
#endif
