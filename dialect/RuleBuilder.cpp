#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;

static bool isScalar(Value x) { return isScalarOrLanes(x.getType()); }

//===----------------------------------------------------------------------===//
// Scalars, vectors or matrices
//===----------------------------------------------------------------------===//

Value RuleBuilder::sub(Value x, Value y) {
  return isScalar(x) ? ScalarBuilder::sub(x, y) : Value(SubOp::create(b, loc, x, y));
}

Value RuleBuilder::neg(Value x) { return isScalar(x) ? ScalarBuilder::neg(x) : scale(x, -1); }

Value RuleBuilder::scale(Value x, Value factor) {
  if (!x)
    return nullptr;
  return isScalar(x) ? mul(x, factor) : Value(ScaleOp::create(b, loc, x, factor));
}

Value RuleBuilder::scaleUnlessZero(Value x, Value factor) {
  return matchPattern(factor, m_AnyZeroFloat()) ? Value() : scale(x, factor);
}

Value RuleBuilder::inner(Value x, Value y) {
  if (!x)
    return nullptr;
  if (isa<Vec3Type>(x.getType()))
    return dot(x, y);
  if (isa<Mat3Type>(x.getType()))
    return FrobeniusOp::create(b, loc, x, y);
  return mul(x, y);
}

Value RuleBuilder::select(Value condition, Value x, Value y) {
  x = x ? x : zeroLike(y);
  y = y ? y : zeroLike(x);
  // Part by part: a condition in lanes selects between numbers in lanes only.
  if (isa<Vec3Type>(x.getType()))
    return vec(select(condition, component(x, 0), component(y, 0)),
               select(condition, component(x, 1), component(y, 1)),
               select(condition, component(x, 2), component(y, 2)));
  if (isa<Mat3Type>(x.getType())) {
    SmallVector<Value, 9> elements;
    for (unsigned i = 0; i < 9; ++i)
      elements.push_back(select(condition, element(x, i / 3, i % 3), element(y, i / 3, i % 3)));
    return mat(elements);
  }
  return ScalarBuilder::select(condition, x, y);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value RuleBuilder::reciprocal(Value x) { return div(constant(x.getType(), 1), x); }
Value RuleBuilder::rsqrt(Value x) { return math::RsqrtOp::create(b, loc, x, flags); }
Value RuleBuilder::sin(Value x) { return math::SinOp::create(b, loc, x, flags); }
Value RuleBuilder::cos(Value x) { return math::CosOp::create(b, loc, x, flags); }
Value RuleBuilder::exp(Value x) { return math::ExpOp::create(b, loc, x, flags); }

Value RuleBuilder::signOf(Value x) {
  return math::CopySignOp::create(b, loc, constant(x.getType(), 1), x);
}

Value RuleBuilder::isZero(Value x) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, zeroLike(x));
}

//===----------------------------------------------------------------------===//
// Vectors and matrices
//===----------------------------------------------------------------------===//

Value RuleBuilder::vec(Value x, Value y, Value z) {
  return VecOp::create(b, loc, Vec3Type::get(x.getType()), x, y, z);
}

Value RuleBuilder::mat(ArrayRef<Value> elements) {
  return MatOp::create(b, loc, Mat3Type::get(elements.front().getType()), elements);
}

Value RuleBuilder::component(Value v, unsigned index) {
  return ComponentOp::create(b, loc, v, index);
}

Value RuleBuilder::row(Value m, unsigned index) { return RowOp::create(b, loc, m, index); }

Value RuleBuilder::column(Value m, unsigned index) {
  return vec(element(m, 0, index), element(m, 1, index), element(m, 2, index));
}

Value RuleBuilder::element(Value m, unsigned row, unsigned column) {
  return ElementOp::create(b, loc, m, row, column);
}

Value RuleBuilder::vecWith(Value x, unsigned place) {
  SmallVector<Value, 3> components(3, zeroLike(x));
  components[place] = x;
  return vec(components[0], components[1], components[2]);
}

Value RuleBuilder::matWith(Value x, unsigned place) {
  SmallVector<Value, 9> elements(9, zeroLike(x));
  elements[place] = x;
  return mat(elements);
}

Value RuleBuilder::axis(unsigned index, Value like) {
  return vecWith(constant(elementTypeOf(like.getType()), 1), index);
}

Value RuleBuilder::dot(Value u, Value v) { return DotOp::create(b, loc, u, v); }
Value RuleBuilder::cross(Value u, Value v) { return CrossOp::create(b, loc, u, v); }
Value RuleBuilder::outer(Value u, Value v) { return OuterOp::create(b, loc, u, v); }
Value RuleBuilder::norm(Value v) { return NormOp::create(b, loc, v); }
Value RuleBuilder::normalize(Value v) { return NormalizeOp::create(b, loc, v); }
Value RuleBuilder::transform(Value m, Value v) { return TransformOp::create(b, loc, m, v); }
Value RuleBuilder::multiply(Value m, Value n) { return MultiplyOp::create(b, loc, m, n); }
Value RuleBuilder::transpose(Value m) { return TransposeOp::create(b, loc, m); }

Value RuleBuilder::axisRotation(Value axis, Value angle) {
  return AxisRotationOp::create(b, loc, axis, angle);
}

Value RuleBuilder::turn(Value v, Value gibbs) { return TurnOp::create(b, loc, v, gibbs); }

Value RuleBuilder::turnRate(Value gibbs, Value t) {
  Value square = dot(gibbs, gibbs);
  Value factor = div(constant(square.getType(), 2), add(square, constant(square.getType(), 1)));
  return scale(add(t, cross(gibbs, t)), factor);
}

Value RuleBuilder::inverseLength(Value v) {
  Value length2 = dot(v, v), one = constant(length2.getType(), 1);
  return rsqrt(select(isZero(length2), one, length2));
}

Value RuleBuilder::acrossOverLength(Value t, Value v, Value direction) {
  return scale(sub(t, scale(direction, dot(direction, t))), inverseLength(v));
}

//===----------------------------------------------------------------------===//
// Ops that are their own derivatives, with other operands or orders
//===----------------------------------------------------------------------===//

Value RuleBuilder::coordinateOf(DetectorCoordinateOp op, Value pixelSize) {
  return DetectorCoordinateOp::create(b, loc, op.getType(), op.getPixel(), op.getSubPixel(),
                                      op.getOversample(), pixelSize);
}

Value RuleBuilder::sincg(SincgOp op, unsigned order, unsigned cells) {
  return SincgOp::create(b, loc, op.getType(), op.getX(), op.getN(), op.getOrder() + order,
                         op.getCells() + cells);
}

Value RuleBuilder::ballSlope(BallOp op) {
  return BallOp::create(b, loc, op.getType(), op.getU(), op.getOrder() + 1);
}

Value RuleBuilder::scatterLike(ScatterOp op, Value value) {
  return ScatterOp::create(b, loc, op.getType(), value, op.getIndices(), op.getSizes());
}

Value RuleBuilder::scatterLike(ScatterFactorOp op, Value value) {
  return ScatterFactorOp::create(b, loc, op.getType(), op.getInterpolation(), value, op.getHkl(),
                                 op.getLike(), op.getIntegral(), op.getOrder());
}

Value RuleBuilder::entryOf(ScatterOp op, Value table) {
  Type element = cast<TableType>(op.getType()).getElementType();
  return LookupOp::create(b, loc, element, table, op.getIndices());
}

SmallVector<int64_t, 3> nb::incremented(ArrayRef<int64_t> order, unsigned axis) {
  SmallVector<int64_t, 3> result(order);
  ++result[axis];
  return result;
}
