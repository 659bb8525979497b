// Arithmetic of scalars and of lanes of them.
#ifndef NB_DIALECT_SCALARBUILDER_H
#define NB_DIALECT_SCALARBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::nb {

/// Emits arith and math ops on values of one type. Operations may contract into fused
/// multiply-adds; nothing else is relaxed.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value constant(Type type, double value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, double y) { return mul(x, constant(x.getType(), y)); }
  Value div(Value x, Value y);
  Value neg(Value x);
  Value abs(Value x);
  Value sqrt(Value x);
  Value less(Value x, Value y);
  Value select(Value condition, Value x, Value y);

  OpBuilder &builder() { return b; }
  Location location() const { return loc; }

protected:
  OpBuilder &b;
  Location loc;
};

} // namespace mlir::nb

#endif
