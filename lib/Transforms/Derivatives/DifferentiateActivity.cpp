#include "lib/Transforms/Derivatives/DifferentiateResponse.h"
#include "lib/Transforms/Differentiate.h"
#include "lib/Transforms/Invariants.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::nb;

bool nb::isDifferentiable(Type type) {
  if (auto table = dyn_cast<TableType>(type))
    return isDifferentiable(table.getElementType());
  if (auto image = dyn_cast<RankedTensorType>(type))
    return isa<FloatType>(image.getElementType());
  return isScalarOrLanes(type) || isa<Vec3Type, Mat3Type, HklGridType>(type);
}

bool nb::isCollection(Type type) { return isa<TableType, HklGridType>(type); }

Activity::Activity(func::FuncOp func, ArrayRef<Value> parameters) {
  active.insert(parameters.begin(), parameters.end());
  for (Block &block : func.getBody())
    visit(block);
}

bool Activity::anyActive(ValueRange values) const {
  return llvm::any_of(values, [&](Value value) { return isActive(value); });
}

void Activity::copy(Value original, Value clone) {
  if (isActive(original))
    active.insert(clone);
  else
    active.erase(clone); // it may have the address of a value that was erased
}

void Activity::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void Activity::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block);
  if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto [result, yielded] : llvm::zip(op->getResults(), loop.getYieldedResults()))
      copy(yielded, result);
    return;
  }
  if (isa<InactiveOp>(op))
    return;
  bool dependent = anyActive(op->getOperands());
  if (op->getNumRegions() != 0) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    dependent = dependent || anyActive(captured.getArrayRef());
  }
  if (!dependent)
    return;
  for (Value result : op->getResults())
    if (isDifferentiable(result.getType()))
      active.insert(result);
}

LogicalResult nb::reportMissingRule(Operation *op) {
  InFlightDiagnostic error = op->emitError() << "no derivative rule for '" << op->getName() << "'";
  if (op->getName().getStringRef() == "scf.if")
    error << ": remove branches first (nb-remove-branches)";
  else if (isa<LoopLikeOpInterface>(op))
    error << ": only the nb dialect's own loops have one; differentiate ahead of "
             "--convert-nb-to-loops";
  if (auto func = op->getParentOfType<func::FuncOp>())
    error.attachNote(func.getLoc()) << "in the function '" << func.getName() << "'";
  return error;
}

/// Derivative rules compute in the precision of their op. One that computes in another than it is
/// given, as nb-set-precision leaves it, has none.
static LogicalResult checkPrecision(Operation *op) {
  Type first;
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes()))) {
    if (!isa<FloatType>(getElementTypeOrSelf(elementTypeOf(type))))
      continue;
    Type element = getElementTypeOrSelf(elementTypeOf(type));
    if (!first)
      first = element;
    if (first == element)
      continue;
    InFlightDiagnostic error = op->emitError() << "'" << op->getName() << "' computes in "
                                               << element << " what it is given in " << first
                                               << ": differentiate ahead of nb-set-precision";
    if (auto func = op->getParentOfType<func::FuncOp>())
      error.attachNote(func.getLoc()) << "in the function '" << func.getName() << "'";
    return error;
  }
  return success();
}

namespace {
/// Remembers which ops were made.
struct Made : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.insert(op); }
  llvm::DenseSet<Operation *> ops;
};
} // namespace

LogicalResult nb::expandActiveOps(func::FuncOp func, ArrayRef<Value> parameters) {
  Made made;
  for (;;) {
    Activity activity(func, parameters);
    if (failed(checkReads(func, activity)))
      return failure();
    SmallVector<ExpandableOp> composite;
    WalkResult result = func.walk([&](Operation *op) {
      if (op == func || op->hasTrait<OpTrait::IsTerminator>() ||
          !activity.anyActive(op->getResults()) ||
          isa<LookupOp, LoopOp, NeighbourResponse, ReadPixelOp>(op))
        return WalkResult::advance();
      if (isa<NBDialect>(op->getDialect()) && failed(checkPrecision(op)))
        return WalkResult::interrupt();
      if (isa<DifferentiableOp>(op))
        return WalkResult::advance();
      auto expandable = dyn_cast<ExpandableOp>(op);
      if (!expandable) {
        (void)reportMissingRule(op);
        return WalkResult::interrupt();
      }
      composite.push_back(expandable);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (composite.empty())
      break;
    for (ExpandableOp op : composite) {
      OpBuilder builder(op, &made);
      Value value = op.expand(builder);
      if (!value)
        return reportMissingRule(op);
      op->getResult(0).replaceAllUsesWith(value);
      made.ops.erase(op);
      op->erase();
    }
  }
  // A step of an expansion that does not change in a loop has its derivative outside of it, too.
  MovedOps moved;
  moveInvariants(func, moved, [&](Operation *op) { return made.ops.contains(op); });
  return success();
}

void NamePrefix::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  if (!enabled)
    return;
  auto name = dyn_cast<NameLoc>(op->getLoc());
  if (!name || name.getName().strref().starts_with(prefix))
    return;
  op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), prefix + name.getName().str()),
                          name.getChildLoc()));
}
