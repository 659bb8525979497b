// The vocabulary of derivative rules.
//
// The tables of rules (NB_Rule in the .td files, ArithDerivatives.cpp) and the expansions of
// composite ops are written in these words. Values are scalars, vectors or matrices over one
// element type.
#ifndef NB_DIALECT_RULEBUILDER_H
#define NB_DIALECT_RULEBUILDER_H

#include "dialect/NB.h"
#include "dialect/ScalarBuilder.h"

namespace mlir::nb {

class RuleBuilder : public ScalarBuilder {
public:
  RuleBuilder(OpBuilder &builder, Location loc, arith::FastMathFlags flags = physicsFlags)
      : ScalarBuilder(builder, loc, flags) {}

  Value zeroLike(Value x) { return zeroOf(b, loc, x.getType()); }

  // Scalars, vectors or matrices.
  Value add(Value x, Value y) { return addValues(b, loc, x, y); }
  Value sub(Value x, Value y);
  Value neg(Value x);
  Value scale(Value x, Value factor);
  Value scale(Value x, double factor) {
    return scale(x, constant(elementTypeOf(x.getType()), factor));
  }
  /// Null where the factor is the constant 0, as the depth of a thin sensor's surface is.
  Value scaleUnlessZero(Value x, Value factor);
  /// The sum of the products of the elements; null is zero, as in scale.
  Value inner(Value x, Value y);
  /// `x` where the condition holds, otherwise `y` (0 when it is null).
  Value select(Value condition, Value x, Value y);

  // Scalars.
  Value reciprocal(Value x);
  Value rsqrt(Value x); ///< 1 / sqrt(x)
  Value sin(Value x);
  Value cos(Value x);
  Value exp(Value x);
  /// 1 with the sign of x.
  Value signOf(Value x);
  Value isZero(Value x);

  // Vectors and matrices.
  Value vec(Value x, Value y, Value z);
  Value mat(ArrayRef<Value> elements);
  Value component(Value v, unsigned index);
  Value row(Value m, unsigned index);
  Value column(Value m, unsigned index);
  Value element(Value m, unsigned row, unsigned column);
  /// The vector or matrix that is x at one place, counted row by row, and 0 elsewhere.
  Value vecWith(Value x, unsigned place);
  Value matWith(Value x, unsigned place);
  /// The unit vector along an axis, over the element type of `like`.
  Value axis(unsigned index, Value like);
  Value dot(Value u, Value v);
  Value cross(Value u, Value v);
  Value outer(Value u, Value v);
  Value norm(Value v);
  Value normalize(Value v);
  Value transform(Value m, Value v);
  Value multiply(Value m, Value n);
  Value transpose(Value m);
  Value axisRotation(Value axis, Value angle);
  Value turn(Value v, Value gibbs);
  /// The rotation vector by which a rotation goes on where its Gibbs vector changes by t.
  Value turnRate(Value gibbs, Value t);
  /// 1 / |v|, 1 at v = 0: of the lowering to arithmetic nb.normalize shares all but the choice.
  Value inverseLength(Value v);
  /// The part of t across the unit vector `direction` of v, divided by the length of v; t itself
  /// at v = 0, where `direction` is 0.
  Value acrossOverLength(Value t, Value v, Value direction);

protected:
  Value coordinateOf(DetectorCoordinateOp op, Value pixelSize);
  Value sincg(SincgOp op, unsigned order, unsigned cells);
  Value ballSlope(BallOp op);
  Value scatterLike(ScatterOp op, Value value);
  Value scatterLike(ScatterFactorOp op, Value value);
  Value entryOf(ScatterOp op, Value table);

  /// An operand, or null where an optional one is absent.
  static Value operandOr(Operation *op, unsigned index) {
    return index < op->getNumOperands() ? op->getOperand(index) : Value();
  }
};

/// `order` with one more at `axis`.
SmallVector<int64_t, 3> incremented(ArrayRef<int64_t> order, unsigned axis);

// Rules of nb.curved_position, by the number of the operand, of nb.grating, nb.structure_factor and
// nb.scatter_factor that are longer than a line.
Value curvedTangent(RuleBuilder &r, CurvedPositionOp op, unsigned operand, Value tangent);
Value curvedAdjoint(RuleBuilder &r, CurvedPositionOp op, unsigned operand, Value adjoint);
Value gratingGradient(RuleBuilder &r, GratingOp op, bool byCells);
Value factorOfIndex(RuleBuilder &r, StructureFactorOp op, Value tangent);
Value indexOfFactor(RuleBuilder &r, StructureFactorOp op, Value adjoint);
Value factorOfGrid(RuleBuilder &r, StructureFactorOp op, Value grid);
Value gridOfFactor(RuleBuilder &r, StructureFactorOp op, Value adjoint);
Value whereDefault(RuleBuilder &r, StructureFactorOp op, Value x);
Value scatterTangent(RuleBuilder &r, ScatterFactorOp op, Value tangent);
Value scatterGradient(RuleBuilder &r, ScatterFactorOp op, Value grid);
Value readBack(RuleBuilder &r, ScatterFactorOp op, Value grid, ArrayRef<int64_t> order);

} // namespace mlir::nb

#endif
