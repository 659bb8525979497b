#include "dialect/NB.h"
#include "dialect/ScalarBuilder.h"

using namespace mlir;
using namespace mlir::nb;

#include "dialect/Derivatives.cpp.inc"

Value nb::zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (!isa<Vec3Type, Mat3Type>(type))
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value zero = zeroOf(builder, loc, elementTypeOf(type));
  if (isa<Vec3Type>(type))
    return VecOp::create(builder, loc, type, zero, zero, zero);
  return MatOp::create(builder, loc, type, SmallVector<Value>(9, zero));
}

Value nb::addValues(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  if (!isScalarOrLanes(lhs.getType()))
    return AddOp::create(builder, loc, lhs, rhs);
  return arith::AddFOp::create(builder, loc, lhs, rhs, physicsFlags);
}
