#include "lib/Conversion/Arith/GratingMagnitude.h"

#include "lib/Conversion/Arith/WholeGrating.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

/// |x|, but at least a number that is small enough to give N to the last digit and large enough for
/// products of three sines to stay normal numbers. NaN stays NaN: max returns its second operand
/// then.
static Value awayFromZero(Value x, Arithmetic &a) {
  double tiny = getElementTypeOrSelf(x.getType()).isF64() ? 1e-30 : 1e-10;
  Value distance = a.abs(x);
  return a.max(a.constant(x.getType(), tiny), distance);
}

/// sin(pi y) up to the sign, for any y.
static Value sinPiMagnitude(Value y, Arithmetic &a) { return a.sinPiReduced(a.sub(y, a.round(y))); }

bool nb::signIsLost(Value amplitude) {
  return llvm::all_of(amplitude.getUsers(), [](Operation *user) {
    return isa<IntensityOp, math::AbsFOp>(user) ||
           (isa<arith::MulFOp>(user) && signIsLost(user->getResult(0)));
  });
}

Value nb::gratingMagnitude(ValueRange delta, ValueRange ncells, Arithmetic &a) {
  Value numerator, denominator;
  auto multiply = [&](Value &product, Value factor) {
    product = product ? a.mul(product, factor) : factor;
  };
  for (auto [x, n] : llvm::zip_equal(delta, ncells)) {
    if (auto known = knownCells(n); known && isPolynomialBetter(*known, x.getType())) {
      multiply(numerator, lowerWholeGrating(*known, x, a));
      continue;
    }
    Value distance = awayFromZero(x, a);
    multiply(numerator, sinPiMagnitude(a.mul(n, distance), a));
    multiply(denominator, a.sinPiReduced(distance));
  }
  return denominator ? a.quotient(numerator, denominator) : numerator;
}
