#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
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
  func.walk([&](SumOp sum) {
    if (unsigned taken = factorSum(sum))
      remark::passed(sum.getLoc(), hoistRemark("factored", func))
          << remark::add("took {0} factor(s) out of a sum", taken);
  });
}
