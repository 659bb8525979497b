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

/// What a photon becomes before it is counted: one gain times that of the pixel.
struct Gain {
  double all = 1;
  std::span<const double> map; ///< one per pixel of the image, or empty

  double of(std::size_t pixel) const { return map.empty() ? all : all * map[pixel]; }
};

/// One Poisson deviate per pixel of the region, masked ones too, in the order of the image, plus
/// adcOffset, truncated. Below zero: Right clips to 0, C wraps around to large counts. The image is
/// in photons times `gain`; what is drawn are photons, since only they have counting statistics.
NoiseImage drawNoise(std::span<const float> image, const ImageRegion &region, const Gain &gain,
                     double adcOffset, Rule belowZero, Ran1 &random, std::int64_t &seed);

} // namespace nanobragg::io
#endif
