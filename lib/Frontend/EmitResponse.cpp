#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

/// What the detector makes of the photons, in the order in which it happens. Each stage is an op
/// from one whole image to the next; the last gives the image its precision.
Value Emitter::response(Value photons) {
  bool single = variant.imageType == nanobragg::ImageType::F32;
  Value image = photons;
  if (variant.gainMap)
    image = op<GainMapOp>("gained", imageType(single && !variant.gain), image, param("gain_map"));
  if (variant.gain)
    image = op<GainOp>("adu", imageType(single), image, param("gain"));
  return image;
}
