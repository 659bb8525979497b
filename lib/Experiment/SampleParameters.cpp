#include "lib/Experiment/ParameterRows.h"

namespace nanobragg {
namespace {

bool hasDmin(const ProgramVariant &v) { return v.dmin; }
bool hasWater(const ProgramVariant &v) { return v.water != Water::None; }

constexpr Parameter rows[] = {
    {.name = "dmin",
     .unit = "m",
     .meaning = "resolution cutoff",
     .place = AT(dmin),
     .usedBy = hasDmin,
     .discrete = true,
     .possible = Possible::NotNegative},
    {.name = "water_size",
     .unit = "m",
     .meaning = "edge of the cube of water",
     .place = AT(waterSize),
     .usedBy = hasWater,
     .groups = "water",
     .dead = {&dead::noWater}},
};

} // namespace

std::span<const Parameter> sampleParameters() { return rows; }

} // namespace nanobragg
