#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

#include "dialect/NBDialect.cpp.inc"
#include "dialect/NBEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/NBAttrs.cpp.inc"

void NBDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/NBAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/NBOps.cpp.inc"
      >();
  attachArithDerivatives(getContext());
}

Operation *NBDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
