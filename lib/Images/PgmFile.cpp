#include "lib/Images/PgmFile.h"

#include "lib/Files/TextScanner.h"

namespace nanobragg::io {

std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale) {
  return "P5\n" + std::to_string(fastPixels) + " " + std::to_string(slowPixels) +
         "\n# pixels scaled by " + shortNumber(scale) + "\n255\n";
}

} // namespace nanobragg::io
