#include "lib/Conversion/Arith/SingleToArith.h"

#include "dialect/CrystalShapes.h"
#include "lib/Conversion/Arith/GratingMagnitude.h"
#include "lib/Conversion/Arith/Polynomials.h"
#include "lib/Conversion/Arith/Scalars.h"
#include "lib/Conversion/Arith/WholeGrating.h"
#include "lib/Experiment/PhysicalConstants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
using std::numbers::pi;
constexpr double rounder = 0x1.8p20 + 0.5;
constexpr double unit = 0x1p-32; ///< one unit of FixedPointIndex::rest, in turns

/// The upper or lower half of every element's bits.
Value halfOf(Value bits, bool upper, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Type i32 = b.getI32Type();
  auto lanes = dyn_cast<VectorType>(bits.getType());
  if (!lanes) {
    Value word = bits;
    if (upper)
      word = arith::ShRUIOp::create(b, loc, bits, a.integer(bits.getType(), 32));
    return arith::TruncIOp::create(b, loc, i32, word);
  }
  // One permutation of two registers into one, on a little-endian machine.
  int64_t n = lanes.getNumElements();
  Value words = vector::BitCastOp::create(b, loc, VectorType::get({2 * n}, i32), bits);
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < n; ++i)
    positions.push_back(2 * i + upper);
  return vector::ShuffleOp::create(b, loc, words, words, positions);
}

/// Are all indices in the range of FixedPointIndex: not NaN and not too large.
Value inRange(ArrayRef<FixedPointIndex> indices, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Type type = indices.front().upper.getType();
  Value exponent = a.integer(type, 0x41300000), wrong;
  for (const FixedPointIndex &index : indices) {
    Value bits = arith::XOrIOp::create(b, loc, index.upper, exponent);
    wrong = wrong ? arith::OrIOp::create(b, loc, wrong, bits).getResult() : bits;
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, wrong, a.integer(type, 1 << 20));
}

Value toSingle(Value x, Arithmetic &a) {
  Type type = withElement(x.getType(), a.builder().getF32Type());
  return arith::TruncFOp::create(a.builder(), a.location(), type, x);
}

Value integerToSingle(Value x, Arithmetic &a) {
  Type type = withElement(x.getType(), a.builder().getF32Type());
  return arith::SIToFPOp::create(a.builder(), a.location(), type, x);
}

/// The product over the axes of sin(pi N x) / sin(pi x).
Value squareFactor(ArrayRef<FixedPointIndex> indices, ValueRange ncells, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Value numerator, denominator;
  auto multiply = [&](Value &product, Value factor) {
    product = product ? a.mul(product, factor) : factor;
  };
  for (auto [index, n] : llvm::zip(indices, ncells)) {
    Value x = a.mul(integerToSingle(index.rest, a), unit);
    std::optional<int64_t> known = knownCells(n);
    if (known && isPolynomialBetter(*known, x.getType())) {
      multiply(numerator, lowerWholeGrating(*known, x, a));
      continue;
    }
    // N x up to whole turns: exactly by the whole part of N, since integers wrap around; what is
    // left of N adds at most a quarter of a turn.
    Value whole = a.round(n);
    Value cells = arith::FPToSIOp::create(b, loc, index.rest.getType(), whole);
    Value turns = integerToSingle(arith::MulIOp::create(b, loc, index.rest, cells), a);
    Value y = a.add(a.mul(turns, unit), a.mul(x, toSingle(a.sub(n, whole), a)));
    Value z = a.mul(y, y);
    multiply(numerator, a.mul(y, a.polynomial(polynomials::singleSinPiWide, z)));
    multiply(denominator, a.sinPiReduced(x));
  }
  return a.abs(denominator ? a.quotient(numerator, denominator) : numerator);
}

