#include "lib/Conversion/Arithmetic.h"

#include "lib/Conversion/Polynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
constexpr auto contract = arith::FastMathFlags::contract;

/// `scalar` itself, or a vector of it with the lanes of `like`.
Type shapedLike(Type scalar, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? vector.clone(scalar) : scalar;
}
} // namespace

template <typename OpTy>
Value Arithmetic::binary(Value x, Value y) {
  return OpTy::create(b, loc, x, y, contract);
}
template <typename OpTy>
Value Arithmetic::unary(Value x) {
  return OpTy::create(b, loc, x, contract);
}

Value Arithmetic::constant(Type type, double value) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value Arithmetic::add(Value x, Value y) { return binary<arith::AddFOp>(x, y); }
Value Arithmetic::sub(Value x, Value y) { return binary<arith::SubFOp>(x, y); }
Value Arithmetic::mul(Value x, Value y) { return binary<arith::MulFOp>(x, y); }
Value Arithmetic::div(Value x, Value y) { return binary<arith::DivFOp>(x, y); }
Value Arithmetic::neg(Value x) { return unary<arith::NegFOp>(x); }
Value Arithmetic::mulAdd(Value x, Value y, Value z) {
  return LLVM::FMulAddOp::create(b, loc, x, y, z);
}
Value Arithmetic::abs(Value x) { return unary<math::AbsFOp>(x); }
Value Arithmetic::sqrt(Value x) { return unary<math::SqrtOp>(x); }
Value Arithmetic::ceil(Value x) { return unary<math::CeilOp>(x); }
Value Arithmetic::floor(Value x) { return unary<math::FloorOp>(x); }
Value Arithmetic::round(Value x) { return unary<math::RoundEvenOp>(x); }

// Compare and select, not minnum: one instruction each on x86, and NaN has nowhere to hide.
Value Arithmetic::min(Value x, Value y) { return select(less(x, y), x, y); }
Value Arithmetic::max(Value x, Value y) { return select(less(y, x), x, y); }

