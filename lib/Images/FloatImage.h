// Photons per pixel without a header.
#ifndef NANOBRAGG_IMAGES_FLOATIMAGE_H
#define NANOBRAGG_IMAGES_FLOATIMAGE_H

#include "lib/Files/OutputFile.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// Native 32-bit floats, fast axis fastest.
void writeFloatImage(OutputFile &out, std::span<const float> pixels);

/// Throws FileError unless the file has exactly this many pixels.
std::vector<float> readFloatImage(const std::string &path, std::size_t pixels);

/// The same from the bytes of a file that has been read; `path` is for messages.
std::vector<float> parseFloatImage(const std::string &path, std::string_view bytes,
                                   std::size_t pixels);

} // namespace nanobragg::io
#endif
