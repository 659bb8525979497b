#include "lib/IO/FloatImage.h"

#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"

#include <cstring>

namespace nanobragg::io {

void writeFloatImage(OutputFile &out, std::span<const float> pixels) { out.write(pixels); }

std::vector<float> readFloatImage(const std::string &path, std::size_t pixels) {
  const std::string bytes = readBytes(path);
  if (bytes.size() != pixels * sizeof(float))
    throw FileError(path, "has " + std::to_string(bytes.size()) + " bytes where " +
                              std::to_string(pixels) + " pixels need " +
                              std::to_string(pixels * sizeof(float)) +
                              "; check the size of the detector");
  std::vector<float> image(pixels);
  std::memcpy(image.data(), bytes.data(), bytes.size());
  return image;
}

} // namespace nanobragg::io