Value Arithmetic::less(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
}
Value Arithmetic::lessEqual(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, x, y);
}
Value Arithmetic::equal(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}
Value Arithmetic::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value Arithmetic::either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
Value Arithmetic::negate(Value x) {
  TypedAttr yes = b.getBoolAttr(true);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    yes = DenseElementsAttr::get(vector, true);
  return arith::XOrIOp::create(b, loc, x, arith::ConstantOp::create(b, loc, yes));
}
Value Arithmetic::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value Arithmetic::polynomial(ArrayRef<double> coefficients, Value z) {
  Value result = constant(z.getType(), coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = add(mul(result, z), c);
  return result;
}

Value Arithmetic::sinPiOverX(Value z) { return polynomial(polynomials::sinPi, z); }
Value Arithmetic::sinPiOverXSlope(Value z) { return polynomial(polynomials::sinPiSlope, z); }

Value Arithmetic::sinPiReduced(Value x) { return mul(x, polynomial(polynomials::sinPi, mul(x, x))); }

Value Arithmetic::cosPiReduced(Value x) {
  Value z = mul(x, x);
  return sub(constant(x.getType(), 1), mul(z, polynomial(polynomials::cosPi, z)));
}

std::pair<Value, Value> Arithmetic::sinCos(Value x) {
  // x = pi (n + r): the sign of both functions is that of (-1)^n.
  Value halfTurns = mul(x, std::numbers::inv_pi);
  Value n = round(halfTurns);
  Value r = sub(halfTurns, n);
  Value half = mul(n, 0.5);
  Value even = equal(half, round(half));
  auto signedBy = [&](Value value) { return select(even, value, neg(value)); };
  return {signedBy(sinPiReduced(r)), signedBy(cosPiReduced(r))};
}

Value Arithmetic::exp(Value x) {
  // exp(x) = 2^n exp(r) with r = x - n ln 2 in two parts, the first of which is exact. The
  // argument is kept where 2^n is a normal number; below, the result is 0.
  constexpr double lowest = -708, highest = 709;
  Type type = x.getType();
  Value clamped = min(max(x, constant(type, lowest)), constant(type, highest));
  Value n = round(mul(clamped, std::numbers::log2e));
  Value r = sub(sub(clamped, mul(n, 0x1.62e42fee00000p-1)), mul(n, 0x1.a39ef35793c76p-33));
  // Adding 1.5 * 2^52 leaves the integer n + bias in the low bits, ready to be the exponent.
  Type bits = shapedLike(b.getI64Type(), type);
  Value biased = arith::BitcastOp::create(b, loc, bits, add(n, 0x1.8p52 + 1023));
  TypedAttr places = b.getI64IntegerAttr(52);
  if (auto vector = dyn_cast<VectorType>(bits))
    places = DenseElementsAttr::get(vector, Attribute(places));
  Value shift = arith::ConstantOp::create(b, loc, places);
  Value exponent = arith::ShLIOp::create(b, loc, biased, shift);
  Value power = arith::BitcastOp::create(b, loc, type, exponent);
  Value value = mul(power, polynomial(polynomials::exponential, r));
  return select(less(x, constant(type, lowest)), constant(type, 0), value);
}

Value Arithmetic::bits(Value x) {
  unsigned width = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  return arith::BitcastOp::create(b, loc, shapedLike(b.getIntegerType(width), x.getType()), x);
}
Value Arithmetic::xorBits(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
Value Arithmetic::withSignFlippedBy(Value x, Value flips) {
  Type type = flips.getType();
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr places = b.getIntegerAttr(integer, integer.getWidth() - 1);
  if (auto vector = dyn_cast<VectorType>(type))
    places = DenseElementsAttr::get(vector, Attribute(places));
  Value sign = arith::ShLIOp::create(b, loc, flips, arith::ConstantOp::create(b, loc, places));
  return arith::BitcastOp::create(b, loc, x.getType(), xorBits(bits(x), sign));
}

Value Arithmetic::toInteger(Value x) {
  if (isa<VectorType>(x.getType()))
    return arith::FPToSIOp::create(b, loc, shapedLike(b.getI32Type(), x.getType()), x);
  Value integer = arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
}

Value Arithmetic::toFloat(Value index, Type type) {
  Type integer = shapedLike(b.getI64Type(), index.getType());
  return arith::SIToFPOp::create(b, loc, type,
                                 arith::IndexCastOp::create(b, loc, integer, index));
}

Value Arithmetic::dot(ValueRange x, ValueRange y) {
  return add(add(mul(x[0], y[0]), mul(x[1], y[1])), mul(x[2], y[2]));
}

Value Arithmetic::frobenius(ValueRange x, ValueRange y) {
  auto row = [&](unsigned i) { return dot(x.slice(3 * i, 3), y.slice(3 * i, 3)); };
  return add(add(row(0), row(1)), row(2));
}

Components Arithmetic::cross(ValueRange x, ValueRange y) {
  auto component = [&](unsigned i, unsigned j) {
    return sub(mul(x[i], y[j]), mul(x[j], y[i]));
  };
  return {component(1, 2), component(2, 0), component(0, 1)};
}

Components Arithmetic::scale(ValueRange x, Value factor) {
  return llvm::map_to_vector<9>(x, [&](Value c) { return mul(c, factor); });
}

Components Arithmetic::add(ValueRange x, ValueRange y) {
  Components result;
  for (auto [a, c] : llvm::zip(x, y))
    result.push_back(add(a, c));
  return result;
}

Components Arithmetic::sub(ValueRange x, ValueRange y) {
  Components result;
  for (auto [a, c] : llvm::zip(x, y))
    result.push_back(sub(a, c));
  return result;
}

Components Arithmetic::normalize(ValueRange x) {
  Value length = sqrt(dot(x, x));
  Value zero = constant(length.getType(), 0), one = constant(length.getType(), 1);
  Value divisor = select(equal(length, zero), one, length);
  return scale(x, div(one, divisor));
}

Components Arithmetic::transform(ValueRange matrix, ValueRange x) {
  Components result;
  for (unsigned row = 0; row < 3; ++row)
    result.push_back(dot(matrix.slice(3 * row, 3), x));
  return result;
}

Components Arithmetic::multiply(ValueRange x, ValueRange y) {
  Components result;
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned column = 0; column < 3; ++column) {
      Value elements[] = {y[column], y[3 + column], y[6 + column]};
      result.push_back(dot(x.slice(3 * row, 3), elements));
    }
  return result;
}

Components Arithmetic::axisRotation(ValueRange axis, Value angle) {
  auto [sine, cosine] = sinCos(angle);
  Value versine = sub(constant(angle.getType(), 1), cosine);
  Components n(axis.begin(), axis.end());
  auto product = [&](unsigned i, unsigned j) { return mul(mul(n[i], n[j]), versine); };
  auto diagonal = [&](unsigned i) { return add(product(i, i), cosine); };
  auto offDiagonal = [&](unsigned i, unsigned j, unsigned k, bool positive) {
    Value turn = mul(n[k], sine);
    return positive ? add(product(i, j), turn) : sub(product(i, j), turn);
  };
  return {diagonal(0),
          offDiagonal(0, 1, 2, false),
          offDiagonal(0, 2, 1, true),
          offDiagonal(1, 0, 2, true),
          diagonal(1),
          offDiagonal(1, 2, 0, false),
          offDiagonal(2, 0, 1, false),
          offDiagonal(2, 1, 0, true),
          diagonal(2)};
}
