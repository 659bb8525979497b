#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nb;

Value NeighbourOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  RuleBuilder r(b, loc);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value side =
      arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, getAround(), getAround()), one);
  Value nearest = NearestMillerIndexOp::create(b, loc, getHkl());
  Type element = elementTypeOf(getType());
  // The last digit is that of l.
  Value rest = getNumber(), components[3];
  for (unsigned i : {2, 1, 0}) {
    Value digit = i == 0 ? rest : Value(arith::RemUIOp::create(b, loc, rest, side));
    rest = i == 0 ? rest : Value(arith::DivUIOp::create(b, loc, rest, side));
    Value step = arith::SubIOp::create(b, loc, digit, getAround());
    Value whole = arith::IndexCastOp::create(b, loc, b.getI64Type(), step);
    Value number = arith::SIToFPOp::create(b, loc, getElementTypeOrSelf(element), whole);
    if (auto lanes = dyn_cast<VectorType>(element))
      number = vector::BroadcastOp::create(b, loc, lanes, number);
    components[i] = r.add(r.component(nearest, i), number);
  }
  return r.vec(components[0], components[1], components[2]);
}
