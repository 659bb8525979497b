#include "lib/IO/ImageStatistics.h"

#include <cmath>
#include <stdexcept>

namespace nanobragg::io {

ImageStatistics computeStatistics(std::span<const float> image, const ImageRegion &region,
                                  std::span<const std::uint8_t> mask) {
  if (image.size() != region.pixelCount() || (!mask.empty() && mask.size() != image.size()))
    throw std::invalid_argument("the image or its mask does not have the region's size");
  ImageStatistics result;
  double sum = 0, sumOfSquares = 0;
  std::int64_t rendered = 0;
  std::size_t brightest = 0;
  region.forEachPixel([&](std::size_t i) {
    if (!mask.empty() && mask[i] == 0)
      return;
    const double value = image[i];
    if (value > result.maximum) {
      result.maximum = value;
      result.found = true;
      brightest = i;
    }
    sum += value;
    sumOfSquares += value * value;
    ++rendered;
  });
  if (result.found) {
    const auto index = std::int64_t(brightest);
    result.maximumFast = index % region.fastPixels;
    result.maximumSlow = index / region.fastPixels % region.slowPixels;
    result.maximumPanel = index / region.fastPixels / region.slowPixels;
  }

  const auto lessOne = [](std::int64_t n) { return n <= 1 ? 1.0 : double(n - 1); };
  result.mean = rendered > 0 ? sum / double(rendered) : 0;
  result.rms = std::sqrt(sumOfSquares / lessOne(rendered));

  double deviations = 0;
  std::int64_t all = 0;
  region.forEachPixel([&](std::size_t i) {
    const double deviation = image[i] - result.mean;
    deviations += deviation * deviation;
    ++all;
  });
  result.rmsd = std::sqrt(deviations / lessOne(all));
  return result;
}

double lastSubpixelCenter(std::int64_t pixel, double pixelSize, std::int64_t oversample) {
  const double subpixel = pixelSize / double(oversample);
  return subpixel * double(pixel * oversample + oversample - 1) + subpixel / 2;
}

} // namespace nanobragg::io
