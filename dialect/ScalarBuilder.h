// Arithmetic of scalars and of lanes of them.
#ifndef NB_DIALECT_SCALARBUILDER_H
#define NB_DIALECT_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::nb {

/// The flags of arithmetic that is physics: passes may rewrite it as they may nb ops, see the
/// dialect's description. Down to LLVM goes `contract` alone.
constexpr arith::FastMathFlags physicsFlags = arith::FastMathFlags::fast;

/// The fast-math flags of an op; none where it has none.
arith::FastMathFlags flagsOf(Operation *op);

/// Emits arith and math ops on values of one type, with the same flags.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc,
                arith::FastMathFlags flags = arith::FastMathFlags::contract)
      : b(builder), loc(loc), flags(flags) {}

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
  arith::FastMathFlags flags;
};

} // namespace mlir::nb

#endif
