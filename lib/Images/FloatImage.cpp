#include "lib/Images/FloatImage.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"

#include <cstring>

namespace nanobragg::io {

void writeFloatImage(OutputFile &out, std::span<const float> pixels) { out.write(pixels); }

std::vector<float> readFloatImage(const std::string &path, std::size_t pixels) {
  return parseFloatImage(path, readBytes(path), pixels);
}

std::vector<float> parseFloatImage(const std::string &path, std::string_view bytes,
                                   std::size_t pixels) {
  const auto needed = tryProduct({std::int64_t(pixels), sizeof(float)});
  if (needed != std::int64_t(bytes.size()))
    throw FileError(path, "has " + std::to_string(bytes.size()) + " bytes where " +
                              std::to_string(pixels) + " pixels need " +
                              (needed ? std::to_string(*needed) : "more than any file has") +
                              "; check the size of the detector");
  std::vector<float> image(pixels);
  if (!image.empty())
    std::memcpy(image.data(), bytes.data(), bytes.size());
  return image;
}

} // namespace nanobragg::io
