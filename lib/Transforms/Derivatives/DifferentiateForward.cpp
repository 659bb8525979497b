#include "dialect/RuleBuilder.h"
#include "lib/Transforms/Derivatives/DifferentiateResponse.h"
#include "lib/Transforms/Differentiate.h"
#include "lib/Transforms/Invariants.h"

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
  Forward(Activity &activity, ArrayRef<DenseMap<Value, Value>> seeds)
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
  /// Which tangent of which result of a loop, and its value in the body.
  struct Added {
    size_t direction;
    unsigned result;
    Value value;
  };
  LogicalResult visitLoop(LoopOp loop);
  void addResults(LoopOp loop, ArrayRef<Added> added);
  /// A lookup in a loop inside of a sum's body, and that loop.
  using InnerLookup = std::pair<Operation *, Operation *>;
  std::optional<SmallVector<InnerLookup>> lookupsOfCheaperPartials(SumOp sum);
  LogicalResult visitByPartials(SumOp sum, ArrayRef<InnerLookup> inner);
  LogicalResult visitLookup(LookupOp op);
  LogicalResult visitReadPixel(ReadPixelOp op);
  LogicalResult visitStage(NeighbourResponse stage);
  LogicalResult visitLeaf(DifferentiableOp op);

  Activity &activity;
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

LogicalResult Forward::visitLoop(LoopOp loop) {
  if (auto sum = dyn_cast<SumOp>(*loop))
    if (auto inner = lookupsOfCheaperPartials(sum))
      return visitByPartials(sum, *inner);
  if (failed(run(*loop.getBodyBlock())))
    return failure();
  SmallVector<Added> added;
  for (size_t k = 0; k < tangents.size(); ++k)
    for (auto [i, value] : llvm::enumerate(loop.getYieldedResults()))
      if (Value t = tangent(k, value))
        added.push_back({k, unsigned(i), t});
  addResults(loop, added);
  return success();
}

/// The same loop with one more result for each tangent of each result that is not zero.
void Forward::addResults(LoopOp loop, ArrayRef<Added> added) {
  if (added.empty())
    return;
  Operation *yield = loop.getBodyBlock()->getTerminator();
  SmallVector<Type> types = llvm::to_vector(loop->getResultTypes());
  for (const Added &one : added) {
    yield->insertOperands(yield->getNumOperands(), one.value);
    types.push_back(loop->getResult(one.result).getType());
  }
  OpBuilder builder(loop);
  LoopOp extended = loop.takeWithResults(builder, types);
  unsigned values = loop->getNumResults();
  for (auto [j, one] : llvm::enumerate(added))
    tangents[one.direction][extended->getResult(one.result)] =
        extended->getResult(values + unsigned(j));
  loop->replaceAllUsesWith(extended->getResults().take_front(values));
  loop->erase();
}

/// Where tangents along so many directions are cheaper as sums of products with the derivatives of
/// a term with respect to its inputs, found once: the lookups that would be inputs, but are in
/// loops. The derivatives take about as much as four directions, and a product as four operations,
/// since it reads a tangent.
std::optional<SmallVector<Forward::InnerLookup>> Forward::lookupsOfCheaperPartials(SumOp sum) {
  constexpr size_t costOfPartials = 4, costOfProduct = 4;
  if (tangents.size() <= costOfPartials || sum->getNumResults() != 1 ||
      !isa<FloatType>(sum.getResult(0).getType()))
    return std::nullopt;
  size_t cost = 0, inputs = 0;
  Block *body = sum.getBodyBlock();
  SmallVector<InnerLookup> inner;
  DenseSet<Value> captured;
  const WalkResult result = body->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (activity.isActive(operand) && !isDefinedIn(operand, sum) &&
          !isCollection(operand.getType()) && captured.insert(operand).second)
        inputs += scalarsIn(operand.getType());
    if (!activity.anyActive(op->getResults()))
      return WalkResult::advance();
    if (isa<FirstOp, ReadPixelOp, NeighbourResponse, TabulateOp>(op))
      return WalkResult::interrupt();
    if (auto lookup = dyn_cast<LookupOp>(op)) {
      inputs += scalarsIn(lookup.getType());
      Operation *ahead = body->findAncestorOpInBlock(*op);
      if (ahead == op)
        return WalkResult::advance();
      if (llvm::any_of(op->getOperands(), [&](Value v) { return isDefinedIn(v, ahead); }))
        return WalkResult::interrupt();
      inner.push_back({op, ahead});
    } else if (!isa<LoopOp>(op)) {
      cost += costOf(op);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() ||
      (tangents.size() - costOfPartials) * cost <= tangents.size() * costOfProduct * inputs)
    return std::nullopt;
  return inner;
}

LogicalResult Forward::visitByPartials(SumOp sum, ArrayRef<InnerLookup> inner) {
  for (auto [lookup, loop] : inner)
    lookup->moveBefore(loop);
  FailureOr<Partials> partials = addPartials(sum, activity);
  if (failed(partials))
    return failure();
  OpBuilder builder(sum.getContext(), &names);
  builder.setInsertionPoint(sum.getYield());
  RuleBuilder r(builder, sum.getLoc());
  SmallVector<Added> added;
  for (size_t k = 0; k < tangents.size(); ++k) {
    Value total;
    for (auto [input, partial] : *partials) {
      Value t = tangent(k, input);
      if (auto lookup = input.getDefiningOp<LookupOp>(); lookup && isDefinedIn(input, sum)) {
        Value table = tangent(k, lookup.getTable());
        t = table ? Value(LookupOp::create(builder, lookup.getLoc(), lookup.getType(), table,
                                           lookup.getIndices(), lookup.getInbounds()))
                  : Value();
      }
      if (!t)
        continue;
      Value term = r.inner(partial, t);
      total = total ? r.add(total, term) : term;
    }
    if (total)
      added.push_back({k, 0, total});
  }
  addResults(LoopOp(sum), added);
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

LogicalResult nb::addTangents(func::FuncOp func, Activity &activity,
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
