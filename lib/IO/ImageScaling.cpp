#include "lib/IO/ImageScaling.h"

#include <cmath>
#include <stdexcept>

namespace nanobragg::io {
namespace {

/// Clipped to 0..highest; what is not a number becomes 0, since converting it would be undefined.
double clip(double value, double highest) {
  if (!(value > 0))
    return 0;
  return value > highest ? highest : value;
}

void requireSize(std::span<const float> image, const ImageRegion &region) {
  if (image.size() != region.pixelCount())
    throw std::invalid_argument("the image does not have the region's size");
}

} // namespace

double chooseIntScale(double requested, double maximum) {
  if (requested > 0)
    return requested;
  return maximum > 0 ? 55000 / maximum : 1;
}

double choosePgmScale(double requested, double rmsd, double intScale) {
  if (requested > 0)
    return requested;
  return rmsd > 0 ? 250 / (5 * rmsd) : intScale;
}

std::vector<std::uint16_t> scaleToInt(std::span<const float> image, const ImageRegion &region,
                                      double scale, double adcOffset) {
  requireSize(image, region);
  std::vector<std::uint16_t> result(image.size(), 0);
  region.forEachPixel([&](std::size_t i) {
    const double value = clip(image[i] * scale + adcOffset, 65535);
    // Rounded in single precision, as the C program does: it decides ties just below a half.
    result[i] = std::uint16_t(std::floor(float(value + 0.5)));
  });
  return result;
}

std::vector<std::uint8_t> scaleToPgm(std::span<const float> image, const ImageRegion &region,
                                     double scale) {
  requireSize(image, region);
  std::vector<std::uint8_t> result(image.size(), 0);
  region.forEachPixel([&](std::size_t i) { result[i] = std::uint8_t(clip(image[i] * scale, 255)); });
  return result;
}

} // namespace nanobragg::io
