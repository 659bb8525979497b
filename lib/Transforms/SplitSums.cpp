#include "dialect/PassStatistics.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/InterleavedRange.h"

#include <algorithm>

#define DEBUG_TYPE "nb-split-sums"

namespace mlir::nb {
#define GEN_PASS_DEF_SPLITSUMS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// For each k, the cost of the ops in the body that depend on the k-th dimension (counted from 1),
/// perhaps on dimensions before it, and on none after it.
SmallVector<unsigned> costByDepth(SumOp sum) {
  unsigned innermost = sum.getDimensions().size();
  SmallVector<unsigned> costs(innermost + 1);
  DenseMap<Operation *, unsigned> depths;
  auto depthOf = [&](Value value) {
    if (!isDefinedIn(value, sum))
      return 0u;
    if (Operation *def = value.getDefiningOp())
      return depths.lookup(def);
    auto argument = cast<BlockArgument>(value);
    // An op that depends on a loop further inside cannot leave this one.
    return argument.getOwner() == sum.getBodyBlock() ? argument.getArgNumber() + 1 : innermost;
  };
  sum.getBody().walk([&](Operation *op) {
    unsigned depth = isPure(op) ? 0 : innermost;
    for (Value input : inputsOf(op))
      depth = std::max(depth, depthOf(input));
    depths[op] = depth;
    if (!op->hasTrait<OpTrait::IsTerminator>())
      costs[depth] += costOf(op);
  });
  return costs;
}

bool overBeams(Dimension dimension) {
  return dimension == Dimension::source || dimension == Dimension::phi;
}

/// Around a sum over reflections the dimensions of beams stay together: what is lit is listed for
/// all beams in one list.
bool keepsTogether(SumOp sum, unsigned point) {
  if (!overBeams(sum.getDimension(point - 1)) || !overBeams(sum.getDimension(point)))
    return false;
  return sum.getBody()
      .walk([](SumOp inner) {
        for (unsigned i = 0; i != inner.getCounts().size(); ++i)
          if (inner.getDimension(i) == Dimension::reflection)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// The numbers of leading dimensions after which the sum is worth splitting.
SmallVector<unsigned> splitPoints(ArrayRef<unsigned> costs, unsigned loopOverhead) {
  SmallVector<unsigned> points;
  for (unsigned k = 1; k + 1 < costs.size(); ++k)
    if (costs[k] >= loopOverhead)
      points.push_back(k);
  return points;
}

} // namespace

SmallVector<SumOp> nb::splitSum(SumOp sum, ArrayRef<unsigned> points, FunctionOpInterface func) {
  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  unsigned rank = sum.getDimensions().size();
  SmallVector<unsigned> ends(points);
  ends.push_back(rank);

  SmallVector<SumOp> nest;
  SmallVector<Value> inductionVars;
  std::string names;
  unsigned begin = 0;
  for (unsigned end : ends) {
    auto dimensions = sum.getDimensions().getValue().slice(begin, end - begin);
    auto part =
        SumOp::create(builder, loc, sum.getResultTypes(), sum.getCounts().slice(begin, end - begin),
                      builder.getArrayAttr(dimensions));
    Block *body = builder.createBlock(&part.getBody());
    SmallVector<Dimension> kept;
    for (unsigned i = begin; i < end; ++i) {
      inductionVars.push_back(
          body->addArgument(builder.getIndexType(), sum.getInductionVars()[i].getLoc()));
      kept.push_back(sum.getDimension(i));
    }
    names += (names.empty() ? "" : " | ") + dimensionNames(kept);
    nest.push_back(part);
    begin = end;
  }
  for (unsigned i = 0; i + 1 < nest.size(); ++i) {
    builder.setInsertionPointToEnd(nest[i].getBodyBlock());
    YieldOp::create(builder, loc, nest[i + 1].getResults());
  }
  for (auto [i, iv] : llvm::enumerate(inductionVars))
    sum.getBodyBlock()->getArgument(i).replaceAllUsesWith(iv);
  nest.back().getBodyBlock()->getOperations().splice(nest.back().getBodyBlock()->end(),
                                                     sum.getBodyBlock()->getOperations());
  sum.replaceAllUsesWith(nest.front().getResults());
  sum.erase();
  nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "split", func))
      << remark::add("split a sum: {0}", names);
  return nest;
}

namespace {
/// The cost of a loop beside its body, in floating-point operations.
constexpr unsigned overhead = 8;

struct SplitSumsPass : nb::impl::SplitSumsBase<SplitSumsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      SmallVector<SumOp> sums;
      func.walk([&](SumOp sum) { sums.push_back(sum); });
      for (SumOp sum : sums) {
        SmallVector<unsigned> costs = costByDepth(sum);
        SmallVector<unsigned> points = splitPoints(costs, overhead);
        llvm::erase_if(points, [&](unsigned point) { return keepsTogether(sum, point); });
        LDBG() << "costs by depth: " << llvm::interleaved(costs) << ", split at " << points.size()
               << " place(s): " << sum.getLoc();
        if (!points.empty()) {
          loops += splitSum(sum, points, func).size();
          ++split;
        } else if (costs.size() > 2) {
          nb::remarkMissed(sum.getLoc(), remarkOf(DEBUG_TYPE, "not-split", func)) << remark::add(
              "stays one loop: computations that need only some of its dimensions cost at "
              "most {0}, and a separate loop {1}",
              *std::max_element(costs.begin() + 1, costs.end() - 1), overhead);
        }
      }
    });
  }
};
} // namespace
