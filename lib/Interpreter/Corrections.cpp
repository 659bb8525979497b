#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

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

/// Forward scattering of water molecules, 2.57 electrons rms each.
static double waterBackground(double size, double fluence) {
  constexpr double electronRadiusSquared = 7.94079248018965e-30, avogadro = 6.02214179e23;
  double molecules = size * size * size * 1e6 * avogadro / 18.0;
  return 2.57 * 2.57 * electronRadiusSquared * fluence * molecules;
}

void evaluation::attachCorrections(MLIRContext *context) {
  evaluate<IntensityOp, intensity>(context);
  evaluate<PolarizationOp, polarization>(context);
  evaluate<WaterBackgroundOp, waterBackground>(context);
}
