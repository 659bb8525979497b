// Sums over rings and over tiles of an image, of which the background of a still is made.
#ifndef NANOBRAGG_IMAGES_RADIALBACKGROUND_H
#define NANOBRAGG_IMAGES_RADIALBACKGROUND_H

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

} // namespace nanobragg::io
#endif
