#include "lib/Interpreter/Map.h"

#include "nanobragg/KernelABI.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

namespace {
bool inNearestRange(const nb_hkl_grid &grid, const Vec3 &hkl0) {
  return double(grid.h_min) <= hkl0.x && hkl0.x <= double(grid.h_max) &&
         double(grid.k_min) <= hkl0.y && hkl0.y <= double(grid.k_max) &&
         double(grid.l_min) <= hkl0.z && hkl0.z <= double(grid.l_max);
}

/// All 64 neighbours exist.
bool inTricubicRange(const nb_hkl_grid &grid, const Vec3 &hkl) {
  return double(grid.h_min + 2) <= hkl.x && hkl.x <= double(grid.h_max - 2) &&
         double(grid.k_min + 2) <= hkl.y && hkl.y <= double(grid.k_max - 2) &&
         double(grid.l_min + 2) <= hkl.z && hkl.z <= double(grid.l_max - 2);
}

double at(const nb_hkl_grid &grid, int64_t h, int64_t k, int64_t l) {
  int64_t nk = grid.k_max - grid.k_min + 1, nl = grid.l_max - grid.l_min + 1;
  return grid.data[((h - grid.h_min) * nk + (k - grid.k_min)) * nl + (l - grid.l_min)];
}

double at(const nb_hkl_grid &grid, const Vec3 &hkl0) {
  return at(grid, int64_t(hkl0.x), int64_t(hkl0.y), int64_t(hkl0.z));
}

Vec3 nearestOf(const Vec3 &hkl, bool integral) {
  if (integral)
    return hkl;
  return {std::ceil(hkl.x - 0.5), std::ceil(hkl.y - 0.5), std::ceil(hkl.z - 0.5)};
}

/// The value at x of the cubic through (-1, y[0]), (0, y[1]), (1, y[2]), (2, y[3]).
double lagrange(const double y[4], double x) {
  return -x * (x - 1) * (x - 2) / 6 * y[0] + (x + 1) * (x - 1) * (x - 2) / 2 * y[1] -
         (x + 1) * x * (x - 2) / 2 * y[2] + (x + 1) * x * (x - 1) / 6 * y[3];
}

/// Along l, then k, then h.
double tricubic(const nb_hkl_grid &grid, const Vec3 &hkl) {
  int64_t h = int64_t(std::floor(hkl.x)), k = int64_t(std::floor(hkl.y)),
          l = int64_t(std::floor(hkl.z));
  double alongH[4], alongK[4], alongL[4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int m = 0; m < 4; ++m)
        alongL[m] = at(grid, h - 1 + i, k - 1 + j, l - 1 + m);
      alongK[j] = lagrange(alongL, hkl.z - double(l));
    }
    alongH[i] = lagrange(alongK, hkl.y - double(k));
  }
  return lagrange(alongH, hkl.x - double(h));
}

double nearestOrDefault(const nb_hkl_grid &grid, const Vec3 &hkl0, double defaultF) {
  return inNearestRange(grid, hkl0) ? at(grid, hkl0) : defaultF;
}

double tricubicOrNearest(const nb_hkl_grid &grid, const Vec3 &hkl, double defaultF) {
  return inTricubicRange(grid, hkl) ? tricubic(grid, hkl)
                                    : nearestOrDefault(grid, nearestOf(hkl, false), defaultF);
}

double clamped(double x, int64_t low, int64_t high) {
  // NaN is clamped too: a clamped lookup is always a value of the grid.
  return x >= double(low) ? (x <= double(high) ? x : double(high)) : double(low);
}

Vec3 clampedInto(const nb_hkl_grid &grid, const Vec3 &hkl, int64_t margin) {
  return {clamped(hkl.x, grid.h_min + margin, grid.h_max - margin),
          clamped(hkl.y, grid.k_min + margin, grid.k_max - margin),
          clamped(hkl.z, grid.l_min + margin, grid.l_max - margin)};
}

/// A grid too narrow for 64 neighbours has no tricubic value; any value of the grid will do, since
/// nb.in_grid is false everywhere.
double tricubicClamped(const nb_hkl_grid &grid, const Vec3 &hkl) {
  Vec3 inside = clampedInto(grid, hkl, 2);
  if (inTricubicRange(grid, inside))
    return tricubic(grid, inside);
  return at(grid, clampedInto(grid, nearestOf(hkl, false), 0));
}

/// Runs `formula(grid, hkl, default or 0)` over the pixels.
template <typename Result, typename F>
LogicalResult planLookup(Planner &planner, Operation *op, Value gridValue, Value hklValue,
                         Value defaultValue, F formula) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op->getResult(0), dims);
  if (failed(result))
    return failure();
  Slot grid = planner.slot(gridValue), hkl = planner.slot(hklValue);
  Slot byDefault = defaultValue ? planner.slot(defaultValue) : hkl;
  bool single = cast<HklGridType>(gridValue.getType()).getElementType().isF32();
  planner.step(op, dims, [=, out = *result, hasDefault = bool(defaultValue)](Frame &frame) {
    const nb_hkl_grid &g = *frame.object<const nb_hkl_grid>(grid);
    AnyOperand<Vec3> index(frame.reals(hkl), hkl.varying);
    AnyOperand<double> missing(frame.reals(byDefault), byDefault.varying);
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane)
      store<Result>(frame.reals(out), laneStride, lane,
                    formula(g, index[lane], hasDefault ? missing[lane] : 0.0));
    if (out.single || (single && out.kind == Kind::Real && !hasDefault))
      roundToSingle(frame, out);
  });
  return success();
}

LogicalResult planInGrid(InGridOp op, Planner &planner) {
  bool cubic = op.getInterpolation() == Interpolation::tricubic;
  return planLookup<bool>(
      planner, op, op.getGrid(), op.getHkl(), Value(),
      [cubic, integral = op.getIntegral()](const nb_hkl_grid &grid, const Vec3 &hkl, double) {
        return cubic ? inTricubicRange(grid, hkl) : inNearestRange(grid, nearestOf(hkl, integral));
      });
}

LogicalResult planStructureFactor(StructureFactorOp op, Planner &planner) {
  bool cubic = op.getInterpolation() == Interpolation::tricubic;
  Value byDefault = op.getDefaultValue();
  if (byDefault)
    return planLookup<double>(
        planner, op, op.getGrid(), op.getHkl(), byDefault,
        [cubic, integral = op.getIntegral()](const nb_hkl_grid &grid, const Vec3 &hkl, double f0) {
          return cubic ? tricubicOrNearest(grid, hkl, f0)
                       : nearestOrDefault(grid, nearestOf(hkl, integral), f0);
        });
  return planLookup<double>(
      planner, op, op.getGrid(), op.getHkl(), byDefault,
      [cubic, integral = op.getIntegral()](const nb_hkl_grid &grid, const Vec3 &hkl, double) {
        return cubic ? tricubicClamped(grid, hkl)
                     : at(grid, clampedInto(grid, nearestOf(hkl, integral), 0));
      });
}
} // namespace

void evaluation::attachStructureFactor(MLIRContext *context) {
  evaluateBy<InGridOp, planInGrid>(context);
  evaluateBy<StructureFactorOp, planStructureFactor>(context);
}
