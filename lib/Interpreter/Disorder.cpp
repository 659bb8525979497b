#include "lib/Interpreter/Map.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

static Vec3 scaled(Vec3 v, Vec3 by) { return {v.x * by.x, v.y * by.y, v.z * by.z}; }

static double diffuseFactor(Vec3 reflection, Vec3 distance, Vec3 lengths, Vec3 displacements) {
  constexpr double turn = 2 * std::numbers::pi;
  const Vec3 phase = scaled(reflection, displacements) * turn;
  const Vec3 reach = scaled(distance, lengths) * turn;
  const double e = dot(phase, phase), u = 1 + dot(reach, reach);
  return e * std::exp(-e) * 4 * turn * lengths.x * lengths.y * lengths.z / (u * u);
}

void evaluation::attachDisorder(MLIRContext *context) {
  evaluate<DiffuseFactorOp, diffuseFactor>(context);
}
