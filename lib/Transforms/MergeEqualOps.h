// The same value once.
#ifndef NB_TRANSFORMS_MERGEEQUALOPS_H
#define NB_TRANSFORMS_MERGEEQUALOPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// Computes equal values once, and removes those without uses.
void mergeEqualOps(FunctionOpInterface func);

} // namespace mlir::nb

#endif
