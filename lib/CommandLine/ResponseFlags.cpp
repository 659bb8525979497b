#include "lib/CommandLine/Flag.h"

#include <array>

namespace nanobragg {

NoiseModel noiseModel(const CommandLine &line) {
  const CountingOptions &o = line.outputs.counting;
  const bool noisify = line.semantics.noisify, serial = noisify || line.semantics.isC();
  NoiseModel model;
  model.generator = o.generator.value_or(serial ? NoiseGenerator::Serial : NoiseGenerator::Philox);
  model.order = o.order.value_or(noisify ? DetectorOrder::Noisify : DetectorOrder::Detector);
  model.flicker = o.flicker;
  model.calibration = o.calibration.value_or(noisify ? 0.03 : 0);
  // noisify begins with the number that -calib_seed would negate.
  constexpr std::int64_t usual = 123456789;
  model.calibrationSeed =
      o.calibrationSeed.value_or(model.generator == NoiseGenerator::Serial ? usual : -usual);
  model.readOut = o.readOut;
  model.deadPixels = o.deadPixels;
  model.hotPixels = o.hotPixels;
  model.shot = o.shot;
  model.bits = o.bits;
  model.overload = o.overload;
  model.pointSpread = line.options.pointSpread;
  return model;
}

FlagGroup responseFlags() {
  return {
      "Detector response",
      {
          {.spellings = {"-gain"},
           .values = "GAIN",
           .unit = "ADU/photon",
           .fallback = "none: photons",
           .help = "the image is in analogue-to-digital units, this many per photon",
           .range = Range::positive(),
           .apply = [](CommandLine &line, const Values &v) { line.options.gain = v.number(); }},
          {.spellings = {"-psf"},
           .values = "gauss|fiber",
           .fallback = "none: light stays in its pixel",
           .help =
               "point spread: the light of a point is spread over the neighbours of its pixel as a "
               "Gaussian or as a fiber-coupled phosphor does it",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view kinds[] = {"gauss", "fiber"};
                 line.options.pointSpread =
                     v.choice(kinds) == 0 ? PointSpread::Gauss : PointSpread::Fiber;
               }},
          {.spellings = {"-psf_fwhm", "-psf_size", "-psf_width"},
           .values = "WIDTH",
           .unit = "um",
           .fallback = "46",
           .help = "full width at half maximum of the point spread",
           .range = Range::positive(),
           .apply = [](CommandLine &line, const Values &v) { line.options.psfFwhm = v.number(); }},
          {.spellings = {"-psf_radius"},
           .values = "PIXELS",
           .unit = "pixels",
           .fallback = "by the width: all but 1e-7 of a Gaussian, 98 % of a fiber",
           .help = "how far light is spread, along rows and columns; what a point sends within is "
                   "scaled to all of its light. 0: by the width",
           .range = Range::between(0, 1000),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.psfRadius = v.integer(); }},
          {.spellings = {"-dead_time"},
           .values = "SECONDS",
           .unit = "s",
           .fallback = "none: every photon is counted",
           .help =
               "a pixel counts nothing for so long after each photon, counted or not: n photons "
               "per second become n exp(-n SECONDS) counts; needs -exposure",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line, const Values &v) { line.options.deadTime = v.number(); }},
          {.spellings = {"-flicker"},
           .values = "FRACTION",
           .fallback = "0",
           .help =
               "noise of the beam's intensity, standard deviation over the mean; one deviate for a "
               "shot, or with other orders (--detector-order) one for each pixel",
           .range = Range::between(0, 1),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.flicker = v.number(); }},
          {.spellings = {"-calibration"},
           .values = "FRACTION",
           .fallback = "0; 0.03 with -compat noisify",
           .help =
               "error of the pixels' sensitivity, standard deviation over the mean; the same in "
               "all images with this -calib_seed",
           .range = Range::between(0, 1),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.calibration = v.number(); }},
          {.spellings = {"-calib_seed"},
           .values = "N",
           .fallback = "123456789",
           .help = "random-number seed of what belongs to the detector and stays from shot to shot",
           .range = Range::between(-2147483647, 2147483647),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.calibrationSeed = -v.integer(); }},
          {.spellings = {"-readout_noise", "-readout*", "-readnoi*"},
           .values = "ADU",
           .unit = "ADU",
           .fallback = "0",
           .help = "standard deviation of what reading a pixel adds to it",
           .range = Range::notNegative(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.readOut = v.number(); }},
          {.spellings = {"--dead-pixels"},
           .values = "FRACTION",
           .fallback = "0",
           .help = "so many of the pixels count no photons; -calib_seed says which",
           .range = Range::between(0, 1),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.deadPixels = v.number(); }},
          {.spellings = {"--hot-pixels"},
           .values = "FRACTION",
           .fallback = "0",
           .help = "so many of the pixels always have the largest count; -calib_seed says which",
           .range = Range::between(0, 1),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.hotPixels = v.number(); }},
          {.spellings = {"-bits"},
           .values = "16|32",
           .fallback = "16",
           .help = "bits of a count in -noisefile; of 32 one is the sign",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view widths[] = {"16", "32"};
                 line.outputs.counting.bits = v.choice(widths) == 0 ? 16 : 32;
               }},
          {.spellings = {"-overload"},
           .values = "COUNTS",
           .unit = "counts",
           .fallback = "65535, or 2147483647 with -bits 32",
           .help = "largest count; what is above becomes this",
           .range = Range::between(1, 2147483647),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.overload = v.number(); }},
          {.spellings = {"--noise"},
           .values = "philox|serial",
           .fallback = "philox; serial with -compat c and -compat noisify",
           .help = "random numbers of the noise image: philox, of each pixel by its place, on all "
                   "threads; serial, those of the C programs, one pixel after the other",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view kinds[] = {"philox", "serial"};
                 line.outputs.counting.generator =
                     v.choice(kinds) == 0 ? NoiseGenerator::Philox : NoiseGenerator::Serial;
               }},
          {.spellings = {"--noise-shot"},
           .values = "N",
           .fallback = "0",
           .help =
               "the noise is that of image N, from 0, of a series with this -seed; of a series, "
               "that of the first image",
           .range = Range::between(0, 2147483647),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.shot = v.integer(); }},
          {.spellings = {"--detector-order"},
           .values = "detector|noisify|simtbx",
           .fallback = "detector; noisify with -compat noisify",
           .help = "in which order noise, point spread and gain act on the noise image: as in a "
                   "detector, or as in the programs of these names (docs/detector-response.md)",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view orders[] = {"detector", "noisify", "simtbx"};
                 line.outputs.counting.order =
                     std::array{DetectorOrder::Detector, DetectorOrder::Noisify,
                                DetectorOrder::Simtbx}[v.choice(orders)];
               }},
      }};
}

} // namespace nanobragg
