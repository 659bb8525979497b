#include "tools/nb-compare/DifferencePicture.h"

#include "lib/Images/PngFile.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

std::vector<std::uint8_t> differenceTones(const Image &test, const Image &reference,
                                          const io::ImageRegion &region) {
  const auto difference = [&](std::size_t i) { return test.pixels[i] - reference.pixels[i]; };
  double largest = 0;
  region.forEachPixel([&](std::size_t i) {
    if (std::isfinite(difference(i)))
      largest = std::max(largest, std::fabs(difference(i)));
  });
  constexpr std::uint8_t same = 128, oneOnly = 255;
  std::vector<std::uint8_t> tones(test.pixels.size(), same);
  region.forEachPixel([&](std::size_t i) {
    if (std::isfinite(difference(i)))
      tones[i] =
          std::uint8_t(same + (largest > 0 ? std::lround(127 * (difference(i) / largest)) : 0));
    else if (std::isfinite(test.pixels[i]) != std::isfinite(reference.pixels[i]))
      tones[i] = oneOnly;
  });
  return tones;
}

void writeDifference(const std::string &path, const Image &test, const Image &reference,
                     const io::ImageRegion &region) {
  io::OutputFile out(path);
  io::writePng(out, test.fast, test.panels * test.slow, differenceTones(test, reference, region),
               io::Palette::Gray);
  out.commit();
}

} // namespace nanobragg
