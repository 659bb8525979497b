#include "lib/Transforms/Differentiate.h"
#include "lib/Transforms/DifferentiateResponse.h"

using namespace mlir;
using namespace mlir::nb;

Value nb::tangentOf(OpBuilder &builder, DifferentiableOp op, function_ref<Value(Value)> tangent) {
  Value total;
  for (OpOperand &operand : op->getOpOperands())
    if (Value t = tangent(operand.get()))
      if (Value term = op.tangent(builder, operand.getOperandNumber(), t))
        total = total ? addValues(builder, op->getLoc(), total, term) : term;
  return total;
}

namespace {
class Forward {
public:
  Forward(const Activity &activity, ArrayRef<DenseMap<Value, Value>> seeds)
      : activity(activity), tangents(seeds) {}

  LogicalResult run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (!op.hasTrait<OpTrait::IsTerminator>() && failed(visit(&op)))
        return failure();
    return success();
  }

  /// The k-th tangent of a value, null where it is zero.
  Value tangent(size_t k, Value value) const { return tangents[k].lookup(value); }

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(LoopOp loop);
  LogicalResult visitLookup(LookupOp op);
  LogicalResult visitReadPixel(ReadPixelOp op);
  LogicalResult visitStage(NeighbourResponse stage);
  LogicalResult visitLeaf(DifferentiableOp op);

  const Activity &activity;
  SmallVector<DenseMap<Value, Value>> tangents;
  NamePrefix names{"d_"};
};

LogicalResult Forward::visit(Operation *op) {
  if (!activity.anyActive(op->getResults()))
    return success();
  if (auto loop = dyn_cast<LoopOp>(op))
    return visitLoop(loop);
  if (auto lookup = dyn_cast<LookupOp>(op))
    return visitLookup(lookup);
  if (auto read = dyn_cast<ReadPixelOp>(op))
    return visitReadPixel(read);
  if (auto stage = dyn_cast<NeighbourResponse>(op))
    return visitStage(stage);
  if (auto leaf = dyn_cast<DifferentiableOp>(op))
    return visitLeaf(leaf);
  return reportMissingRule(op);
}

/// The same loop with one more result for each tangent of each result that is not zero.
LogicalResult Forward::visitLoop(LoopOp loop) {
  if (failed(run(*loop.getBodyBlock())))
    return failure();
  SmallVector<Value> added;
  SmallVector<std::pair<size_t, unsigned>> of; // which tangent of which result
  SmallVector<Type> types = llvm::to_vector(loop->getResultTypes());
  for (size_t k = 0; k < tangents.size(); ++k) {
    for (auto [i, value] : llvm::enumerate(loop.getYieldedResults())) {
      Value t = tangent(k, value);
      if (!t)
        continue;
      added.push_back(t);
      of.push_back({k, i});
      types.push_back(loop->getResult(i).getType());
    }
  }
  if (added.empty())
    return success();
  Operation *yield = loop.getBodyBlock()->getTerminator();
  yield->insertOperands(yield->getNumOperands(), added);

  OpBuilder builder(loop);
  LoopOp extended = loop.takeWithResults(builder, types);
  unsigned values = loop->getNumResults();
  for (auto [j, which] : llvm::enumerate(of))
    tangents[which.first][extended->getResult(which.second)] = extended->getResult(values + j);
  loop->replaceAllUsesWith(extended->getResults().take_front(values));
  loop->erase();
  return success();
}

LogicalResult Forward::visitLookup(LookupOp op) {
  OpBuilder builder(op.getContext(), &names);
  builder.setInsertionPointAfter(op);
  for (size_t k = 0; k < tangents.size(); ++k)
    if (Value table = tangent(k, op.getTable()))
      tangents[k][op.getResult()] = LookupOp::create(builder, op.getLoc(), op.getType(), table,
                                                     op.getIndices(), op.getInbounds());
  return success();
}

LogicalResult Forward::visitReadPixel(ReadPixelOp op) {
  OpBuilder builder(op.getContext(), &names);
  builder.setInsertionPointAfter(op);
  for (size_t k = 0; k < tangents.size(); ++k)
    if (Value image = tangent(k, op.getImage()))
      tangents[k][op.getResult()] = ReadPixelOp::create(builder, op.getLoc(), op.getType(), image,
                                                        op.getPanel(), op.getSlow(), op.getFast());
  return success();
}

LogicalResult Forward::visitStage(NeighbourResponse stage) {
  OpBuilder builder(stage.getContext(), &names);
  builder.setInsertionPointAfter(stage);
  for (size_t k = 0; k < tangents.size(); ++k) {
    FailureOr<Value> t =
        stageTangent(builder, stage, [&](Value value) { return tangent(k, value); });
    if (failed(t))
      return failure();
    if (*t)
      tangents[k][stage->getResult(0)] = *t;
  }
  return success();
}

LogicalResult Forward::visitLeaf(DifferentiableOp op) {
  OpBuilder builder(op.getContext(), &names);
  builder.setInsertionPointAfter(op);
  for (size_t k = 0; k < tangents.size(); ++k)
    if (Value t = tangentOf(builder, op, [&](Value value) { return tangent(k, value); }))
      tangents[k][op->getResult(0)] = t;
  return success();
}
} // namespace

LogicalResult nb::addTangents(func::FuncOp func, const Activity &activity,
                              ArrayRef<DenseMap<Value, Value>> seeds,
                              SmallVectorImpl<SmallVector<Value>> &tangents) {
  Forward forward(activity, seeds);
  Block &body = func.getBody().front();
  if (failed(forward.run(body)))
    return failure();
  for (size_t k = 0; k < seeds.size(); ++k) {
    SmallVector<Value> &row = tangents.emplace_back();
    for (Value result : body.getTerminator()->getOperands())
      row.push_back(forward.tangent(k, result));
  }
  return success();
}
