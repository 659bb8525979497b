#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"
#include "dialect/Names.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-remove-branches"

namespace mlir::nb {
#define GEN_PASS_DEF_REMOVEBRANCHES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The operands that decide whether the op is defined: the place of an entry, a divisor.
MutableArrayRef<OpOperand> guardedOperands(Operation *op) {
  if (auto lookup = dyn_cast<LookupOp>(op))
    return lookup.getIndicesMutable();
  if (auto deviate = dyn_cast<DeviateOp>(op))
    return deviate.getIndicesMutable();
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::CeilDivUIOp,
          arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
    return op->getOpOperands().drop_front();
  return {};
}

/// Is the op safe to run wherever the ops in its regions are?
bool isAsSafeAsItsRegions(Operation *op) {
  auto speculatable = dyn_cast<ConditionallySpeculatable>(op);
  return speculatable && op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         speculatable.getSpeculatability() == Speculation::RecursivelySpeculatable;
}

/// An op under `region` that must not run when its branch is not taken, whatever it is given; or
/// null.
Operation *findUnsafe(Region &region) {
  Operation *unsafe = nullptr;
  region.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || isPure(op) || isAsSafeAsItsRegions(op) ||
        !guardedOperands(op).empty())
      return WalkResult::advance();
    unsafe = op;
    return WalkResult::interrupt();
  });
  return unsafe;
}

/// Where the branch is not taken, its lookups read entry 0, which each table has room for, and its
/// divisors are 1.
void guard(scf::IfOp branch, Region &region) {
  const bool whenTrue = &region == &branch.getThenRegion();
  region.walk([&](Operation *op) {
    if (isPure(op))
      return;
    OpBuilder b(op);
    const bool reads = isa<NBDialect>(op->getDialect());
    for (OpOperand &operand : guardedOperands(op)) {
      Value given = operand.get();
      Value other = arith::ConstantOp::create(
          b, op->getLoc(), cast<TypedAttr>(b.getIntegerAttr(given.getType(), reads ? 0 : 1)));
      auto choice = arith::SelectOp::create(b, op->getLoc(), branch.getCondition(),
                                            whenTrue ? given : other, whenTrue ? other : given);
      if (reads)
        choice->setAttr(names::guard, b.getUnitAttr());
      operand.set(choice);
    }
  });
}

/// Moves the branch in front of the scf.if; returns what it yields.
SmallVector<Value> inlineBranch(scf::IfOp branch, Region &region) {
  if (region.empty())
    return {};
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  SmallVector<Value> values = llvm::to_vector(yield->getOperands());
  yield->erase();
  branch->getBlock()->getOperations().splice(branch->getIterator(), block.getOperations());
  return values;
}

/// Vectors and matrices component by component, since only scalars have a select over lanes.
Value select(OpBuilder &b, Location loc, Value condition, Value t, Value f) {
  Type type = t.getType();
  auto choose = [&](Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  SmallVector<Value> parts;
  if (isa<Vec3Type>(type)) {
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(choose(ComponentOp::create(b, loc, t, i), ComponentOp::create(b, loc, f, i)));
    return VecOp::create(b, loc, parts[0], parts[1], parts[2]);
  }
  if (!isa<Mat3Type>(type))
    return choose(t, f);
  for (int64_t i = 0; i < 9; ++i)
    parts.push_back(choose(ElementOp::create(b, loc, t, i / 3, i % 3),
                           ElementOp::create(b, loc, f, i / 3, i % 3)));
  return MatOp::create(b, loc, type, parts);
}

LogicalResult removeIf(scf::IfOp branch) {
  for (Region &region : branch->getRegions()) {
    Operation *unsafe = findUnsafe(region);
    if (!unsafe)
      continue;
    bool effects = !isMemoryEffectFree(unsafe);
    InFlightDiagnostic error = unsafe->emitError()
                               << "'" << unsafe->getName() << "' "
                               << (effects ? "has side effects" : "may be undefined if executed")
                               << " and stands in a branch that cannot become a select";
    error.attachNote(branch.getLoc()) << "in this branch";
    return error;
  }
  for (Region &region : branch->getRegions())
    guard(branch, region);
  SmallVector<Value> whenTrue = inlineBranch(branch, branch.getThenRegion());
  SmallVector<Value> whenFalse = inlineBranch(branch, branch.getElseRegion());
  OpBuilder builder(branch);
  for (auto [result, t, f] : llvm::zip(branch.getResults(), whenTrue, whenFalse))
    result.replaceAllUsesWith(select(builder, branch.getLoc(), branch.getCondition(), t, f));
  branch.erase();
  return success();
}

/// Control flow other than scf.if inside an image must take the same path for every sample.
LogicalResult checkUniform(Operation *op) {
  auto image = op->getParentOfType<ImageOp>();
  if (!image)
    return success();
  auto varies = [&](Value value) { return image.getBody().isAncestor(value.getParentRegion()); };
  bool uniform = TypeSwitch<Operation *, bool>(op)
                     .Case([&](scf::ForOp loop) {
                       return !varies(loop.getLowerBound()) && !varies(loop.getUpperBound()) &&
                              !varies(loop.getStep());
                     })
                     .Case([&](scf::IndexSwitchOp choice) { return !varies(choice.getArg()); })
                     .Case([](scf::WhileOp) { return false; })
                     .Default([](Operation *) { return true; });
  if (uniform)
    return success();
  InFlightDiagnostic error = op->emitError()
                             << "'" << op->getName() << "' depends on the pixel or the sample: "
                             << "its path differs between lanes";
  error.attachNote(image.getLoc()) << "in this image";
  return error;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Returns how many became selects.
FailureOr<size_t> removeBranches(FunctionOpInterface func) {
  SmallVector<scf::IfOp> branches;
  bool uniform = true;
  // Post-order: a nested scf.if is gone before the one around it is looked at.
  func.walk([&](Operation *op) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      branches.push_back(branch);
    if (failed(checkUniform(op)))
      uniform = false;
  });
  if (!uniform)
    return failure();
  for (scf::IfOp branch : branches) {
    LDBG() << "becomes selects: the branch at " << branch.getLoc();
    if (failed(removeIf(branch)))
      return failure();
  }
  if (!branches.empty())
    nb::remarkPassed(
        func.getLoc(),
        remark::RemarkOpts::name("removed").category(DEBUG_TYPE).function(func.getName()))
        << remark::add("{0} branch(es) became selects", branches.size());
  else
    remarkNothing(func.getLoc(), DEBUG_TYPE, func.getName(), "there is no branch");
  return branches.size();
}

struct RemoveBranchesPass : nb::impl::RemoveBranchesBase<RemoveBranchesPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](FunctionOpInterface func) {
      const auto selects = removeBranches(func);
      removed += selects.value_or(0);
      return failed(selects) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
