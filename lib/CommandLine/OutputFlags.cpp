#include "lib/CommandLine/Flag.h"

namespace nanobragg {

FlagGroup outputFlags() {
  return {
      "Outputs and control",
      {
          {.spellings = {"-floatfile", "-floatimage"},
           .values = "FILE",
           .fallback = "floatimage.bin",
           .help =
               "image of photons per pixel, 32-bit floats without header; with one where the name "
               "ends in .npy",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.floatFile = v.text(); }},
          {.spellings = {"-intfile", "-intimage"},
           .values = "FILE",
           .fallback = "intimage.img",
           .help = "scaled image, SMV; with --panels one file for each panel, NAME_panel0.img and "
                   "so on",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.intFile = v.text(); }},
          {.spellings = {"-pgmfile", "-pgmimage"},
           .values = "FILE",
           .fallback = "image.pgm",
           .help = "8-bit grey image; undoes an earlier -nopgm",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.pgmFile = v.text();
                 line.outputs.pgm = true;
               }},
          {.spellings = {"-noisefile", "-noiseimage"},
           .values = "FILE",
           .fallback = "noiseimage.img",
           .help = "image with photon-counting noise, SMV, with --panels one file for each panel; "
                   "undoes an earlier -nonoise",
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.noiseFile = v.text();
                 line.outputs.noise = true;
               }},
          {.spellings = {"--cbf"},
           .values = "FILE",
           .fallback = "none",
           .help =
               "miniCBF with the photons counted, noise included unless -nonoise, without offset: "
               "for DIALS, XDS and fabio; one panel at a right angle to the beam",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.cbfFile = v.text(); }},
          {.spellings = {"--nexus"},
           .values = "FILE",
           .fallback = "none",
           .help = "NXmx (HDF5), one file for all frames and panels: photons counted as 32-bit "
                   "integers, "
                   "or after -nonoise 32-bit floats; frames that are finished stay readable",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.nexusFile = v.text(); }},
          {.spellings = {"--nexus-bitshuffle"},
           .fallback = "off: shuffled and deflated, which every HDF5 reads",
           .help =
               "compress --nexus with bitshuffle and LZ4, by HDF5's plugin; where there is none, a "
               "warning says so",
           .apply = [](CommandLine &line, const Values &) { line.outputs.nexusBitshuffle = true; }},
          {.spellings = {"--write-expt"},
           .values = "FILE",
           .fallback = "none",
           .help = "the experiment as DIALS describes it (.expt), of all frames",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.exptFile = v.text(); }},
          {.spellings = {"--write-refl"},
           .values = "FILE",
           .fallback = "none",
           .help = "where the model has each reflection, as a reflection table of DIALS (.refl): "
                   "panel, "
                   "position, rotation, box, photons of its pixels without noise",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.reflFile = v.text(); }},
          {.spellings = {"--write-stream"},
           .values = "FILE",
           .fallback = "none",
           .help = "the same image by image, as a stream of CrystFEL (.stream) with its geometry",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.streamFile = v.text(); }},
          {.spellings = {"--write-shots"},
           .values = "FILE",
           .fallback = "none",
           .help = "what --shots drew or read, as a table that --shots reads: each crystal's "
                   "orientation, "
                   "cell, weight and so on",
           .apply = [](CommandLine &line, const Values &v) { line.outputs.shotsFile = v.text(); }},
          {.spellings = {"-nonoise"},
           .fallback = "off",
           .help = "no noise image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.noise = false; }},
          {.spellings = {"-nopgm"},
           .fallback = "off",
           .help = "no grey image, unless a later flag switches it back on",
           .apply = [](CommandLine &line, const Values &) { line.outputs.pgm = false; }},
          {.spellings = {"-scale"},
           .values = "FACTOR",
           .unit = "counts/photon",
           .fallback = "automatic",
           .help =
               "scale of the SMV image; 0 or less: automatic, the brightest pixel becomes 55000. "
               "Frames of a series need a common one",
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
               }},
          {.spellings = {"-adc", "-adcoffset"},
           .values = "OFFSET",
           .unit = "counts",
           .fallback = "40",
           .help = "added to every pixel of the SMV images",
           .range = Range::between(-65535, 65535),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.outputs.adcOffset = line.options.adcOffset = v.number();
               }},
          {.spellings = {"-seed", "--noise-seed"},
           .values = "N",
           .fallback = "another one each run, printed",
           .help = "random-number seed of the noise image",
           .range = Range::between(-2147483647, 2147483647),
           .apply = [](CommandLine &line, const Values &v) { line.options.seed = v.integer(); }},
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
      }};
}

} // namespace nanobragg
