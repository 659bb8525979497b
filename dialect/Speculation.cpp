#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;

/// Is `index` from 0 to below `count` wherever both are known?
static bool isBelow(Value index, Value count) {
  if (auto remainder = index.getDefiningOp<arith::RemUIOp>())
    return remainder.getRhs() == count;
  APInt number, limit;
  const bool limited = matchPattern(count, m_ConstantInt(&limit));
  if (matchPattern(index, m_ConstantInt(&number)))
    return limited && !number.isNegative() && number.slt(limit);
  auto variable = dyn_cast<BlockArgument>(index);
  auto loop = variable ? dyn_cast<LoopOp>(variable.getOwner()->getParentOp()) : LoopOp();
  if (!loop)
    return false;
  Value rounds = loop.getCounts()[variable.getArgNumber()];
  return rounds == count ||
         (limited && matchPattern(rounds, m_ConstantInt(&number)) && number.sle(limit));
}

static Speculation::Speculatability speculatableIf(bool safe) {
  return safe ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

static Speculation::Speculatability whereAllBelow(ValueRange indices, ValueRange counts) {
  return speculatableIf(llvm::all_of(llvm::zip_equal(indices, counts),
                                     [](auto pair) { return std::apply(isBelow, pair); }));
}

Speculation::Speculatability LookupOp::getSpeculatability() {
  auto made = getTable().getDefiningOp<TabulateOp>();
  return made && !getInbounds() ? whereAllBelow(getIndices(), made.getCounts())
                                : speculatableIf(getInbounds());
}

Speculation::Speculatability DeviateOp::getSpeculatability() {
  return speculatableIf(getInbounds());
}

Speculation::Speculatability ScatterOp::getSpeculatability() {
  return whereAllBelow(getIndices(), getSizes());
}

Speculation::Speculatability ReadPixelOp::getSpeculatability() {
  auto pixel = dyn_cast<BlockArgument>(getFast());
  auto image = pixel ? dyn_cast<ImageOp>(pixel.getOwner()->getParentOp()) : ImageOp();
  return speculatableIf(
      image && llvm::equal(getOperands().drop_front(), image.getBodyBlock()->getArguments()));
}
