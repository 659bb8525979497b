#include "lib/Conversion/Arith/LoweredValues.h"
#include "lib/Conversion/Arith/ShapesToArith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

static Value detectorCoordinate(DetectorCoordinateOp op, Arithmetic &a) {
  Type type = op.getType();
  Value oversample = a.toFloat(op.getOversample(), type);
  Value size = a.div(op.getPixelSize(), oversample);
  Value steps =
      a.add(a.mul(a.toFloat(op.getPixel(), type), oversample), a.toFloat(op.getSubPixel(), type));
  return a.add(a.mul(size, steps), a.mul(size, 0.5));
}

static Components splat(ValueRange parts, Type type, Arithmetic &a) {
  return llvm::map_to_vector<9>(parts, [&](Value part) -> Value {
    return vector::BroadcastOp::create(a.builder(), a.location(), elementTypeOf(type), part);
  });
}

Components nb::lowerGeometry(Operation *op, LoweredValues &values, Arithmetic &a) {
  auto parts = [&](Value value) { return values.components(value); };
  return TypeSwitch<Operation *, Components>(op)
      .Case<VecOp, MatOp>(
          [&](auto o) { return Components(o->getOperands().begin(), o->getOperands().end()); })
      .Case<ComponentOp>([&](auto o) { return Components{parts(o.getVector())[o.getIndex()]}; })
      .Case<ElementOp>(
          [&](auto o) { return Components{parts(o.getMatrix())[3 * o.getRow() + o.getColumn()]}; })
      .Case<RowOp>([&](auto o) {
        return llvm::to_vector<9>(parts(o.getMatrix()).slice(3 * o.getIndex(), 3));
      })
      .Case<SplatOp>([&](auto o) { return splat(parts(o.getValue()), o.getType(), a); })
      .Case<AddOp>([&](auto o) { return a.add(parts(o.getLhs()), parts(o.getRhs())); })
      .Case<SubOp>([&](auto o) { return a.sub(parts(o.getLhs()), parts(o.getRhs())); })
      .Case<CrossOp>([&](auto o) { return a.cross(parts(o.getLhs()), parts(o.getRhs())); })
      .Case<ScaleOp>([&](auto o) {
        Components gratings = lowerScaledGratings(o, values, a);
        return gratings.empty() ? a.scale(parts(o.getVector()), o.getFactor()) : gratings;
      })
      .Case<DotOp>([&](auto o) { return Components{a.dot(parts(o.getLhs()), parts(o.getRhs()))}; })
      .Case<NormOp>([&](auto o) {
        return Components{a.sqrt(a.dot(parts(o.getVector()), parts(o.getVector())))};
      })
      .Case<NormalizeOp>([&](auto o) { return a.normalize(parts(o.getVector())); })
      .Case<TransformOp>(
          [&](auto o) { return a.transform(parts(o.getMatrix()), parts(o.getVector())); })
      .Case<MultiplyOp>([&](auto o) { return a.multiply(parts(o.getLhs()), parts(o.getRhs())); })
      .Case<TransposeOp>([&](auto o) {
        ValueRange m = parts(o.getMatrix());
        return Components{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
      })
      .Case<OuterOp>([&](auto o) {
        Components rows;
        for (Value x : llvm::to_vector(parts(o.getLhs())))
          rows.append(a.scale(parts(o.getRhs()), x));
        return rows;
      })
      .Case<FrobeniusOp>(
          [&](auto o) { return Components{a.frobenius(parts(o.getLhs()), parts(o.getRhs()))}; })
      .Case<DetectorCoordinateOp>([&](auto o) { return Components{detectorCoordinate(o, a)}; })
      .Case<PixelPositionOp>([&](auto o) {
        Components position =
            a.add(parts(o.getOrigin()), a.scale(parts(o.getNormal()), o.getDepth()));
        position = a.add(position, a.scale(parts(o.getSlowAxis()), o.getSlow()));
        return a.add(position, a.scale(parts(o.getFastAxis()), o.getFast()));
      })
      .Default([](Operation *) { return Components(); });
}
