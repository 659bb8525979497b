#include "lib/IO/ImageFile.h"

#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/FloatImage.h"
#include "lib/IO/NpyFile.h"
#include "lib/IO/SmvFile.h"

#include <cmath>
#include <variant>

namespace nanobragg {
namespace {

enum class Format { Raw, Npy, Smv };

Format formatOf(const std::string &path) {
  const std::string bytes = io::readBytes(path);
  if (bytes.starts_with("\x93NUMPY"))
    return Format::Npy;
  return bytes.starts_with("{\nHEADER_BYTES") ? Format::Smv : Format::Raw;
}

Image readNumPy(const std::string &path) {
  const io::NpyArray array = io::readNpy(path);
  const std::size_t rank = array.shape.size();
  if (rank != 2 && rank != 3)
    throw io::FileError(path, "has " + std::to_string(rank) +
                                  " dimensions; an image has slow and fast, or panel, slow and "
                                  "fast");
  Image image;
  image.panels = rank == 3 ? std::int64_t(array.shape[0]) : 1;
  image.slow = std::int64_t(array.shape[rank - 2]);
  image.fast = std::int64_t(array.shape[rank - 1]);
  std::visit([&](const auto &values) { image.pixels.assign(values.begin(), values.end()); },
             array.values);
  return image;
}

Image readSmvImage(const std::string &path) {
  const io::SmvFile file = io::readSmv(path);
  return {1, file.slowPixels, file.fastPixels, {file.pixels.begin(), file.pixels.end()}};
}

Image readRaw(const std::string &path, std::optional<Shape> shape) {
  if (!shape) {
    const std::size_t pixels = io::readBytes(path).size() / sizeof(float);
    const auto side = std::int64_t(std::llround(std::sqrt(double(pixels))));
    if (std::size_t(side * side) != pixels)
      throw io::FileError(path, "has " + std::to_string(pixels) +
                                    " pixels, which make no square; give --shape=SLOW,FAST");
    shape = {side, side};
  }
  const auto [slow, fast] = *shape;
  const auto pixels = io::readFloatImage(path, std::size_t(slow * fast));
  return {1, slow, fast, {pixels.begin(), pixels.end()}};
}

/// The shape for raw floats that stand beside an image of known shape.
std::optional<Shape> shapeBeside(const Image &other, const std::string &path) {
  const bool fits = io::readBytes(path).size() == other.pixels.size() * sizeof(float);
  return fits ? std::optional(Shape{other.panels * other.slow, other.fast}) : std::nullopt;
}

std::string shapeText(const Image &image) {
  const std::string panel = std::to_string(image.slow) + " x " + std::to_string(image.fast);
  return image.panels == 1 ? panel : std::to_string(image.panels) + " panels of " + panel;
}

} // namespace

Image readImage(const std::string &path, std::optional<Shape> shape) {
  switch (formatOf(path)) {
  case Format::Npy:
    return readNumPy(path);
  case Format::Smv:
    return readSmvImage(path);
  case Format::Raw:
    break;
  }
  return readRaw(path, shape);
}

std::array<Image, 2> readImages(const std::string &first, const std::string &second,
                                std::optional<Shape> shape) {
  const bool firstIsRaw = formatOf(first) == Format::Raw;
  const bool secondIsRaw = formatOf(second) == Format::Raw;
  std::array<Image, 2> images;
  if (!shape && firstIsRaw != secondIsRaw) {
    const std::string &raw = firstIsRaw ? first : second, &other = firstIsRaw ? second : first;
    Image &known = images[firstIsRaw ? 1 : 0], &unknown = images[firstIsRaw ? 0 : 1];
    known = readImage(other, shape);
    unknown = readImage(raw, shapeBeside(known, raw));
    if (unknown.slow == known.panels * known.slow && unknown.fast == known.fast) {
      unknown.panels = known.panels;
      unknown.slow = known.slow;
    }
  } else {
    images = {readImage(first, shape), readImage(second, shape)};
  }
  const auto &[a, b] = images;
  if (a.panels != b.panels || a.slow != b.slow || a.fast != b.fast)
    throw io::FileError(first, "has " + shapeText(a) + " pixels and " + second + " has " +
                                   shapeText(b) + "; compare images of one shape");
  return images;
}

} // namespace nanobragg
