#include "lib/Conversion/Loops/EntryPoint.h"

#include "dialect/NB.h"
#include "lib/Conversion/Arith/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace mlir::nb;

EntryPoint::EntryPoint(OpBuilder &builder, Location loc, StringRef name, TypeRange inputs,
                       Type result)
    : b(builder), loc(loc) {
  auto type = b.getFunctionType(inputs, result ? TypeRange{result} : TypeRange{});
  function = func::FuncOp::create(b, loc, name, type);
  for (auto [i, input] : llvm::enumerate(inputs))
    if (isa<LLVM::LLVMPointerType>(input))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock());
}

Value EntryPoint::integer(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value EntryPoint::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
Type EntryPoint::storedType(Type type) {
  return getElementTypeOrSelf(type).isIndex()
             ? withElement(type, IntegerType::get(type.getContext(), 64))
             : type;
}
Value EntryPoint::toIndex(Value i64) {
  return arith::IndexCastOp::create(b, loc, withElement(i64.getType(), b.getIndexType()), i64);
}
Value EntryPoint::fromIndex(Value index) {
  return arith::IndexCastOp::create(b, loc, withElement(index.getType(), b.getI64Type()), index);
}

Value EntryPoint::load(Value pointer, int64_t index, Type type) {
  Type stored = storedType(type);
  Value address = LLVM::GEPOp::create(b, loc, pointer.getType(), stored, pointer,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
  Value value = LLVM::LoadOp::create(b, loc, stored, address, /*alignment=*/8);
  return stored == type ? value : toIndex(value);
}

Value EntryPoint::load(Value pointer, Value index, Type type) {
  Value address = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer,
                                      ArrayRef<LLVM::GEPArg>{fromIndex(index)});
  return LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/8);
}

Value EntryPoint::element(Value pointer, Value index) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getF64Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{fromIndex(index)});
}

Value nb::bufferAt(OpBuilder &b, Location loc, Value pointer, Type element) {
  MLIRContext *context = b.getContext();
  Type i64 = b.getI64Type(), array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      context, {pointer.getType(), pointer.getType(), i64, array, array});
  Value value = LLVM::PoisonOp::create(b, loc, descriptor);
  auto insert = [&](Value part, ArrayRef<int64_t> position) {
    value = LLVM::InsertValueOp::create(b, loc, value, part, position);
  };
  auto integer = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value one = integer(1);
  insert(pointer, {0});
  insert(pointer, {1});
  insert(integer(0), {2});
  insert(integer(std::numeric_limits<int64_t>::max()), {3, 0});
  insert(one, {4, 0});
  Type type = MemRefType::get({ShapedType::kDynamic}, element);
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

Value EntryPoint::buffer(Value pointer, Type element) { return bufferAt(b, loc, pointer, element); }

SmallVector<Value> EntryPoint::argument(int64_t number, TypeRange parts, Type type) {
  Value address = load(input(0), number, input(0).getType());
  SmallVector<Value> values;
  if (isa<TableType, RankedTensorType>(type)) {
    values.push_back(buffer(address, cast<MemRefType>(parts[0]).getElementType()));
    return values;
  }
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (auto memref = dyn_cast<MemRefType>(part))
      values.push_back(buffer(load(address, i, address.getType()), memref.getElementType()));
    else
      values.push_back(load(address, i, part));
  }
  return values;
}
