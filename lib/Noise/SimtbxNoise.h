// The noise of simtbx's add_noise(), number for number.
#ifndef NANOBRAGG_NOISE_SIMTBXNOISE_H
#define NANOBRAGG_NOISE_SIMTBXNOISE_H

#include "lib/Noise/NoiseModel.h"

#include <cstdint>
#include <span>

namespace nanobragg::io {

/// Photons of one panel become ADU, in their place, as numbers that need not be whole: counting one
/// pixel after the other, calibration, point spread, gain, offset, read-out. The model gives
/// flicker, calibration and its seed, read-out and point spread. drawn: 0 for pixels that stay as
/// they are but for point spread. Photons below 0 are not counted. seed: stands after the draws.
void drawAsSimtbx(std::span<double> image, std::int64_t fastPixels,
                  std::span<const std::uint8_t> drawn, const NoiseModel &model, double gain,
                  double adcOffset, std::int64_t &seed, int threads);

} // namespace nanobragg::io
#endif
