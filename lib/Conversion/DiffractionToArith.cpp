#include "lib/Conversion/Expansion.h"
#include "lib/Conversion/GridToArith.h"
#include "lib/Conversion/Polynomials.h"
#include "lib/Conversion/ShapesToArith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
constexpr double pi = std::numbers::pi;
/// |x| below which sin(pi N x) / sin(pi x) is evaluated at this x instead: small enough to give N
/// to the last digit, large enough for products of three sines to stay normal numbers.
constexpr double tinyFraction = 1e-30;

/// V = 2abc sqrt|...| of nb.cell_volume, for every op that takes a cell.
template <typename CellOp>
Value cellVolume(CellOp op, Arithmetic &a) {
  Value angles[] = {op.getAlpha(), op.getBeta(), op.getGamma()};
  Value s = a.mul(a.add(a.add(angles[0], angles[1]), angles[2]), 0.5);
  Value product = a.sinCos(s).first;
  for (Value angle : angles)
    product = a.mul(product, a.sinCos(a.sub(s, angle)).first);
  Value edges = a.mul(a.mul(op.getA(), op.getB()), op.getC());
  return a.mul(a.mul(edges, 2), a.sqrt(a.abs(product)));
}

Components reciprocalCell(ReciprocalCellOp op, Arithmetic &a) {
  Value lengths[] = {op.getA(), op.getB(), op.getC()};
  Value angles[] = {op.getAlpha(), op.getBeta(), op.getGamma()};
  Value sines[3], cosines[3];
  for (int i = 0; i < 3; ++i)
    std::tie(sines[i], cosines[i]) = a.sinCos(angles[i]);
  Value volume = cellVolume(op, a);
  Value one = a.constant(volume.getType(), 1), zero = a.constant(volume.getType(), 0);
  Value inverse = a.div(one, volume);

  Value starLengths[3], starCosines[3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    starLengths[i] = a.mul(a.mul(a.mul(lengths[j], lengths[k]), sines[i]), inverse);
    starCosines[i] = a.div(a.sub(a.mul(cosines[j], cosines[k]), cosines[i]),
                           a.mul(sines[j], sines[k]));
  }
  Value starSine = a.div(a.mul(lengths[2], inverse), a.mul(starLengths[0], starLengths[1]));
  Value cy = a.div(a.sub(starCosines[0], a.mul(starCosines[1], starCosines[2])), starSine);
  Value cz;
  if (op.getRule() == CellRule::c) {
    Value edges = a.mul(a.mul(lengths[0], lengths[1]), lengths[2]);
    cz = a.div(volume, a.mul(edges, starSine));
  } else {
    Value starEdges = a.mul(a.mul(starLengths[0], starLengths[1]), starLengths[2]);
    cz = a.div(inverse, a.mul(starEdges, starSine));
  }
  return {starLengths[0], a.mul(starLengths[1], starCosines[2]),
          a.mul(starLengths[2], starCosines[1]),
          zero, a.mul(starLengths[1], starSine), a.mul(starLengths[2], cy),
          zero, zero, a.mul(starLengths[2], cz)};
}

Components directCell(DirectCellOp op, ValueRange m, Arithmetic &a) {
  Components columns[3];
  for (int i = 0; i < 3; ++i)
    columns[i] = {m[i], m[3 + i], m[6 + i]};
  Components rows[3];
  for (int i = 0; i < 3; ++i)
    rows[i] = a.cross(columns[(i + 1) % 3], columns[(i + 2) % 3]);
  Components result;
  Value one = a.constant(elementTypeOf(op.getType()), 1);
  Value inverse = a.div(one, a.dot(columns[0], rows[0]));
  for (int i = 0; i < 3; ++i) {
    Value factor = inverse;
    if (!op.getLengths().empty())
      factor = a.div(op.getLengths()[i], a.sqrt(a.dot(rows[i], rows[i])));
    result.append(a.scale(rows[i], factor));
  }
  return result;
}

Value withinResolution(WithinResolutionOp op, ValueRange q, Arithmetic &a) {
  Value dmin = op.getDmin();
  Value stol = a.mul(a.sqrt(a.dot(q, q)), 0.5);
  Value zero = a.constant(dmin.getType(), 0);
  // What is cut off, so that NaN is not and shows in the image.
  Value hasCutoff = a.both(a.less(zero, dmin), a.less(zero, stol));
  Value beyond = a.less(a.div(a.constant(dmin.getType(), 0.5), stol), dmin);
  return a.negate(a.both(hasCutoff, beyond));
}

