#include "lib/Noise/SimtbxNoise.h"

#include "lib/Experiment/Ran1.h"
#include "lib/Noise/SimtbxSpread.h"

#include <cstdlib>

// Fused multiply-adds round otherwise than simtbx.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg::io {

void drawAsSimtbx(std::span<double> image, std::int64_t fastPixels,
                  std::span<const std::uint8_t> drawn, const NoiseModel &model, double gain,
                  double adcOffset, std::int64_t &seed, int threads) {
  Ran1Of<double> random;
  seed = -std::abs(seed);
  for (std::size_t i = 0; i != image.size(); ++i) {
    if (!drawn[i] || image[i] < 0)
      continue;
    double mean = image[i];
    if (model.flicker > 0)
      mean *= 1 + model.flicker * random.gaussian(seed);
    image[i] = random.poisson(mean, seed);
  }
  if (model.calibration > 0) {
    Ran1Of<double> ofPixels;
    std::int64_t calibrationSeed = -std::abs(model.calibrationSeed);
    for (std::size_t i = 0; i != image.size(); ++i)
      if (drawn[i])
        image[i] *= 1 + model.calibration * ofPixels.gaussian(calibrationSeed);
    random.takeTable(ofPixels);
  }
  if (model.pointSpread != PointSpread::None)
    spreadAsSimtbx(image, fastPixels, model.pointSpread, model.psfWidth, model.psfRadius, threads);
  for (std::size_t i = 0; i != image.size(); ++i) {
    if (!drawn[i])
      continue;
    image[i] = image[i] * gain + adcOffset;
    if (model.readOut > 0)
      image[i] += model.readOut * random.gaussian(seed);
  }
}

} // namespace nanobragg::io
