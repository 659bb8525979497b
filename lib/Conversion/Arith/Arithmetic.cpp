#include "lib/Conversion/Arith/Arithmetic.h"

#include "lib/Conversion/Arith/Polynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// How ops round: no argument is so large that it has no places behind the point left, which
/// processors without an instruction for it would have to ask.
constexpr auto small = arith::FastMathFlags::contract | arith::FastMathFlags::afn;

/// `scalar` itself, or a vector of it with the lanes of `like`.
Type shapedLike(Type scalar, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? vector.clone(scalar) : scalar;
}

/// The integers that have as many bits as the floats of `type`.
Type bitsOf(Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return shapedLike(IntegerType::get(type.getContext(), width), type);
}

/// Added to a float, rounds it to a whole number, which stands in the low bits then.
double rounderOf(Type type) { return getElementTypeOrSelf(type).isF64() ? 0x1.8p52 : 0x1.8p23; }
} // namespace

Value Arithmetic::integer(Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value Arithmetic::mulAdd(Value x, Value y, Value z) {
  return LLVM::FMulAddOp::create(b, loc, x, y, z);
}
Value Arithmetic::ceil(Value x) { return math::CeilOp::create(b, loc, x, small); }
Value Arithmetic::floor(Value x) { return math::FloorOp::create(b, loc, x, small); }
Value Arithmetic::round(Value x) { return math::RoundEvenOp::create(b, loc, x, small); }

// Compare and select, not minnum: one instruction each on x86, and NaN has nowhere to hide.
Value Arithmetic::min(Value x, Value y) { return select(less(x, y), x, y); }
Value Arithmetic::max(Value x, Value y) { return select(less(y, x), x, y); }

Value Arithmetic::lessEqual(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, x, y);
}
Value Arithmetic::equal(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}
Value Arithmetic::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value Arithmetic::negate(Value x) {
  TypedAttr yes = b.getBoolAttr(true);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    yes = DenseElementsAttr::get(vector, true);
  return arith::XOrIOp::create(b, loc, x, arith::ConstantOp::create(b, loc, yes));
}

