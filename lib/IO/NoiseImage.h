// Counting statistics.
#ifndef NANOBRAGG_IO_NOISEIMAGE_H
#define NANOBRAGG_IO_NOISEIMAGE_H

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Experiment/Ran1.h"
#include "lib/IO/ImageRegion.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg::io {

struct NoiseImage {
  std::vector<std::uint16_t> pixels; ///< 0 outside the region
  double photons = 0;                ///< drawn in total, without the offset
  std::int64_t overloads = 0;        ///< pixels clipped at 65535
};

/// One Poisson deviate per pixel of the region, masked ones too, in the order of the image, plus
/// adcOffset, truncated. Below zero: Right clips to 0, C wraps around to large counts.
NoiseImage drawNoise(std::span<const float> image, const ImageRegion &region, double adcOffset,
                     Rule belowZero, Ran1 &random, std::int64_t &seed);

} // namespace nanobragg::io
#endif
