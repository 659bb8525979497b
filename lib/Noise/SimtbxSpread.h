// The point spread of simtbx's apply_psf().
#ifndef NANOBRAGG_NOISE_SIMTBXSPREAD_H
#define NANOBRAGG_NOISE_SIMTBXSPREAD_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstdint>
#include <span>

namespace nanobragg::io {

/// Spreads the photons of one panel in their place. Each pixel has a radius beyond which a tenth of
/// its noise would fall; that light is added to all pixels alike, and light of the last column's
/// neighbour appears one row below in the first column, as in simtbx. Pixels below 0 become 0.
/// `width`: full width at half maximum, `radius`: of all pixels, 0: of each its own; in pixels.
void spreadAsSimtbx(std::span<double> image, std::int64_t fastPixels, PointSpread kind,
                    double width, std::int64_t radius, int threads);

} // namespace nanobragg::io
#endif
