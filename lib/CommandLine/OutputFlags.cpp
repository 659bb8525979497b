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
           .help = "image of photons per pixel, 32-bit floats without header; with one where the "
                   "name ends in .npy",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.floatFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"-intfile", "-intimage"},
           .values = "FILE",
           .fallback = "intimage.img",
           .help = "scaled image, SMV; with --panels one file for each panel, NAME_panel0.img and "
                   "so on",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.intFile = v.text(); },
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
           .help = "image with photon-counting noise, SMV, with --panels one file for each panel; "
                   "undoes an earlier -nonoise",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.noiseFile = v.text();
                 line.outputs.noise = true;
               },
           .idle = {&noiseOff, &idle::noImage}},
          {.spellings = {"--cbf"},
           .values = "FILE",
           .fallback = "none",
           .help = "miniCBF with the photons counted, noise included unless -nonoise, without "
                   "offset: for DIALS, XDS and fabio; one panel at a right angle to the beam",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.cbfFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--nexus"},
           .values = "FILE",
           .fallback = "none",
           .help =
               "NXmx (HDF5), one file for all frames and panels: photons counted as 32-bit "
               "integers, or after -nonoise 32-bit floats; frames that are finished stay readable",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.nexusFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--nexus-bitshuffle"},
           .fallback = "off: shuffled and deflated, which every HDF5 reads",
           .help = "compress --nexus with bitshuffle and LZ4, by HDF5's plugin; where there is "
                   "none, a warning says so",
           .apply = [](CommandLine &line, const Values &) { line.outputs.nexusBitshuffle = true; },
           .with = "--nexus"},
          {.spellings = {"--write-expt"},
           .values = "FILE",
           .fallback = "none",
           .help = "the experiment as DIALS describes it (.expt), of all frames",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.exptFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--write-refl"},
           .values = "FILE",
           .fallback = "none",
           .help = "where the model has each reflection, as a reflection table of DIALS (.refl): "
                   "panel, position, rotation, box, photons of its pixels without noise",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.reflFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--write-stream"},
           .values = "FILE",
           .fallback = "none",
           .help = "the same image by image, as a stream of CrystFEL (.stream) with its geometry",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.streamFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--write-shots"},
           .values = "FILE",
           .fallback = "none",
           .help = "what --shots drew or read, as a table that --shots reads: each crystal's "
                   "orientation, cell, weight and so on",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.shotsFile = v.text(); },
           .with = "--shots"},
          {.spellings = {"--write-mtz"},
           .values = "FILE",
           .fallback = "none",
           .help = "the structure factors that the images have, as an MTZ file of F, F(+) and F(-) "
                   "in the space group of -hkl or --expt: what a data set is to give back",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.mtzFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"--write-map"},
           .values = "FILE",
           .fallback = "none",
           .help = "of what reflection the Bragg light of each pixel is, a NumPy array of five "
                   "images: h, k, l (fractions, at the pixel's centre), wavelength in A and "
                   "partiality, of the crystal that is brightest there; takes two to four "
                   "renderings more",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.mapFile = v.text(); },
           .idle = {&idle::noImage}},
          {.spellings = {"-nonoise"},
           .fallback = "off",
           .help = "no noise image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.noise = false; },
           .idle = {&noiseOn}},
          {.spellings = {"-nopgm"},
           .fallback = "off",
           .help = "no grey image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.pgm = false; },
           .idle = {&greyOn}},
          {.spellings = {"-scale"},
           .values = "FACTOR",
           .unit = "counts/photon",
           .fallback = "automatic",
           .help = "scale of the SMV image; 0 or less: automatic, the brightest pixel becomes "
                   "55000. Frames of a series need a common one",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.intScale = v.number(); }},
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
           .fallback = "off",
           .help = "as -printout_pixel, where -roi leaves one pixel; no progress then",
           .apply = [](CommandLine &line, const Values &) { line.tool.printout = true; }},
          {.spellings = {"-printout_pixel"},
           .values = "FAST SLOW",
           .unit = "pixels",
           .fallback = "off",
           .help = "print how this pixel comes about, as --trace-pixel; no progress then",
           .range = Range::between(0, 1e6),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.tool.printout = true;
                 line.tool.printoutPixel = {v.integer(0), v.integer(1)};
               }},
          {.spellings = {"-noprogress"},
           .fallback = "off",
           .help = "no progress display",
           .apply = [](CommandLine &line, const Values &) { line.tool.progress = false; }},
          {.spellings = {"-progress"},
           .fallback = "on",
           .help = "progress display; the last of the two counts",
           .apply = [](CommandLine &line, const Values &) { line.tool.progress = true; }},
      },
      outputQuantities());
}

} // namespace nanobragg
