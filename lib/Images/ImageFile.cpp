#include "lib/Images/ImageFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Images/CbfFile.h"
#include "lib/Images/FloatImage.h"
#include "lib/Images/NpyFile.h"
#include "lib/Images/SmvFile.h"

#include <cmath>
#include <filesystem>
#include <variant>

namespace nanobragg {
namespace {

enum class Format { Raw, Npy, Smv, Cbf, Hdf5 };

/// A file that was read once: a pipe cannot be read again.
struct Contents {
  explicit Contents(const std::string &file) : path(file) {
    // FILE:N is a frame of a series.
    const std::size_t colon = file.rfind(':');
    std::error_code ignored;
    if (colon != file.npos && colon > 0 && colon + 1 < file.size() && file.size() - colon < 9 &&
        file.find_first_not_of("0123456789", colon + 1) == file.npos &&
        !std::filesystem::exists(file, ignored)) {
      path.resize(colon);
      frame = std::stoul(file.substr(colon + 1));
    }
    bytes = io::readBytes(path);
    if (frame != 0 && format() != Format::Hdf5)
      throw io::FileError(path, "has one image; only NXmx files have frames to choose from");
  }

  Contents(std::string file, std::string read) : path(std::move(file)), bytes(std::move(read)) {}

  Format format() const {
    if (bytes.starts_with("\x93NUMPY"))
      return Format::Npy;
    if (io::isHdf5(bytes))
      return Format::Hdf5;
    if (io::isCbf(bytes))
      return Format::Cbf;
    return io::isSmv(bytes) ? Format::Smv : Format::Raw;
  }

  std::string path, bytes;
  std::size_t frame = 0;
};

Image parseNumPy(const Contents &file) {
  const io::NpyArray array = io::parseNpy(file.path, file.bytes);
  const std::size_t rank = array.shape.size();
  if (rank != 2 && rank != 3)
    throw io::FileError(file.path,
                        "has " + std::to_string(rank) +
                            " dimensions; an image has slow and fast, or panel, slow and "
                            "fast");
  Image image;
  image.panels = rank == 3 ? std::int64_t(array.shape[0]) : 1;
  image.slow = std::int64_t(array.shape[rank - 2]);
  image.fast = std::int64_t(array.shape[rank - 1]);
  std::visit([&](const auto &values) { image.pixels.assign(values.begin(), values.end()); },
             array.values);
  if (image.pixels.empty())
    throw io::FileError(file.path, "has no pixels; save an image");
  return image;
}

Image parseSmvImage(const Contents &file) {
  const io::SmvFile smv = io::parseSmv(file.path, file.bytes);
  return {1, smv.slowPixels, smv.fastPixels, {smv.pixels.begin(), smv.pixels.end()}};
}

Image parseCbfImage(const Contents &file) {
  const io::CbfFile cbf = io::parseCbf(file.path, file.bytes);
  return {cbf.panels, cbf.slowPixels, cbf.fastPixels, {cbf.pixels.begin(), cbf.pixels.end()}};
}

/// The first frame.
Image parseNexusImage(const Contents &file) {
  io::NexusImage nexus = io::readNexus(file.path, file.frame);
  return {1, std::int64_t(nexus.slow), std::int64_t(nexus.fast), std::move(nexus.pixels)};
}

Image parseRaw(const Contents &file, std::optional<Shape> shape) {
  if (!shape) {
    const std::size_t pixels = file.bytes.size() / sizeof(float);
    const auto side = std::int64_t(std::llround(std::sqrt(double(pixels))));
    if (tryProduct({side, side}) != std::int64_t(pixels))
      throw io::FileError(file.path,
                          "is in no image format that is read here, and as raw 32-bit floats its " +
                              std::to_string(pixels) +
                              " numbers are not a square image; convert it to .npy, CBF or SMV, "
                              "install fabio for nb-refine, or give nb-compare --shape=SLOW,FAST");
    shape = {side, side};
  }
  const auto [slow, fast] = *shape;
  const std::int64_t count = productOf({slow, fast}, "an image");
  const auto pixels = io::parseFloatImage(file.path, file.bytes, std::size_t(count));
  return {1, slow, fast, {pixels.begin(), pixels.end()}};
}

Image parse(const Contents &file, std::optional<Shape> shape) {
  switch (file.format()) {
  case Format::Npy:
    return parseNumPy(file);
  case Format::Smv:
    return parseSmvImage(file);
  case Format::Cbf:
    return parseCbfImage(file);
  case Format::Hdf5:
    return parseNexusImage(file);
  case Format::Raw:
    break;
  }
  return parseRaw(file, shape);
}

/// The shape for raw floats that stand beside an image of known shape.
std::optional<Shape> shapeBeside(const Image &other, const Contents &raw) {
  const bool fits = raw.bytes.size() == other.pixels.size() * sizeof(float);
  return fits ? std::optional(Shape{other.panels * other.slow, other.fast}) : std::nullopt;
}

std::string shapeText(const Image &image) {
  const std::string panel = std::to_string(image.slow) + " x " + std::to_string(image.fast);
  return image.panels == 1 ? panel : std::to_string(image.panels) + " panels of " + panel;
}

} // namespace

Image readImage(const std::string &path, std::optional<Shape> shape) {
  return parse(Contents(path), shape);
}

Image parseImage(const std::string &path, std::string bytes) {
  const Contents file(path, std::move(bytes));
  if (file.format() == Format::Hdf5)
    throw io::FileError(path, "is HDF5 in a compressed file; unpack it first");
  return parse(file, std::nullopt);
}

std::array<Image, 2> readImages(const std::string &first, const std::string &second,
                                std::optional<Shape> shape) {
  const Contents files[] = {Contents(first), Contents(second)};
  const bool firstIsRaw = files[0].format() == Format::Raw;
  const bool secondIsRaw = files[1].format() == Format::Raw;
  std::array<Image, 2> images;
  if (!shape && firstIsRaw != secondIsRaw) {
    Image &known = images[firstIsRaw ? 1 : 0], &unknown = images[firstIsRaw ? 0 : 1];
    known = parse(files[firstIsRaw ? 1 : 0], shape);
    const Contents &raw = files[firstIsRaw ? 0 : 1];
    unknown = parse(raw, shapeBeside(known, raw));
    if (unknown.slow == known.panels * known.slow && unknown.fast == known.fast) {
      unknown.panels = known.panels;
      unknown.slow = known.slow;
    }
  } else {
    images = {parse(files[0], shape), parse(files[1], shape)};
  }
  const auto &[a, b] = images;
  if (a.panels != b.panels || a.slow != b.slow || a.fast != b.fast)
    throw io::FileError(first, "has " + shapeText(a) + " pixels and " + second + " has " +
                                   shapeText(b) + "; compare images of one shape");
  return images;
}

} // namespace nanobragg
