// Squares of pixels about each pixel: the background of spots, and what is near to spots.
#ifndef NANOBRAGG_IMAGES_LOCALBACKGROUND_H
#define NANOBRAGG_IMAGES_LOCALBACKGROUND_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace nanobragg::io {

/// Mean and variance of the pixels without spots in the square of 2 half + 1 pixels a side about
/// each pixel, and how many they are; squares end at the image's edges. One number per pixel, in
/// the image's order.
struct LocalBackground {
  std::span<float> mean, variance, number;
};

/// Computes a LocalBackground in four rounds. Each leaves out what is 3.5 standard deviations and
/// one photon above the mean of the round before; the first takes the pixels of `kept`.
///
/// photons: rows of `fast` pixels; finite numbers. usable: 0 for pixels without a measurement.
/// counting: the variance is the mean, 0.3 at least; else it is that of the pixels where this is
/// larger. Throws std::invalid_argument where sizes differ or are no whole rows.
void localBackground(std::span<const float> photons, std::span<const std::uint8_t> usable,
                     std::span<const std::uint8_t> kept, std::size_t fast, std::size_t half,
                     bool counting, const LocalBackground &result);

/// Sets `result` to 1 where a pixel of `mask` within a square of 2 half + 1 pixels a side is not 0,
/// else to 0. Throws as localBackground() does.
void dilate(std::span<const std::uint8_t> mask, std::size_t fast, std::size_t half,
            std::span<std::uint8_t> result);

} // namespace nanobragg::io
#endif
