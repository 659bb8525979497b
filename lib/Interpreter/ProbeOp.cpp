#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/StructureFactor.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

static void recordLookup(LookupStatistics &statistics, const Vec3 &hkl, bool inside,
                         int64_t times) {
  (inside ? statistics.inside : statistics.outside) += times;
  statistics.index[0].add(hkl.x, times);
  statistics.index[1].add(hkl.y, times);
  statistics.index[2].add(hkl.z, times);
}

/// Calls `visit(lane, times)` for each lane that is observed; a uniform value counts for all of
/// them.
template <typename Visit>
static void forActive(Frame &frame, Slot slot, Visit visit) {
  auto isActive = [&](int64_t lane) { return !frame.active || frame.active[lane]; };
  if (!slot.varying) {
    int64_t times = 0;
    for (int64_t lane = 0; lane < frame.lanes; ++lane)
      times += isActive(lane);
    return visit(0, times);
  }
  for (int64_t lane = 0; lane < frame.lanes; ++lane)
    if (isActive(lane))
      visit(lane, 1);
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
      forActive(frame, value, [&](int64_t lane, int64_t times) {
        statistics.components[c].add(value.kind == Kind::Real
                                         ? frame.reals(value)[c * stride + lane]
                                         : double(frame.integers(value)[lane]),
                                     times);
      });
    if (!isLookup)
      return;
    AnyOperand<Vec3> index(frame.reals(hkl), hkl.varying);
    const nb_hkl_grid &g = *frame.object<const nb_hkl_grid>(grid);
    forActive(frame, hkl, [&](int64_t lane, int64_t times) {
      Vec3 at = integral ? index[lane] : nearestReflection(index[lane]);
      recordLookup(statistics.lookup, at, isInside(g, at, cubic ? tricubicMargin : 0), times);
    });
  });
  return success();
}

void evaluation::attachProbe(MLIRContext *context) { evaluateBy<ProbeOp, planProbe>(context); }
