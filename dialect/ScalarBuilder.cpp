#include "dialect/ScalarBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

arith::FastMathFlags nb::flagsOf(Operation *op) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr flags =
      arithmetic ? arithmetic.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return flags ? flags.getValue() : arith::FastMathFlags::none;
}

Value ScalarBuilder::constant(Type type, double value) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto lanes = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(lanes, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value ScalarBuilder::add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y, flags); }
Value ScalarBuilder::sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y, flags); }
Value ScalarBuilder::mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y, flags); }
Value ScalarBuilder::div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y, flags); }
Value ScalarBuilder::neg(Value x) { return arith::NegFOp::create(b, loc, x, flags); }
Value ScalarBuilder::abs(Value x) { return math::AbsFOp::create(b, loc, x, flags); }
Value ScalarBuilder::sqrt(Value x) { return math::SqrtOp::create(b, loc, x, flags); }

Value ScalarBuilder::less(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
}

Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
