// The counts that a counting detector hands out.
#ifndef NANOBRAGG_NOISE_COUNTS_H
#define NANOBRAGG_NOISE_COUNTS_H

#include "lib/Noise/NoiseImage.h"

#include <vector>

namespace nanobragg::io {

/// As drawNoise(), the same deviates, but without offset and with 31 bits. 0 outside of the region.
std::vector<std::int32_t> drawCounts(std::span<const float> image, const ImageRegion &region,
                                     const Gain &gain, NoiseModel model, NoiseSource source,
                                     int threads = 0);

/// The image without noise, rounded to the nearest count.
std::vector<std::int32_t> roundCounts(std::span<const float> image);

} // namespace nanobragg::io
#endif
