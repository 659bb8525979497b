#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "nb-fuse"

namespace mlir::nb {
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

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
LoopOp merge(LoopOp first, LoopOp second) {
  OpBuilder builder(first);
  SmallVector<Type> types(first->getResultTypes());
  llvm::append_range(types, second->getResultTypes());
  LoopOp merged = first.takeWithResults(builder, types);
  merged->setLoc(builder.getFusedLoc({first.getLoc(), second.getLoc()}));

  Operation *yield = merged.getBodyBlock()->getTerminator();
  Operation *other = second.getBodyBlock()->getTerminator();
  for (auto [i, iv] : llvm::enumerate(merged.getInductionVars()))
    second.getBodyBlock()->getArgument(i).replaceAllUsesWith(iv);
  yield->insertOperands(yield->getNumOperands(), other->getOperands());
  other->erase();
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
LoopOp tryToMerge(LoopOp first, LoopOp second, FunctionOpInterface func) {
  SmallVector<Operation *> between = dependenciesBetween(first, second);
  if (!between.empty() && between.front() == first) {
    nb::remarkMissed(second->getLoc(), remarkOf(DEBUG_TYPE, "depends", func))
        << "not merged with the loop over the same dimensions before it: it uses that one's result";
    return nullptr;
  }
  between.push_back(second);
  // All of it runs in any case, now or later: only effects could tell.
  auto impure = llvm::find_if(between, [](Operation *op) { return !isMemoryEffectFree(op); });
  if (impure != between.end()) {
    nb::remarkMissed(second->getLoc(), remarkOf(DEBUG_TYPE, "not-pure", func))
        << remark::add("not merged with the loop over the same dimensions before it: '{0}' would "
                       "have to move and has side effects",
                       (*impure)->getName().getStringRef());
    return nullptr;
  }
  between.pop_back();
  for (Operation *op : between)
    op->moveBefore(first);
  StringRef what = isa<ImageOp>(first) ? "images" : "sums";
  LoopOp merged = merge(first, second);
  nb::remarkPassed(merged->getLoc(), remarkOf(DEBUG_TYPE, "merged", func))
      << remark::add("merged two {0}: {1} results in one sweep", what, merged->getNumResults());
  return merged;
}

/// Merges each loop with those behind it that it can be; returns how many were merged.
unsigned mergeSiblings(SmallVector<LoopOp> loops, FunctionOpInterface func) {
  unsigned count = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    for (size_t j = i + 1; j < loops.size();) {
      // Ops that a loop is computed from move ahead of it when it is merged, other loops too.
      LoopOp first = loops[i], second = loops[j];
      if (second->isBeforeInBlock(first))
        std::swap(first, second);
      LoopOp merged = first.hasSameDomain(second) ? tryToMerge(first, second, func) : LoopOp();
      if (!merged) {
        ++j;
        continue;
      }
      ++count;
      loops[i] = merged;
      loops.erase(loops.begin() + j);
    }
  }
  return count;
}

/// Outer loops first: merging them makes siblings of the loops inside. Images ahead of sums: a sum
/// for one image, merged with a sum over another one's results, would keep the two apart. Returns
/// how many were merged.
unsigned mergeIn(Block &block, FunctionOpInterface func) {
  SmallVector<LoopOp> images, sums;
  for (auto loop : block.getOps<LoopOp>())
    if (loop.addsUp())
      (isa<ImageOp>(loop) ? images : sums).push_back(loop);
  // Sums wait: images whose counts are merged with the others' are merged next.
  if (unsigned count = mergeSiblings(std::move(images), func))
    return count;
  unsigned count = mergeSiblings(std::move(sums), func);
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        count += mergeIn(nested, func);
  return count;
}

/// Results that nothing uses or that another result equals, with what computes them. An image or a
/// table is memory, of which each result needs its own. Returns how many went.
unsigned dropResults(LoopOp loop) {
  SmallVector<unsigned> kept;
  DenseMap<Value, Value> resultOf;
  Operation *yield = loop.getBodyBlock()->getTerminator();
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
  const unsigned dropped = loop->getNumResults() - kept.size();
  if (dropped == 0 || kept.empty())
    return 0;
  OpBuilder builder(loop);
  SmallVector<Type> types;
  SmallVector<Value> yielded;
  for (unsigned i : kept) {
    types.push_back(loop->getResult(i).getType());
    yielded.push_back(yield->getOperand(i));
  }
  yield->setOperands(yielded);
  LoopOp smaller = loop.takeWithResults(builder, types);
  for (auto [i, result] : llvm::zip(kept, smaller->getResults()))
    loop->getResult(i).replaceAllUsesWith(result);
  loop.erase();
  return dropped;
}

unsigned dropResultsOfAll(FunctionOpInterface func) {
  SmallVector<LoopOp> loops;
  func.walk<WalkOrder::PreOrder>([&](LoopOp loop) {
    if (loop.addsUp() && loop->getNumResults() != 0)
      loops.push_back(loop);
  });
  unsigned dropped = 0;
  for (LoopOp loop : loops)
    dropped += dropResults(loop);
  return dropped;
}

/// Loops further out first: what they do not yield, no loop inside has to sum. And once more:
/// values that are then equal inside are equal further out.
unsigned dropResults(FunctionOpInterface func) {
  const unsigned outside = dropResultsOfAll(func);
  return outside + dropResultsOfAll(func);
}

/// An image that is returned more than once is computed as often: a kernel writes each result to
/// memory of its own, and derivatives that are zero are equal.
void returnEachOnce(Block &block) {
  DenseSet<Value> returned;
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    auto result = dyn_cast<OpResult>(operand.get());
    if (!result || returned.insert(result).second || !isa<ImageOp>(result.getOwner()))
      continue;
    OpBuilder builder(result.getOwner()->getContext());
    builder.setInsertionPointAfter(result.getOwner());
    operand.set(builder.clone(*result.getOwner())->getResult(result.getResultNumber()));
  }
}

