// Point spread as noisify computes it.
#ifndef NANOBRAGG_NOISE_NOISIFYSPREAD_H
#define NANOBRAGG_NOISE_NOISIFYSPREAD_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstdint>
#include <span>

namespace nanobragg::io {

/// Spreads counted photons in their place, bit for bit as noisify's apply_psf, mistakes included:
/// the radius depends on a pixel's own photons unless one is given (above 0), shares are not scaled
/// to what lies within it, what lies beyond is spread over all pixels, and light that leaves at the
/// right edge enters at the left edge of the next row. For what -compat noisify promises; see
/// PointSpread.h for what is right.
void spreadAsNoisify(std::span<double> photons, std::int64_t slowPixels, std::int64_t fastPixels,
                     PointSpread kind, double widthInPixels, std::int64_t radius);

} // namespace nanobragg::io
#endif
