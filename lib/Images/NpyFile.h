// NumPy's arrays.
#ifndef NANOBRAGG_IMAGES_NPYFILE_H
#define NANOBRAGG_IMAGES_NPYFILE_H

#include "lib/Files/OutputFile.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nanobragg::io {

/// A dense array, last index fastest.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::variant<std::vector<float>, std::vector<double>> values;
};

/// Format version 1.0. Throws std::invalid_argument unless the shape's product is the number of
/// values.
void writeNpy(OutputFile &out, std::span<const std::size_t> shape, std::span<const float> values);
void writeNpy(OutputFile &out, std::span<const std::size_t> shape, std::span<const double> values);

/// The header in front of values of a kind, f or i, for callers that write them piece by piece.
std::string npyHeader(std::span<const std::size_t> shape, char kind = 'f',
                      std::size_t bytesOfValue = 4);

/// Reads float32 and float64 in C order, of this machine's byte order.
NpyArray readNpy(const std::string &path);

/// The same from the bytes of a file that has been read; `path` is for messages.
NpyArray parseNpy(const std::string &path, std::string_view bytes);

} // namespace nanobragg::io
#endif
