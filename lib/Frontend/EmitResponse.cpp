#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

/// The detector's response to the photons, in the order in which it happens. Each stage is an op
/// from one whole image to the next; the last gives the image its precision.
Value Emitter::response(Value photons) {
  bool single = variant.imageType == nanobragg::ImageType::F32;
  Value image = photons;
  if (variant.pointSpread != nanobragg::PointSpread::None)
    image = spread(image, single && !variant.countingLoss && !variant.gainMap && !variant.gain);
  if (variant.countingLoss)
    image = op<CountingLossOp>("counts", imageType(single && !variant.gainMap && !variant.gain),
                               image, param("dead_time"), param("exposure"));
  if (variant.gainMap)
    image = op<GainMapOp>("gained", imageType(single && !variant.gain), image, param("gain_map"));
  if (variant.gain)
    image = op<GainOp>("adu", imageType(single), image, param("gain"));
  return image;
}

/// The light of all photons, in the pixels of the image.
Value Emitter::spread(Value photons, bool single) {
  bool gauss = variant.pointSpread == nanobragg::PointSpread::Gauss;
  return PointSpreadOp::create(b, named("spread"), imageType(single),
                               gauss ? PointSpreadKind::gauss : PointSpreadKind::fiber, photons,
                               param("psf_fwhm"), param("pixel_size"), param("psf_radius"),
                               region(), variant.mask ? param("mask") : Value());
}
