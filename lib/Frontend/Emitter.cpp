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

Value Emitter::number(double value) { return op<arith::ConstantOp>("c", b.getF64FloatAttr(value)); }

Value Emitter::index(int64_t value) { return op<arith::ConstantIndexOp>("i", value); }

Value Emitter::toFloat(StringRef name, Value index) {
  Value integer = op<arith::IndexCastOp>(name, b.getI64Type(), index);
  return op<arith::SIToFPOp>(name, b.getF64Type(), integer);
}

Value Emitter::lookup(StringRef name, StringRef table, Value index) {
  return op<LookupOp>(name, param(table), ValueRange{index}, /*inbounds=*/true);
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
Value Emitter::sub(StringRef name, Value lhs, Value rhs) {
  return op<arith::SubFOp>(name, lhs, rhs);
}
Value Emitter::within(StringRef name, Value x, Value bound) {
  return op<arith::MaximumFOp>(name, op<arith::NegFOp>(name, bound),
                               op<arith::MinimumFOp>(name, bound, x));
}
RankedTensorType Emitter::imageType(bool single) {
  constexpr int64_t unknown = ShapedType::kDynamic;
  return RankedTensorType::get({unknown, unknown, unknown},
                               single ? Type(b.getF32Type()) : Type(b.getF64Type()));
}

Value Emitter::times(StringRef name, Value value, Value factor) {
  return factor ? mul(name, value, factor) : value;
}

ArrayAttr Emitter::namesOf(const LoopDimensions &dims) {
  SmallVector<Attribute> names;
  for (auto [dimension, count] : dims)
    names.push_back(DimensionAttr::get(b.getContext(), dimension));
  return b.getArrayAttr(names);
}

SmallVector<Value> Emitter::countsOf(const LoopDimensions &dims) {
  return llvm::map_to_vector(dims, [](auto dim) { return dim.second; });
}

Block *Emitter::startBody(Operation *loop, const LoopDimensions &dims) {
  Block *body = b.createBlock(&loop->getRegion(0));
  for (auto [dimension, count] : dims)
    body->addArgument(b.getIndexType(),
                      NameLoc::get(b.getStringAttr(stringifyDimension(dimension)), loop->getLoc()));
  return body;
}

Value Emitter::sum(StringRef name, const LoopDimensions &dims,
                   function_ref<Value(ValueRange)> term) {
  Location loc = named(name);
  auto sum = SumOp::create(b, loc, TypeRange{b.getF64Type()}, countsOf(dims), namesOf(dims));
  OpBuilder::InsertionGuard guard(b);
  Block *body = startBody(sum, dims);
  YieldOp::create(b, loc, term(body->getArguments()));
  return sum.getResult(0);
}
