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
          {.spellings = {"--frames"},
           .values = "N|scan",
           .fallback = "one image",
           .help = "a series of N images, or as many as the scan of --expt has: the rotation goes on from "
                   "frame to frame, files are numbered (NAME_0001.img), and the seed of the noise grows by "
                   "1. Only files that are named are written, noise images if none is",
           .apply =
               [](CommandLine &line, const Values &v) {
                 if (v.text() == "scan") {
                   line.series.frames = 0;
                   return;
                 }
                 line.series.frames = v.integer();
                 if (*line.series.frames < 1 || *line.series.frames > 10000000)
                   v.refuse("a series has at least 1 image and at most 10000000");
               }},
          {.spellings = {"--osc-per-frame"},
           .values = "RANGE",
           .unit = "degrees",
           .fallback = "-osc",
           .help = "rotation range of each frame of --frames",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) { line.series.oscPerFrame = v.number(); }},
          {.spellings = {"--shots"},
           .values = "FILE",
           .fallback = "none",
           .help = "stills: one image for each line of a table, whose first line names flags (misset cell "
                   "fluence seed ...) and the others their values, or for each image of an .expt",
           .apply = [](CommandLine &line, const Values &v) { line.series.shots = v.text(); }},
          {.spellings = {"--resume"},
           .fallback = "off",
           .help = "go on with a series that was interrupted: frames whose files are all there stay",
           .apply = [](CommandLine &line, const Values &) { line.series.resume = true; }},
      }};
}

} // namespace nanobragg
