#include "lib/Frontend/Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Evaluation;

Value Emitter::solidAngle(const SampleIndices &at, Value position) {
  auto kind =
      variant.solidAngle == nanobragg::SolidAngle::Point ? PixelKind::point : PixelKind::pixel;
  DetectorFrame frame = detector(at.panel);
  Value distance =
      variant.curvature == nanobragg::Curvature::Right ? radius(frame) : frame.closeDistance;
  // A layer is farther away than the sensor's face, and so is its plane.
  if (variant.faces == nanobragg::Rule::Right && at.layer && !matchPattern(at.layer, m_Zero()))
    distance = add("layer_distance", distance, depth(at));
  return op<SolidAngleOp>("omega_pixel", kind, position, distance, param("pixel_size"));
}

/// Samples share that of the first one, on the sensor's face, as in the C program, unless each has
/// its own. Averages have one for each layer.
bool Emitter::layersHaveSolidAngles() const {
  return layered() && (variant.omega == Evaluation::Each || !variant.isSampled());
}

Value Emitter::solidAngleOfSample(const SampleIndices &at, Value position) {
  if (variant.omega == Evaluation::Each)
    return solidAngle(at, position);
  if (!layersHaveSolidAngles())
    return Value();
  SampleIndices first = firstOfLayer(at);
  return solidAngle(first, this->position(first));
}

Value Emitter::solidAngleOfPixel(const SampleIndices &first) {
  return variant.omega == Evaluation::Once && !layersHaveSolidAngles()
             ? solidAngle(first, position(first))
             : Value();
}
