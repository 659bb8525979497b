#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/CSE.h"
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

/// Outer loops first: merging them makes siblings of the loops inside. Returns how many were merged.
unsigned mergeSiblings(Block &block, FunctionOpInterface func) {
  unsigned count = 0;
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
      ++count;
      loops[i] = merged;
      loops.erase(loops.begin() + j);
    }
  }
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        count += mergeSiblings(nested, func);
  return count;
}

/// Results that nothing uses or that another result equals, with what computes them. An image or a
/// table is memory, of which each result needs its own.
template <typename LoopOp>
void dropResults(LoopOp loop) {
  SmallVector<unsigned> kept;
  DenseMap<Value, Value> resultOf;
  YieldOp yield = loop.getYield();
  for (OpResult result : loop->getResults()) {
    Value yielded = yield->getOperand(result.getResultNumber());
    bool number = isScalarOrLanes(result.getType()) || isa<Vec3Type, Mat3Type>(result.getType());
    if (number && !result.use_empty()) {
      auto [same, first] = resultOf.try_emplace(yielded, result);
      if (!first)
        result.replaceAllUsesWith(same->second);
    }
    if (!result.use_empty())
      kept.push_back(result.getResultNumber());
  }
  if (kept.size() == loop->getNumResults() || kept.empty())
    return;
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), loop->getName());
  state.addOperands(loop->getOperands());
  state.addAttributes(loop->getAttrs());
  SmallVector<Value> yielded;
  for (unsigned i : kept) {
    state.addTypes(loop->getResult(i).getType());
    yielded.push_back(yield->getOperand(i));
  }
  yield->setOperands(yielded);
  state.addRegion()->takeBody(loop.getBody());
  Operation *smaller = builder.create(state);
  for (auto [i, result] : llvm::zip(kept, smaller->getResults()))
    loop->getResult(i).replaceAllUsesWith(result);
  loop.erase();
}

void dropResultsOfAll(FunctionOpInterface func) {
  SmallVector<Operation *> loops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ImageOp, SumOp>(op) && op->getNumResults() != 0)
      loops.push_back(op);
  });
  for (Operation *op : loops) {
    if (auto image = dyn_cast<ImageOp>(op))
      dropResults(image);
    else
      dropResults(cast<SumOp>(op));
  }
}

/// Loops further out first: what they do not yield, nobody inside has to sum. And once more: what
/// turned out to be equal inside is equal further out.
void dropResults(FunctionOpInterface func) {
  dropResultsOfAll(func);
  dropResultsOfAll(func);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FusePass : nb::impl::FuseBase<FusePass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      // Loops whose counts were computed twice are siblings only when that is done once.
      while (mergeIn(func)) {
        IRRewriter rewriter(&getContext());
        DominanceInfo dominance(func);
        eliminateCommonSubExpressions(rewriter, dominance, func);
        dropResults(func);
        (void)runRegionDCE(rewriter, func->getRegions());
      }
      dropResults(func);
    });
  }

  static bool mergeIn(FunctionOpInterface func) {
    unsigned count = 0;
    for (Block &block : func.getFunctionBody())
      count += mergeSiblings(block, func);
    return count != 0;
  }
};
} // namespace
