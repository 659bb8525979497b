#include "lib/Program/ParameterRows.h"

namespace nanobragg {
namespace {

constexpr Parameter goniometerParameterRows[] = {
    {.name = "spindle_axis",
     .unit = "1",
     .meaning = "unit axis of the phi rotation",
     .place = AT(goniometer.spindleAxis),
     .groups = "axes",
     .neutral = neutral(0, 0, 1),
     .dead = movesSpots},
    {.name = "phi0",
     .unit = "rad",
     .meaning = "phi of the first step",
     .place = AT(goniometer.phi0),
     .groups = "goniometer",
     .neutral = neutral(0),
     .dead = movesSpots},
    {.name = "osc",
     .unit = "rad",
     .meaning = "oscillation range",
     .place = AT(goniometer.osc),
     .groups = "goniometer",
     .neutral = neutral(0),
     .dead = {&dead::noImage, &dead::flatSpots, &dead::onePhiStep}},
    {.name = "phi_step_fraction",
     .unit = "1",
     .meaning = "phi step as a fraction of osc",
     .place = AT(goniometer.phiStepFraction),
     .discrete = true,
     .neutral = oneOver("phi_steps")},
    {.name = "phi_steps",
     .unit = "1",
     .meaning = "number of phi steps",
     .place = AT(goniometer.phiSteps),
     .neutral = neutral(1),
     .samples = 1},
};

} // namespace

std::span<const Parameter> goniometerParameters() { return goniometerParameterRows; }

} // namespace nanobragg
