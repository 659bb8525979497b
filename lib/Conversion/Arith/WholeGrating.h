// Gratings of a known number of cells.
#ifndef NB_CONVERSION_WHOLEGRATING_H
#define NB_CONVERSION_WHOLEGRATING_H

#include "lib/Conversion/Arith/Arithmetic.h"

#include <optional>

namespace mlir::nb {

/// The whole number that `cells` is, as the program says it.
std::optional<int64_t> knownCells(Value cells);

/// Is the polynomial below fewer operations than the quotient of two sines, and are its rounding
/// errors within what the precision of `type` promises? See docs/rationale/whole-grating.md.
bool isPolynomialBetter(int64_t cells, Type type);

/// sin(pi N x) / sin(pi x), |x| <= 1/2, as U_{N-1}(cos pi x), the Chebyshev polynomial of the
/// second kind: no division, and nothing to avoid at x = 0.
Value lowerWholeGrating(int64_t cells, Value x, Arithmetic &a);

} // namespace mlir::nb

#endif
