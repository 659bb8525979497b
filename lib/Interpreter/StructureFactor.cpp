#include "lib/Interpreter/StructureFactor.h"

#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

namespace {
int64_t positionOf(const nb_hkl_grid &grid, int64_t h, int64_t k, int64_t l) {
  int64_t nk = grid.k_max - grid.k_min + 1, nl = grid.l_max - grid.l_min + 1;
  return ((h - grid.h_min) * nk + (k - grid.k_min)) * nl + (l - grid.l_min);
}

double at(const nb_hkl_grid &grid, int64_t h, int64_t k, int64_t l) {
  return grid.data[positionOf(grid, h, k, l)];
}

double at(const nb_hkl_grid &grid, const Vec3 &hkl0) {
  return at(grid, int64_t(hkl0.x), int64_t(hkl0.y), int64_t(hkl0.z));
}

Vec3 nearestOf(const Vec3 &hkl, bool integral) { return integral ? hkl : nearestReflection(hkl); }

using Orders = std::array<int64_t, 3>;

/// The weights of the values at -1, 0, 1, 2 in the cubic through them at x, or in its derivative.
std::array<double, 4> lagrangeWeights(double x, int64_t order) {
  switch (order) {
  case 0:
    return {-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2, -(x + 1) * x * (x - 2) / 2,
            (x + 1) * x * (x - 1) / 6};
  case 1:
    return {-((3 * x - 6) * x + 2) / 6, ((3 * x - 4) * x - 1) / 2, -((3 * x - 2) * x - 2) / 2,
            (3 * x * x - 1) / 6};
  case 2:
    return {1 - x, 3 * x - 2, 1 - 3 * x, x};
  case 3:
    return {-1, 3, -3, 1};
  default:
    return {0, 0, 0, 0};
  }
}

/// The 4 x 4 x 4 reflections around hkl: those from `first` on along each axis.
struct Neighbours {
  int64_t first[3];
  std::array<double, 4> weights[3];

  Neighbours(const Vec3 &hkl, const Orders &orders) {
    double at[3] = {hkl.x, hkl.y, hkl.z};
    for (int i = 0; i < 3; ++i) {
      first[i] = int64_t(std::floor(at[i])) - 1;
      weights[i] = lagrangeWeights(at[i] - std::floor(at[i]), orders[i]);
    }
  }
};

/// Along l, then k, then h.
double tricubic(const nb_hkl_grid &grid, const Vec3 &hkl, const Orders &orders = {}) {
  Neighbours n(hkl, orders);
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double alongK = 0;
    for (int j = 0; j < 4; ++j) {
      double alongL = 0;
      for (int m = 0; m < 4; ++m)
        alongL += n.weights[2][m] * at(grid, n.first[0] + i, n.first[1] + j, n.first[2] + m);
      alongK += n.weights[1][j] * alongL;
    }
    sum += n.weights[0][i] * alongK;
  }
  return sum;
}

double nearestOrDefault(const nb_hkl_grid &grid, const Vec3 &hkl0, double defaultF) {
  return isInside(grid, hkl0) ? at(grid, hkl0) : defaultF;
}

double tricubicOrNearest(const nb_hkl_grid &grid, const Vec3 &hkl, double defaultF) {
  return isInside(grid, hkl, tricubicMargin)
             ? tricubic(grid, hkl)
             : nearestOrDefault(grid, nearestOf(hkl, false), defaultF);
}

double clampedToGrid(double x, int64_t low, int64_t high) {
  // NaN is clamped too: a clamped lookup is always a value of the grid.
  return x >= double(low) ? (x <= double(high) ? x : double(high)) : double(low);
}

Vec3 clampedInto(const nb_hkl_grid &grid, const Vec3 &hkl, int64_t margin) {
  return {clampedToGrid(hkl.x, grid.h_min + margin, grid.h_max - margin),
          clampedToGrid(hkl.y, grid.k_min + margin, grid.k_max - margin),
          clampedToGrid(hkl.z, grid.l_min + margin, grid.l_max - margin)};
}

/// A grid too narrow for 64 neighbours has no tricubic value; any value of the grid will do, since
/// nb.in_grid is false everywhere.
double tricubicClamped(const nb_hkl_grid &grid, const Vec3 &hkl, const Orders &orders) {
  Vec3 inside = clampedInto(grid, hkl, tricubicMargin);
  if (isInside(grid, inside, tricubicMargin))
    return tricubic(grid, inside, orders);
  return orders == Orders() ? at(grid, clampedInto(grid, nearestOf(hkl, false), 0)) : 0;
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
        return cubic ? isInside(grid, hkl, tricubicMargin)
                     : isInside(grid, nearestOf(hkl, integral));
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
  return planLookup<double>(planner, op, op.getGrid(), op.getHkl(), byDefault,
                            [r = readingOf(op.getInterpolation(), op.getIntegral(), op.getOrder())](
                                const nb_hkl_grid &grid, const Vec3 &hkl, double) {
                              return r.cubic ? tricubicClamped(grid, hkl, r.orders)
                                             : at(grid,
                                                  clampedInto(grid, nearestOf(hkl, r.integral), 0));
                            });
}
} // namespace

bool evaluation::isInside(const nb_hkl_grid &grid, const Vec3 &hkl, int64_t margin) {
  return double(grid.h_min + margin) <= hkl.x && hkl.x <= double(grid.h_max - margin) &&
         double(grid.k_min + margin) <= hkl.y && hkl.y <= double(grid.k_max - margin) &&
         double(grid.l_min + margin) <= hkl.z && hkl.z <= double(grid.l_max - margin);
}

int64_t evaluation::entriesOf(const nb_hkl_grid &grid) {
  auto size = [](int64_t low, int64_t high) { return std::max<int64_t>(high - low + 1, 0); };
  return size(grid.h_min, grid.h_max) * size(grid.k_min, grid.k_max) * size(grid.l_min, grid.l_max);
}

Reading evaluation::readingOf(Interpolation interpolation, bool integral,
                              ArrayRef<int64_t> orders) {
  return {interpolation == Interpolation::tricubic, integral, {orders[0], orders[1], orders[2]}};
}

void evaluation::scatter(const nb_hkl_grid &grid, const Vec3 &hkl, double value,
                         const Reading &reading, double *values) {
  Vec3 inside = clampedInto(grid, hkl, tricubicMargin);
  if (reading.cubic && isInside(grid, inside, tricubicMargin)) {
    Neighbours n(inside, reading.orders);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        for (int m = 0; m < 4; ++m)
          values[positionOf(grid, n.first[0] + i, n.first[1] + j, n.first[2] + m)] +=
              value * n.weights[0][i] * n.weights[1][j] * n.weights[2][m];
    return;
  }
  if (reading.orders != Orders())
    return;
  Vec3 one = clampedInto(grid, nearestOf(hkl, reading.integral), 0);
  values[positionOf(grid, int64_t(one.x), int64_t(one.y), int64_t(one.z))] += value;
}

void evaluation::attachStructureFactor(MLIRContext *context) {
  evaluateBy<InGridOp, planInGrid>(context);
  evaluateBy<StructureFactorOp, planStructureFactor>(context);
}
