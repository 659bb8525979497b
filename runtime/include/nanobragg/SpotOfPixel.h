// Which reflection of a table a pixel's light is from.
#ifndef NANOBRAGG_SPOTOFPIXEL_H
#define NANOBRAGG_SPOTOFPIXEL_H

#include "nanobragg/Reflections.h"

#include <cstdint>
#include <vector>

namespace nanobragg {

/// For each pixel, [panel][slow][fast], the row with most light there, each spot a Gaussian that
/// ends at five standard deviations; -1 where there is no spot.
std::vector<std::int32_t> brightestRows(const ReflectionTable &table, std::int64_t panels,
                                        std::int64_t slowPixels, std::int64_t fastPixels);

} // namespace nanobragg
#endif
