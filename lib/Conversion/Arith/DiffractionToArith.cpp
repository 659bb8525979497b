#include "lib/Conversion/Arith/GridToArith.h"
#include "lib/Conversion/Arith/LoweredValues.h"
#include "lib/Conversion/Arith/Polynomials.h"
#include "lib/Conversion/Arith/ShapesToArith.h"
#include "lib/Conversion/Arith/SingleToArith.h"
#include "lib/Conversion/Arith/WholeGrating.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
constexpr double pi = std::numbers::pi;
/// |x| below which sin(pi N x) / sin(pi x) is evaluated at this x instead: small enough to give N
/// to the last digit, large enough for products of three sines to stay normal numbers.
double tinyFraction(Type type) { return getElementTypeOrSelf(type).isF64() ? 1e-30 : 1e-10; }

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

/// |x|, but at least that. NaN stays NaN: max returns its second operand then.
Value awayFromZero(Value x, Arithmetic &a) {
  Value distance = a.abs(x);
  return a.max(a.constant(x.getType(), tinyFraction(x.getType())), distance);
}

Value squareFactor(ValueRange delta, ValueRange ncells, Arithmetic &a) {
  Value numerator, denominator;
  auto multiply = [&](Value &product, Value factor) {
    product = product ? a.mul(product, factor) : factor;
  };
  for (auto [x, n] : llvm::zip(delta, ncells)) {
    if (auto known = knownCells(n); known && isPolynomialBetter(*known, x.getType())) {
      multiply(numerator, lowerWholeGrating(*known, x, a));
      continue;
    }
    Value distance = awayFromZero(x, a);
    multiply(numerator, sinPiMagnitude(a.mul(n, distance), a));
    multiply(denominator, a.sinPiReduced(distance));
  }
  return a.abs(denominator ? a.quotient(numerator, denominator) : numerator);
}

/// scale 3 (sin x - x cos x) / x^3 at x = pi sqrt(u), without cancellation near u = 0: with the nearest
/// whole number n of half turns and the rest t, sin x - x cos x is, up to the sign of (-1)^n,
/// (sin pi t - pi t cos pi t) - pi n cos pi t, and the first difference is a series of its own. All
/// of it is over pi here.
Value sinc3(Value u, Value scale, bool anySign, Arithmetic &a) {
  double tiny = getElementTypeOrSelf(u.getType()).isF64() ? 1e-40 : 1e-12; // sinc3 is 1 there
  Value safe = a.max(a.constant(u.getType(), tiny), u);
  Value inverse = a.reciprocalSqrtOfPositive(safe);
  auto [n, t, bits] = a.halfTurns(a.mul(safe, inverse));
  Value z = a.mul(t, t);
  Value near = a.mul(a.mul(t, z), a.polynomial(overPi(polynomials::sineMinusCosine), z));
  Value numerator = a.sub(near, a.mul(n, a.cosPiReduced(t)));
  Value cube = a.mul(a.mul(inverse, inverse), inverse);
  Value value = a.mul(a.mul(numerator, cube), a.mul(scale, 3 / (pi * pi)));
  return anySign ? value : a.withSignFlippedBy(value, bits);
}

Value latticeFactor(LatticeFactorOp op, LoweredValues &values, Arithmetic &a) {
  if (op.getType() != elementTypeOf(op.getHkl().getType()))
    return lowerSingleLatticeFactor(op, values, a);
  Components delta = llvm::to_vector<9>(values.components(op.getHkl()));
  Components ncells = llvm::to_vector<9>(values.components(op.getNcells()));
  Type type = elementTypeOf(op.getHkl().getType());
  if (!op.getFraction())
    for (Value &x : delta)
      x = a.sub(x, a.ceil(a.sub(x, 0.5)));
  if (op.getShape() == Shape::square)
    return squareFactor(delta, ncells, a);

  Value cells = latticeAmplitude(op, values, a);
  auto distance = [&](double factor) {
    return quadraticForm(distanceCoefficients(op, factor, values, a), delta, a);
  };
  switch (op.getShape()) {
  case Shape::round:
    return sinc3(distance(1), a.mul(cells, 0.723601254558268), isSquared(op), a);
  case Shape::gauss:
  case Shape::gauss_matrix:
    return a.mul(cells, a.exp(distance(-1 / 0.63)));
  case Shape::tophat:
    return a.select(a.less(distance(1), a.constant(type, 0.3969)), cells, a.constant(type, 0));
  case Shape::square:
    break;
  }
  llvm_unreachable("square is handled above");
}

/// `x`, or what it is the magnitude of: for squaring.
Value withoutSign(Value x) {
  if (auto magnitude = x.getDefiningOp<math::AbsFOp>())
    return magnitude.getOperand();
  return x;
}

Value polarization(PolarizationOp op, LoweredValues &values, Arithmetic &a) {
  ValueRange incident = values.components(op.getIncident());
  ValueRange diffracted = values.components(op.getDiffracted());
  Type type = op.getType();
  Components across = a.normalize(a.cross(values.components(op.getAxis()), incident));
  Components along = a.normalize(a.cross(incident, across));
  Value b = a.dot(diffracted, across), e = a.dot(diffracted, along);
  Value c = a.dot(incident, diffracted);
  Value c2 = a.mul(c, c);
  // cos(2 psi) (1 - c2) is e^2 - b^2, since b, e and c are the components of a unit vector; but
  // where axis and beam are parallel, psi is 0.
  Value one = a.constant(type, 1);
  Value noAxis = a.equal(a.dot(across, across), a.constant(type, 0));
  Value difference = a.sub(a.mul(e, e), a.mul(b, b));
  Value azimuthal = a.select(noAxis, a.sub(one, c2), difference);
  Value doubled = a.sub(a.add(one, c2), a.mul(op.getKahnFactor(), azimuthal));
  return a.mul(doubled, 0.5);
}

