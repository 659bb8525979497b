#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::nb {
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
remark::RemarkOpts remarkNamed(StringRef name, FunctionOpInterface func) {
  return remark::RemarkOpts::name(name).category("nb-fuse").function(func.getName());
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

/// Both run their bodies over the same combinations of induction variables.
bool haveSameDomain(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || !isa<ImageOp, SumOp>(a) ||
      a->getOperands() != b->getOperands() ||
      a->getAttr("dimensions") != b->getAttr("dimensions"))
    return false;
  if (auto image = dyn_cast<ImageOp>(a)) {
    auto other = cast<ImageOp>(b);
    return image.getLanes() == other.getLanes() &&
           image.getRoi().size() == other.getRoi().size();
  }
  return true;
}

/// The ops between `first` and `second` that `second` is computed from, in program order, with
/// `first` ahead of them where it is one.
SmallVector<Operation *> dependenciesBetween(Operation *first, Operation *second) {
  DenseSet<Operation *> needed{second};
  SmallVector<Operation *> between;
  for (Operation *op = second; op != first->getPrevNode(); op = op->getPrevNode()) {
    if (!needed.contains(op))
      continue;
    if (op != second)
      between.push_back(op);
    auto need = [&](Value value) {
      if (Operation *def = value.getDefiningOp())
        if (Operation *inBlock = first->getBlock()->findAncestorOpInBlock(*def))
          needed.insert(inBlock);
    };
    llvm::for_each(op->getOperands(), need);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, need);
  }
  std::reverse(between.begin(), between.end());
  return between;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// One loop in place of `first` that computes the results of both.
template <typename LoopOp>
LoopOp merge(LoopOp first, LoopOp second) {
  OpBuilder builder(first);
  OperationState state(builder.getFusedLoc({first.getLoc(), second.getLoc()}),
                       first->getName());
  state.addOperands(first->getOperands());
  state.addTypes(first->getResultTypes());
  state.addTypes(second->getResultTypes());
  state.addAttributes(first->getAttrs());
  state.addRegion()->takeBody(first.getBody());
  auto merged = cast<LoopOp>(builder.create(state));

  YieldOp yield = merged.getYield(), other = second.getYield();
  for (auto [i, iv] : llvm::enumerate(merged.getInductionVars()))
    second.getBodyBlock()->getArgument(i).replaceAllUsesWith(iv);
  yield.getValuesMutable().append(other.getValues());
  other.erase();
  merged.getBodyBlock()->getOperations().splice(yield->getIterator(),
                                                second.getBodyBlock()->getOperations());
  unsigned results = first->getNumResults();
  first->replaceAllUsesWith(merged->getResults().take_front(results));
  second->replaceAllUsesWith(merged->getResults().drop_front(results));
  first.erase();
  second.erase();
  return merged;
}

/// Merges `second` into `first` if nothing between them stands against it; returns the merged loop.
Operation *tryToMerge(Operation *first, Operation *second, FunctionOpInterface func) {
  SmallVector<Operation *> between = dependenciesBetween(first, second);
  if (!between.empty() && between.front() == first) {
    remark::missed(second->getLoc(), remarkNamed("depends", func))
        << "not merged with the loop over the same dimensions before it: it uses that one's "
           "result";
    return nullptr;
  }
  between.push_back(second);
  auto impure = llvm::find_if(between, [](Operation *op) { return !isPure(op); });
  if (impure != between.end()) {
    remark::missed(second->getLoc(), remarkNamed("not-pure", func))
        << remark::add("not merged with the loop over the same dimensions before it: '{0}' would "
                       "have to move and is not pure",
                       (*impure)->getName().getStringRef());
    return nullptr;
  }
  between.pop_back();
  for (Operation *op : between)
    op->moveBefore(first);
  StringRef what = isa<ImageOp>(first) ? "images" : "sums";
  Operation *merged = isa<ImageOp>(first)
                          ? merge(cast<ImageOp>(first), cast<ImageOp>(second)).getOperation()
                          : merge(cast<SumOp>(first), cast<SumOp>(second)).getOperation();
  remark::passed(merged->getLoc(), remarkNamed("merged", func))
      << remark::add("merged two {0}: {1} results in one sweep", what, merged->getNumResults());
  return merged;
}

/// Outer loops first: merging them makes siblings of the loops inside.
void mergeSiblings(Block &block, FunctionOpInterface func) {
  SmallVector<Operation *> loops;
  for (Operation &op : block)
    if (isa<ImageOp, SumOp>(op))
      loops.push_back(&op);
  for (size_t i = 0; i < loops.size(); ++i) {
    for (size_t j = i + 1; j < loops.size();) {
      Operation *merged = haveSameDomain(loops[i], loops[j])
                              ? tryToMerge(loops[i], loops[j], func)
                              : nullptr;
      if (!merged) {
        ++j;
        continue;
      }
      loops[i] = merged;
      loops.erase(loops.begin() + j);
    }
  }
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        mergeSiblings(nested, func);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FusePass : nb::impl::FuseBase<FusePass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      for (Block &block : func.getFunctionBody())
        mergeSiblings(block, func);
    });
  }
};
} // namespace
