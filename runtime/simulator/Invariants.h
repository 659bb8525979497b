// The invariants of every image.
#ifndef NANOBRAGG_SIMULATOR_INVARIANTS_H
#define NANOBRAGG_SIMULATOR_INVARIANTS_H

#include "lib/Program/PrecisionLimits.h"

#include <cstdint>
#include <span>

namespace nanobragg {

/// Whether images are checked: as NB_CHECK_IMAGES says, else where assertions are on.
bool checksImages();

/// Photons are finite and not negative, and there are none in pixels that are not rendered: the sum
/// over all pixels is that over the rendered ones. Numbers that are not finite are let pass where
/// the experiment has a number that is beyond any physical range or the limits of the precision,
/// negative ones where it has a material or source that takes photons away, or counts them as the
/// C program does. Throws std::logic_error.
template <typename T>
void checkImage(const Experiment &experiment, Precision precision, std::span<const T> image);

/// A spread moves photons and makes none: there is not more light than photons, and not less than
/// those that are further than `radius` from every edge of a panel. Negative photons are let pass.
/// Throws std::logic_error.
void checkSpread(std::span<const double> photons, std::span<const double> light,
                 std::int64_t slowPixels, std::int64_t fastPixels, std::int64_t radius);

} // namespace nanobragg
#endif
