#include "lib/Interpreter/Integers.h"
#include "lib/Interpreter/Map.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <bit>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

static double absf(double x) { return std::abs(x); }
static double squareRoot(double x) { return std::sqrt(x); }
static double reciprocalSquareRoot(double x) { return 1 / std::sqrt(x); }
static double cubeRoot(double x) { return std::cbrt(x); }
static double sine(double x) { return std::sin(x); }
static double cosine(double x) { return std::cos(x); }
static double tangent(double x) { return std::tan(x); }
static double arcSine(double x) { return std::asin(x); }
static double arcCosine(double x) { return std::acos(x); }
static double arcTangent(double x) { return std::atan(x); }
static double arcTangent2(double y, double x) { return std::atan2(y, x); }
static double hyperbolicSine(double x) { return std::sinh(x); }
static double hyperbolicCosine(double x) { return std::cosh(x); }
static double areaSine(double x) { return std::asinh(x); }
static double areaCosine(double x) { return std::acosh(x); }
static double areaTangent(double x) { return std::atanh(x); }
static double hyperbolicTangent(double x) { return std::tanh(x); }
static double exponential(double x) { return std::exp(x); }
static double exponential2(double x) { return std::exp2(x); }
static double exponentialMinus1(double x) { return std::expm1(x); }
static double logarithm(double x) { return std::log(x); }
static double logarithm2(double x) { return std::log2(x); }
static double logarithm10(double x) { return std::log10(x); }
static double logarithm1(double x) { return std::log1p(x); }
static double power(double x, double y) { return std::pow(x, y); }
static double integerPower(double x, int64_t n) { return std::pow(x, double(n)); }
static double errorFunction(double x) { return std::erf(x); }
static double complementaryErrorFunction(double x) { return std::erfc(x); }
static double floorOf(double x) { return std::floor(x); }
static double ceilOf(double x) { return std::ceil(x); }
static double truncOf(double x) { return std::trunc(x); }
static double roundOf(double x) { return std::round(x); }
static double roundEven(double x) { return std::nearbyint(x); }
static double copySign(double x, double sign) { return std::copysign(x, sign); }
static double fusedMultiplyAdd(double a, double b, double c) { return std::fma(a, b, c); }
static bool isNaN(double x) { return std::isnan(x); }
static bool isInf(double x) { return std::isinf(x); }
static bool isFinite(double x) { return std::isfinite(x); }
static bool isNormal(double x) { return std::isnormal(x); }
/// NaN if one of the three is.
static double clamped(double x, double least, double most) {
  return std::isnan(least) || std::isnan(most) ? NAN
         : x < least                           ? std::min(least, most)
         : x > most                            ? most
                                               : x;
}

static LogicalResult planAbsolute(math::AbsIOp op, Planner &planner) {
  return map(planner, op, [bits = bitsOf(op.getResult())](int64_t x) {
    x = asSigned(x, bits);
    return wrapped(x < 0 ? int64_t(-uint64_t(x)) : x, bits);
  });
}

static int leadingZeros(uint64_t x) { return std::countl_zero(x); }
static int trailingZeros(uint64_t x) { return std::countr_zero(x); }
static int ones(uint64_t x) { return std::popcount(x); }

/// A count among the bits that the integer has.
template <typename Op, int (*count)(uint64_t)>
static LogicalResult planBits(Op op, Planner &planner) {
  return map(planner, op, [bits = bitsOf(op.getResult())](int64_t x) {
    int64_t found = std::min<int64_t>(count(uint64_t(asUnsigned(x, bits))), 64);
    if (count == leadingZeros)
      found -= 64 - bits;
    return wrapped(std::min<int64_t>(found, bits), bits);
  });
}

static LogicalResult planSinCos(math::SincosOp op, Planner &planner) {
  const Dimensions dims = planner.dimsOf(op->getOperands());
  const auto one = [&](Value result, auto formula) -> LogicalResult {
    auto slot = planner.define(result, dims);
    if (failed(slot))
      return failure();
    planner.step(
        op, dims,
        Mapped<decltype(formula), double, double>(formula, *slot, {planner.slot(op.getOperand())}));
    return success();
  };
  return success(succeeded(one(op.getSin(), [](double x) { return std::sin(x); })) &&
                 succeeded(one(op.getCos(), [](double x) { return std::cos(x); })));
}

void evaluation::attachMath(MLIRContext *context) {
  evaluate<math::AbsFOp, absf>(context);
  evaluate<math::SqrtOp, squareRoot>(context);
  evaluate<math::RsqrtOp, reciprocalSquareRoot>(context);
  evaluate<math::CbrtOp, cubeRoot>(context);
  evaluate<math::SinOp, sine>(context);
  evaluate<math::CosOp, cosine>(context);
  evaluate<math::TanOp, tangent>(context);
  evaluate<math::AsinOp, arcSine>(context);
  evaluate<math::AcosOp, arcCosine>(context);
  evaluate<math::AtanOp, arcTangent>(context);
  evaluate<math::Atan2Op, arcTangent2>(context);
  evaluate<math::SinhOp, hyperbolicSine>(context);
  evaluate<math::CoshOp, hyperbolicCosine>(context);
  evaluate<math::AsinhOp, areaSine>(context);
  evaluate<math::AcoshOp, areaCosine>(context);
  evaluate<math::AtanhOp, areaTangent>(context);
  evaluate<math::TanhOp, hyperbolicTangent>(context);
  evaluate<math::ExpOp, exponential>(context);
  evaluate<math::Exp2Op, exponential2>(context);
  evaluate<math::ExpM1Op, exponentialMinus1>(context);
  evaluate<math::LogOp, logarithm>(context);
  evaluate<math::Log2Op, logarithm2>(context);
  evaluate<math::Log10Op, logarithm10>(context);
  evaluate<math::Log1pOp, logarithm1>(context);
  evaluate<math::PowFOp, power>(context);
  evaluate<math::FPowIOp, integerPower>(context);
  evaluate<math::ErfOp, errorFunction>(context);
  evaluate<math::ErfcOp, complementaryErrorFunction>(context);
  evaluateBy<math::AbsIOp, planAbsolute>(context);
  evaluateBy<math::CountLeadingZerosOp, planBits<math::CountLeadingZerosOp, leadingZeros>>(context);
  evaluateBy<math::CountTrailingZerosOp, planBits<math::CountTrailingZerosOp, trailingZeros>>(
      context);
  evaluateBy<math::CtPopOp, planBits<math::CtPopOp, ones>>(context);
  evaluateBy<math::SincosOp, planSinCos>(context);
  evaluate<math::ClampFOp, clamped>(context);
  evaluate<math::FloorOp, floorOf>(context);
  evaluate<math::CeilOp, ceilOf>(context);
  evaluate<math::TruncOp, truncOf>(context);
  evaluate<math::RoundOp, roundOf>(context);
  evaluate<math::RoundEvenOp, roundEven>(context);
  evaluate<math::CopySignOp, copySign>(context);
  evaluate<math::FmaOp, fusedMultiplyAdd>(context);
  evaluate<math::IsNaNOp, isNaN>(context);
  evaluate<math::IsInfOp, isInf>(context);
  evaluate<math::IsFiniteOp, isFinite>(context);
  evaluate<math::IsNormalOp, isNormal>(context);
}