/// round: as in f64, but for the phase pi sqrt(r2), which is reduced in fixed point again, and what
/// follows from it. Below a thousandth of a turn the factor is that at a thousandth, which is 1 to
/// 1e-6; above, 2^-33 turns are nothing.
Value roundFactor(LatticeFactorOp op, ArrayRef<FixedPointIndex> indices, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Type wide = elementTypeOf(op.getHkl().getType());
  RuleBuilder r(b, loc);
  SmallVector<Value, 3> delta =
      llvm::map_to_vector<3>(indices, [&](const FixedPointIndex &i) -> Value {
        return arith::SIToFPOp::create(b, loc, wide, i.rest);
      });
  // Over pi^2, so that its root counts half turns.
  Value r2 = quadraticForm(distanceCoefficients(op, unit * unit, r),
                           r.vec(delta[0], delta[1], delta[2]), r);
  Value safe = a.max(a.constant(wide, 1e-6), r2);
  Value inverse = a.reciprocalSqrtOfPositive(safe);
  FixedPointIndex turns = toFixedPoint(a.mul(safe, inverse), a);
  Type integers = turns.upper.getType();
  Value n = integerToSingle(
      arith::SubIOp::create(b, loc, turns.upper, a.integer(integers, FixedPointIndex::upperBias)),
      a);
  Value t = a.mul(integerToSingle(turns.rest, a), unit);
  Value z = a.mul(t, t), one = a.constant(t.getType(), 1);
  Value cosine = a.sub(one, a.mul(z, a.polynomial(polynomials::singleCosPi, z)));
  SmallVector<double> overPi =
      llvm::map_to_vector(polynomials::singleSineMinusCosine, [](double c) { return c / pi; });
  Value near = a.mul(a.mul(t, z), a.polynomial(overPi, z));
  Value numerator = a.sub(near, a.mul(n, cosine));
  Value inverse32 = toSingle(inverse, a);
  Value cube = a.mul(a.mul(inverse32, inverse32), inverse32);
  Value scale = a.mul(latticeAmplitude(op, r), nanobragg::constants::roundHeight * 3 / (pi * pi));
  Value value = a.mul(a.mul(numerator, cube), toSingle(scale, a));
  return signIsLost(op.getResult()) ? value : a.withSignFlippedBy(value, turns.upper);
}

/// gauss and tophat: the formula of all precisions, of a fraction in f32.
Value spotFactor(LatticeFactorOp op, ArrayRef<FixedPointIndex> indices, Arithmetic &a) {
  RuleBuilder r(a.builder(), a.location());
  SmallVector<Value, 3> delta = llvm::map_to_vector<3>(indices, [&](const FixedPointIndex &index) {
    return a.mul(integerToSingle(index.rest, a), unit);
  });
  auto coefficients = distanceCoefficients(op, distanceFactor(op.getShape()), r);
  for (Value &c : coefficients)
    c = toSingle(c, a);
  Value distance = quadraticForm(coefficients, r.vec(delta[0], delta[1], delta[2]), r);
  return spotOf(op.getShape(), toSingle(latticeAmplitude(op, r), a), distance, r);
}
} // namespace

/// x + `number`, which goes to the front of a sum of products: fused, the addition costs nothing
/// then.
static Value addFirst(Value x, double number, Arithmetic &a) {
  auto sum = x.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return a.add(x, number);
  return a.add(addFirst(sum.getLhs(), number, a), sum.getRhs());
}

FixedPointIndex nb::toFixedPoint(Value h, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Type type = withElement(h.getType(), b.getI64Type());
  Value bits = arith::BitcastOp::create(b, loc, type, addFirst(h, rounder, a));
  Value upper = halfOf(bits, true, a), lower = halfOf(bits, false, a);
  // The lower half counts from -1/2; the topmost bit makes it a signed number around 0.
  Value flipped =
      arith::XOrIOp::create(b, loc, lower, a.integer(lower.getType(), int64_t(INT32_MIN)));
  return {upper, arith::OrIOp::create(b, loc, flipped, a.integer(lower.getType(), 1))};
}

Value nb::lowerSingleLatticeFactor(LatticeFactorOp op, LoweredValues &values, Arithmetic &a) {
  SmallVector<FixedPointIndex> indices;
  for (Value h : values.components(op.getHkl()))
    indices.push_back(toFixedPoint(h, a));
  Value factor;
  switch (rowOf(op.getShape()).profile) {
  case nanobragg::SpotProfile::Grating:
    factor = squareFactor(indices, values.components(op.getNcells()), a);
    break;
  case nanobragg::SpotProfile::Ball:
    factor = roundFactor(op, indices, a);
    break;
  case nanobragg::SpotProfile::Gaussian:
  case nanobragg::SpotProfile::Step:
    factor = spotFactor(op, indices, a);
    break;
  }
  // Outside the magnitude, so that squaring can drop that.
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return a.select(inRange(indices, a), factor, a.constant(op.getType(), nan));
}
