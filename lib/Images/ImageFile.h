// An image from any of our formats.
#ifndef NANOBRAGG_IMAGES_IMAGEFILE_H
#define NANOBRAGG_IMAGES_IMAGEFILE_H

#include "lib/Images/ImageRegion.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

/// Pixel values as doubles, [panel][slow][fast].
struct Image {
  std::int64_t panels = 1, slow = 0, fast = 0;
  std::vector<double> pixels;

  io::ImageRegion region() const { return io::ImageRegion::whole(fast, slow, panels); }
};

/// Slow and fast pixels.
using Shape = std::array<std::int64_t, 2>;

/// Reads a NumPy array of rank 2 or 3 (.npy), an SMV image (it starts with a brace), a CBF, an NXmx
/// file (FILE or FILE:N, a frame counted from 0) or raw 32-bit floats. Raw floats have the `shape`,
/// or are square when there is none. Throws io::FileError.
Image readImage(const std::string &path, std::optional<Shape> shape);

/// The same of a file that was read, and unpacked where it was compressed. NXmx files cannot be
/// read so.
Image parseImage(const std::string &path, std::string bytes);

/// Both images of a comparison. Raw floats without a shape take that of the other image when they
/// have as many pixels. Throws io::FileError when the shapes differ.
std::array<Image, 2> readImages(const std::string &first, const std::string &second,
                                std::optional<Shape> shape);

} // namespace nanobragg
#endif
