#include "lib/Images/ImageScaling.h"

#include "lib/Files/TextScanner.h"
#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg::io {
namespace {

/// Clipped to 0..highest; what is not a number becomes 0, since converting it would be undefined.
inline double clip(double value, double highest) {
  const double positive = value > 0 ? value : 0;
  return positive > highest ? highest : positive;
}

NB_VECTORIZED void convert(const float *pixels, std::int64_t count, double scale, double adcOffset,
                           std::uint16_t *out) {
#pragma clang fp contract(off)
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = clip(pixels[i] * scale + adcOffset, 65535);
    // Rounded in single precision, as the C program does: it decides ties just below a half.
    out[i] = std::uint16_t(std::int32_t(float(value + 0.5)));
  }
}

NB_VECTORIZED void convert(const float *pixels, std::int64_t count, double scale,
                           std::uint8_t *out) {
#pragma clang fp contract(off)
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = std::uint8_t(std::int32_t(clip(pixels[i] * scale, 255)));
}

/// The computed pixels of a row go through `convert`, the others are 0.
template <typename T, typename Convert>
void scaleRows(const ImageRegion &region, std::int64_t begin, std::int64_t end, std::int64_t width,
               T *out, Convert convert) {
  const std::int64_t from = std::min(region.fastBegin(), width);
  const std::int64_t to = std::clamp(region.fastEnd(), from, width);
  for (std::int64_t row = begin; row != end; ++row, out += width) {
    const std::int64_t slow = row % region.slowPixels;
    if (slow < region.slowBegin() || slow >= region.slowEnd()) {
      std::fill_n(out, width, T(0));
      continue;
    }
    std::fill_n(out, from, T(0));
    convert(std::size_t(row * region.fastPixels + from), to - from, out + from);
    std::fill_n(out + to, width - to, T(0));
  }
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

void scaleRowsToInt(std::span<const float> image, const ImageRegion &region, std::int64_t begin,
                    std::int64_t end, std::int64_t width, double scale, double adcOffset,
                    std::uint16_t *out) {
  requireSize(image, region);
  scaleRows(region, begin, end, width, out,
            [&](std::size_t first, std::int64_t count, std::uint16_t *to) {
              convert(image.data() + first, count, scale, adcOffset, to);
            });
}

void scaleRowsToPgm(std::span<const float> image, const ImageRegion &region, std::int64_t begin,
                    std::int64_t end, std::int64_t width, double scale, std::uint8_t *out) {
  requireSize(image, region);
  scaleRows(region, begin, end, width, out,
            [&](std::size_t first, std::int64_t count, std::uint8_t *to) {
              convert(image.data() + first, count, scale, to);
            });
}

std::string pgmHeader(std::int64_t fastPixels, std::int64_t slowPixels, double scale) {
  return "P5\n" + std::to_string(fastPixels) + " " + std::to_string(slowPixels) +
         "\n# pixels scaled by " + shortNumber(scale) + "\n255\n";
}

} // namespace nanobragg::io