/// sin(pi y) up to the sign, for any y.
Value sinPiMagnitude(Value y, Arithmetic &a) { return a.sinPiReduced(a.sub(y, a.round(y))); }

/// |x|, but at least tinyFraction. NaN stays NaN: max returns its second operand then.
Value awayFromZero(Value x, Arithmetic &a) {
  Value distance = a.abs(x);
  return a.max(a.constant(x.getType(), tinyFraction), distance);
}

Value squareFactor(ValueRange delta, ValueRange ncells, Arithmetic &a) {
  Value numerator, denominator;
  for (auto [x, n] : llvm::zip(delta, ncells)) {
    Value distance = awayFromZero(x, a);
    Value above = sinPiMagnitude(a.mul(n, distance), a);
    Value below = a.sinPiReduced(distance);
    numerator = numerator ? a.mul(numerator, above) : above;
    denominator = denominator ? a.mul(denominator, below) : below;
  }
  return a.abs(a.div(numerator, denominator));
}

/// 3 (sin x / x - cos x) / x^2 at x = pi r.
Value sinc3(Value r, Arithmetic &a) {
  Type type = r.getType();
  Value x = a.mul(r, pi);
  Value z = a.mul(x, x);
  Value series = a.polynomial(polynomials::sinc3, z);
  Value isSmall = a.less(x, a.constant(type, 1));
  Value one = a.constant(type, 1);
  Value safe = a.select(isSmall, one, x);
  auto [sine, cosine] = a.sinCos(x);
  Value difference = a.sub(a.div(sine, safe), cosine);
  Value far = a.div(a.mul(difference, 3), a.mul(safe, safe));
  return a.select(isSmall, series, far);
}

Value latticeFactor(LatticeFactorOp op, Expansion &values, Arithmetic &a) {
  Components delta = llvm::to_vector<9>(values.components(op.getHkl()));
  Components ncells = llvm::to_vector<9>(values.components(op.getNcells()));
  Type type = op.getType();
  if (!op.getFraction())
    for (Value &x : delta)
      x = a.sub(x, a.ceil(a.sub(x, 0.5)));
  if (op.getShape() == Shape::square)
    return squareFactor(delta, ncells, a);

  Value cells = a.mul(a.mul(ncells[0], ncells[1]), ncells[2]);
  Value radius2;
  if (Value reciprocal = op.getReciprocal()) {
    Components offset = a.transform(values.components(reciprocal), delta);
    // In 1/Angstrom^2, as the C program's constants expect.
    radius2 = a.mul(a.mul(a.dot(offset, offset), 1e-20), a.mul(cells, cells));
  } else {
    Components scaled;
    for (auto [x, n] : llvm::zip(delta, ncells))
      scaled.push_back(a.mul(x, n));
    radius2 = a.dot(scaled, scaled);
  }
  Value fudged = a.mul(radius2, op.getFudge());
  switch (op.getShape()) {
  case Shape::round:
    return a.mul(a.mul(cells, 0.723601254558268), sinc3(a.sqrt(fudged), a));
  case Shape::gauss:
    return a.mul(cells, a.exp(a.mul(fudged, -1 / 0.63)));
  case Shape::tophat:
    return a.select(a.less(fudged, a.constant(type, 0.3969)), cells, a.constant(type, 0));
  case Shape::square:
    break;
  }
  llvm_unreachable("square is handled above");
}

Value polarization(PolarizationOp op, Expansion &values, Arithmetic &a) {
  ValueRange incident = values.components(op.getIncident());
  ValueRange diffracted = values.components(op.getDiffracted());
  Type type = op.getType();
  Components across = a.normalize(a.cross(values.components(op.getAxis()), incident));
  Components along = a.normalize(a.cross(incident, across));
  Value b = a.dot(diffracted, across), e = a.dot(diffracted, along);
  Value b2 = a.mul(b, b), e2 = a.mul(e, e);
  // cos(2 atan2(b, e)) without the detour over the angle.
  Value radius2 = a.add(b2, e2);
  Value zero = a.constant(type, 0), one = a.constant(type, 1);
  Value onAxis = a.equal(radius2, zero);
  Value cosine = a.select(onAxis, one,
                          a.div(a.sub(e2, b2), a.select(onAxis, one, radius2)));
  Value c = a.dot(incident, diffracted);
  Value c2 = a.mul(c, c);
  Value azimuthal = a.mul(a.mul(op.getKahnFactor(), cosine), a.sub(one, c2));
  return a.mul(a.sub(a.add(one, c2), azimuthal), 0.5);
}

