#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Capture;

Value Emitter::captureFraction(const SampleIndices &at, Value diffracted) {
  // A detector that is bent about the sample meets every ray at a right angle.
  Value normal =
      variant.curvature == nanobragg::Curvature::Right ? diffracted : detector(at.panel).normal;
  return op<CaptureFractionOp>("capture_fraction", diffracted, normal, toFloat("layer", at.layer),
                               layerSpacing(), param("attenuation_depth"));
}

Value Emitter::captureOfSample(const SampleIndices &at, Value diffracted) {
  if (variant.capture == Capture::Each)
    return captureFraction(at, diffracted);
  if (variant.capture != Capture::Sum)
    return Value();
  // The C program evaluates a layer's capture fraction at the first sub-pixel; an average, at its
  // middle.
  SampleIndices front = at;
  front.subslow = front.subfast = index(0);
  front.draw = {};
  return captureFraction(front, op<NormalizeOp>("first_diffracted", position(front)));
}

Value Emitter::captureOfPixel(const SampleIndices &first) {
  if (variant.capture != Capture::Last)
    return Value();
  SampleIndices last = first;
  last.layer = op<arith::SubIOp>("last_layer", param("layers"), index(1));
  return captureFraction(last, op<NormalizeOp>("diffracted_vec", position(last)));
}

Value Emitter::captureOfAllLayers(const SampleIndices &first) {
  if (variant.capture == Capture::None)
    return Value();
  return sum("captured", {{Dimension::layer, param("layers")}}, [&](ValueRange layer) {
    SampleIndices at = first;
    at.layer = layer[0];
    return captureFraction(at, op<NormalizeOp>("diffracted_vec", position(at)));
  });
}
