#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

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
      isDefinedIn(branch.getCondition(), sum) || !isPure(sum) ||
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
    zeros.push_back(arith::ConstantOp::create(builder, branch.getLoc(), type,
                                              builder.getZeroAttr(type)));
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

/// The factors of a product, those that change in the sum and those that do not.
struct Factors {
  SmallVector<Value> inside;
  SmallVector<Value> outside;
};

void collectFactors(Value value, SumOp sum, Factors &factors) {
  if (!isDefinedIn(value, sum)) {
    factors.outside.push_back(value);
    return;
  }
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (product && product->hasOneUse() && product->getBlock() == sum.getBodyBlock()) {
    collectFactors(product.getLhs(), sum, factors);
    collectFactors(product.getRhs(), sum, factors);
    return;
  }
  factors.inside.push_back(value);
}

Value multiply(ArrayRef<Value> factors, Location loc, OpBuilder &builder) {
  Value product = factors.front();
  for (Value factor : factors.drop_front())
    product = arith::MulFOp::create(builder, loc, product, factor);
  return product;
}

/// Erases the products that nothing uses any more.
void eraseProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->use_empty())
    return;
  Value lhs = product.getLhs(), rhs = product.getRhs();
  product.erase();
  eraseProduct(lhs);
  eraseProduct(rhs);
}

/// `sum(x * w)` as `sum(x) * w`. The factors outside are multiplied one by one, so that each can
/// go on to leave the next sum.
unsigned factorSum(SumOp sum) {
  unsigned taken = 0;
  YieldOp yield = sum.getYield();
  for (auto [i, result] : llvm::enumerate(sum.getResults())) {
    Value term = yield.getValues()[i];
    Factors factors;
    collectFactors(term, sum, factors);
    if (factors.inside.empty() || factors.outside.empty())
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    OpBuilder builder(yield);
    yield->setOperand(i, multiply(factors.inside, term.getLoc(), builder));
    builder.setInsertionPointAfter(sum);
    factors.outside.insert(factors.outside.begin(), result);
    Value product = multiply(factors.outside, term.getLoc(), builder);
    for (OpOperand *use : uses)
      use->set(product);
    eraseProduct(term);
    taken += factors.outside.size() - 1;
  }
  return taken;
}
} // namespace

void nb::factorSums(FunctionOpInterface func) {
  // Post-order: what leaves an inner sum can leave the one around it next.
  SmallVector<SumOp> sums;
  func.walk([&](SumOp sum) { sums.push_back(sum); });
  for (SumOp sum : sums) {
    // Factors of the condition hide it, factors under the condition are hidden by it.
    unsigned taken = factorSum(sum);
    if (takeOutCondition(sum)) {
      taken += factorSum(sum);
      remark::passed(sum.getLoc(), hoistRemark("condition", func))
          << "took a condition out of a sum";
    }
    if (taken != 0)
      remark::passed(sum.getLoc(), hoistRemark("factored", func))
          << remark::add("took {0} factor(s) out of a sum", taken);
  }
}