Value solidAngle(SolidAngleOp op, ValueRange position, Arithmetic &a) {
  Value r2 = a.dot(position, position);
  Value one = a.constant(op.getType(), 1);
  if (op.getKind() == PixelKind::point)
    return a.div(one, r2);
  Value area = a.mul(op.getPixelSize(), op.getPixelSize());
  return a.div(a.mul(area, op.getCloseDistance()), a.mul(r2, a.sqrt(r2)));
}

Value captureFraction(CaptureFractionOp op, Expansion &values, Arithmetic &a) {
  Value rho = a.dot(values.components(op.getDiffracted()), values.components(op.getNormal()));
  Value path = a.div(a.neg(op.getSpacing()), a.mul(op.getAttenuationDepth(), rho));
  Value below = a.add(op.getLayer(), 1);
  return a.sub(a.exp(a.mul(op.getLayer(), path)), a.exp(a.mul(below, path)));
}

Value waterBackground(WaterBackgroundOp op, Arithmetic &a) {
  constexpr double perVolume = 2.57 * 2.57 * 7.94079248018965e-30 * 1e6 * 6.02214179e23 / 18.0;
  Value size = op.getSize();
  return a.mul(a.mul(a.mul(a.mul(size, size), size), op.getFluence()), perVolume);
}
} // namespace

Components nb::expandDiffraction(Operation *op, Expansion &values, Arithmetic &a) {
  auto parts = [&](Value value) { return values.components(value); };
  return TypeSwitch<Operation *, Components>(op)
      .Case<CellVolumeOp>([&](auto o) { return Components{cellVolume(o, a)}; })
      .Case<ReciprocalCellOp>([&](auto o) { return reciprocalCell(o, a); })
      .Case<DirectCellOp>([&](auto o) { return directCell(o, parts(o.getReciprocal()), a); })
      .Case<ScatteringVectorOp>([&](auto o) {
        Value inverse = a.div(a.constant(o.getWavelength().getType(), 1), o.getWavelength());
        return a.scale(a.sub(parts(o.getDiffracted()), parts(o.getIncident())), inverse);
      })
      .Case<WithinResolutionOp>([&](auto o) {
        return Components{withinResolution(o, parts(o.getScatteringVector()), a)};
      })
      .Case<MillerIndexOp>([&](auto o) {
        return a.transform(parts(o.getDirect()), parts(o.getScatteringVector()));
      })
      .Case<NearestMillerIndexOp>([&](auto o) {
        return llvm::map_to_vector<9>(parts(o.getHkl()),
                                      [&](Value h) { return a.ceil(a.sub(h, 0.5)); });
      })
      .Case<SincgOp>([&](auto o) { return Components{expandSincg(o, a)}; })
      .Case<GratingOp>([&](auto o) { return Components{expandGrating(o, values, a)}; })
      .Case<BallOp>([&](auto o) { return Components{expandBall(o, a)}; })
      .Case<LatticeFactorOp>([&](auto o) { return Components{latticeFactor(o, values, a)}; })
      .Case<InGridOp>([&](auto o) { return Components{expandInGrid(o, values, a)}; })
      .Case<StructureFactorOp>(
          [&](auto o) { return Components{expandStructureFactor(o, values, a)}; })
      .Case<IntensityOp>([&](auto o) {
        Value f = o.getStructureFactor(), l = o.getLatticeFactor();
        return Components{a.mul(a.mul(f, f), a.mul(l, l))};
      })
      .Case<PolarizationOp>([&](auto o) { return Components{polarization(o, values, a)}; })
      .Case<SolidAngleOp>(
          [&](auto o) { return Components{solidAngle(o, parts(o.getPosition()), a)}; })
      .Case<CaptureFractionOp>([&](auto o) { return Components{captureFraction(o, values, a)}; })
      .Case<WaterBackgroundOp>([&](auto o) { return Components{waterBackground(o, a)}; })
      .Default([](Operation *) { return Components(); });
}
