#include "lib/Transforms/Derivatives/SliceTangents.h"

#include "lib/Transforms/Differentiate.h"
#include "lib/Transforms/Invariants.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::nb;

Slice::Slice(ValueRange results, ValueRange inputs, Operation *loop) : results(results) {
  const DenseSet<Value> ends(inputs.begin(), inputs.end());
  llvm::SetVector<Operation *> seen;
  const auto visit = [&](auto &&self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (ends.contains(value) || !op || !isDefinedIn(value, loop) || seen.contains(op))
      return;
    if (op->getNumRegions() != 0 && !where) {
      where = op;
      why = "a loop or branch stands between it and what is averaged";
    }
    for (Value operand : op->getOperands())
      self(self, operand);
    seen.insert(op);
  };
  for (Value result : results)
    visit(visit, result);
  ops = seen.takeVector();
}

namespace {
/// Forward derivatives of ops one after another.
class Tangents {
public:
  Tangents(OpBuilder &builder, ArrayRef<Slice::Seeds> seeds) : b(builder), of(seeds) {}

  /// The value that stands for the op's result, or null after an error.
  Value visit(Operation *op);
  Value tangent(size_t variable, Value value) const { return of[variable].lookup(value); }

private:
  bool isActive(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::any_of(of, [&](const auto &known) { return known.contains(operand); });
    });
  }

  OpBuilder &b;
  SmallVector<Slice::Seeds> of;
};

Value Tangents::visit(Operation *op) {
  Value result = op->getResult(0);
  if (isa<InactiveOp>(op) || !isDifferentiable(result.getType()) || !isActive(op))
    return result;
  if (auto leaf = dyn_cast<DifferentiableOp>(op)) {
    for (Slice::Seeds &known : of)
      if (Value t = tangentOf(b, leaf, [&](Value value) { return known.lookup(value); }))
        known[result] = t;
    return result;
  }
  auto expandable = dyn_cast<ExpandableOp>(op);
  if (!expandable) {
    (void)reportMissingRule(op);
    return {};
  }
  Operation *before = op->getPrevNode();
  OpBuilder inPlace(op);
  Value value = expandable.expand(inPlace);
  Operation *next = before ? before->getNextNode() : &op->getBlock()->front();
  while (next != op) {
    Operation *part = next;
    next = part->getNextNode();
    Value old = part->getResult(0), known = visit(part);
    if (!known)
      return {};
    if (value == old)
      value = known;
  }
  result.replaceAllUsesWith(value);
  op->erase();
  return value;
}
} // namespace

FailureOr<Slice::Values> Slice::evaluate(OpBuilder &builder, IRMapping mapping,
                                         ArrayRef<Seeds> seeds) const {
  Tangents tangents(builder, seeds);
  for (Operation *op : ops) {
    Operation *copy = builder.clone(*op, mapping);
    Value value = tangents.visit(copy);
    if (!value)
      return failure();
    mapping.map(op->getResult(0), value);
  }
  Values values;
  for (Value result : results)
    values.results.push_back(mapping.lookupOrDefault(result));
  for (size_t k = 0; k != seeds.size(); ++k) {
    SmallVector<Value> &row = values.tangents.emplace_back();
    for (Value result : values.results)
      row.push_back(tangents.tangent(k, result));
  }
  return values;
}
