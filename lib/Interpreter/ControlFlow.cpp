#include "lib/Interpreter/Map.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// A value of one entry per pixel may come from a uniform one.
static void copyValue(Frame &frame, Slot to, Slot from) {
  const double *source = frame.reals(from);
  double *target = frame.reals(to);
  for (int64_t c = 0; c < to.components; ++c) {
    const double *component = source + c * (from.varying ? laneStride : 1);
    if (!to.varying)
      target[c] = *component;
    else if (from.varying)
      std::copy_n(component, frame.lanes, target + c * laneStride);
    else
      std::fill_n(target + c * laneStride, frame.lanes, *component);
  }
}

/// Takes over the lanes where the mask is set.
static void copyWhere(Frame &frame, const int64_t *mask, Slot to, Slot from) {
  const double *source = frame.reals(from);
  double *target = frame.reals(to);
  for (int64_t c = 0; c < to.components; ++c)
    for (int64_t lane = 0; lane < frame.lanes; ++lane)
      if (mask[lane])
        target[c * laneStride + lane] = from.varying ? source[c * laneStride + lane] : source[c];
}

namespace {
struct Branch {
  Body body;
  SmallVector<Slot> yields;
};
} // namespace

static LogicalResult planBranch(Block &block, Planner &planner, Branch &branch) {
  if (failed(planner.plan(block, branch.body)))
    return failure();
  for (Value value : block.getTerminator()->getOperands())
    branch.yields.push_back(planner.slot(value));
  return success();
}

/// Both sides where lanes differ, each with the other's lanes masked for whoever observes them.
static void runMasked(Frame &frame, Slot condition, Slot maskSlot, const Branch *branches,
                      ArrayRef<Slot> results) {
  const int64_t *outer = frame.active;
  for (int side = 0; side < 2 && !frame.failed(); ++side) {
    int64_t *mask = frame.integers(maskSlot);
    bool any = false;
    for (int64_t lane = 0; lane < frame.lanes; ++lane) {
      mask[lane] = (frame.integers(condition)[lane] != 0) == (side == 0) && (!outer || outer[lane]);
      any |= mask[lane] != 0;
    }
    if (!any)
      continue;
    frame.active = mask;
    branches[side].body.run(frame, everything);
    for (auto [to, from] : llvm::zip(results, branches[side].yields))
      copyWhere(frame, mask, to, from);
    frame.active = outer;
  }
}

static LogicalResult planIf(scf::IfOp op, Planner &planner) {
  auto branches = std::make_shared<std::array<Branch, 2>>();
  if (failed(planBranch(*op.thenBlock(), planner, (*branches)[0])))
    return failure();
  if (op.elseBlock() && failed(planBranch(*op.elseBlock(), planner, (*branches)[1])))
    return failure();
  Dimensions dims = planner.dimsOf(op->getOperands()) | planner.dimsOfRegions(op);
  SmallVector<Slot> results;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Dimensions yielded = planner.dimsOf({op.thenYield().getOperand(i)}) |
                         planner.dimsOf({op.elseYield().getOperand(i)});
    auto slot = planner.define(result, dims | yielded);
    if (failed(slot))
      return failure();
    if (slot->kind == Kind::Object)
      return op.emitOpError() << "yields a " << result.getType()
                              << ", which branches cannot; look both up, and choose among the "
                                 "numbers (arith.select)";
    results.push_back(*slot);
  }
  Slot condition = planner.slot(op.getCondition());
  Slot mask = planner.scratch(Kind::Integer, 1, condition.varying);
  planner.step(op, dims, [branches, results, condition, mask](Frame &frame) {
    if (condition.varying)
      return runMasked(frame, condition, mask, branches->data(), results);
    const Branch &taken = (*branches)[*frame.integers(condition) ? 0 : 1];
    taken.body.run(frame, everything);
    for (auto [to, from] : llvm::zip(results, taken.yields))
      copyValue(frame, to, from);
  });
  return success();
}

static LogicalResult planFor(scf::ForOp op, Planner &planner) {
  Value bounds[] = {op.getLowerBound(), op.getUpperBound(), op.getStep()};
  for (Value bound : bounds)
    if (failed(planner.requireUniform(op, bound, "a loop bound")))
      return failure();
  // Carried values depend on all that goes into the loop.
  Dimensions dims = planner.dimsOf(op->getOperands()) | planner.dimsOfRegions(op);
  SmallVector<Slot> inits, carried, next, results;
  for (auto [init, argument, result] :
       llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    auto inside = planner.define(argument, dims), outside = planner.define(result, dims);
    if (failed(inside) || failed(outside))
      return failure();
    if (inside->kind == Kind::Object)
      return op.emitOpError() << "carries a " << result.getType() << ", which has no evaluation";
    inits.push_back(planner.slot(init));
    carried.push_back(*inside);
    results.push_back(*outside);
    next.push_back(planner.scratch(inside->kind, inside->components, inside->varying));
  }
  auto variable = planner.define(op.getInductionVar(), planner.dimsOf(bounds));
  if (failed(variable))
    return failure();
  auto branch = std::make_shared<Branch>();
  if (failed(planBranch(*op.getBody(), planner, *branch)))
    return failure();
  Slot lower = planner.slot(bounds[0]), upper = planner.slot(bounds[1]),
       step = planner.slot(bounds[2]);
  planner.step(op, dims, [=, i = *variable](Frame &frame) {
    auto copyAll = [&](ArrayRef<Slot> to, ArrayRef<Slot> from) {
      for (auto [target, source] : llvm::zip_equal(to, from))
        copyValue(frame, target, source);
    };
    copyAll(carried, inits);
    int64_t end = *frame.integers(upper), stride = std::max<int64_t>(*frame.integers(step), 1);
    for (int64_t at = *frame.integers(lower); at < end && !frame.failed(); at += stride) {
      *frame.integers(i) = at;
      branch->body.run(frame, everything);
      copyAll(next, branch->yields);
      copyAll(carried, next);
    }
    copyAll(results, carried);
  });
  return success();
}

/// Lanes are the pixels of a tile, so the same number in every lane is the number itself.
static LogicalResult planBroadcast(vector::BroadcastOp op, Planner &planner) {
  planner.alias(op.getResult(), planner[op.getSource()]);
  return success();
}

void evaluation::attachControlFlow(MLIRContext *context) {
  evaluateBy<scf::IfOp, planIf>(context);
  evaluateBy<scf::ForOp, planFor>(context);
}

void evaluation::attachVector(MLIRContext *context) {
  evaluateBy<vector::BroadcastOp, planBroadcast>(context);
}