Value solidAngle(SolidAngleOp op, ValueRange position, Arithmetic &a) {
  // The inverse distance that normalizes the position, too.
  Value inverse = a.reciprocalSqrt(a.dot(position, position));
  Value inverse2 = a.mul(inverse, inverse);
  if (op.getKind() == PixelKind::point)
    return inverse2;
  Value area = a.mul(op.getPixelSize(), op.getPixelSize());
  return a.mul(a.mul(a.mul(area, op.getCloseDistance()), inverse), inverse2);
}

Value captureFraction(CaptureFractionOp op, LoweredValues &values, Arithmetic &a) {
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

bool nb::isSquared(LatticeFactorOp op) {
  return llvm::all_of(op->getUsers(), llvm::IsaPred<IntensityOp>);
}

SmallVector<double> nb::overPi(ArrayRef<double> coefficients) {
  return llvm::map_to_vector(coefficients, [](double c) { return c / pi; });
}

/// Rows of the symmetric matrix [[Na, D, F], [D, Nb, E], [F, E, Nc]].
static std::array<std::array<Value, 3>, 3> widthMatrix(LatticeFactorOp op, LoweredValues &values) {
  ValueRange n = values.components(op.getNcells()), c = values.components(op.getCross());
  return {{{n[0], c[0], c[2]}, {c[0], n[1], c[1]}, {c[2], c[1], n[2]}}};
}

Value nb::latticeAmplitude(LatticeFactorOp op, LoweredValues &values, Arithmetic &a) {
  ValueRange n = values.components(op.getNcells());
  if (!op.getCross())
    return a.mul(a.mul(n[0], n[1]), n[2]);
  auto rows = widthMatrix(op, values);
  return a.dot(rows[0], a.cross(rows[1], rows[2]));
}

Components nb::distanceCoefficients(LatticeFactorOp op, double factor, LoweredValues &values,
                                    Arithmetic &a) {
  ValueRange n = values.components(op.getNcells());
  Value scale = a.mul(op.getFudge(), factor);
  if (op.getCross()) {
    auto rows = widthMatrix(op, values);
    auto product = [&](unsigned i, unsigned j) {
      Value form = a.mul(a.dot(rows[i], rows[j]), scale);
      return i == j ? form : a.mul(form, 2);
    };
    return {product(0, 0), product(1, 1), product(2, 2),
            product(0, 1), product(0, 2), product(1, 2)};
  }
  if (!op.getReciprocal())
    return llvm::map_to_vector<9>(n, [&](Value x) { return a.mul(a.mul(x, x), scale); });
  ValueRange m = values.components(op.getReciprocal());
  Value cells = a.mul(a.mul(n[0], n[1]), n[2]);
  // In 1/Angstrom^2, as the C program's constants expect.
  scale = a.mul(a.mul(a.mul(cells, cells), 1e-20), scale);
  auto product = [&](unsigned i, unsigned j) {
    Value x[] = {m[i], m[3 + i], m[6 + i]}, y[] = {m[j], m[3 + j], m[6 + j]};
    Value form = a.mul(a.dot(x, y), scale);
    return i == j ? form : a.mul(form, 2);
  };
  return {product(0, 0), product(1, 1), product(2, 2),
          product(0, 1), product(0, 2), product(1, 2)};
}

Value nb::quadraticForm(ValueRange c, ValueRange delta, Arithmetic &a) {
  Components rows;
  for (unsigned i = 0; i < 3; ++i)
    rows.push_back(a.mul(delta[i], c[i]));
  if (c.size() == 6) {
    rows[0] = a.add(a.add(rows[0], a.mul(delta[1], c[3])), a.mul(delta[2], c[4]));
    rows[1] = a.add(rows[1], a.mul(delta[2], c[5]));
  }
  return a.dot(rows, delta);
}

Components nb::lowerDiffraction(Operation *op, LoweredValues &values, Arithmetic &a) {
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
      .Case<MillerIndexOp>(
          [&](auto o) { return a.transform(parts(o.getDirect()), parts(o.getScatteringVector())); })
      .Case<NearestMillerIndexOp>([&](auto o) {
        return llvm::map_to_vector<9>(parts(o.getHkl()),
                                      [&](Value h) { return a.ceil(a.sub(h, 0.5)); });
      })
      .Case<SincgOp>([&](auto o) { return Components{lowerSincg(o, a)}; })
      .Case<GratingOp>([&](auto o) { return Components{lowerGrating(o, values, a)}; })
      .Case<BallOp>([&](auto o) { return Components{lowerBall(o, a)}; })
      .Case<LatticeFactorOp>([&](auto o) { return Components{latticeFactor(o, values, a)}; })
      .Case<InGridOp>([&](auto o) { return Components{lowerInGrid(o, values, a)}; })
      .Case<StructureFactorOp>(
          [&](auto o) { return Components{lowerStructureFactor(o, values, a)}; })
      .Case<IntensityOp>([&](auto o) {
        Value amplitude = a.mul(o.getStructureFactor(), withoutSign(o.getLatticeFactor()));
        return Components{a.mul(amplitude, amplitude)};
      })
      .Case<PolarizationOp>([&](auto o) { return Components{polarization(o, values, a)}; })
      .Case<SolidAngleOp>(
          [&](auto o) { return Components{solidAngle(o, parts(o.getPosition()), a)}; })
      .Case<CaptureFractionOp>([&](auto o) { return Components{captureFraction(o, values, a)}; })
      .Case<WaterBackgroundOp>([&](auto o) { return Components{waterBackground(o, a)}; })
      .Default([](Operation *) { return Components(); });
}
