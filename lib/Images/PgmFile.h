// 8-bit portable graymaps.
#ifndef NANOBRAGG_IMAGES_PGMFILE_H
#define NANOBRAGG_IMAGES_PGMFILE_H

#include "lib/Files/OutputFile.h"

#include <cstdint>
#include <span>
#include <string>

namespace nanobragg::io {

/// Binary PGM with the scale in a comment, as the C program writes it.
/// Throws std::invalid_argument unless there are fastPixels * slowPixels pixels.
void writePgm(OutputFile &out, std::int64_t fastPixels, std::int64_t slowPixels,
              std::span<const std::uint8_t> pixels, double scale);

/// The header in front of its pixels, for callers that write them piece by piece.
std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale);

} // namespace nanobragg::io
#endif
