// Photons to integers.
#ifndef NANOBRAGG_IO_IMAGESCALING_H
#define NANOBRAGG_IO_IMAGESCALING_H

#include "lib/IO/ImageRegion.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg::io {

/// `requested` when positive, else what puts the maximum at 55000.
double chooseIntScale(double requested, double maximum);

/// `requested` when positive, else what puts five deviations at 250; the int scale for a flat image.
double choosePgmScale(double requested, double rmsd, double intScale);

/// photons * scale + adcOffset, clipped to 0..65535 and rounded; 0 outside the region. A pixel that
/// is not a number becomes 0.
std::vector<std::uint16_t> scaleToInt(std::span<const float> image, const ImageRegion &region,
                                      double scale, double adcOffset);

/// photons * scale clipped to 0..255 and truncated; 0 outside the region.
std::vector<std::uint8_t> scaleToPgm(std::span<const float> image, const ImageRegion &region,
                                     double scale);

} // namespace nanobragg::io
#endif
