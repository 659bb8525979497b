#include "dialect/RuleBuilder.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// A rotation about the axis n as nb.axis_rotation has it: v -> n (n.v) (1 - cos) + v cos + (n
/// cross v) sin.
struct Turn {
  RuleBuilder &r;
  Value axis, angle;

  Value of(Value v) const { return r.transform(r.axisRotation(axis, angle), v); }
  /// The transposed one.
  Value back(Value v) const { return r.transform(r.transpose(r.axisRotation(axis, angle)), v); }
  Value versine() const { return r.sub(r.constant(angle.getType(), 1), r.cos(angle)); }
  /// The derivative of the turned v with respect to the angle.
  Value slope(Value v) const {
    Value across = r.sub(r.scale(axis, r.dot(axis, v)), v);
    return r.add(r.scale(across, r.sin(angle)), r.scale(r.cross(axis, v), r.cos(angle)));
  }
  /// The change of the turned v where the axis moves by t.
  Value tangent(Value v, Value t) const {
    Value along = r.add(r.scale(t, r.dot(axis, v)), r.scale(axis, r.dot(t, v)));
    return r.add(r.scale(along, versine()), r.scale(r.cross(t, v), r.sin(angle)));
  }
  /// The adjoint that an adjoint g of the turned v adds to the axis.
  Value adjoint(Value v, Value g) const {
    Value along = r.add(r.scale(g, r.dot(axis, v)), r.scale(v, r.dot(axis, g)));
    return r.add(r.scale(along, versine()), r.scale(r.cross(v, g), r.sin(angle)));
  }
};

/// The point is turned about the slow axis, then about the fast one.
struct CurvedRotations {
  CurvedRotations(RuleBuilder &r, CurvedPositionOp op)
      : aboutSlow{r, op.getSlowAxis(), op.getAboutSlow()},
        aboutFast{r, op.getFastAxis(), op.getAboutFast()} {}
  Turn aboutSlow, aboutFast;
  Value of(Value v) const { return aboutFast.of(aboutSlow.of(v)); }
};

/// By the angle about the slow axis, or about the fast one.
Value slopeBy(RuleBuilder &r, CurvedPositionOp op, bool slow) {
  const CurvedRotations turns(r, op);
  Value point = r.scale(op.getBeam(), op.getDistance());
  return slow ? turns.aboutFast.of(turns.aboutSlow.slope(point))
              : turns.aboutFast.slope(turns.aboutSlow.of(point));
}
} // namespace

Value nb::curvedTangent(RuleBuilder &r, CurvedPositionOp op, unsigned operand, Value t) {
  const CurvedRotations turns(r, op);
  switch (operand) {
  case 0: // beam
    return r.scale(turns.of(t), op.getDistance());
  case 3: // distance
    return r.scale(turns.of(op.getBeam()), t);
  case 4: // about_slow
  case 5: // about_fast
    return r.scale(slopeBy(r, op, operand == 4), t);
  default:
    break;
  }
  Value point = r.scale(op.getBeam(), op.getDistance());
  if (operand == 1) // fast_axis
    return turns.aboutFast.tangent(turns.aboutSlow.of(point), t);
  return turns.aboutFast.of(turns.aboutSlow.tangent(point, t)); // slow_axis
}

Value nb::curvedAdjoint(RuleBuilder &r, CurvedPositionOp op, unsigned operand, Value g) {
  const CurvedRotations turns(r, op);
  switch (operand) {
  case 0: // beam
    return r.scale(turns.aboutSlow.back(turns.aboutFast.back(g)), op.getDistance());
  case 3: // distance
    return r.dot(turns.of(op.getBeam()), g);
  case 4: // about_slow
  case 5: // about_fast
    return r.dot(slopeBy(r, op, operand == 4), g);
  default:
    break;
  }
  Value point = r.scale(op.getBeam(), op.getDistance());
  if (operand == 1) // fast_axis
    return turns.aboutFast.adjoint(turns.aboutSlow.of(point), g);
  return turns.aboutSlow.adjoint(point, turns.aboutFast.back(g)); // slow_axis
}
