// What a stage after an image says of itself.
#ifndef NB_DIALECT_RESPONSE_H
#define NB_DIALECT_RESPONSE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dialect/Response.h.inc"

#endif
