#include "lib/Conversion/Arith/GridAccess.h"
#include "lib/Conversion/Arith/GridToArith.h"
#include "lib/Conversion/Arith/LoweredValues.h"
#include "lib/Conversion/Arith/ShapesToArith.h"
#include "lib/Conversion/Arith/SingleToArith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

static Value withinResolution(WithinResolutionOp op, ValueRange q, Arithmetic &a) {
  Value dmin = op.getDmin();
  Value stol = a.mul(a.sqrt(a.dot(q, q)), 0.5);
  Value zero = a.constant(dmin.getType(), 0);
  // The samples that are cut off; NaN is not among them, and so shows in the image.
  Value hasCutoff = a.both(a.less(zero, dmin), a.less(zero, stol));
  Value beyond = a.less(a.div(a.constant(dmin.getType(), 0.5), stol), dmin);
  return a.negate(a.both(hasCutoff, beyond));
}

/// The number is one of three digits, that of l the last.
static Components lowerNeighbour(NeighbourOp op, ValueRange hkl, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = op.getLoc();
  Value around = op.getAround(), rest = op.getNumber();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value side = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, around, around), one);
  Components reflection = nearestIndex(hkl, /*integral=*/false, a);
  for (unsigned i : {2, 1, 0}) {
    Value digit = i == 0 ? rest : Value(arith::RemUIOp::create(b, loc, rest, side));
    rest = arith::DivUIOp::create(b, loc, rest, side);
    Value step = arith::SubIOp::create(b, loc, digit, around);
    Type type = reflection[i].getType();
    Value number = a.toFloat(step, getElementTypeOrSelf(type));
    if (isa<VectorType>(type))
      number = vector::BroadcastOp::create(b, loc, type, number);
    reflection[i] = a.add(reflection[i], number);
  }
  return reflection;
}

Components nb::lowerDiffraction(Operation *op, LoweredValues &values, Arithmetic &a) {
  auto parts = [&](Value value) { return values.components(value); };
  return TypeSwitch<Operation *, Components>(op)
      .Case<ScatteringVectorOp>([&](auto o) {
        Value inverse = a.div(a.constant(o.getWavelength().getType(), 1), o.getWavelength());
        return a.scale(a.sub(parts(o.getDiffracted()), parts(o.getIncident())), inverse);
      })
      .Case<WithinResolutionOp>([&](auto o) {
        return Components{withinResolution(o, parts(o.getScatteringVector()), a)};
      })
      .Case<MillerIndexOp>(
          [&](auto o) { return a.transform(parts(o.getDirect()), parts(o.getScatteringVector())); })
      .Case<NearestMillerIndexOp>(
          [&](auto o) { return nearestIndex(parts(o.getHkl()), /*integral=*/false, a); })
      .Case<NeighbourOp>([&](auto o) { return lowerNeighbour(o, parts(o.getHkl()), a); })
      .Case<SincgOp>([&](auto o) { return Components{lowerSincg(o, a)}; })
      .Case<GratingOp>([&](auto o) { return Components{lowerGrating(o, values, a)}; })
      .Case<BallOp>([&](auto o) { return Components{lowerBall(o, a)}; })
      .Case<LatticeFactorOp>(
          [&](auto o) { return Components{lowerSingleLatticeFactor(o, values, a)}; })
      .Case<InGridOp>([&](auto o) { return Components{lowerInGrid(o, values, a)}; })
      .Case<StructureFactorOp>(
          [&](auto o) { return Components{lowerStructureFactor(o, values, a)}; })
      .Default([](Operation *) { return Components(); });
}
