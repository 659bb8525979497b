#include "dialect/PassStatistics.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/MergeEqualOps.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-hoist-invariants"

namespace mlir::nb {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

remark::RemarkOpts nb::remarkOf(StringRef pass, StringRef name, FunctionOpInterface func) {
  return remark::RemarkOpts::name(name).category(pass).function(func.getName());
}

SmallVector<Value> nb::inputsOf(Operation *op) {
  SmallVector<Value> inputs = llvm::to_vector(op->getOperands());
  if (op->getNumRegions() != 0) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(inputs, captured);
  }
  return inputs;
}

bool nb::isDefinedIn(Value value, Operation *op) {
  return op->isAncestor(value.getParentRegion()->getParentOp());
}

namespace {
bool isLoop(Operation *op) { return isa<LoopOp, LoopLikeOpInterface>(op); }

/// The outermost loop around `op` that it does not depend on, or null. An scf.if is left only on
/// the way out of a loop: executing a branch for nothing in the same loop would save nothing.
Operation *outermostIndependentLoop(Operation *op) {
  SmallVector<Value> inputs = inputsOf(op);
  Operation *outermost = nullptr;
  for (Operation *parent = op->getParentOp(); isLoop(parent) || isa<scf::IfOp>(parent);
       parent = parent->getParentOp()) {
    if (llvm::any_of(inputs, [&](Value input) { return isDefinedIn(input, parent); }))
      break;
    if (isLoop(parent))
      outermost = parent;
  }
  return outermost;
}

void count(Operation *op, MovedOps &moved) {
  if (matchPattern(op, m_Constant()))
    return;
  if (!op->getParentOfType<ImageOp>())
    ++moved.toFunction;
  else if (op->getParentOfType<SumOp>() || op->getParentOfType<FirstOp>())
    ++moved.toOuterSum;
  else
    ++moved.toPixel;
}
} // namespace

/// A table or grid that the loop around the op adds up: it takes no time to make, only to add.
static bool isSummand(Operation *op) {
  return !isa<TabulateOp>(op) && llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<TableType, HklGridType>(type);
  });
}

void nb::moveInvariants(FunctionOpInterface func, MovedOps &moved,
                        function_ref<bool(Operation *)> mayMove) {
  SmallVector<Operation *> candidates;
  // Post-order: operands come before their users, a body before the op around it.
  func.walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::IsTerminator>() && op != func && isPure(op) && !isSummand(op) &&
        (!mayMove || mayMove(op)))
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    if (Operation *loop = outermostIndependentLoop(op)) {
      LDBG() << "out of " << loop->getName() << ": " << *op;
      op->moveBefore(loop);
      count(op, moved);
    }
  }
}

namespace {
/// Says which ops could not move although they depend on nothing in their loop, or whatever they
/// depend on.
void remarkImpure(FunctionOpInterface func) {
  func.walk([&](Operation *op) {
    if (op == func || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0 ||
        isPure(op) || !isLoop(op->getParentOp()))
      return;
    if (isMemoryEffectFree(op)) {
      if (!outermostIndependentLoop(op))
        return;
      nb::remarkMissed(op->getLoc(), remarkOf(DEBUG_TYPE, "not-safe", func))
          << remark::add("'{0}' stays where it is: it may be undefined where the program does not "
                         "run it{1}",
                         op->getName().getStringRef(),
                         isa<LookupOp, DeviateOp>(op) ? "; inbounds says that it is not" : "");
      return;
    }
    nb::remarkMissed(op->getLoc(), remarkOf(DEBUG_TYPE, "not-pure", func))
        << remark::add("'{0}' stays where it is: it is not pure", op->getName().getStringRef());
  });
}

struct HoistInvariantsPass : nb::impl::HoistInvariantsBase<HoistInvariantsPass> {
  void runOnFunction(FunctionOpInterface func) {
    MovedOps moved;
    moveInvariants(func, moved);
    toFunction += moved.toFunction;
    toPixel += moved.toPixel;
    toOuterSum += moved.toOuterSum;
    // Values from different loops meet outside of them; this also makes one table of two.
    mergeEqualOps(func);
    if (moved.toFunction || moved.toPixel || moved.toOuterSum)
      nb::remarkPassed(func.getLoc(), remarkOf(DEBUG_TYPE, "hoisted", func))
          << remark::add("moved {0} op(s) to the function, {1} to the pixel, {2} to an outer sum",
                         moved.toFunction, moved.toPixel, moved.toOuterSum);
    if (getContext().getRemarkEngine())
      remarkImpure(func);
  }

  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      if (!func.isExternal())
        runOnFunction(func);
    });
  }
};
} // namespace
