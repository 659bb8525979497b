#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// Which entry a lane reads; -1 outside the table, when its size is known.
static int64_t entryOf(const Table &table, ArrayRef<Slot> indices, Frame &frame, int64_t lane) {
  int64_t entry = 0;
  for (auto [i, slot] : llvm::enumerate(indices)) {
    int64_t index = frame.integers(slot)[slot.varying ? lane : 0];
    if (!table.shape.empty()) {
      if (index < 0 || index >= table.shape[i])
        return -1;
      entry *= table.shape[i];
    }
    entry += index;
  }
  return entry;
}

template <typename OpTy>
static LogicalResult planLookup(OpTy op, Planner &planner) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  Slot tableSlot = planner.slot(op.getTable());
  SmallVector<Slot> indices;
  for (Value index : op.getIndices())
    indices.push_back(planner.slot(index));
  planner.step(op, dims, [op, out = *result, tableSlot, indices](Frame &frame) {
    const Table &table = *frame.object<const Table>(tableSlot);
    int64_t outStride = out.varying ? laneStride : 1;
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane) {
      int64_t entry = entryOf(table, indices, frame, lane);
      if (entry < 0)
        return frame.fail(op, "'" + op->getName().getStringRef().str() +
                                  "' op reads outside the table");
      for (int64_t c = 0; c < out.components; ++c) {
        int64_t from = (entry * out.components + c) * table.stride + (table.stride > 1 ? lane : 0);
        if (out.kind == Kind::Real)
          frame.reals(out)[c * outStride + lane] = table.reals[from];
        else
          frame.integers(out)[c * outStride + lane] = table.integers[from];
      }
    }
    if (out.single)
      roundToSingle(frame, out);
  });
  return success();
}

/// Reach, which tells kernels where light can fall, changes no value.
static LogicalResult planReach(ReachOp, Planner &) { return success(); }

void evaluation::attachLookup(MLIRContext *context) {
  evaluateBy<LookupOp, planLookup<LookupOp>>(context);
  evaluateBy<DeviateOp, planLookup<DeviateOp>>(context);
  evaluateBy<ReachOp, planReach>(context);
}
