#include "lib/Images/PgmFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/TextScanner.h"

#include <stdexcept>

namespace nanobragg::io {

std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale) {
  return "P5\n" + std::to_string(fastPixels) + " " + std::to_string(slowPixels) +
         "\n# pixels scaled by " + shortNumber(scale) + "\n255\n";
}

void writePgm(OutputFile &out, std::int64_t fastPixels, std::int64_t slowPixels,
              std::span<const std::uint8_t> pixels, double scale) {
  if (pixels.size() != std::size_t(productOf({slowPixels, fastPixels}, "a graymap")))
    throw std::invalid_argument("the pixels do not fill the graymap");
  out.write(pgmHeader(fastPixels, slowPixels, scale));
  out.write(pixels);
}

} // namespace nanobragg::io
