// Ranges, steps and numbers of steps.
//
// Of range, step and number of steps a user gives some; these rules, the C program's, choose the
// rest. Unset is a negative range, a step <= 0 and a number <= 0 unless said otherwise.
// `exactRatios` says what becomes of a range that is a whole number of steps up to rounding:
// WholeNumber.h.
#ifndef NANOBRAGG_EXPERIMENT_STEPS_H
#define NANOBRAGG_EXPERIMENT_STEPS_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nanobragg {

inline constexpr double unsetRange = -1;

struct StepRange {
  double range = 0, step = 0;
  std::int64_t steps = 1;
  bool operator==(const StepRange &) const = default;
};

/// Rotation about the spindle, rad. A number of steps < 0 is unset, and 0 is 1; with both range and
/// number a step of 0 is kept. At least one step.
StepRange choosePhiSteps(double osc, double step, std::int64_t steps, Rule exactRatios);

/// Divergence (rad) or dispersion (fraction). Without a range: one step of zero width. `flag` names
/// the culprit when the number would be absurd.
StepRange chooseStepRange(double range, double step, std::int64_t steps, Rule exactRatios,
                          const char *flag);

struct Layers {
  std::int64_t count = 1;
  double fraction = 1; ///< spacing over thickness
  bool operator==(const Layers &) const = default;
};
/// Layers of a sensor that has a thickness.
Layers chooseLayers(std::optional<std::int64_t> steps, Rule spacing);

struct MosaicDomains {
  std::int64_t count = 1;
  double spread = 0; ///< rad
  std::string warning;
};
MosaicDomains chooseMosaicDomains(double spread, std::int64_t domains);

} // namespace nanobragg
#endif
