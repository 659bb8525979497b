#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
namespace constants = nanobragg::constants;

/// Structure factor and lattice factor are amplitudes; the detector sees their product squared.
static double intensity(double structureFactor, double latticeFactor) {
  return structureFactor * structureFactor * latticeFactor * latticeFactor;
}

static double polarization(double kahnFactor, Vec3 axis, Vec3 incident, Vec3 diffracted) {
  double cosTwoTheta = dot(incident, diffracted), c2 = cosTwoTheta * cosTwoTheta;
  Vec3 B = unit(cross(axis, incident));
  Vec3 E = unit(cross(incident, B));
  double psi = -std::atan2(dot(diffracted, B), dot(diffracted, E));
  return (1 + c2 - kahnFactor * std::cos(2 * psi) * (1 - c2)) / 2;
}

static double waterBackground(double size, double fluence) {
  return constants::waterScattering * fluence * (size * size * size);
}

void evaluation::attachCorrections(MLIRContext *context) {
  evaluate<IntensityOp, intensity>(context);
  evaluate<PolarizationOp, polarization>(context);
  evaluate<WaterBackgroundOp, waterBackground>(context);
}
