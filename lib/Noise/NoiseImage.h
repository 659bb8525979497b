// From expected photons to the counts that a detector hands out.
#ifndef NANOBRAGG_NOISE_NOISEIMAGE_H
#define NANOBRAGG_NOISE_NOISEIMAGE_H

#include "lib/Experiment/ProgramVariant.h"
#include "lib/Experiment/Ran1.h"
#include "lib/Images/ImageRegion.h"
#include "lib/Noise/NoiseModel.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg::io {

struct NoiseImage {
  std::vector<std::uint16_t> pixels; ///< 0 outside the region
  std::vector<std::uint32_t> wide;   ///< in place of them with 32 bits
  double photons = 0;                ///< drawn in total, without the offset
  std::int64_t overloads = 0;        ///< pixels clipped at the largest count
};

/// The gain by which a photon is multiplied: one for all times that of the pixel.
struct Gain {
  double all = 1;
  std::span<const double> map; ///< one per pixel of the image, or empty
  bool inImage = true;         ///< is the image in photons times gain, or in photons?

  double of(std::size_t pixel) const { return map.empty() ? all : all * map[pixel]; }
};

/// Where the random numbers come from.
struct NoiseSource {
  Ran1 &random;       ///< for NoiseGenerator::Serial; stands after the draws
  std::int64_t &seed; ///< negated, as the C program keeps it; changed by serial draws
};

/// Counts of the pixels of the region, masked ones too. Noise is drawn of photons, since only they
/// have counting statistics. Counts are truncated; below zero Right clips them to 0, C wraps them
/// around to large ones. With NoiseGenerator::Philox the same for any number of threads (0: all).
NoiseImage drawNoise(std::span<const float> image, const ImageRegion &region, const Gain &gain,
                     const NoiseModel &model, double adcOffset, Rule belowZero, NoiseSource source,
                     int threads = 0);

/// As drawNoise(), the same deviates, but without offset and with 31 bits. 0 outside of the region.
std::vector<std::int32_t> drawCounts(std::span<const float> image, const ImageRegion &region,
                                     const Gain &gain, NoiseModel model, NoiseSource source,
                                     int threads = 0);

/// The image without noise, rounded to the nearest count.
std::vector<std::int32_t> roundCounts(std::span<const float> image);

} // namespace nanobragg::io
#endif
