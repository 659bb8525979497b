// The interface of stages after an image.
#ifndef NB_DIALECT_RESPONSE_H
#define NB_DIALECT_RESPONSE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::nb {
/// A derivative with respect to a number: `rate`, a number itself, times an image.
struct DerivativeByNumber {
  Value image, rate;
};
} // namespace mlir::nb

#include "dialect/Response.h.inc"

#endif
