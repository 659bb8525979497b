#include "lib/Quantities/QuantityRows.h"

namespace nanobragg {
namespace {

// flags, values, unit, what holds without it, meaning, range, fields, and what not every row has
constexpr Quantity goniometerQuantityRows[] = {
    {"-phi", "ANGLE", &flagUnit::degrees, "0", "start of the rotation", Range::any(), in<&O::phi>,
     More{.python = "Goniometer.phi",
          .parameter = "phi0",
          .usual = UsualValues{0, 1440, 0, 360, true}}},
    {"-osc", "RANGE", &flagUnit::degrees, "0", "range of the rotation", Range::notNegative(),
     in<&O::osc>,
     More{.python = "Goniometer.osc",
          .parameter = "osc",
          .usual = UsualValues{0, 360, 0, 45, true}}},
    {"-phistep", "STEP", &flagUnit::degrees, "from -osc and -phisteps",
     "spacing of rotation steps; without -osc: two steps", Range::notNegative(), in<&O::phiStep>,
     More{.python = "Goniometer.phi_step",
          .parameter = "osc",
          .usual = UsualValues{0, 360, 0, 45, true}}},
    {"-phisteps", "N", &flagUnit::steps, "2 with -osc, else 1",
     "rotation steps, each at its start; 0 means 1", upTo(1e6), in<&O::phiSteps>,
     More{.python = "Goniometer.phi_steps",
          .parameter = "phi_steps",
          .only = "with -osc or without -phistep"}},
};

} // namespace

std::span<const Quantity> goniometerQuantities() { return goniometerQuantityRows; }

} // namespace nanobragg
