#include "lib/CommandLine/Flag.h"

#include <limits>

namespace nanobragg {
namespace {

constexpr double mostPixels = 1e6;

void setAttenuationDepth(CommandLine &line, const Values &v) {
  Options &options = line.options;
  if (v.text().find("inf") == std::string::npos && v.number() != 0) {
    options.attenuationDepth = v.number();
    return;
  }
  options.attenuationDepth = std::numeric_limits<double>::infinity();
  options.absorptionOffAfterThickness = true;
}

} // namespace

FlagGroup detectorFlags() {
  return {
      "Detector",
      {
          {.spellings = {"-distance"},
           .values = "D",
           .unit = "mm",
           .fallback = "100",
           .help = "sample to detector along the beam",
           .range = Range::positive(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.distance = v.number();
                 line.options.pivot = Pivot::Beam;
               }},
          {.spellings = {"-close_distance"},
           .values = "D",
           .unit = "mm",
           .fallback = "from -distance",
           .help = "sample to detector along its normal; beats -distance",
           .range = Range::positive(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.closeDistance = v.number();
                 line.options.pivot = Pivot::Sample;
               }},
          {.spellings = {"-pixel"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "0.1",
           .help = "edge of a pixel",
           .range = Range::positive(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.pixelSize = v.number(); }},
          {.spellings = {"-detpixels"},
           .values = "N",
           .unit = "pixels",
           .fallback = "from -detsize",
           .help = "pixels along fast and slow; 0: from the size",
           .range = Range::between(0, mostPixels),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.fastPixels = line.options.slowPixels = v.integer();
               }},
          {.spellings = {"-detpixels_f", "-detpixels_x"},
           .values = "N",
           .unit = "pixels",
           .fallback = "from -detsize_f",
           .help = "pixels along fast",
           .range = Range::between(0, mostPixels),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.fastPixels = v.integer(); }},
          {.spellings = {"-detpixels_s", "-detpixels_y"},
           .values = "N",
           .unit = "pixels",
           .fallback = "from -detsize_s",
           .help = "pixels along slow",
           .range = Range::between(0, mostPixels),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.slowPixels = v.integer(); }},
          {.spellings = {"-detsize"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "102.4",
           .help = "size along fast and slow; pixel counts beat it",
           .range = Range::positive(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.detSizeFast = line.options.detSizeSlow = v.number();
               }},
          {.spellings = {"-detsize_f"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "102.4",
           .help = "size along fast",
           .range = Range::positive(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.detSizeFast = v.number(); }},
          {.spellings = {"-detsize_s"},
           .values = "SIZE",
           .unit = "mm",
           .fallback = "102.4",
           .help = "size along slow",
           .range = Range::positive(),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.detSizeSlow = v.number(); }},
          {.spellings = {"-detector_absorb", "-detector_abs*"},
           .values = "DEPTH",
           .unit = "um",
           .fallback = "none",
           .help = "attenuation depth of the sensor; inf or 0: no absorption",
           .range = Range::notNegative(),
           .apply = setAttenuationDepth},
          {.spellings = {"-detector_thick"},
           .values = "THICKNESS",
           .unit = "um",
           .fallback = "0",
           .help = "thickness of the sensor",
           .range = Range::notNegative(),
           .apply =
               [](CommandLine &line, const Values &v) {
                 line.options.thickness = v.number();
                 line.options.absorptionOffAfterThickness = false;
               }},
          {.spellings = {"-detector_thicksteps", "-thicksteps"},
           .values = "N",
           .unit = "layers",
           .fallback = "2 with -detector_thick, else 1",
           .help = "layers of the sensor",
           .range = Range::between(0, 1e6),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.thickSteps = v.integer(); }},
          {.spellings = {"-curved_det"},
           .fallback = "off",
           .help = "all pixels at the same distance from the sample",
           .apply = [](CommandLine &line, const Values &) { line.options.curved = true; }},
          {.spellings = {"-point_pixel"},
           .fallback = "off",
           .help = "no solid angle of the pixels: 1/R^2 only",
           .apply = [](CommandLine &line, const Values &) { line.options.pointPixel = true; }},
          {.spellings = {"-roi"},
           .values = "XMIN XMAX YMIN YMAX",
           .unit = "pixels",
           .fallback = "all",
           .help = "render only these pixels, fast then slow, ends included; negative: no bound",
           .range = Range::between(-mostPixels, mostPixels),
           .apply =
               [](CommandLine &line, const Values &v) {
                 for (std::size_t i = 0; i < 4; ++i)
                   line.options.roi[i] = v.integer(i);
                 for (std::size_t i = 0; i < 4; i += 2)
                   if (v.integer(i + 1) >= 0 && v.integer(i) > v.integer(i + 1))
                     v.refuse("the range " + v.text(i) + " to " + v.text(i + 1) +
                              " is empty; give the smaller number first");
               }},
          {.spellings = {"-oversample"},
           .values = "N",
           .unit = "sub-pixels",
           .fallback = "automatic",
           .help = "sub-pixels along each edge of a pixel; 0: automatic",
           .range = Range::between(0, 1e5),
           .apply = [](CommandLine &line,
                       const Values &v) { line.options.oversample = v.integer(); }},
          {.spellings = {"-oversample_thick"},
           .fallback = "off",
           .help = "absorption for every sub-pixel, not once per pixel",
           .apply = [](CommandLine &line, const Values &) { line.options.oversampleThick = true; }},
          {.spellings = {"-oversample_polar"},
           .fallback = "off",
           .help = "polarization for every sub-pixel and source",
           .apply = [](CommandLine &line, const Values &) { line.options.oversamplePolar = true; }},
          {.spellings = {"-oversample_omega"},
           .fallback = "off",
           .help = "solid angle for every sub-pixel",
           .apply = [](CommandLine &line, const Values &) { line.options.oversampleOmega = true; }},
      }};
}

} // namespace nanobragg
