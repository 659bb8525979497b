// NumPy's archives of arrays.
#ifndef NANOBRAGG_IMAGES_NPZFILE_H
#define NANOBRAGG_IMAGES_NPZFILE_H

#include "lib/Files/OutputFile.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nanobragg::io {

/// An array of an archive, last index fastest.
struct NpzArray {
  std::string name;
  std::vector<std::size_t> shape;
  std::variant<std::vector<std::int32_t>, std::vector<double>> values;
};

/// An .npz as numpy.savez writes it, of less than 4 GB. Throws std::invalid_argument for more.
void writeNpz(OutputFile &out, std::span<const NpzArray> arrays);

} // namespace nanobragg::io
#endif
