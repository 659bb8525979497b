#include "lib/CommandLine/Flag.h"

namespace nanobragg {

FlagGroup spindleFlags() {
  return {
      "Spindle",
      {
          {.spellings = {"-phi"},
           .values = "ANGLE",
           .unit = "degrees",
           .fallback = "0",
           .help = "start of the rotation",
           .apply = [](CommandLine &line, const Values &v) { line.options.phi = v.number(); }},
          {.spellings = {"-osc"},
           .values = "RANGE",
           .unit = "degrees",
           .fallback = "0",
           .help = "range of the rotation",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.osc = v.number(); }},
          {.spellings = {"-phistep"},
           .values = "STEP",
           .unit = "degrees",
           .fallback = "from -osc and -phisteps",
           .help = "distance of rotation steps; without -osc: two steps",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.phiStep = v.number(); }},
          {.spellings = {"-phisteps"},
           .values = "N",
           .unit = "steps",
           .fallback = "2 with -osc, else 1",
           .help = "rotation steps, each at its start; 0 counts as 1",
           .range = Range::between(0, 1e6),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.phiSteps = v.integer(); }},
      }};
}

} // namespace nanobragg
