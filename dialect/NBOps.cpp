#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nb;

#define GET_OP_CLASSES
#include "dialect/NBOps.cpp.inc"
