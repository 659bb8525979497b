// 8-bit portable graymaps.
#ifndef NANOBRAGG_IMAGES_PGMFILE_H
#define NANOBRAGG_IMAGES_PGMFILE_H

#include <cstdint>
#include <string>

namespace nanobragg::io {

/// The header of a binary PGM, with the scale in a comment, as the C program writes it.
std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale);

} // namespace nanobragg::io
#endif
