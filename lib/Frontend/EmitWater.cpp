#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Evaluation;
using nanobragg::Water;

Value Emitter::withWaterInSum(Value intensity) {
  if (variant.water != Water::C)
    return intensity;
  return add("I", intensity, op<WaterBackgroundOp>("water", param("water_size"), param("fluence")));
}

Value Emitter::withWater(Value pixel, const SampleIndices &first, Value solidAngleOfPixel,
                         Value polarizationOfPixel) {
  if (variant.water != Water::Right)
    return pixel;
  Value water = op<WaterBackgroundOp>("water", param("water_size"), param("fluence"));
  if (!layersHaveSolidAngles())
    water = times("water", water,
                  solidAngleOfPixel ? solidAngleOfPixel : solidAngle(first, position(first)));
  // Corrections that each sample has for itself are those of the first one here.
  if (variant.polarization == Evaluation::Each)
    polarizationOfPixel =
        polarization(incidentRay(first), op<NormalizeOp>("diffracted_vec", position(first)));
  water = times("water", water, polarizationOfPixel);
  water = times("water", water, capturedByLayers(first));
  return add("pixel", pixel, water);
}
