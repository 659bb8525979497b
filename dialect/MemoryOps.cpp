#include "dialect/NB.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

SmallVector<Type> nb::partsOf(Type type) {
  MLIRContext *context = type.getContext();
  auto flat = [](Type element) { return MemRefType::get({ShapedType::kDynamic}, element); };
  return TypeSwitch<Type, SmallVector<Type>>(type)
      .Case<Vec3Type>([](auto t) { return SmallVector<Type>(3, t.getElementType()); })
      .Case<Mat3Type>([](auto t) { return SmallVector<Type>(9, t.getElementType()); })
      .Case<TableType>([&](auto) { return SmallVector<Type>{flat(Float64Type::get(context))}; })
      .Case<RankedTensorType>([&](auto t) { return SmallVector<Type>{flat(t.getElementType())}; })
      .Case<HklGridType>([&](auto t) {
        SmallVector<Type> parts(6, IndexType::get(context));
        parts.push_back(flat(t.getElementType()));
        return parts;
      })
      .Default([](Type t) { return SmallVector<Type>{t}; });
}

LogicalResult PartsOp::verify() {
  auto argument = dyn_cast<BlockArgument>(getWhole());
  if (!argument || !isa<FunctionOpInterface>(argument.getOwner()->getParentOp())) // C1
    return emitOpError("only an argument of a function has parts");
  SmallVector<Type> expected = partsOf(getWhole().getType());
  if (getParts().getTypes() != TypeRange(expected)) // C2
    return emitOpError("the parts of ") << getWhole().getType() << " are (" << TypeRange(expected)
                                        << "), but got (" << getParts().getTypes() << ")";
  return success();
}

/// The type of the scalars that a value consists of.
static Type scalarOf(Type type) {
  if (auto image = dyn_cast<RankedTensorType>(type))
    return image.getElementType();
  if (auto grid = dyn_cast<HklGridType>(type))
    return grid.getElementType();
  if (auto table = dyn_cast<TableType>(type))
    return elementTypeOf(table.getElementType());
  return elementTypeOf(type);
}

LogicalResult StoredOp::verify() {
  auto expected = MemRefType::get({ShapedType::kDynamic}, scalarOf(getType()));
  if (getBuffer().getType() != expected) // C1
    return emitOpError("a value of type ")
           << getType() << " lies in " << expected << ", but got " << getBuffer().getType();
  return success();
}
