// Photons to integers.
#ifndef NANOBRAGG_IMAGES_IMAGESCALING_H
#define NANOBRAGG_IMAGES_IMAGESCALING_H

#include "lib/Images/ImageRegion.h"

#include <cstdint>
#include <span>
#include <string>

namespace nanobragg::io {

/// `requested` when positive, else what puts the maximum at 55000.
double chooseIntScale(double requested, double maximum);

/// `requested` when positive, else what puts five deviations at 250; the int scale for a flat
/// image.
double choosePgmScale(double requested, double rmsd, double intScale);

/// The first `width` pixels of rows [begin, end) of the image, counted through all panels: photons
/// * scale + adcOffset, clipped to 0..65535 and rounded; 0 outside the region. A pixel that is not
/// a number becomes 0. `out` has room for them.
void scaleRowsToInt(std::span<const float> image, const ImageRegion &region, std::int64_t begin,
                    std::int64_t end, std::int64_t width, double scale, double adcOffset,
                    std::uint16_t *out);

/// The same of photons * scale, clipped to 0..255 and truncated.
void scaleRowsToPgm(std::span<const float> image, const ImageRegion &region, std::int64_t begin,
                    std::int64_t end, std::int64_t width, double scale, std::uint8_t *out);

/// The header of a binary PGM, with the scale in a comment, as the C program writes it.
std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale);

} // namespace nanobragg::io
#endif
