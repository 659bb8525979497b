#include "lib/Interpreter/Map.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// The radius of an ellipsoid; flat ones have none.
static double spreadAlong(Vec3 axis, Vec3 spreads) {
  if (spreads.x == 0 || spreads.y == 0 || spreads.z == 0)
    return 0;
  const double radius = 1 / norm({axis.x / spreads.x, axis.y / spreads.y, axis.z / spreads.z});
  return spreads.x * spreads.y * spreads.z < 0 ? -radius : radius;
}

static Vec3 scaled(Vec3 v, Vec3 by) { return {v.x * by.x, v.y * by.y, v.z * by.z}; }

static double diffuseFactor(Vec3 reflection, Vec3 distance, Vec3 lengths, Vec3 displacements) {
  constexpr double turn = 2 * std::numbers::pi;
  const Vec3 phase = scaled(reflection, displacements) * turn;
  const Vec3 reach = scaled(distance, lengths) * turn;
  const double e = dot(phase, phase), u = 1 + dot(reach, reach);
  return e * std::exp(-e) * 4 * turn * lengths.x * lengths.y * lengths.z / (u * u);
}

void evaluation::attachDisorder(MLIRContext *context) {
  evaluate<SpreadAlongOp, spreadAlong>(context);
  evaluate<DiffuseFactorOp, diffuseFactor>(context);
}
