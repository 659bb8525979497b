#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

/// Cubic weights are polynomials of degree 3: their fourth derivatives are 0.
static constexpr int64_t highestOrder = 3;

Value nb::gratingGradient(RuleBuilder &r, GratingOp op, bool byCells) {
  Value slopes[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto order = llvm::to_vector<3>(op.getOrder()), cells = llvm::to_vector<3>(op.getCells());
    ++(byCells ? cells : order)[axis];
    slopes[axis] = GratingOp::create(r.builder(), r.location(), op.getType(), op.getDelta(),
                                     op.getNcells(), order, cells);
  }
  return r.vec(slopes[0], slopes[1], slopes[2]);
}

//===----------------------------------------------------------------------===//
// nb.structure_factor
//===----------------------------------------------------------------------===//

static Value isInside(RuleBuilder &r, StructureFactorOp op, Interpolation interpolation) {
  Value hkl = op.getHkl();
  return InGridOp::create(r.builder(), r.location(), conditionTypeFor(hkl.getType()), interpolation,
                          op.getGrid(), hkl, op.getIntegral());
}

static Value clampedFactor(RuleBuilder &r, StructureFactorOp op, Interpolation interpolation,
                           Value grid, ArrayRef<int64_t> order) {
  return StructureFactorOp::create(r.builder(), r.location(), op.getType(), interpolation, grid,
                                   op.getHkl(), Value(), op.getIntegral(), order);
}

/// x where the op reads the grid by the given interpolation, otherwise 0.
static Value whereRead(RuleBuilder &r, StructureFactorOp op, Interpolation interpolation, Value x) {
  return op.getDefaultValue() ? r.select(isInside(r, op, interpolation), x, Value()) : x;
}

/// Gradient with respect to hkl of the interpolation, inside the grid.
static Value factorGradient(RuleBuilder &r, StructureFactorOp op) {
  Value slopes[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto order = incremented(op.getOrder(), axis);
    slopes[axis] = order[axis] > highestOrder
                       ? r.zeroLike(op.getResult())
                       : clampedFactor(r, op, Interpolation::tricubic, op.getGrid(), order);
  }
  return r.vec(slopes[0], slopes[1], slopes[2]);
}

/// Null for the nearest reflection, which changes by jumps only.
Value nb::factorOfIndex(RuleBuilder &r, StructureFactorOp op, Value tangent) {
  if (op.getInterpolation() == Interpolation::nearest)
    return nullptr;
  return whereRead(r, op, Interpolation::tricubic, r.dot(factorGradient(r, op), tangent));
}

Value nb::indexOfFactor(RuleBuilder &r, StructureFactorOp op, Value adjoint) {
  if (op.getInterpolation() == Interpolation::nearest)
    return nullptr;
  return r.scale(factorGradient(r, op), whereRead(r, op, Interpolation::tricubic, adjoint));
}

/// The op is linear in its grid: the same lookup in another one, with 0 for its default.
Value nb::factorOfGrid(RuleBuilder &r, StructureFactorOp op, Value grid) {
  Value none = op.getDefaultValue() ? r.zeroLike(op.getDefaultValue()) : Value();
  return StructureFactorOp::create(r.builder(), r.location(), op.getType(), op.getInterpolation(),
                                   grid, op.getHkl(), none, op.getIntegral(), op.getOrder());
}

Value nb::gridOfFactor(RuleBuilder &r, StructureFactorOp op, Value adjoint) {
  auto scatter = [&](Interpolation interpolation, Value value, ArrayRef<int64_t> order) -> Value {
    return ScatterFactorOp::create(r.builder(), r.location(), op.getGrid().getType(), interpolation,
                                   value, op.getHkl(), op.getGrid(), op.getIntegral(), order);
  };
  Value read = whereRead(r, op, op.getInterpolation(), adjoint);
  Value grid = scatter(op.getInterpolation(), read, op.getOrder());
  if (!op.getDefaultValue() || op.getInterpolation() == Interpolation::nearest)
    return grid;
  Value others = r.select(isInside(r, op, Interpolation::tricubic), Value(), adjoint);
  Value nearest = whereRead(r, op, Interpolation::nearest, others);
  return r.add(grid, scatter(Interpolation::nearest, nearest, {0, 0, 0}));
}

Value nb::whereDefault(RuleBuilder &r, StructureFactorOp op, Value x) {
  // Where interpolation misses neighbours the nearest reflection counts: the range is its.
  return r.select(isInside(r, op, Interpolation::nearest), Value(), x);
}

//===----------------------------------------------------------------------===//
// nb.scatter_factor
//===----------------------------------------------------------------------===//

Value nb::readBack(RuleBuilder &r, ScatterFactorOp op, Value grid, ArrayRef<int64_t> order) {
  return StructureFactorOp::create(r.builder(), r.location(), op.getValue().getType(),
                                   op.getInterpolation(), grid, op.getHkl(), Value(),
                                   op.getIntegral(), order);
}

/// Tangent by hkl: the grids of the weights' slopes, times the step along each axis.
Value nb::scatterTangent(RuleBuilder &r, ScatterFactorOp op, Value tangent) {
  if (op.getInterpolation() == Interpolation::nearest)
    return nullptr;
  Value total;
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto order = incremented(op.getOrder(), axis);
    if (order[axis] > highestOrder)
      continue;
    Value step = r.mul(op.getValue(), r.component(tangent, axis));
    total = r.add(total, ScatterFactorOp::create(r.builder(), r.location(), op.getType(),
                                                 op.getInterpolation(), step, op.getHkl(),
                                                 op.getLike(), op.getIntegral(), order));
  }
  return total;
}

/// Adjoint by hkl, for the adjoint of the grid.
Value nb::scatterGradient(RuleBuilder &r, ScatterFactorOp op, Value grid) {
  if (op.getInterpolation() == Interpolation::nearest)
    return nullptr;
  Value slopes[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto order = incremented(op.getOrder(), axis);
    slopes[axis] =
        order[axis] > highestOrder ? r.zeroLike(op.getValue()) : readBack(r, op, grid, order);
  }
  return r.scale(r.vec(slopes[0], slopes[1], slopes[2]), op.getValue());
}
