#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Evaluation;

Value Emitter::solidAngle(const SampleIndices &at, Value position) {
  auto kind =
      variant.solidAngle == nanobragg::SolidAngle::Point ? PixelKind::point : PixelKind::pixel;
  DetectorFrame frame = detector(at.panel);
  Value distance =
      variant.curvature == nanobragg::Curvature::Right ? radius(frame) : frame.closeDistance;
  return op<SolidAngleOp>("omega_pixel", kind, position, distance, param("pixel_size"));
}

Value Emitter::solidAngleOfSample(const SampleIndices &at, Value position) {
  return variant.omega == Evaluation::Each ? solidAngle(at, position) : Value();
}

Value Emitter::solidAngleOfPixel(const SampleIndices &first) {
  return variant.omega == Evaluation::Once ? solidAngle(first, position(first)) : Value();
}
