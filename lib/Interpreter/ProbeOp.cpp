#include "lib/Interpreter/Map.h"

#include "nanobragg/KernelABI.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// What a lookup asked for, in the rule of nearest reflections whatever the interpolation.
static void recordLookup(LookupStatistics &statistics, const nb_hkl_grid &grid, const Vec3 &hkl,
                         bool inside) {
  (inside ? statistics.inside : statistics.outside)++;
  statistics.index[0].add(hkl.x);
  statistics.index[1].add(hkl.y);
  statistics.index[2].add(hkl.z);
}

static bool insideOf(const nb_hkl_grid &grid, const Vec3 &hkl, bool cubic) {
  if (cubic)
    return double(grid.h_min + 2) <= hkl.x && hkl.x <= double(grid.h_max - 2) &&
           double(grid.k_min + 2) <= hkl.y && hkl.y <= double(grid.k_max - 2) &&
           double(grid.l_min + 2) <= hkl.z && hkl.z <= double(grid.l_max - 2);
  return double(grid.h_min) <= hkl.x && hkl.x <= double(grid.h_max) &&
         double(grid.k_min) <= hkl.y && hkl.y <= double(grid.k_max) &&
         double(grid.l_min) <= hkl.z && hkl.z <= double(grid.l_max);
}

/// Calls `visit` for each lane that is observed.
template <typename Visit>
static void forActive(Frame &frame, Slot slot, Visit visit) {
  for (int64_t lane = 0, lanes = frame.lanesOf(slot); lane < lanes; ++lane)
    if (!slot.varying || !frame.active || frame.active[lane])
      visit(lane);
}

static LogicalResult planProbe(ProbeOp op, Planner &planner) {
  Slot value = planner.slot(op.getValue());
  size_t ordinal = planner.probes.size();
  planner.probes.push_back({op, value});
  auto lookup = op.getValue().getDefiningOp<StructureFactorOp>();
  Slot grid = lookup ? planner.slot(lookup.getGrid()) : Slot();
  Slot hkl = lookup ? planner.slot(lookup.getHkl()) : Slot();
  bool cubic = lookup && lookup.getInterpolation() == Interpolation::tricubic;
  bool integral = cubic || (lookup && lookup.getIntegral());
  planner.step(op, always, [=, isLookup = bool(lookup)](Frame &frame) {
    if (!frame.probes || value.kind == Kind::Object)
      return;
    ProbeStatistics &statistics = (*frame.probes)[ordinal];
    int64_t stride = value.varying ? laneStride : 1;
    for (unsigned c = 0; c < value.components; ++c)
      forActive(frame, value, [&](int64_t lane) {
        statistics.components[c].add(value.kind == Kind::Real
                                         ? frame.reals(value)[c * stride + lane]
                                         : double(frame.integers(value)[lane]));
      });
    if (!isLookup)
      return;
    AnyOperand<Vec3> index(frame.reals(hkl), hkl.varying);
    const nb_hkl_grid &g = *frame.object<const nb_hkl_grid>(grid);
    forActive(frame, hkl, [&](int64_t lane) {
      Vec3 at = index[lane];
      if (!integral)
        at = {std::ceil(at.x - 0.5), std::ceil(at.y - 0.5), std::ceil(at.z - 0.5)};
      recordLookup(statistics.lookup, g, at, insideOf(g, at, cubic));
    });
  });
  return success();
}

void evaluation::attachProbe(MLIRContext *context) { evaluateBy<ProbeOp, planProbe>(context); }
