#include "lib/CommandLine/Flag.h"

namespace nanobragg {
namespace {

constexpr Idle noiseOff{[](const CommandLine &line) { return !line.outputs.noise; },
                        "a later -nonoise switches the noise image off"};
constexpr Idle noiseOn{[](const CommandLine &line) { return line.outputs.noise; },
                       "a later -noisefile switches the noise image back on"};
constexpr Idle greyOn{[](const CommandLine &line) { return line.outputs.pgm; },
                      "a later -pgmfile or -pgmscale switches the grey image back on"};

} // namespace

FlagGroup outputFlags() {
  return groupOf(
      "Outputs and control",
      {
          {.spellings = {"-floatfile", "-floatimage"},
           .values = "FILE",
           .fallback = "floatimage.bin",
           .help = "image of photons per pixel: 32-bit floats without header, or NumPy if the name "
                   "ends in .npy",
           .apply = stores<&CommandLine::outputs, &OutputOptions::floatFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"-intfile", "-intimage"},
           .values = "FILE",
           .fallback = "intimage.img",
           .help = "scaled image, SMV; with --panels one file per panel, NAME_panel0.img and so on",
           .apply = stores<&CommandLine::outputs, &OutputOptions::intFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"-pgmfile", "-pgmimage"},
           .values = "FILE",
           .fallback = "image.pgm",
           .help = "8-bit grey image; undoes an earlier -nopgm",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.pgmFile = v.text();
                 line.outputs.pgm = true;
               },
           .idle = {&idle::noGreyImage, &idle::noImage}},
          {.spellings = {"-noisefile", "-noiseimage"},
           .values = "FILE",
           .fallback = "noiseimage.img",
           .help = "image with photon-counting noise, SMV; with --panels one file per panel; "
                   "undoes an earlier -nonoise",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.noiseFile = v.text();
                 line.outputs.noise = true;
               },
           .idle = {&noiseOff, &idle::noImage}},
          {.spellings = {"--cbf"},
           .values = "FILE",
           .help = "counted photons as miniCBF, with noise unless -nonoise, without offset: for "
                   "DIALS, XDS and fabio; one panel normal to the beam",
           .apply = stores<&CommandLine::outputs, &OutputOptions::cbfFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--nexus"},
           .values = "FILE",
           .help = "counted photons as NXmx (HDF5), one file for all frames and panels: 32-bit "
                   "integers, or 32-bit floats with -nonoise; finished frames stay readable",
           .apply = stores<&CommandLine::outputs, &OutputOptions::nexusFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--nexus-bitshuffle"},
           .fallback = "off: shuffled and deflated, which every HDF5 reads",
           .help = "compress --nexus with bitshuffle and LZ4 by HDF5's plugin; without it, a "
                   "warning is printed and frames are deflated",
           .apply = stores<&CommandLine::outputs, &OutputOptions::nexusBitshuffle>,
           .with = "--nexus"},
          {.spellings = {"--write-expt"},
           .values = "FILE",
           .help = "the experiment of all frames in the format of DIALS (.expt)",
           .apply = stores<&CommandLine::outputs, &OutputOptions::exptFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--write-refl"},
           .values = "FILE",
           .help = "predicted reflections as a DIALS reflection table (.refl): panel, position, "
                   "rotation, box, photons without noise",
           .apply = stores<&CommandLine::outputs, &OutputOptions::reflFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--reflections"},
           .values = "FILE",
           .help = "reflections in closed form, without an image: photons, partiality, position, "
                   "shape, angle and wavelength, as .refl (DIALS), .npz (NumPy) or .csv; for "
                   "Gaussian crystals with --average=closed",
           .apply = stores<&CommandLine::outputs, &OutputOptions::reflectionsFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--write-stream"},
           .values = "FILE",
           .help = "predicted reflections of each image as a CrystFEL stream (.stream) with its "
                   "geometry",
           .apply = stores<&CommandLine::outputs, &OutputOptions::streamFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--write-shots"},
           .values = "FILE",
           .help = "the shots that --shots drew or read, as a table for --shots: orientation, "
                   "cell, weight and so on of each crystal",
           .apply = stores<&CommandLine::outputs, &OutputOptions::shotsFile>,
           .with = "--shots"},
          {.spellings = {"--write-mtz"},
           .values = "FILE",
           .help = "the true structure factors of the images, as an MTZ file of F, F(+) and F(-) "
                   "in the space group of -hkl or --expt",
           .apply = stores<&CommandLine::outputs, &OutputOptions::mtzFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"--write-map"},
           .values = "FILE",
           .help = "the reflection of each pixel, a NumPy array of five images: h, k, l "
                   "(fractions, at the pixel's centre), wavelength in A and partiality, of the "
                   "crystal that is brightest there; takes as long as one to three more renderings",
           .apply = stores<&CommandLine::outputs, &OutputOptions::mapFile>,
           .idle = {&idle::noImage}},
          {.spellings = {"-nonoise"},
           .help = "no noise image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.noise = false; },
           .idle = {&noiseOn}},
          {.spellings = {"-nopgm"},
           .help = "no grey image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.pgm = false; },
           .idle = {&greyOn}},
          {.spellings = {"-scale"},
           .values = "FACTOR",
           .unit = "counts/photon",
           .fallback = "automatic",
           .help = "scale of the SMV image; 0 or less: automatic, the brightest pixel becomes "
                   "55000. A series needs a fixed scale",
           .apply = stores<&CommandLine::outputs, &OutputOptions::intScale>},
          {.spellings = {"-pgmscale"},
           .values = "FACTOR",
           .unit = "grey levels/photon",
           .fallback = "automatic",
           .help = "scale of the grey image; undoes an earlier -nopgm",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.pgmScale = v.number();
                 line.outputs.pgm = true;
               },
           .idle = {&idle::noGreyImage}},
          {.spellings = {"-printout"},
           .help = "as -printout_pixel for the only pixel of -roi; disables progress",
           .apply = stores<&CommandLine::tool, &ToolOptions::printout>},
          {.spellings = {"-printout_pixel"},
           .values = "FAST SLOW",
           .unit = "pixels",
           .fallback = "off",
           .help = "print the values of this pixel, as --trace-pixel; disables progress",
           .range = Range::between(0, 1e6),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.printout = true;
                 line.tool.printoutPixel = {v.integer(0), v.integer(1)};
               }},
          {.spellings = {"-noprogress"},
           .help = "no progress display",
           .apply = [](CommandLine &line, const Values &) { line.tool.progress = false; }},
          {.spellings = {"-progress"},
           .fallback = "on",
           .help = "progress display; the last of -progress and -noprogress applies",
           .apply = stores<&CommandLine::tool, &ToolOptions::progress>},
      },
      outputQuantities());
}

} // namespace nanobragg
