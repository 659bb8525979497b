// A C function of the kernel ABI.
#ifndef NB_CONVERSION_ENTRYPOINT_H
#define NB_CONVERSION_ENTRYPOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::nb {

/// An entry point under construction: `void NAME(const void *const *arguments, ...)`. Integers and
/// pointers are its arguments.
struct EntryPoint {
  EntryPoint(OpBuilder &b, Location loc, StringRef name, TypeRange inputs, Type result);

  /// pointer[index], as a value of `type`.
  Value load(Value pointer, int64_t index, Type type);
  Value load(Value pointer, Value index, Type type);
  /// Address of the element at `index` (of index type) of an array of doubles.
  Value element(Value pointer, Value index);
  /// A one-dimensional memref over memory at `pointer`.
  Value buffer(Value pointer, Type element);
  /// The values that a function argument of `type` splits into, read through arguments[number].
  SmallVector<Value> argument(int64_t number, TypeRange parts, Type type);
  Value integer(int64_t value);
  Value index(int64_t value);
  /// How memory holds it: an index is an i64 there.
  static Type storedType(Type type);
  Value toIndex(Value i64); ///< takes a number or a vector
  Value fromIndex(Value index);

  OpBuilder &b;
  Location loc;
  func::FuncOp function;
  Value input(unsigned i) { return function.getArgument(i); }
};

/// A one-dimensional memref over memory at `pointer`.
Value bufferAt(OpBuilder &b, Location loc, Value pointer, Type element);

} // namespace mlir::nb

#endif