Value Arithmetic::polynomial(ArrayRef<double> coefficients, Value z) {
  Value result = constant(z.getType(), coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = add(mul(result, z), c);
  return result;
}

static bool isDouble(Value x) { return getElementTypeOrSelf(x.getType()).isF64(); }

Value Arithmetic::sinPiOverX(Value z) {
  return isDouble(z) ? polynomial(polynomials::sinPi, z) : polynomial(polynomials::singleSinPi, z);
}

Value Arithmetic::sinPiOverXSlope(Value z) {
  return isDouble(z) ? polynomial(polynomials::sinPiSlope, z)
                     : neg(polynomial(polynomials::singleSineMinusCosine, z));
}

Value Arithmetic::sinPiReduced(Value x) { return mul(x, sinPiOverX(mul(x, x))); }

Value Arithmetic::cosPiReduced(Value x) {
  Value z = mul(x, x);
  return sub(constant(x.getType(), 1), mul(z, polynomial(polynomials::cosPi, z)));
}

Value Arithmetic::twiceCosPi(Value x) {
  bool wide = getElementTypeOrSelf(x.getType()).isF64();
  ArrayRef<double> series = wide ? ArrayRef<double>(polynomials::cosPi) : polynomials::singleCosPi;
  // 2 - 2 z p(z), the factor in the coefficients.
  SmallVector<double> coefficients = {2};
  for (double c : series)
    coefficients.push_back(-2 * c);
  return polynomial(coefficients, mul(x, x));
}

Value Arithmetic::refined(Value x, Value y, ArrayRef<ArrayRef<double>> steps) {
  Value one = constant(x.getType(), 1);
  for (ArrayRef<double> series : steps) {
    Value error = sub(one, mul(mul(x, y), y));
    y = add(y, mul(y, mul(error, polynomial(series, error))));
  }
  return y;
}

/// Lanes of a 512-bit register.
static int64_t registerLanes(VectorType lanes) { return lanes.getElementType().isF64() ? 8 : 16; }

bool Arithmetic::hasEstimate(Type type) {
  auto lanes = dyn_cast<VectorType>(type);
  return estimates && lanes && lanes.getNumElements() % registerLanes(lanes) == 0;
}

Value Arithmetic::estimate(Value x, StringRef intrinsic) {
  auto lanes = cast<VectorType>(x.getType());
  bool wide = lanes.getElementType().isF64();
  int64_t width = lanes.getNumElements(), group = registerLanes(lanes);
  auto type = VectorType::get({group}, lanes.getElementType());
  Value none = constant(type, 0);
  Value all = integer(b.getIntegerType(unsigned(group)), -1);
  StringAttr name =
      b.getStringAttr("llvm.x86.avx512." + intrinsic + (wide ? ".pd.512" : ".ps.512"));
  auto call = [&](Value part) -> Value {
    return LLVM::CallIntrinsicOp::create(b, loc, type, name, ValueRange{part, none, all})
        .getResults();
  };
  if (width == group)
    return call(x);
  Value result = constant(lanes, 0);
  for (int64_t first = 0; first < width; first += group) {
    Value part = vector::ExtractStridedSliceOp::create(
        b, loc, x, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{group}, ArrayRef<int64_t>{1});
    result = vector::InsertStridedSliceOp::create(b, loc, call(part), result,
                                                  ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
  }
  return result;
}

Value Arithmetic::quotient(Value x, Value y) {
  if (!hasEstimate(y.getType()))
    return div(x, y);
  // With the error e of the estimate, 1 / y is the estimate times 1 + e + e^2 + ...
  bool wide = getElementTypeOrSelf(y.getType()).isF64();
  Value inverse = estimate(y, "rcp14");
  Value error = sub(constant(y.getType(), 1), mul(y, inverse));
  Value series = error;
  for (int power = 1; wide && power < 3; ++power)
    series = add(error, mul(error, series));
  return mul(x, add(inverse, mul(inverse, series)));
}

Value Arithmetic::reciprocalSqrtOfPositive(Value x) {
  if (!hasEstimate(x.getType()))
    return reciprocalSqrt(x);
  bool wide = getElementTypeOrSelf(x.getType()).isF64();
  return refined(x, estimate(x, "rsqrt14"),
                 {wide ? ArrayRef<double>{0.5, 0.375, 0.3125} : ArrayRef<double>{0.5}});
}

Value Arithmetic::reciprocalSqrt(Value x) {
  Type type = x.getType();
  if (!isa<VectorType>(type)) {
    Value one = constant(type, 1), zero = constant(type, 0);
    return div(one, sqrt(select(equal(x, zero), one, x)));
  }
  bool wide = getElementTypeOrSelf(type).isF64();
  if (hasEstimate(type)) {
    // A number so small that its estimate stays finite when it is squared.
    Value smallest = constant(type, wide ? 1e-300 : 1e-36);
    return reciprocalSqrtOfPositive(select(less(x, smallest), smallest, x));
  }
  // Halving and negating the exponent is right to 3.5%; the first step leaves 1e-6, the second
  // nothing. Sixteen instructions that keep the ports busy for a quarter of the time that a root
  // and a division block the divider.
  Type bits = bitsOf(type);
  Value pattern = arith::BitcastOp::create(b, loc, bits, x);
  Value half = arith::ShRUIOp::create(b, loc, pattern, integer(bits, 1));
  Value magic = integer(bits, wide ? 0x5fe6eb50c7b537a9 : 0x5f3759df);
  Value y = arith::BitcastOp::create(b, loc, type, arith::SubIOp::create(b, loc, magic, half));
  return refined(
      x, y,
      {polynomials::reciprocalSqrt, wide ? ArrayRef<double>{0.5, 0.375} : ArrayRef<double>{0.5}});
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

Arithmetic::HalfTurns Arithmetic::halfTurns(Value x) {
  Value perRadian = constant(x.getType(), std::numbers::inv_pi);
  Value rounder = constant(x.getType(), rounderOf(x.getType()));
  Value shifted = mulAdd(x, perRadian, rounder);
  Value n = sub(shifted, rounder);
  return {n, mulAdd(x, perRadian, neg(n)), bits(shifted)};
}

Value Arithmetic::exp(Value x) {
  // exp(x) = 2^n exp(r) with r = x - n ln 2 in two parts, the first of which is exact.
  Type type = x.getType();
  bool wide = getElementTypeOrSelf(type).isF64();
  double lowest = wide ? -708 : -41;
  Value clamped = min(constant(type, wide ? 709 : 88), x); // NaN stays NaN
  // Rounded with the exponent's bias added, the low bits are the exponent of 2^n.
  double rounder = rounderOf(type) + (wide ? 1023 : 127);
  Value shifted = add(mul(clamped, std::numbers::log2e), rounder);
  Value n = sub(shifted, constant(type, rounder));
  Value r = sub(sub(clamped, mul(n, wide ? 0x1.62e42fee00000p-1 : 0x1.62e4p-1)),
                mul(n, wide ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cf79abcap-20));
  Type bits = bitsOf(type);
  Value biased = arith::BitcastOp::create(b, loc, bits, shifted);
  Value exponent = arith::ShLIOp::create(b, loc, biased, integer(bits, wide ? 52 : 23));
  Value power = arith::BitcastOp::create(b, loc, type, exponent);
  Value series = wide ? polynomial(polynomials::exponential, r)
                      : polynomial(polynomials::singleExponential, r);
  Value value = mul(power, series);
  return select(less(x, constant(type, lowest)), constant(type, 0), value);
}

Value Arithmetic::erfcOfSize(Value x) {
  // Shepherd and Laframboise, Math. Comp. 36 (1981) 249: erfc(x) (1 + 2 x) exp(x^2) is smooth in t.
  Type type = x.getType();
  Value size = math::AbsFOp::create(b, loc, x), one = constant(type, 1);
  // No product overflows where x is large and erfc(x) is 0.
  size = min(constant(type, 1e3), size);
  // Both divisions in one.
  Value above = add(size, 3.75), scale = add(mul(size, 2), one);
  Value inverse = quotient(one, mul(above, scale));
  Value t = mul(mul(sub(size, constant(type, 3.75)), scale), inverse);
  Value series = getElementTypeOrSelf(type).isF64() ? polynomial(polynomials::scaledErfc, t)
                                                    : polynomial(polynomials::singleScaledErfc, t);
  return mul(mul(series, exp(neg(mul(size, size)))), mul(above, inverse));
}

Value Arithmetic::erf(Value x) {
  Value size = sub(constant(x.getType(), 1), erfcOfSize(x));
  return math::CopySignOp::create(b, loc, size, x);
}

Value Arithmetic::erfc(Value x) {
  Value ofSize = erfcOfSize(x), zero = constant(x.getType(), 0);
  return select(less(x, zero), sub(constant(x.getType(), 2), ofSize), ofSize);
}

Value Arithmetic::log1p(Value x) {
  // The rounding of 1 + x is in both factors (Kahan).
  Value one = constant(x.getType(), 1), above = add(x, one);
  Value stays = equal(above, one), isEnd = equal(x, constant(x.getType(), HUGE_VAL));
  Value ratio = arith::DivFOp::create(b, loc, x, sub(above, one));
  Value inner = mul(math::LogOp::create(b, loc, above), ratio);
  return select(stays, x, select(isEnd, x, inner));
}

Value Arithmetic::expm1(Value x) {
  Value one = constant(x.getType(), 1), power = exp(x), rest = sub(power, one);
  Value stays = equal(power, one), isEnd = equal(rest, constant(x.getType(), -1));
  isEnd = arith::OrIOp::create(b, loc, isEnd, equal(power, constant(x.getType(), HUGE_VAL)));
  Value ratio = arith::DivFOp::create(b, loc, x, math::LogOp::create(b, loc, power));
  return select(stays, x, select(isEnd, rest, mul(rest, ratio)));
}

Value Arithmetic::cbrt(Value x) {
  Value size = math::AbsFOp::create(b, loc, x), zero = constant(x.getType(), 0);
  Value logarithm = math::LogOp::create(b, loc, size);
  Value root = math::ExpOp::create(b, loc, mul(logarithm, 1.0 / 3));
  // A step of Newton's, where there is one to take.
  Value square = mul(root, root);
  Value step = mul(sub(root, arith::DivFOp::create(b, loc, size, square)), 1.0 / 3);
  Value isInner = both(less(zero, size), less(size, constant(x.getType(), HUGE_VAL)));
  root = select(isInner, sub(root, step), select(isInner, root, size));
  return math::CopySignOp::create(b, loc, root, x);
}

Value Arithmetic::asinh(Value x) {
  Type type = x.getType();
  Value size = math::AbsFOp::create(b, loc, x), one = constant(type, 1);
  // Beyond where 1 counts, and a square might overflow, it is log(2 |x|).
  Value large = constant(type, getElementTypeOrSelf(type).isF64() ? 1e9 : 1e5);
  Value inner = min(size, large), square = mul(inner, inner);
  Value rise =
      add(inner, arith::DivFOp::create(b, loc, square,
                                       add(one, math::SqrtOp::create(b, loc, add(square, one)))));
  Value below = log1p(rise);
  Value above = add(math::LogOp::create(b, loc, size), std::numbers::ln2);
  return math::CopySignOp::create(b, loc, select(less(large, size), above, below), x);
}

Value Arithmetic::acosh(Value x) {
  Type type = x.getType();
  Value large = constant(type, getElementTypeOrSelf(type).isF64() ? 1e9 : 1e5);
  Value rest = sub(min(large, x), constant(type, 1)); // NaN stays NaN
  Value root = mul(math::SqrtOp::create(b, loc, rest), math::SqrtOp::create(b, loc, add(rest, 2)));
  Value below = log1p(add(rest, root));
  Value above = add(math::LogOp::create(b, loc, x), std::numbers::ln2);
  return select(less(large, x), above, below);
}

Value Arithmetic::atanh(Value x) {
  Value size = math::AbsFOp::create(b, loc, x), one = constant(x.getType(), 1);
  Value ratio = arith::DivFOp::create(b, loc, add(size, size), sub(one, size));
  Value half = mul(log1p(ratio), 0.5);
  return math::CopySignOp::create(b, loc, half, x);
}

Value Arithmetic::bits(Value x) {
  unsigned width = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  return arith::BitcastOp::create(b, loc, shapedLike(b.getIntegerType(width), x.getType()), x);
}
Value Arithmetic::xorBits(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
Value Arithmetic::withSignFlippedBy(Value x, Value flips) {
  Type type = bitsOf(x.getType());
  if (type != flips.getType())
    flips = arith::TruncIOp::create(b, loc, type, flips);
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr places = b.getIntegerAttr(integer, integer.getWidth() - 1);
  if (auto vector = dyn_cast<VectorType>(type))
    places = DenseElementsAttr::get(vector, Attribute(places));
  Value sign = arith::ShLIOp::create(b, loc, flips, arith::ConstantOp::create(b, loc, places));
  return arith::BitcastOp::create(b, loc, x.getType(), xorBits(bits(x), sign));
}

Value Arithmetic::convert(Value x, FloatType precision) {
  unsigned from = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type type = shapedLike(precision, x.getType());
  if (from == precision.getWidth())
    return x;
  if (from < precision.getWidth())
    return arith::ExtFOp::create(b, loc, type, x);
  return arith::TruncFOp::create(b, loc, type, x);
}

Value Arithmetic::toInteger(Value x) {
  if (isa<VectorType>(x.getType()))
    return arith::FPToSIOp::create(b, loc, shapedLike(b.getI32Type(), x.getType()), x);
  Value integer = arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
}

Value Arithmetic::toFloat(Value index, Type type) {
  Type integer = shapedLike(b.getI64Type(), index.getType());
  return arith::SIToFPOp::create(b, loc, type, arith::IndexCastOp::create(b, loc, integer, index));
}

Value Arithmetic::dot(ValueRange x, ValueRange y) {
  return add(add(mul(x[0], y[0]), mul(x[1], y[1])), mul(x[2], y[2]));
}

Value Arithmetic::frobenius(ValueRange x, ValueRange y) {
  auto row = [&](unsigned i) { return dot(x.slice(3 * i, 3), y.slice(3 * i, 3)); };
  return add(add(row(0), row(1)), row(2));
}

Components Arithmetic::cross(ValueRange x, ValueRange y) {
  auto component = [&](unsigned i, unsigned j) { return sub(mul(x[i], y[j]), mul(x[j], y[i])); };
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

Components Arithmetic::normalize(ValueRange x) { return scale(x, reciprocalSqrt(dot(x, x))); }

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