/// A sum between images of which one result needs one image, and another image needs another
/// result, keeps the images apart. Sums of one result each are merged again where nothing stands
/// against it.
void takeResultsApart(Block &block, FunctionOpInterface func) {
  auto images = block.getOps<ImageOp>();
  if (llvm::range_size(images) < 2)
    return;
  for (auto sum : llvm::make_early_inc_range(block.getOps<SumOp>())) {
    if (sum->getNumResults() < 2 || !isPure(sum) || !(*images.begin())->isBeforeInBlock(sum))
      continue;
    OpBuilder builder(sum);
    for (OpResult result : sum->getResults()) {
      auto copy = cast<LoopOp>(builder.clone(*sum));
      result.replaceAllUsesWith(copy->getResult(result.getResultNumber()));
      dropResults(copy);
    }
    sum.erase();
  }
  IRRewriter rewriter(func.getContext());
  (void)runRegionDCE(rewriter, func->getRegions());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FusePass : nb::impl::FuseBase<FusePass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      unsigned unused = 0, loops = 0;
      for (Block &block : func.getFunctionBody()) {
        returnEachOnce(block);
        takeResultsApart(block, func);
      }
      // Loops whose counts were computed twice are siblings only when that is done once.
      while (const unsigned now = mergeAll(func)) {
        LDBG() << func.getName() << ": " << now << " loop(s) merged";
        loops += now;
        IRRewriter rewriter(&getContext());
        DominanceInfo dominance(func);
        eliminateCommonSubExpressions(rewriter, dominance, func);
        unused += dropResults(func);
        (void)runRegionDCE(rewriter, func->getRegions());
      }
      unused += dropResults(func);
      merged += loops;
      dropped += unused;
      if (unused != 0)
        nb::remarkPassed(func.getLoc(), remarkOf(DEBUG_TYPE, "dropped", func)) << remark::add(
            "dropped {0} result(s) of loops that nothing used or that another one equalled",
            unused);
      else if (loops == 0)
        remarkNothing(
            func.getLoc(), DEBUG_TYPE, func.getName(),
            llvm::formatv("nothing was merged or dropped among {0} loop(s)", countLoops(func))
                .str());
    });
  }

  static unsigned countLoops(FunctionOpInterface func) {
    unsigned count = 0;
    func->walk([&](LoopOp) { ++count; });
    return count;
  }

  static unsigned mergeAll(FunctionOpInterface func) {
    unsigned count = 0;
    for (Block &block : func.getFunctionBody())
      count += mergeIn(block, func);
    return count;
  }
};
} // namespace
