#include "lib/Transforms/SplitProducts.h"

#include "dialect/ScalarBuilder.h"
#include "lib/Transforms/Invariants.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;

static bool isNumber(Value value) { return isa<FloatType>(value.getType()); }

/// May a factor leave the sum of its products? So it may in physics; a product of arith says so.
static bool mayDistribute(Operation *op) {
  using enum arith::FastMathFlags;
  return !isa<arith::ArithFastMathInterface>(op) ||
         arith::bitEnumContainsAll(flagsOf(op), reassoc | nnan | ninf);
}

/// Linear in each operand.
static bool isLinear(Operation *op) {
  return isa<arith::NegFOp, ScaleOp, DotOp, CrossOp, OuterOp, TransformOp, MultiplyOp, FrobeniusOp,
             MillerIndexOp, TransposeOp, ComponentOp, ElementOp, RowOp>(op);
}

/// The op with other operands.
static Value rebuild(Operation *op, ArrayRef<Value> operands) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

static void appendFactors(Product &product, const Product &more) {
  llvm::append_range(product.factors, more.factors);
  product.constant *= more.constant;
}

Product ProductSplitter::ofScalarProduct(Operation *op) {
  Product result;
  for (Value operand : op->getOperands())
    appendFactors(result, split(operand));
  if (result.isTrivial())
    return {op->getResult(0)};
  Value lhs = split(op->getOperand(0)).rest, rhs = split(op->getOperand(1)).rest;
  result.rest = lhs && rhs ? rebuild(op, {lhs, rhs}) : lhs ? lhs : rhs;
  return result;
}

/// (F L)^2 as L^2 F F. The square of the lattice factor alone keeps its name: squares need no sign.
Product ProductSplitter::ofIntensity(IntensityOp op) {
  Product result = split(op.getStructureFactor());
  if (result.rest || result.isTrivial())
    return {op.getResult()};
  appendFactors(result, Product(result));
  OpBuilder builder(op);
  Value one =
      arith::ConstantOp::create(builder, op.getLoc(), builder.getFloatAttr(op.getType(), 1));
  result.rest = rebuild(op, {one, op.getLatticeFactor()});
  return result;
}

Product ProductSplitter::ofLinear(Operation *op) {
  Product result;
  SmallVector<Value> rests;
  for (Value operand : op->getOperands()) {
    const Product &part = split(operand);
    // A number of which nothing is left scales the result away only where that is a product.
    if (!part.rest && !isa<ScaleOp>(op)) {
      rests.push_back(operand);
      continue;
    }
    appendFactors(result, part);
    rests.push_back(part.rest);
  }
  if (result.isTrivial())
    return {op->getResult(0)};
  if (isa<ScaleOp>(op) && !rests[1])
    result.rest = rests[0];
  else
    result.rest = rebuild(op, rests);
  return result;
}

using ValueList = SmallVector<Value, 2>;

/// `from`, without one value for each of `taken` that is in it.
static ValueList without(ValueList from, ArrayRef<Value> taken) {
  for (Value value : taken)
    if (auto found = llvm::find(from, value); found != from.end())
      from.erase(found);
  return from;
}

static ValueList common(const ValueList &a, const ValueList &b) {
  return without(a, without(a, b));
}

/// A sum, or a vector, has the factors that all of its terms have. The others stay with
/// their terms.
Product ProductSplitter::ofTerms(Operation *op) {
  if (isa<arith::AddFOp, AddOp>(op) && op->getOperand(0) == op->getOperand(1)) {
    Product twice = split(op->getOperand(0));
    twice.constant *= 2;
    return twice;
  }
  Product result{op->getResult(0), split(op->getOperand(0)).factors,
                 split(op->getOperand(0)).constant};
  for (Value operand : op->getOperands()) {
    const Product &term = split(operand);
    if (!term.rest)
      return {op->getResult(0)};
    result.factors = common(result.factors, term.factors);
    if (term.constant != result.constant)
      result.constant = 1;
  }
  if (result.isTrivial())
    return result;
  OpBuilder builder(op);
  SmallVector<Value> rests;
  for (Value operand : op->getOperands()) {
    Product own = split(operand);
    own.factors = without(own.factors, result.factors);
    own.constant /= result.constant;
    rests.push_back(own.isTrivial() ? own.rest : multiply(own.rest, own, builder));
  }
  result.rest = rebuild(op, rests);
  return result;
}

Product ProductSplitter::find(Value value) {
  // Factors that do not change have no lanes.
  if (lanesOf(value.getType()) != 0)
    return {value};
  FloatAttr number;
  if (isNumber(value) && matchPattern(value, m_Constant(&number)))
    return {Value(), {}, number.getValueAsDouble()};
  if (!isDefinedIn(value, sum))
    return isNumber(value) ? Product{Value(), {value}} : Product{value};
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != sum.getBodyBlock() || op->getNumResults() != 1 || !mayDistribute(op))
    return {value};
  if (isa<arith::MulFOp>(op))
    return ofScalarProduct(op);
  if (auto intensity = dyn_cast<IntensityOp>(op))
    return ofIntensity(intensity);
  if (isLinear(op))
    return ofLinear(op);
  if (isa<arith::AddFOp, arith::SubFOp, AddOp, SubOp, VecOp>(op) &&
      !isa<TableType, HklGridType>(value.getType()))
    return ofTerms(op);
  return {value};
}

const Product &ProductSplitter::split(Value value) {
  auto found = known.find(value);
  if (found == known.end()) {
    Product product = find(value);
    found = known.try_emplace(value, std::move(product)).first;
  }
  return found->second;
}

static unsigned depthOf(Value value) {
  unsigned depth = 0;
  for (Region *region = value.getParentRegion(); region; region = region->getParentRegion())
    ++depth;
  return depth;
}

/// Was `a` there before `b`? Any fixed order would do.
static bool isBefore(Value a, Value b) {
  unsigned depthA = depthOf(a), depthB = depthOf(b);
  if (depthA != depthB)
    return depthA < depthB;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (first && second && first->getBlock() == second->getBlock() && first != second)
    return first->isBeforeInBlock(second);
  auto number = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  };
  return !first && second ? true : first && !second ? false : number(a) < number(b);
}

Value nb::multiply(Value value, const Product &product, OpBuilder &builder) {
  Location loc = value.getLoc();
  SmallVector<Value, 2> factors(product.factors);
  llvm::sort(factors, isBefore);
  Value factor;
  if (product.constant != 1)
    factor = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(elementTypeOf(value.getType()), product.constant));
  for (Value next : factors)
    factor = factor ? Value(arith::MulFOp::create(builder, loc, factor, next, physicsFlags)) : next;
  if (isNumber(value))
    return arith::MulFOp::create(builder, loc, value, factor, physicsFlags);
  return ScaleOp::create(builder, loc, value, factor);
}
