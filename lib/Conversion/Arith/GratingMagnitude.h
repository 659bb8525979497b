// Amplitudes whose sign does not count.
#ifndef NB_CONVERSION_GRATINGMAGNITUDE_H
#define NB_CONVERSION_GRATINGMAGNITUDE_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

/// Does nothing but magnitudes and intensities follow from this amplitude and its products, so that
/// its sign plays no part?
bool signIsLost(Value amplitude);

/// The product over the axes of sin(pi N x) / sin(pi x), |x| <= 1/2, up to its sign: one division,
/// no branch, no half turns to count. Derivatives share none of it.
Value gratingMagnitude(ValueRange delta, ValueRange ncells, Arithmetic &a);

} // namespace mlir::nb

#endif
