#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Capture;

/// The sensor's at a wavelength, which is asked for where it matters.
Value Emitter::attenuationDepth(llvm::function_ref<Value()> wavelength) {
  if (!variant.absorptionByEnergy)
    return param("attenuation_depth");
  Value nodes = toFloat("absorption_nodes", param("absorption_nodes"));
  Value position = energyPosition(wavelength(), "absorption_node", nodes);
  Value coefficient = between("absorption", entriesAround(position, nodes), [&](Value entry) {
    return entryOf("absorption", "absorption", entry);
  });
  return div("attenuation_depth", number(1), coefficient);
}

Value Emitter::captureFraction(const SampleIndices &at, Value diffracted, Value depth) {
  // A detector that is bent about the sample meets every ray at a right angle.
  Value normal =
      variant.curvature == nanobragg::Curvature::Right ? diffracted : detector(at.panel).normal;
  return op<CaptureFractionOp>("capture_fraction", diffracted, normal, toFloat("layer", at.layer),
                               layerSpacing(), depth);
}

/// Where a factor of a whole layer is taken: by the C program at the first sub-pixel, by an average
/// in its middle.
SampleIndices Emitter::firstOfLayer(const SampleIndices &at) {
  SampleIndices first = at;
  first.subslow = first.subfast = index(0);
  first.draw = {};
  return first;
}

Value Emitter::captureOfSample(const SampleIndices &at, const Ray &incident, Value diffracted) {
  if (variant.capture != Capture::Each && variant.capture != Capture::Sum)
    return Value();
  Value depth = attenuationDepth([&] { return wavelengthOfFactors(at.source, incident); });
  if (variant.capture == Capture::Each)
    return captureFraction(at, diffracted, depth);
  SampleIndices first = firstOfLayer(at);
  return captureFraction(first, op<NormalizeOp>("first_diffracted", position(first)), depth);
}

Value Emitter::captureOfPixel(const SampleIndices &first) {
  if (variant.capture != Capture::Last)
    return Value();
  SampleIndices last = first;
  last.layer = op<arith::SubIOp>("last_layer", param("layers"), index(1));
  return captureFraction(last, op<NormalizeOp>("diffracted_vec", position(last)),
                         param("attenuation_depth"));
}

/// The fraction of all layers, each times its solid angle where it has one of its own, at the
/// wavelength of the first source.
Value Emitter::capturedByLayers(const SampleIndices &first) {
  if (variant.capture == Capture::None)
    return Value();
  Value depth = attenuationDepth([&] { return incidentRay(first).wavelength; });
  return sum("captured", {{Dimension::layer, param("layers")}}, [&](ValueRange layer) {
    SampleIndices at = first;
    at.layer = layer[0];
    Value pos = position(at);
    Value captured = captureFraction(at, op<NormalizeOp>("diffracted_vec", pos), depth);
    return layersHaveSolidAngles() ? mul("captured", captured, solidAngle(at, pos)) : captured;
  });
}
