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

namespace {

constexpr Idle noFixedPattern{[](const CommandLine &line) {
                                const NoiseModel model = noiseModel(line);
                                return model.calibration == 0 && model.deadPixels == 0 &&
                                       model.hotPixels == 0;
                              },
                              "there is neither a -calibration nor --dead-pixels nor --hot-pixels"};
constexpr Idle serialNoise{
    [](const CommandLine &line) { return noiseModel(line).generator == NoiseGenerator::Serial; },
    "serial noise depends on -seed alone"};

} // namespace

FlagGroup responseFlags() {
  return groupOf(
      "Detector response", {}, responseQuantities(),
      {
          {.spellings = {"-flicker"},
           .values = "FRACTION",
           .fallback = "0",
           .help = "noise of the beam's intensity, standard deviation relative to the mean; one "
                   "deviate per shot, or with other orders (--detector-order) one per pixel",
           .range = Range::between(0, 1),
           .apply =
               stores<&CommandLine::outputs, &OutputOptions::counting, &CountingOptions::flicker>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"-calibration"},
           .values = "FRACTION",
           .fallback = "0; 0.03 with -compat noisify",
           .help = "error of the pixels' sensitivity, standard deviation relative to the mean; the "
                   "same in all images with this -calib_seed",
           .range = Range::between(0, 1),
           .apply = stores<&CommandLine::outputs, &OutputOptions::counting,
                           &CountingOptions::calibration>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"-calib_seed"},
           .values = "N",
           .fallback = "123456789",
           .help = "random-number seed of detector properties that are constant from shot to shot",
           .range = Range::between(-2147483647, 2147483647),
           .apply = [](CommandLine &line,
                       const Values &v) { line.outputs.counting.calibrationSeed = -v.integer(); },
           .idle = {&idle::noNoiseImage, &noFixedPattern}},
          {.spellings = {"-readout_noise", "-readout*", "-readnoi*"},
           .values = "ADU",
           .unit = "ADU",
           .fallback = "0",
           .help = "standard deviation of the read-out noise of a pixel",
           .range = Range::notNegative(),
           .apply =
               stores<&CommandLine::outputs, &OutputOptions::counting, &CountingOptions::readOut>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"--dead-pixels"},
           .values = "FRACTION",
           .fallback = "0",
           .help = "fraction of the pixels that count no photons; -calib_seed selects them",
           .range = Range::between(0, 1),
           .apply = stores<&CommandLine::outputs, &OutputOptions::counting,
                           &CountingOptions::deadPixels>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"--hot-pixels"},
           .values = "FRACTION",
           .fallback = "0",
           .help = "fraction of the pixels that always have the largest count; -calib_seed selects "
                   "them",
           .range = Range::between(0, 1),
           .apply =
               stores<&CommandLine::outputs, &OutputOptions::counting, &CountingOptions::hotPixels>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"-bits"},
           .values = "16|32",
           .fallback = "16",
           .help =
               "bits of a count in -noisefile: 16, without a sign; 32, of which one is the sign",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view widths[] = {"16", "32"};
                 line.outputs.counting.bits = v.choice(widths) == 0 ? 16 : 32;
               },
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"-overload"},
           .values = "COUNTS",
           .unit = "counts",
           .fallback = "65535, or 2147483647 with -bits 32",
           .help = "largest count; larger ones are set to it",
           .range = Range::between(1, 2147483647),
           .apply =
               stores<&CommandLine::outputs, &OutputOptions::counting, &CountingOptions::overload>,
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"--noise"},
           .values = "philox|serial",
           .fallback = "philox; serial with -compat c and -compat noisify",
           .help = "random numbers of the noise image: philox, a function of the pixel, on all "
                   "threads; serial, those of the C programs, one pixel after the other",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view kinds[] = {"philox", "serial"};
                 line.outputs.counting.generator =
                     v.choice(kinds) == 0 ? NoiseGenerator::Philox : NoiseGenerator::Serial;
               },
           .idle = {&idle::noNoiseImage}},
          {.spellings = {"--noise-shot"},
           .values = "N",
           .fallback = "0",
           .help = "draw the noise of image N, counted from 0, of a series with this -seed; in a "
                   "series, N is the number of the first image",
           .range = Range::between(0, 2147483647),
           .apply = stores<&CommandLine::outputs, &OutputOptions::counting, &CountingOptions::shot>,
           .idle = {&idle::noNoiseImage, &serialNoise}},
          {.spellings = {"--detector-order"},
           .values = "detector|noisify|simtbx",
           .fallback = "detector; noisify with -compat noisify",
           .help = "order of noise, point spread and gain in the noise image: detector, as in a "
                   "detector; noisify and simtbx, as in the programs of these names "
                   "(docs/detector-response.md)",
           .apply =
               [](CommandLine &line, const Values &v) {
                 static constexpr std::string_view orders[] = {"detector", "noisify", "simtbx"};
                 line.outputs.counting.order =
                     std::array{DetectorOrder::Detector, DetectorOrder::Noisify,
                                DetectorOrder::Simtbx}[v.choice(orders)];
               },
           .idle = {&idle::noNoiseImage}},
      });
}

} // namespace nanobragg
