#include "Flag.h"

namespace nanobragg {
namespace {
/// Steps of a scan; 0 counts as not given, as in the C program.
constexpr double mostSteps = 1e6;
} // namespace

FlagGroup beamFlags() {
  return {
      "Beam",
      {
          {.spellings = {"-lambda", "-wave*"},
           .values = "WAVELENGTH",
           .unit = "A",
           .fallback = "1",
           .help = "wavelength; the last of -lambda and -energy counts",
           .range = Range::positive(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.lambda = v.number();
                 line.options.energy.reset();
               }},
          {.spellings = {"-energy"},
           .values = "ENERGY",
           .unit = "eV",
           .fallback = "12398.42",
           .help = "photon energy",
           .range = Range::positive(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.energy = v.number();
                 line.options.lambda.reset();
               }},
          {.spellings = {"-dispersion"},
           .values = "WIDTH",
           .unit = "percent",
           .fallback = "0",
           .help = "full spectral width, delta lambda/lambda",
           .range = {0, 200, true, false},
           .apply =
               [](CommandLine &line, const Values &v) { line.options.dispersion = v.number(); }},
          {.spellings = {"-dispsteps"},
           .values = "N",
           .unit = "wavelengths",
           .fallback = "2 with -dispersion, else 1",
           .help = "wavelengths across the spectral width",
           .range = Range::between(0, mostSteps),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.dispersionSteps = v.integer();
               }},
          {.spellings = {"-divergence"},
           .values = "RANGE",
           .unit = "mrad",
           .fallback = "0",
           .help = "full beam divergence, horizontal and vertical",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.hdivRange = line.options.vdivRange = v.number();
               }},
          {.spellings = {"-hdivrange"},
           .values = "RANGE",
           .unit = "mrad",
           .fallback = "0",
           .help = "full horizontal divergence",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.hdivRange = v.number(); }},
          {.spellings = {"-vdivrange"},
           .values = "RANGE",
           .unit = "mrad",
           .fallback = "0",
           .help = "full vertical divergence",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.vdivRange = v.number(); }},
          {.spellings = {"-hdivstep"},
           .values = "STEP",
           .unit = "mrad",
           .fallback = "from range and steps",
           .help = "horizontal distance of sources; alone: two sources",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.hdivStep = v.number(); }},
          {.spellings = {"-vdivstep"},
           .values = "STEP",
           .unit = "mrad",
           .fallback = "from range and steps",
           .help = "vertical distance of sources; alone: two sources",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.vdivStep = v.number(); }},
          {.spellings = {"-hdivsteps"},
           .values = "N",
           .unit = "sources",
           .fallback = "from range and step",
           .help = "sources across the horizontal divergence",
           .range = Range::between(0, mostSteps),
           .apply = [](CommandLine &line, const Values &v) { line.options.hdivSteps = v.integer(); }},
          {.spellings = {"-vdivsteps"},
           .values = "N",
           .unit = "sources",
           .fallback = "from range and step",
           .help = "sources across the vertical divergence",
           .range = Range::between(0, mostSteps),
           .apply = [](CommandLine &line, const Values &v) { line.options.vdivSteps = v.integer(); }},
          {.spellings = {"-divsteps"},
           .values = "N",
           .unit = "sources",
           .fallback = "from range and step",
           .help = "sources across either divergence",
           .range = Range::between(0, mostSteps),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.hdivSteps = line.options.vdivSteps = v.integer();
               }},
          {.spellings = {"-round_div"},
           .fallback = "on",
           .help = "cut the grid of sources to an ellipse",
           .apply = [](CommandLine &line, const Values &) { line.options.roundDivergence = true; }},
          {.spellings = {"-square_div"},
           .fallback = "off",
           .help = "the full grid of sources",
           .apply = [](CommandLine &line, const Values &) { line.options.roundDivergence = false; }},
          {.spellings = {"-fluence"},
           .values = "FLUENCE",
           .unit = "photons/m^2",
           .fallback = "1.2593e29",
           .help = "incident photons per area",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.fluence = v.number(); }},
          {.spellings = {"-flux"},
           .values = "FLUX",
           .unit = "photons/s",
           .fallback = "0",
           .help = "with -exposure and -beamsize: sets the fluence unless 0",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.flux = v.number(); }},
          {.spellings = {"-exposure"},
           .values = "TIME",
           .unit = "s",
           .fallback = "1",
           .help = "exposure time, for -flux",
           .range = Range::positive(),
           .apply = [](CommandLine &line, const Values &v) { line.options.exposure = v.number(); }},
          {.spellings = {"-beamsize"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "0.1",
           .help = "beam size, for -flux; clips the crystal along b and c",
           .range = Range::positive(),
           .apply = [](CommandLine &line, const Values &v) { line.options.beamSize = v.number(); }},
          {.spellings = {"-polar"},
           .values = "K",
           .fallback = "0",
           .help = "Kahn polarization factor, from -1 to 1 (polarized along the polarization vector)",
           .range = Range::between(-1, 1),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.polarization = v.number();
                 line.options.noPolarization = false;
               }},
          {.spellings = {"-nopolar"},
           .fallback = "off",
           .help = "no polarization factor",
           .apply = [](CommandLine &line, const Values &) { line.options.noPolarization = true; }},
          {.spellings = {"-water"},
           .values = "SIZE",
           .unit = "um",
           .fallback = "0",
           .help = "background of a water cube of this size",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.water = v.number(); }},
          {.spellings = {"-coherent"},
           .fallback = "off",
           .help = "without effect",
           .apply = [](CommandLine &, const Values &) {}},
      }};
}

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
           .range = Range::between(0, mostSteps),
           .apply = [](CommandLine &line, const Values &v) { line.options.phiSteps = v.integer(); }},
      }};
}

} // namespace nanobragg
