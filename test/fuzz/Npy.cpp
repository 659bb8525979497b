// NumPy's arrays, and images of any format as nb-compare and losses read them.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Images/ImageFile.h"
#include "lib/Images/NpyFile.h"

#include <stdexcept>
#include <variant>

using namespace nanobragg;

namespace {

void requireSize(const Image &image) {
  fuzz::require(image.panels >= 0 && image.slow >= 0 && image.fast >= 0,
                "no extent of an image is negative");
  fuzz::require(image.pixels.size() ==
                    std::size_t(image.panels) * std::size_t(image.slow) * std::size_t(image.fast),
                "an image has all its pixels");
}

} // namespace

NB_FUZZ_TARGET(npy) {
  if (io::isHdf5({input.data(), input.size()}))
    return; // the target nexus reads those
  const std::string path = fuzz::fileWith(input);
  try {
    const io::NpyArray array = io::readNpy(path);
    std::size_t count = 1;
    for (std::size_t extent : array.shape)
      count *= extent;
    const std::size_t values = std::visit([](const auto &all) { return all.size(); }, array.values);
    fuzz::require(count == values, "an array has as many values as its shape says");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
  for (const std::optional<Shape> shape :
       {std::optional<Shape>(), std::optional(Shape{2, 3}),
        std::optional(Shape{std::int64_t(1) << 32, std::int64_t(1) << 32})})
    try {
      requireSize(readImage(path, shape));
    } catch (const io::FileError &refusal) {
      fuzz::requireSentence(refusal);
    } catch (const std::invalid_argument &refusal) { // by the shape that was asked for
      fuzz::requireSentence(refusal);
    }
  try {
    for (const Image &image : readImages(path, path, std::nullopt))
      requireSize(image);
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
