// The same value once.
#ifndef NB_TRANSFORMS_MERGEEQUALOPS_H
#define NB_TRANSFORMS_MERGEEQUALOPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// What is computed twice is computed once, what nothing uses goes.
void mergeEqualOps(FunctionOpInterface func);

} // namespace mlir::nb

#endif
