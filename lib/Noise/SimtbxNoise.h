// The noise and the point spread of simtbx, number for number.
#ifndef NANOBRAGG_NOISE_SIMTBXNOISE_H
#define NANOBRAGG_NOISE_SIMTBXNOISE_H

#include "lib/Experiment/ProgramVariant.h"
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

/// Spreads the photons of one panel in their place. Each pixel has a radius beyond which a tenth of
/// its noise would fall; that light is added to all pixels alike, and light of the last column's
/// neighbour appears one row below in the first column, as in simtbx. Pixels below 0 become 0.
/// `width`: full width at half maximum, `radius`: of all pixels, 0: of each its own; in pixels.
void spreadAsSimtbx(std::span<double> image, std::int64_t fastPixels, PointSpread kind,
                    double width, std::int64_t radius, int threads);

} // namespace nanobragg::io
#endif
