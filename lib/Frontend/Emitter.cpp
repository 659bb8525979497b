#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

Value Emitter::param(StringRef name) const {
  Value value = parameters.lookup(name);
  assert(value && "the variant's parameters include all that its physics uses");
  return value;
}

Location Emitter::named(StringRef name) const {
  return NameLoc::get(b.getStringAttr(name), UnknownLoc::get(b.getContext()));
}

Value Emitter::number(double value) {
  return op<arith::ConstantOp>("c", b.getF64FloatAttr(value));
}

Value Emitter::index(int64_t value) { return op<arith::ConstantIndexOp>("i", value); }

Value Emitter::toFloat(StringRef name, Value index) {
  Value integer = op<arith::IndexCastOp>(name, b.getI64Type(), index);
  return op<arith::SIToFPOp>(name, b.getF64Type(), integer);
}

Value Emitter::lookup(StringRef name, StringRef table, Value index) {
  return op<LookupOp>(name, param(table), ValueRange{index});
}

Value Emitter::mul(StringRef name, Value lhs, Value rhs) {
  return op<arith::MulFOp>(name, lhs, rhs);
}
Value Emitter::div(StringRef name, Value lhs, Value rhs) {
  return op<arith::DivFOp>(name, lhs, rhs);
}
Value Emitter::add(StringRef name, Value lhs, Value rhs) {
  return op<arith::AddFOp>(name, lhs, rhs);
}
