// Scalar and lane arithmetic.
#ifndef NB_CONVERSION_ARITHMETIC_H
#define NB_CONVERSION_ARITHMETIC_H

#include "dialect/ScalarBuilder.h"

namespace mlir::nb {

using Components =
    SmallVector<Value, 9>; ///< one for a scalar, 3 for a vec3, 9 for a mat3, row-major

/// Builds the arithmetic of kernels: f64 or f32 scalars, or lanes of one type. Parts of its sums
/// may be added one by one, until convert-nb-to-arith takes that flag away at its end.
class Arithmetic : public ScalarBuilder {
public:
  /// `estimates`: the target has AVX-512's estimates of 1 / x and 1 / sqrt(x), right to 2^-14.
  Arithmetic(OpBuilder &builder, Location loc, bool estimates = false)
      : ScalarBuilder(builder, loc, arith::FastMathFlags::contract | arith::FastMathFlags::reassoc),
        estimates(estimates) {}

  using ScalarBuilder::add;
  using ScalarBuilder::sub;
  Value integer(Type type, int64_t value);
  /// x / y to two ulp where y and 1 / y are normal numbers, in lanes without a division where the
  /// target has estimates: a division of 512 bits keeps others from the port that it is on.
  Value quotient(Value x, Value y);
  /// x y + z, rounded once where the target can.
  Value mulAdd(Value x, Value y, Value z);
  /// 1 / sqrt(x) to two ulp for normal x > 0, finite for x = 0; in lanes without dividing.
  Value reciprocalSqrt(Value x);
  /// The same without a meaning for x = 0.
  Value reciprocalSqrtOfPositive(Value x);
  Value ceil(Value x);
  Value floor(Value x);
  Value round(Value x); ///< to nearest, halves to even
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value add(Value x, double y) { return add(x, constant(x.getType(), y)); }
  Value sub(Value x, double y) { return sub(x, constant(x.getType(), y)); }

  Value lessEqual(Value x, Value y);
  Value equal(Value x, Value y);
  Value both(Value x, Value y);
  Value negate(Value condition);

  /// Polynomial by Horner's rule, lowest coefficient first.
  Value polynomial(ArrayRef<double> coefficients, Value z);
  /// sin(pi x) / x in z = x^2, and its derivative with respect to x, divided by x, for |x| <= 1/2.
  Value sinPiOverX(Value z);
  Value sinPiOverXSlope(Value z);
  /// sin(pi x) and cos(pi x) for |x| <= 1/2.
  Value sinPiReduced(Value x);
  Value cosPiReduced(Value x);
  Value twiceCosPi(Value x); ///< 2 cos(pi x)
  /// (sin x, cos x), x in radians, by polynomials: a kernel calls no math library.
  std::pair<Value, Value> sinCos(Value x);
  /// 0 where 2^n would not be a normal number; in f32 where its square would not be, below -41:
  /// squares of subnormal numbers cost hundreds of cycles. nb-cull counts on the 41.
  Value exp(Value x);
  /// 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, with an absolute error of up
  /// to 1e-15 in f64.
  Value erf(Value x);
  /// 1 - erf(x), to some 1e-13 of itself in f64 and 1e-5 in f32.
  Value erfc(Value x);
  // Functions that LLVM has no intrinsics for, by its logarithm.
  Value log1p(Value x); ///< log(1 + x)
  Value expm1(Value x); ///< exp(x) - 1
  Value cbrt(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);

  /// The bits of a float as an integer, the low bit of which becomes the sign of x.
  Value bits(Value x);
  Value xorBits(Value x, Value y);
  Value withSignFlippedBy(Value x, Value bits);

  /// x in radians is n + t half turns, n whole and |t| <= 1/2; the low bit of `bits` is that of n.
  struct HalfTurns {
    Value n, t, bits;
  };
  HalfTurns halfTurns(Value x);

  /// The same number, with the lanes it has, in another precision.
  Value convert(Value x, FloatType precision);
  /// Whole number held in a float -> index (scalar) or i32 lanes.
  Value toInteger(Value x);
  /// index (or lanes of index) -> float of `type`.
  Value toFloat(Value index, Type type);

  // Vectors are (x, y, z), matrices nine elements row by row.
  Value dot(ValueRange x, ValueRange y);
  Value frobenius(ValueRange x, ValueRange y);
  Components cross(ValueRange x, ValueRange y);
  Components scale(ValueRange x, Value factor);
  Components add(ValueRange x, ValueRange y);
  Components sub(ValueRange x, ValueRange y);
  Components normalize(ValueRange x);
  Components transform(ValueRange matrix, ValueRange x);
  Components multiply(ValueRange x, ValueRange y);

private:
  Value erfcOfSize(Value x); ///< erfc(|x|)
  bool hasEstimate(Type type);
  /// The processor's estimate that `intrinsic` names, of each lane of x.
  Value estimate(Value x, StringRef intrinsic);
  /// For lanes: y, an approximation of 1 / sqrt(x), with a step for each of the series in its
  /// error.
  Value refined(Value x, Value y, ArrayRef<ArrayRef<double>> steps);

  bool estimates;
};

} // namespace mlir::nb

#endif
