// A few letters as pixels.
#ifndef NANOBRAGG_PICTURE_GLYPHS_H
#define NANOBRAGG_PICTURE_GLYPHS_H

#include "lib/Picture/Layout.h"

#include <string_view>

namespace nanobragg {

constexpr std::int64_t glyphHeight = 7, glyphWidth = 5; ///< pixels; one more lies between letters

std::int64_t widthOf(std::string_view text, std::int64_t scale);

/// Writes digits, ".", "A", "m" and " ", each pixel `scale` pixels wide, on a background of its own
/// that is one such pixel larger. x, y: the upper left corner of the first letter.
void writeText(Picture &picture, std::int64_t x, std::int64_t y, std::string_view text,
               std::int64_t scale, std::uint8_t ink, std::uint8_t paper);

} // namespace nanobragg
#endif
