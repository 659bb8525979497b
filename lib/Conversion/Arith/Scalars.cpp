#include "lib/Conversion/Arith/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

Type nb::withElement(Type like, Type element) {
  auto lanes = dyn_cast<VectorType>(like);
  return lanes ? Type(lanes.clone(element)) : element;
}

int64_t nb::componentCount(Type type) {
  return isa<Vec3Type>(type) ? 3 : isa<Mat3Type>(type) ? 9 : 1;
}

/// A constant has the place of what needs it, and not its name.
static Location unnamed(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  return name ? name.getChildLoc() : loc;
}

Value nb::indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, unnamed(loc), value);
}

Value nb::zeroConstant(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, unnamed(loc), b.getZeroAttr(type));
}

Value nb::product(OpBuilder &b, Location loc, ValueRange factors) {
  Value none = indexConstant(b, loc, 0), result;
  for (Value factor : factors) {
    Value count = arith::MaxSIOp::create(b, loc, factor, none);
    result = result ? arith::MulIOp::create(b, loc, result, count) : count;
  }
  return result;
}

SmallVector<Value> nb::scalarsOf(OpBuilder &b, Location loc, Value value) {
  SmallVector<Value> scalars;
  if (isa<Vec3Type>(value.getType()))
    for (int64_t i = 0; i < 3; ++i)
      scalars.push_back(ComponentOp::create(b, loc, value, i));
  else if (isa<Mat3Type>(value.getType()))
    for (int64_t i = 0; i < 9; ++i)
      scalars.push_back(ElementOp::create(b, loc, value, i / 3, i % 3));
  else
    scalars.push_back(value);
  return scalars;
}

Value nb::fromScalars(OpBuilder &b, Location loc, Type type, ArrayRef<Value> scalars) {
  if (isa<Vec3Type>(type))
    return VecOp::create(b, loc, scalars[0], scalars[1], scalars[2]);
  if (isa<Mat3Type>(type))
    return MatOp::create(b, loc, type, scalars);
  return scalars.front();
}
