// The background of an image, in rings about the beam and about each pixel.
#ifndef NANOBRAGG_IMAGES_BACKGROUND_H
#define NANOBRAGG_IMAGES_BACKGROUND_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg::io {

/// For each ring the number of its pixels, the sum of these, and that of their squares.
struct RingSums {
  std::vector<double> number, sum, squares;
};

/// The sums over pixels of `image` whose `mask` is not 0. radii: of the pixels, 0 or more; a pixel
/// is in the ring floor(radius / width), and there are as many rings as the largest radius has.
/// Throws std::invalid_argument where sizes differ.
RingSums ringSums(std::span<const float> image, std::span<const std::uint8_t> mask,
                  std::span<const float> radii, float width);

/// Interpolates linearly in numbers of rings of a width, each of which is that at its middle, at
/// each of the radii. Throws std::invalid_argument where sizes differ or there is no ring.
void atRadii(std::span<const double> rings, std::span<const float> radii, float width,
             std::span<float> result);

/// The sums over squares of `edge` pixels a side, where `mask` is not 0. The image has rows of
/// `fast` pixels; its edge may cut off the last squares. result: the squares in the image's order.
/// Throws std::invalid_argument where sizes differ.
void tileSums(std::span<const float> image, std::span<const std::uint8_t> mask, std::size_t fast,
              std::size_t edge, std::span<double> result);

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
