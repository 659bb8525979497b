#include "dialect/PassStatistics.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SplitProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-factor-sums"

namespace mlir::nb {
#define GEN_PASS_DEF_FACTORSUMS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// The scf.if that decides, once for the whole sum, whether its terms are all 0; or null.
scf::IfOp conditionOfAllTerms(SumOp sum) {
  YieldOp yield = sum.getYield();
  auto branch = yield.getValues().front().getDefiningOp<scf::IfOp>();
  if (!branch || branch->getBlock() != sum.getBodyBlock() ||
      isDefinedIn(branch.getCondition(), sum) || !isMemoryEffectFree(sum) ||
      !llvm::equal(branch.getResults(), yield.getValues()) ||
      !llvm::all_of(branch.getResults(), [](Value result) { return result.hasOneUse(); }))
    return {};
  auto isZero = [](Value value) { return matchPattern(value, m_AnyZeroFloat()); };
  return llvm::all_of(branch.elseYield().getResults(), isZero) ? branch : scf::IfOp();
}

/// `sum(c ? x : 0)` as `c ? sum(x) : 0`.
bool takeOutCondition(SumOp sum) {
  scf::IfOp branch = conditionOfAllTerms(sum);
  if (!branch)
    return false;
  OpBuilder builder(sum);
  auto outer = scf::IfOp::create(builder, branch.getLoc(), sum.getResultTypes(),
                                 branch.getCondition(), /*withElseRegion=*/true);
  sum.replaceAllUsesWith(outer.getResults());
  builder.setInsertionPointToStart(outer.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : sum.getResultTypes())
    zeros.push_back(
        arith::ConstantOp::create(builder, branch.getLoc(), type, builder.getZeroAttr(type)));
  scf::YieldOp::create(builder, branch.getLoc(), zeros);
  builder.setInsertionPointToStart(outer.thenBlock());
  auto outerYield = scf::YieldOp::create(builder, branch.getLoc(), sum.getResults());
  sum->moveBefore(outerYield);

  scf::YieldOp innerYield = branch.thenYield();
  sum.getYield()->setOperands(innerYield.getResults());
  innerYield.erase();
  sum.getBodyBlock()->getOperations().splice(branch->getIterator(),
                                             branch.thenBlock()->getOperations());
  branch.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The cost of the ops that the sum's terms are computed from.
unsigned costOfTerms(SumOp sum) {
  DenseSet<Operation *> needed;
  unsigned cost = 0;
  Block *body = sum.getBodyBlock();
  for (Operation &op : llvm::reverse(*body)) {
    auto isNeeded = [&](Operation *user) {
      return needed.contains(body->findAncestorOpInBlock(*user));
    };
    if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>() ||
        llvm::any_of(op.getUsers(), isNeeded)) {
      needed.insert(&op);
      cost += costOf(&op);
    }
  }
  return cost;
}

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.getNumRegions() == 0 && isOpTriviallyDead(&op))
      op.erase();
}

/// A factor taken out of what a sum yields or scatters.
struct TakenFactor {
  OpOperand *operand;
  Value before;
  Product product;
};

/// An entry of a table cannot be scaled after the sum over it. Where the factor is given to that
/// vector of an outer product that does not change in the sum either, it costs nothing inside.
bool giveFactorsToOuter(ScatterOp scatter, const Product &product, SumOp sum) {
  auto outer = product.rest.getDefiningOp<OuterOp>();
  if (!outer || isDefinedIn(outer.getRhs(), sum))
    return false;
  OpBuilder builder(sum);
  Value scaled = multiply(outer.getRhs(), product, builder);
  builder.setInsertionPoint(scatter);
  Value value = OuterOp::create(builder, outer.getLoc(), outer.getLhs(), scaled);
  scatter.getValueMutable().assign(value);
  return true;
}

/// Rewrites the terms without the factors that do not change.
SmallVector<TakenFactor> takeFactors(SumOp sum) {
  SmallVector<TakenFactor> taken;
  ProductSplitter splitter(sum);
  YieldOp yield = sum.getYield();
  for (OpOperand &term : yield->getOpOperands()) {
    auto scatter = term.get().getDefiningOp<ScatterOp>();
    if (scatter && scatter->getBlock() != yield->getBlock())
      continue;
    OpOperand &operand = scatter ? scatter.getValueMutable() : term;
    Value before = operand.get();
    Product product = splitter.split(before);
    if (product.isTrivial() || !product.rest)
      continue;
    if (!scatter)
      operand.set(product.rest);
    else if (!giveFactorsToOuter(scatter, product, sum))
      continue;
    taken.push_back({&operand, before, std::move(product)});
  }
  return taken;
}

/// `sum(x * w)` as `sum(x) * w` where that makes the body cheaper.
unsigned factorSum(SumOp sum) {
  const unsigned before = costOfTerms(sum);
  SmallVector<TakenFactor> taken = takeFactors(sum);
  const bool cheaper = costOfTerms(sum) < before;
  unsigned count = 0;
  OpBuilder builder(sum->getContext());
  for (TakenFactor &factor : taken) {
    if (!cheaper) {
      factor.operand->set(factor.before);
      continue;
    }
    count += factor.product.factors.size() + (factor.product.constant != 1);
    if (!isa<YieldOp>(factor.operand->getOwner()))
      continue;
    Value result = sum->getResult(factor.operand->getOperandNumber());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    builder.setInsertionPointAfter(sum);
    Value product = multiply(result, factor.product, builder);
    for (OpOperand *use : uses)
      use->set(product);
  }
  eraseDeadOps(*sum.getBodyBlock());
  if (!taken.empty() && !cheaper)
    eraseDeadOps(*sum->getBlock()); // terms that were scaled for outer products
  return count;
}

struct Left {
  unsigned factors = 0, conditions = 0;
};

/// Returns what left sums.
Left factorSums(FunctionOpInterface func) {
  Left left;
  // Post-order: what leaves an inner sum can leave the one around it next.
  SmallVector<SumOp> sums;
  func.walk([&](SumOp sum) { sums.push_back(sum); });
  for (SumOp sum : sums) {
    // Factors of the condition hide it, factors under the condition are hidden by it.
    unsigned taken = factorSum(sum);
    if (takeOutCondition(sum)) {
      taken += factorSum(sum);
      ++left.conditions;
      nb::remarkPassed(sum.getLoc(), remarkOf(DEBUG_TYPE, "condition", func))
          << "took a condition out of a sum";
    }
    LDBG() << taken << " factor(s) leave the sum at " << sum.getLoc();
    left.factors += taken;
    if (taken != 0)
      nb::remarkPassed(sum.getLoc(), remarkOf(DEBUG_TYPE, "factored", func))
          << remark::add("took {0} factor(s) out of a sum", taken);
  }
  return left;
}

struct FactorSumsPass : nb::impl::FactorSumsBase<FactorSumsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      const Left left = factorSums(func);
      factors += left.factors;
      conditions += left.conditions;
    });
  }
};
} // namespace
